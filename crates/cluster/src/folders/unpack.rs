//! A folder from an archive that may come from anybody.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::Mode;

use super::archive_reader::{ArchiveReader, Record};
use super::archive_writer::Kind;
use super::beneath;
use super::bounds::Bounds;
use super::error::FolderError;
use super::snapshot::{Snapshot, SnapshotBuilder};

/// What was unpacked.
#[derive(Debug)]
pub struct Unpacked {
    /// Of the files.
    pub bytes: u64,
    /// Files and folders.
    pub entries: u64,
    /// As it is now.
    pub snapshot: Snapshot,
}

/// What may be done with what is unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    ReadWrite,
    ReadOnly,
}

/// Unpacks an archive into an empty folder, for its owner alone: files with mode 600, folders with 700. Nothing that
/// is there already is written to. If it fails, a part of it is there.
pub fn unpack(into: BorrowedFd<'_>, input: impl Read, bounds: Bounds) -> Result<Unpacked, FolderError> {
    unpack_for(Access::ReadWrite, into, input, bounds)
}

pub(super) fn unpack_for(
    access: Access,
    into: BorrowedFd<'_>,
    input: impl Read,
    bounds: Bounds,
) -> Result<Unpacked, FolderError> {
    let mut archive = ArchiveReader::new(input, Kind::Folder, bounds)?;
    let mut building = SnapshotBuilder::new();
    let file_mode = match access {
        Access::ReadWrite => Mode::RUSR | Mode::WUSR,
        Access::ReadOnly => Mode::RUSR,
    };
    // Below `into`; what was opened stays the same, whatever gets its name.
    let mut way: Vec<OwnedFd> = Vec::new();
    while let Some(record) = archive.next_record()? {
        let at = way.last().map_or(into, AsFd::as_fd);
        match record {
            Record::Folder(name) => {
                way.push(beneath::create_folder(at, &name).map_err(FolderError::system("make a folder"))?);
                building.folder(name);
            }
            Record::Up => {
                if let Some(folder) = way.pop()
                    && access == Access::ReadOnly
                {
                    seal(folder.as_fd())?;
                }
                building.up();
            }
            Record::File { name, modified } => {
                let made = beneath::create_file(at, &name, file_mode);
                let mut file = made.map_err(FolderError::system("make a file"))?;
                let written = FolderError::system("write a file");
                let state = archive.content(modified, |part| file.write_all(part).map_err(&written))?;
                beneath::set_modified(&file, modified).map_err(FolderError::system("set a file's time"))?;
                building.file(name, state);
            }
            // The reader lets none through.
            Record::Gone(_) => return Err(FolderError::Damaged("it isn't of a whole folder")),
        }
    }
    if access == Access::ReadOnly {
        seal(into)?;
    }
    let count = archive.count();
    Ok(Unpacked { bytes: count.bytes, entries: count.entries, snapshot: building.finish() })
}

fn seal(folder: BorrowedFd<'_>) -> Result<(), FolderError> {
    rustix::fs::fchmod(folder, Mode::RUSR | Mode::XUSR).map_err(FolderError::system("seal a folder"))
}
