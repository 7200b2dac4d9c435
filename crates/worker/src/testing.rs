//! What the unit tests of this crate share.

use std::path::{Path, PathBuf};

/// A folder that is gone when the test is.
pub struct TestFolder(PathBuf);

impl TestFolder {
    /// An empty folder with `name` in its name.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gristmill-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
