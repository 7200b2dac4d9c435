//! Everything kept below a name, folders before what is in them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::vec::IntoIter;

use rustix::fs::{Dir, FileType, Stat};
use rustix::io::Errno;

use super::beneath;
use super::error::ScanError;
use super::path::TreePath;
use crate::kept::{self, Role};

/// Of one session, of all results, of all skills: more than any limit permits.
pub(super) const ENTRIES_MAX: usize = 1_000_001;

/// Why a part was left as it was taken before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkippedWhy {
    /// A program writes to it. The next scan may find it at rest.
    Changing,
    /// It belongs to another user.
    Unreadable,
    /// It is larger than a file may be.
    TooLarge,
    /// It has folders nested too deep.
    TooDeep,
    /// It has too many files and folders.
    TooManyEntries,
}

/// The next thing that is there.
pub(super) enum Step {
    /// A folder, whose content comes next.
    Folder(TreePath, u32),
    /// A file, in [`Walk::at`].
    File(TreePath, Box<Stat>),
    /// Something that is never kept: a link, a device, a folder where only a file is.
    Strange(TreePath),
    /// Something that is not looked into.
    Skipped(TreePath, SkippedWhy),
}

/// See the module.
pub(super) struct Walk {
    /// The folders on the way down, the deepest last; one descriptor for each.
    way: Vec<Level>,
    entries_left: usize,
}

struct Level {
    folder: OwnedFd,
    /// `None` for the data folder.
    path: Option<TreePath>,
    names: IntoIter<Vec<u8>>,
}

impl Walk {
    /// These names in a folder, and all that is below them.
    pub fn new(folder: OwnedFd, path: Option<TreePath>, names: Vec<Vec<u8>>) -> Self {
        Self { way: vec![Level { folder, path, names: names.into_iter() }], entries_left: ENTRIES_MAX }
    }

    /// The folder that the file of the last step is in.
    pub fn at(&self) -> Result<BorrowedFd<'_>, Errno> {
        self.way.last().map(|level| level.folder.as_fd()).ok_or(Errno::NOENT)
    }

    /// `None` at the end of the whole.
    pub fn next_step(&mut self) -> Result<Option<Step>, ScanError> {
        while let Some(level) = self.way.last_mut() {
            let Some(name) = level.names.next() else {
                self.way.pop();
                continue;
            };
            if let Some(step) = self.look_at(&name)? {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    fn look_at(&mut self, name: &[u8]) -> Result<Option<Step>, ScanError> {
        let Some(level) = self.way.last() else { return Ok(None) };
        let path = match (TreePath::join(level.path.as_ref(), name), &level.path) {
            (Ok(path), _) => path,
            (Err(_), Some(above)) => return Ok(Some(Step::Skipped(above.clone(), SkippedWhy::TooDeep))),
            (Err(_), None) => return Ok(None),
        };
        let Some(role) = kept::role(&path) else { return Ok(None) };
        let found = beneath::look(level.folder.as_fd(), name);
        let Some(stat) = found.map_err(ScanError::system("look at", &path))? else { return Ok(None) };
        match (beneath::kind_of(&stat), role) {
            (FileType::RegularFile, Role::File | Role::Either) => Ok(Some(Step::File(path, Box::new(stat)))),
            (FileType::Directory, Role::Folder | Role::Either) => self.enter(path, name),
            (_, Role::File | Role::Folder | Role::Either | Role::Passage) => Ok(Some(Step::Strange(path))),
        }
    }

    fn enter(&mut self, path: TreePath, name: &[u8]) -> Result<Option<Step>, ScanError> {
        let folder = match self.at().and_then(|at| beneath::open_folder(at, name)) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            // Something else has its name by now.
            Err(Errno::LOOP | Errno::NOTDIR) => return Ok(Some(Step::Strange(path))),
            Err(Errno::ACCESS | Errno::PERM) => return Ok(Some(Step::Skipped(path, SkippedWhy::Unreadable))),
            Err(error) => return Err(ScanError::system("open", &path)(error)),
        };
        // Only now: opening it may have changed it.
        let stat = rustix::fs::fstat(&folder).map_err(ScanError::system("look at", &path))?;
        let listed = list(&folder, self.entries_left).map_err(ScanError::system("list", &path))?;
        let Some(names) = listed else { return Ok(Some(Step::Skipped(path, SkippedWhy::TooManyEntries))) };
        self.entries_left -= names.len();
        self.way.push(Level { folder, path: Some(path.clone()), names: names.into_iter() });
        Ok(Some(Step::Folder(path, beneath::mode_of(&stat))))
    }
}

/// The names in a folder; `None` if they are more than that.
pub(super) fn list(folder: &OwnedFd, count_max: usize) -> Result<Option<Vec<Vec<u8>>>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = match entry {
            // The folder itself was removed.
            Err(Errno::NOENT) => break,
            entry => entry?,
        };
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        if names.len() == count_max {
            return Ok(None);
        }
        names.push(name.to_owned());
    }
    Ok(Some(names))
}
