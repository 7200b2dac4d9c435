//! How much a folder holds, as the limits of sessions count it: everything that has a name.

use std::os::fd::BorrowedFd;

use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

use super::beneath::{self, size_of};
use super::bounds::DEPTH_MAX;
use super::error::FolderError;
use super::name::Name;

/// More entries than any limit permits: there is no need to count on.
const ENTRIES_MAX: u64 = 1_000_001;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub bytes: u64,
    pub entries: u64,
}

impl Held {
    pub fn add(&mut self, more: Self) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.entries = self.entries.saturating_add(more.entries);
    }

    pub fn take(&mut self, less: Self) {
        self.bytes = self.bytes.saturating_sub(less.bytes);
        self.entries = self.entries.saturating_sub(less.entries);
    }
}

/// What lies below a folder. What is gone between two looks holds nothing.
pub(super) fn measure(folder: BorrowedFd<'_>) -> Result<Held, FolderError> {
    let failed = || FolderError::system("measure the folder");
    let mut held = Held::default();
    let mut way = vec![beneath::open_again(folder).and_then(Dir::new).map_err(failed())?];
    while let Some(deepest) = way.last_mut() {
        let entry = match deepest.read() {
            // Its end; or it was removed.
            None | Some(Err(Errno::NOENT)) => {
                way.pop();
                continue;
            }
            Some(entry) => entry.map_err(failed())?,
        };
        let Some(name) = Name::read(entry.file_name().to_bytes()) else { continue };
        let at = deepest.fd().map_err(failed())?;
        let Some(stat) = beneath::look(at, &name).map_err(failed())? else { continue };
        held.entries += 1;
        if held.entries > ENTRIES_MAX {
            return Ok(held);
        }
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            held.bytes = held.bytes.saturating_add(size_of(&stat));
            continue;
        }
        match beneath::open_folder(at, &name) {
            // Something else has its name by now, or it is another file system.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => {}
            below => way.push(below.and_then(Dir::new).map_err(failed())?),
        }
        if way.len() > DEPTH_MAX + 1 {
            return Err(FolderError::TooDeep { depth_max: DEPTH_MAX });
        }
    }
    Ok(held)
}
