//! Where files lie that come back, until all of them are here: beside the workspace, in the same file system.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use gristmill_files::remove_tree;
use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::names::LinkId;

/// How its name begins.
const NAME: &str = ".arriving-";

/// Removed with everything in it when this is dropped.
pub(super) struct Stage {
    path: PathBuf,
    /// Locked as long as it's used.
    pub folder: OwnedFd,
}

impl Stage {
    /// Removes those that killed gateways have left there.
    pub fn beside(workspace: &Path, link: LinkId) -> io::Result<Self> {
        let above = workspace.parent().ok_or_else(|| io::Error::other("the workspace is in no folder"))?;
        remove_left_behind(above);
        let path = above.join(format!("{NAME}{link}"));
        DirBuilder::new().mode(0o700).create(&path)?;
        match open_locked(&path) {
            Ok(folder) => Ok(Self { path, folder }),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                Err(error)
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = remove_tree(&self.path);
    }
}

/// What can't be removed now has another chance with the next program.
fn remove_left_behind(above: &Path) {
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(NAME.as_bytes()) {
            continue;
        }
        if let Ok(_nobody_uses_it) = open_locked(&entry.path()) {
            let _ = remove_tree(&entry.path());
        }
    }
}

/// Fails if somebody else has it.
fn open_locked(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(path, flags, Mode::empty())?;
    rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}
