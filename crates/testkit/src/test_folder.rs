//! A folder that is gone when the test is.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct TestFolder(PathBuf);

impl TestFolder {
    /// An empty folder of mode 700 with `name` in its name.
    pub fn new(name: &str) -> Self {
        Self::below(&std::env::temp_dir(), name)
    }

    /// The same, somewhere else: a program has a `/tmp` of its own, so what it must not find
    /// cannot be called `/tmp/...`.
    pub fn below(base: &Path, name: &str) -> Self {
        use std::os::unix::fs::DirBuilderExt;
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("gristmill-test-{name}-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::DirBuilder::new().mode(0o700).create(&path).expect("a folder for the test");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        make_writable(&self.0);
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A folder that cannot be written to cannot be emptied either.
fn make_writable(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}
