//! Changes that came over the wire, before anything is done: what they would do, with the new files beside the folder.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode};
use rustix::io::Errno;

use super::archive_reader::{ArchiveReader, Record};
use super::archive_writer::Kind;
use super::beneath::{self, size_of};
use super::bounds::Bounds;
use super::error::FolderError;
use super::measure::{Held, measure};
use super::name::Name;

/// What is to be done, in the order of the archive.
pub(super) struct Plan {
    pub steps: Vec<PlanStep>,
    /// How many files were staged.
    pub files: u64,
    /// Of these.
    pub bytes: u64,
}

pub(super) enum PlanStep {
    /// A folder is to be there, and the steps until its end are about what is in it.
    Folder(Name),
    Up,
    /// This staged file is to be there.
    File {
        name: Name,
        staged: Name,
        bytes: u64,
    },
    /// Nothing is to be there.
    Gone(Name),
}

/// A plan whose outcome is within the bounds.
pub(super) struct CheckedPlan(pub Plan);

impl Plan {
    /// Reads changes, and writes their files into the stage.
    pub fn read(stage: BorrowedFd<'_>, input: impl Read, bounds: Bounds) -> Result<Self, FolderError> {
        let mut archive = ArchiveReader::new(input, Kind::Changes, bounds)?;
        let (mut steps, mut files) = (Vec::new(), 0);
        while let Some(record) = archive.next_record()? {
            steps.push(match record {
                Record::Folder(name) => PlanStep::Folder(name),
                Record::Up => PlanStep::Up,
                Record::Gone(name) => PlanStep::Gone(name),
                Record::File { name, modified } => {
                    let staged = staged_name("new", files)?;
                    files += 1;
                    let made = beneath::create_file(stage, &staged, Mode::RUSR | Mode::WUSR);
                    let mut file = made.map_err(FolderError::system("make a file beside the folder"))?;
                    let written = FolderError::system("write a file beside the folder");
                    let state = archive.content(modified, |part| file.write_all(part).map_err(&written))?;
                    beneath::set_modified(&file, modified)
                        .map_err(FolderError::system("set a file's time"))?;
                    PlanStep::File { name, staged, bytes: state.bytes }
                }
            });
        }
        Ok(Self { steps, files, bytes: archive.count().bytes })
    }

    /// Whether the folder would be within the bounds afterwards. One that is beyond them already may get smaller.
    pub fn check(self, folder: BorrowedFd<'_>, bounds: Bounds) -> Result<CheckedPlan, FolderError> {
        let before = measure(folder)?;
        let mut after = before;
        // The folders on the way down; none where there will be a new one.
        let mut way: Vec<Option<OwnedFd>> = Vec::new();
        for step in &self.steps {
            let at = match way.last() {
                None => Some(folder),
                Some(below) => below.as_ref().map(AsFd::as_fd),
            };
            match step {
                PlanStep::Up => drop(way.pop()),
                PlanStep::Gone(name) => after.take(held_by(at, name)?),
                PlanStep::File { name, bytes, .. } => {
                    after.take(held_by(at, name)?);
                    after.add(Held { bytes: *bytes, entries: 1 });
                }
                PlanStep::Folder(name) => {
                    let there = at.map(|at| open_there(at, name)).transpose()?.flatten();
                    if there.is_none() {
                        after.take(held_by(at, name)?);
                        after.add(Held { bytes: 0, entries: 1 });
                    }
                    way.push(there);
                }
            }
        }
        if after.bytes > bounds.bytes && after.bytes > before.bytes {
            return Err(FolderError::TooManyBytes { bytes_max: bounds.bytes });
        }
        if after.entries > bounds.entries && after.entries > before.entries {
            return Err(FolderError::TooManyEntries { entries_max: bounds.entries });
        }
        Ok(CheckedPlan(self))
    }
}

/// The name of something in the stage.
pub(super) fn staged_name(what: &str, number: u64) -> Result<Name, FolderError> {
    Name::read(format!("{what}-{number}").as_bytes()).ok_or(FolderError::Damaged("it holds too many files"))
}

/// A folder of this name, if it is one.
fn open_there(at: BorrowedFd<'_>, name: &Name) -> Result<Option<OwnedFd>, FolderError> {
    match beneath::open_folder(at, name) {
        Err(Errno::ACCESS) => {
            let opened = beneath::make_readable(at, name).and_then(|()| beneath::open_folder(at, name));
            opened.map(Some).map_err(FolderError::system("open a folder"))
        }
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        opened => opened.map(Some).map_err(FolderError::system("open a folder")),
    }
}

/// What would be gone with a name.
fn held_by(at: Option<BorrowedFd<'_>>, name: &Name) -> Result<Held, FolderError> {
    let found = at.map(|at| beneath::look(at, name).map(|stat| stat.map(|stat| (at, stat)))).transpose();
    let Some((at, stat)) = found.map_err(FolderError::system("look at a file"))?.flatten() else {
        return Ok(Held::default());
    };
    let mut held = Held { bytes: 0, entries: 1 };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            if let Some(folder) = open_there(at, name)? {
                held.add(measure(folder.as_fd())?);
            }
        }
        FileType::RegularFile
        | FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => held.bytes = size_of(&stat),
    }
    Ok(held)
}
