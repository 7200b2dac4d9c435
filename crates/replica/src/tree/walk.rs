//! Everything kept below a name, folders before what is in them.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
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
    /// It belongs to another user, or a program has just closed it.
    Unreadable,
    /// It is larger than a file may be.
    TooLarge,
    /// It has folders nested too deep, or paths that are too long.
    TooDeep,
    /// It has too many files and folders.
    TooManyEntries,
}

impl fmt::Display for SkippedWhy {
    /// What a person can do about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changing => "it is being written to; stop the program that does",
            Self::Unreadable => "it can't be read; make it yours, or move it away",
            Self::TooLarge => "it is larger than 64 GB; move it away",
            Self::TooDeep => {
                "it has folders nested more than 256 deep, or paths longer than 4,096 bytes; move them away"
            }
            Self::TooManyEntries => "it has more than a million files and folders; move some away",
        })
    }
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
    /// The folders on the way down, the deepest last; one descriptor for each. Walks from one folder share that of it.
    way: Vec<Level>,
    entries_left: usize,
}

struct Level {
    folder: Arc<OwnedFd>,
    /// `None` for the data folder.
    path: Option<TreePath>,
    names: IntoIter<Vec<u8>>,
}

impl Walk {
    /// These names in a folder, and all that is below them.
    pub fn new(folder: Arc<OwnedFd>, path: Option<TreePath>, names: Vec<Vec<u8>>) -> Self {
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
        let stat = match beneath::look(level.folder.as_fd(), name) {
            Ok(Some(stat)) => stat,
            Ok(None) => return Ok(None),
            Err(error) => return unreadable(error, "look at", path).map(Some),
        };
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
            Err(error) => return unreadable(error, "open", path).map(Some),
        };
        // Only now: opening it may have changed it.
        let stat = rustix::fs::fstat(&folder).map_err(ScanError::system("look at", &path))?;
        let names = match list(&folder, self.entries_left) {
            Ok(Some(names)) => names,
            Ok(None) => return Ok(Some(Step::Skipped(path, SkippedWhy::TooManyEntries))),
            Err(error) => return unreadable(error, "list", path).map(Some),
        };
        self.entries_left -= names.len();
        self.way.push(Level { folder: Arc::new(folder), path: Some(path.clone()), names: names.into_iter() });
        Ok(Some(Step::Folder(path, beneath::mode_of(&stat))))
    }
}

/// A program may close a folder at any moment, also one that was opened up a moment ago.
fn unreadable(error: Errno, what: &'static str, path: TreePath) -> Result<Step, ScanError> {
    match error {
        Errno::ACCESS | Errno::PERM => Ok(Step::Skipped(path, SkippedWhy::Unreadable)),
        error => Err(ScanError::system(what, &path)(error)),
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

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    const WORKSPACE: &str = "sessions/abcdefghijkmnpqrstuv/workspace";

    fn walk(data: &Path) -> Walk {
        let folder = fs::File::open(data.join("sessions")).expect("a folder");
        let path = TreePath::new(b"sessions").expect("a path");
        Walk::new(Arc::new(folder.into()), Some(path), vec![b"abcdefghijkmnpqrstuv".to_vec()])
    }

    fn told(step: Option<Step>) -> Option<(TreePath, Option<SkippedWhy>)> {
        match step? {
            Step::Folder(path, _) | Step::File(path, _) | Step::Strange(path) => Some((path, None)),
            Step::Skipped(path, why) => Some((path, Some(why))),
        }
    }

    #[test]
    fn a_folder_that_is_closed_while_it_is_looked_at_ends_no_scan() {
        let data = tempfile::tempdir().expect("a folder");
        let closed = data.path().join(WORKSPACE).join("closed");
        fs::create_dir_all(&closed).expect("made");
        fs::write(closed.join("a"), "a").expect("written");
        let path = |end: &str| TreePath::new(format!("{WORKSPACE}{end}").as_bytes()).expect("a path");
        let mut walk = walk(data.path());
        let mut next = || told(walk.next_step().expect("no error"));
        assert!(std::iter::from_fn(&mut next).any(|step| step == (path("/closed"), None)));
        fs::set_permissions(&closed, Permissions::from_mode(0o000)).expect("ours");
        // Nothing is closed to a superuser.
        let why = (!rustix::process::geteuid().is_root()).then_some(SkippedWhy::Unreadable);
        assert_eq!((next(), next()), (Some((path("/closed/a"), why)), None));
        fs::set_permissions(&closed, Permissions::from_mode(0o700)).expect("ours");
    }

    #[test]
    fn what_is_closed_is_skipped_and_a_disk_that_fails_ends_the_scan() {
        let path = TreePath::new(WORKSPACE.as_bytes()).expect("a path");
        for error in [Errno::ACCESS, Errno::PERM] {
            let step = unreadable(error, "list", path.clone()).expect("no error");
            assert_eq!(told(Some(step)), Some((path.clone(), Some(SkippedWhy::Unreadable))));
        }
        let failed = unreadable(Errno::IO, "list", path).map(|step| told(Some(step)));
        assert!(matches!(failed, Err(ScanError::System { what: "list", .. })), "{failed:?}");
    }
}
