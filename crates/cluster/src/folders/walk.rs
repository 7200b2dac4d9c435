//! A folder from top to bottom, in the order of names: the same steps for packing, hashing and comparing.

use std::os::fd::BorrowedFd;
use std::vec::IntoIter;

use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

use super::beneath::{self, PlainFile};
use super::bounds::{Bounds, Count};
use super::error::FolderError;
use super::name::Name;

/// What to do about a file or folder that its owner may not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Locked {
    /// Nothing is changed in somebody's folder.
    LeaveOut,
    /// A program's own folder: it may be opened up.
    Open,
}

/// The next thing in a folder.
#[derive(Debug)]
pub(super) enum Step {
    /// A folder, whose content comes next.
    Folder(Name),
    File(Name, PlainFile),
    /// Something that is there and can't be read.
    Unreadable,
    /// The end of a folder.
    Up,
}

/// See the module. Links, devices, pipes and sockets are counted and passed over, and so is what disappears meanwhile.
pub(super) struct Walk {
    /// The folders on the way down, the deepest last; one descriptor for each.
    way: Vec<Level>,
    locked: Locked,
    bounds: Bounds,
    count: Count,
    left_out: u64,
}

struct Level {
    folder: Dir,
    names: IntoIter<(Name, FileType)>,
}

impl Walk {
    pub fn of(folder: BorrowedFd<'_>, locked: Locked, bounds: Bounds) -> Result<Self, FolderError> {
        let mut walk = Self { way: Vec::new(), locked, bounds, count: Count::new(bounds), left_out: 0 };
        let root = beneath::open_again(folder).and_then(Dir::new);
        walk.enter(root.map_err(FolderError::system("open the folder"))?)?;
        Ok(walk)
    }

    /// How many entries were passed over so far.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// `None` at the end of the whole.
    pub fn next_step(&mut self) -> Result<Option<Step>, FolderError> {
        while let Some(level) = self.way.last_mut() {
            let Some((name, kind)) = level.names.next() else {
                self.way.pop();
                return Ok((!self.way.is_empty()).then_some(Step::Up));
            };
            if let Some(step) = self.look_at(name, kind)? {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    fn look_at(&mut self, name: Name, kind: FileType) -> Result<Option<Step>, FolderError> {
        let opened = match kind {
            FileType::Directory => self.folder(&name).map(|()| Some(Step::Folder(name.clone()))),
            FileType::RegularFile => self.file(&name),
            FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Ok(None),
        };
        match opened {
            Ok(Some(step)) => return Ok(Some(step)),
            // Something else has its name by now; or it is another file system.
            Ok(None) | Err(Stop::Errno(Errno::LOOP | Errno::NOTDIR | Errno::XDEV | Errno::NXIO)) => {}
            Err(Stop::Errno(Errno::NOENT)) => return Ok(None),
            Err(Stop::Errno(Errno::ACCESS | Errno::BUSY)) => {
                self.left_out += 1;
                return Ok(Some(Step::Unreadable));
            }
            Err(Stop::Errno(error)) => return Err(FolderError::errno("read the folder", error)),
            Err(Stop::Folder(error)) => return Err(error),
        }
        self.left_out += 1;
        Ok(None)
    }

    fn folder(&mut self, name: &Name) -> Result<(), Stop> {
        let at = self.at()?;
        let folder = match (beneath::open_folder(at, name), self.locked) {
            (Err(Errno::ACCESS), Locked::Open) => {
                beneath::make_readable(at, name)?;
                beneath::open_folder(at, name)?
            }
            (outcome, _) => outcome?,
        };
        if self.locked == Locked::Open {
            beneath::make_usable(&folder)?;
        }
        Ok(self.enter(Dir::new(folder)?)?)
    }

    fn file(&mut self, name: &Name) -> Result<Option<Step>, Stop> {
        let at = self.at()?;
        let file = match (beneath::open_file(at, name), self.locked) {
            (Err(Errno::ACCESS), Locked::Open) => {
                beneath::make_readable(at, name)?;
                beneath::open_file(at, name)?
            }
            (outcome, _) => outcome?,
        };
        Ok(file.map(|file| Step::File(name.clone(), file)))
    }

    /// The folder that the present names are in.
    fn at(&self) -> Result<BorrowedFd<'_>, Errno> {
        self.way.last().ok_or(Errno::NOENT)?.folder.fd()
    }

    fn enter(&mut self, mut folder: Dir) -> Result<(), FolderError> {
        self.bounds.check_depth(self.way.len())?;
        let mut names = Vec::new();
        while let Some(entry) = folder.read() {
            let entry = match entry {
                // The folder itself was removed.
                Err(Errno::NOENT) => break,
                entry => entry.map_err(FolderError::system("list the folder"))?,
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            self.count.entry()?;
            match Name::read(name.to_bytes()) {
                Some(name) => names.push((name, entry.file_type())),
                None => self.left_out += 1,
            }
        }
        let folder_fd = folder.fd().map_err(FolderError::system("list the folder"))?;
        for (name, kind) in &mut names {
            // Not every file system tells kinds along with names.
            if *kind == FileType::Unknown
                && let Ok(Some(stat)) = beneath::look(folder_fd, name)
            {
                *kind = FileType::from_raw_mode(stat.st_mode);
            }
        }
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        self.way.push(Level { folder, names: names.into_iter() });
        Ok(())
    }
}

/// Why something was not looked at.
enum Stop {
    Errno(Errno),
    Folder(FolderError),
}

impl From<Errno> for Stop {
    fn from(error: Errno) -> Self {
        Self::Errno(error)
    }
}

impl From<FolderError> for Stop {
    fn from(error: FolderError) -> Self {
        Self::Folder(error)
    }
}
