//! Who uses a tree of the cache: locks on a file beside it, which the kernel lets go of however a process ends.
//!
//! Not on the tree's own folder: a program that has the folder could take such a lock, or let go of ours.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{AtFlags, FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// How often a lock is taken whose file is removed at that moment.
const ATTEMPTS: usize = 16;

/// Held until it is dropped.
#[derive(Debug)]
pub(super) struct TreeLock {
    file: File,
}

impl TreeLock {
    /// For a user of the tree; there may be many. Waits while it is being removed, which takes a moment.
    pub fn shared(path: &Path) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let file = open(path)?;
            match flock(&file, FlockOperation::LockShared) {
                Err(Errno::INTR) => continue,
                locked => locked?,
            }
            // A lock on a file that was removed meanwhile keeps nobody out.
            if is_at(&file, path) {
                return Ok(Self { file });
            }
        }
        Err(Errno::BUSY.into())
    }

    /// For who removes the tree; `None` while anybody uses it.
    pub fn exclusive(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
            locked => locked?,
        }
        Ok(is_at(&file, path).then_some(Self { file }))
    }

    /// Notes that the tree is used now. Failing to is no harm.
    pub fn note_use(&self) {
        let _ = self.file.set_modified(SystemTime::now());
    }

    /// When the tree was used last; `None` if nobody knows.
    pub fn last_use(path: &Path) -> Option<SystemTime> {
        fs::symlink_metadata(path).and_then(|file| file.modified()).ok()
    }
}

/// Whether an open file or folder is what has this path.
pub(super) fn is_at(opened: impl AsFd, path: &Path) -> bool {
    let opened = rustix::fs::fstat(opened);
    let there = rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW);
    matches!((opened, there), (Ok(one), Ok(other)) if (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).custom_flags(flags).open(path)
}
