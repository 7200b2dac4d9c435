//! Trees of tools on disk: one folder for each version of the catalogue, written once, read-only,
//! shared by every program and every gateway of this user. Those that nobody uses are removed.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use gristmill_domain::tree::TreeFile;
use rustix::fs::{FlockOperation, flock};

/// A tree that nobody has used for so long is removed.
const UNUSED_FOR: Duration = Duration::from_secs(7 * 24 * 3600);

/// So many unused ones are kept however young they are.
const KEPT_MAX: usize = 20;

/// What is still being written after this was left behind by a crash.
const WRITING_FOR: Duration = Duration::from_secs(3600);

/// Being written, or being removed.
const UNFINISHED: &str = ".unfinished-";

static COUNT: AtomicU64 = AtomicU64::new(0);

pub(crate) struct TreeStore {
    folder: PathBuf,
}

/// Keeps a tree from being removed.
pub(crate) struct TreeLease {
    path: PathBuf,
    _lock: File,
}

impl TreeLease {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl TreeStore {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The tree of that version. `files` is asked for its content only if it is not there yet.
    pub(crate) fn lease(
        &self,
        version: &str,
        files: impl FnOnce() -> Vec<TreeFile>,
    ) -> io::Result<TreeLease> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let lock = self.open_lock(version)?;
        flock(&lock, FlockOperation::LockShared)?;
        // Its age is counted from its last use.
        let _ = lock.set_modified(SystemTime::now());
        let path = self.folder.join(version);
        if !path.is_dir() {
            self.write(&path, &files())?;
            self.collect(version);
        }
        Ok(TreeLease { path, _lock: lock })
    }

    fn open_lock(&self, version: &str) -> io::Result<File> {
        let path = self.folder.join(format!("{version}.lock"));
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
    }

    fn write(&self, path: &Path, files: &[TreeFile]) -> io::Result<()> {
        let new = self.unfinished();
        let written = write_all(&new, files).and_then(|()| match fs::rename(&new, path) {
            // Someone else was faster; what they wrote is the same.
            Err(_) if path.is_dir() => {
                remove(&new);
                Ok(())
            }
            outcome => outcome,
        });
        if written.is_err() {
            remove(&new);
        }
        written
    }

    /// Removes what is old and unused. Failing to is no harm.
    fn collect(&self, current: &str) {
        let now = SystemTime::now();
        let age = |entry: &fs::DirEntry| {
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            changed.ok().and_then(|at| now.duration_since(at).ok()).unwrap_or_default()
        };
        let mut locks = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(UNFINISHED) && age(&entry) > WRITING_FOR {
                remove(&entry.path());
            } else if let Some(version) = name.strip_suffix(".lock").filter(|version| *version != current) {
                locks.push((age(&entry), version.to_owned()));
            }
        }
        locks.sort();
        for (place, (age, version)) in locks.iter().enumerate() {
            if *age > UNUSED_FOR || place >= KEPT_MAX {
                self.remove_unused(version);
            }
        }
    }

    fn remove_unused(&self, version: &str) {
        let Ok(lock) = self.open_lock(version) else { return };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        // Moved first: from here on nobody takes it for a tree.
        let gone = self.unfinished();
        if fs::rename(self.folder.join(version), &gone).is_ok() {
            remove(&gone);
        }
        let _ = fs::remove_file(self.folder.join(format!("{version}.lock")));
    }

    fn unfinished(&self) -> PathBuf {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("{UNFINISHED}{}-{count}", std::process::id()))
    }
}

fn write_all(folder: &Path, files: &[TreeFile]) -> io::Result<()> {
    remove(folder);
    DirBuilder::new().mode(0o700).create(folder)?;
    let mut folders = Vec::new();
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent().filter(|parent| *parent != folder)
            && folders.last().is_none_or(|known| known != parent)
        {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            folders.push(parent.to_owned());
        }
        let mut made = OpenOptions::new().write(true).create_new(true).mode(0o400).open(&path)?;
        made.write_all(file.content.as_bytes())?;
    }
    for made in folders {
        fs::set_permissions(made, Permissions::from_mode(0o500))?;
    }
    Ok(())
}

/// Removes all trees below a folder, whoever uses them: for tests and measurements in folders of
/// their own.
pub fn remove_trees(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        remove(&entry.path());
    }
    remove(folder);
}

fn remove(folder: &Path) {
    let _ = gristmill_files::remove_tree(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, content: &str) -> TreeFile {
        TreeFile { path: path.to_owned(), content: content.to_owned() }
    }

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("gristmill-trees-{name}-{}", std::process::id())))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            remove_trees(&self.0);
        }
    }

    #[test]
    fn a_tree_is_written_once_and_cannot_be_written_to() {
        let folder = Folder::new("once");
        let store = TreeStore::new(folder.0.clone());
        let files = || vec![file("index.md", "one"), file("a/x.py", "x"), file("a/.server.json", "{}")];
        let lease = store.lease("v1", files).expect("a tree");
        assert_eq!(fs::read_to_string(lease.path().join("a/x.py")).expect("a file"), "x");
        let mode =
            |path: &str| fs::metadata(lease.path().join(path)).expect(path).permissions().mode() & 0o777;
        assert_eq!((mode("a"), mode("a/x.py"), mode("index.md")), (0o500, 0o400, 0o400));
        let again = store.lease("v1", || panic!("it is there already")).expect("a tree");
        assert_eq!(again.path(), lease.path());
    }

    #[test]
    fn unused_trees_are_removed_and_used_ones_are_not() {
        let folder = Folder::new("unused");
        let store = TreeStore::new(folder.0.clone());
        let used = store.lease("used", || vec![file("index.md", "")]).expect("a tree");
        drop(store.lease("old", || vec![file("a/x.py", "x")]).expect("a tree"));
        let long_ago = SystemTime::now() - UNUSED_FOR * 2;
        for version in ["used", "old"] {
            store.open_lock(version).expect("a lock").set_modified(long_ago).expect("set");
        }
        drop(store.lease("new", || vec![file("index.md", "")]).expect("a tree"));
        assert!(used.path().is_dir(), "it is in use");
        assert!(!folder.0.join("old").exists() && !folder.0.join("old.lock").exists());
    }
}
