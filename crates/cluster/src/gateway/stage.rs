//! Where files lie that come back, until all of them are here: beside the workspace, in the same file system.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use gristmill_files::remove_tree;
use rustix::fs::{Mode, OFlags};

use crate::names::LinkId;

/// Removed with everything in it when this is dropped.
pub(super) struct Stage {
    path: PathBuf,
    pub folder: OwnedFd,
}

impl Stage {
    pub fn beside(workspace: &Path, link: LinkId) -> io::Result<Self> {
        let above = workspace.parent().ok_or_else(|| io::Error::other("the workspace is in no folder"))?;
        let path = above.join(format!(".arriving-{link}"));
        DirBuilder::new().mode(0o700).create(&path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(folder) => Ok(Self { path, folder }),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                Err(error.into())
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = remove_tree(&self.path);
    }
}
