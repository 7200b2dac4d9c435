//! The data folder itself, open: whatever is mounted or put in its place later, it stays the same one.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::beneath;
use super::path::TreePath;

/// See the module.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    folder: OwnedFd,
}

/// What is found where a folder should be.
pub(super) enum Found {
    Folder(OwnedFd),
    Nothing,
    /// Something that has nothing in it.
    File,
    /// It leads elsewhere, and is not followed.
    Link,
}

impl Root {
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { path: path.to_owned(), folder: rustix::fs::open(path, flags, Mode::empty())? })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    pub fn again(&self) -> Result<OwnedFd, Errno> {
        rustix::io::fcntl_dupfd_cloexec(&self.folder, 0)
    }

    /// The folder that a path is in; `None` if no folder is there, or only behind a link.
    pub fn above(&self, path: &TreePath) -> Result<Option<OwnedFd>, Errno> {
        let mut folder = self.again()?;
        let (Some(above), _) = path.split() else { return Ok(Some(folder)) };
        for name in above.parts() {
            folder = match step_down(folder.as_fd(), name)? {
                Found::Folder(folder) => folder,
                Found::Nothing | Found::File | Found::Link => return Ok(None),
            };
        }
        Ok(Some(folder))
    }
}

/// What a name in a folder leads to.
pub(super) fn step_down(at: BorrowedFd<'_>, name: &[u8]) -> Result<Found, Errno> {
    match beneath::open_folder(at, name) {
        Ok(folder) => Ok(Found::Folder(folder)),
        Err(Errno::NOENT) => Ok(Found::Nothing),
        Err(Errno::LOOP | Errno::NOTDIR) => match beneath::look(at, name)? {
            None => Ok(Found::Nothing),
            Some(stat) if beneath::kind_of(&stat) == FileType::Symlink => Ok(Found::Link),
            Some(_) => Ok(Found::File),
        },
        Err(error) => Err(error),
    }
}
