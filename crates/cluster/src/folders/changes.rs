//! What has changed in a folder since a snapshot, as an archive.
//!
//! Its programs may be hostile, and may still be at work: a file is compared by its content, and what was sent of it
//! is what the next snapshot says.

use std::io::{Seek, SeekFrom, Write};
use std::os::fd::BorrowedFd;

use super::archive_writer::{ArchiveWriter, Kind};
use super::beneath::PlainFile;
use super::bounds::{Bounds, Count};
use super::error::FolderError;
use super::name::Name;
use super::snapshot::{Entry, FileState, Snapshot, SnapshotBuilder, read_state};
use super::walk::{Locked, Step, Walk};

/// What has changed.
#[derive(Debug)]
pub struct Changed {
    /// New ones and those with another content or time.
    pub files: u64,
    /// Of these.
    pub bytes: u64,
    /// New ones.
    pub folders: u64,
    /// Names that are gone. A folder counts once, whatever was in it.
    pub removed: u64,
    /// What is neither a file nor a folder, in the whole folder. In the place of a file it means that the file is gone.
    pub left_out: u64,
    /// As the folder is now: the next changes are counted from here.
    pub snapshot: Snapshot,
}

impl Changed {
    /// Whether there is nothing to apply.
    pub fn is_empty(&self) -> bool {
        (self.files, self.folders, self.removed) == (0, 0, 0)
    }
}

/// Writes what has changed as an archive. The folder as a whole must be within the bounds. It is our copy of a
/// program's folder: what the program has locked for its owner is unlocked.
pub fn changes<W: Write>(
    folder: BorrowedFd<'_>,
    before: &Snapshot,
    bounds: Bounds,
    out: W,
) -> Result<(Changed, W), FolderError> {
    let mut walk = Walk::of(folder, Locked::Open, bounds)?;
    let mut comparing = Comparing::new(before, ArchiveWriter::new(out, Kind::Changes, bounds)?);
    let (mut building, mut count) = (SnapshotBuilder::new(), Count::new(bounds));
    while let Some(step) = walk.next_step()? {
        match step {
            Step::Folder(name) => {
                comparing.folder(&name)?;
                building.folder(name);
            }
            Step::Up => {
                comparing.up()?;
                building.up();
            }
            Step::File(name, mut file) => {
                count.bytes(file.bytes, file.bytes)?;
                let state = comparing.file(&name, &mut file)?;
                building.file(name, state);
            }
            // As if it weren't there: what can't be read can't be sent.
            Step::Unreadable => {}
        }
    }
    comparing.end_of_folder()?;
    let Comparing { archive, files, folders, removed, .. } = comparing;
    let (bytes, left_out) = (archive.bytes(), walk.left_out());
    let changed = Changed { files, bytes, folders, removed, left_out, snapshot: building.finish() };
    Ok((changed, archive.finish()?))
}

struct Comparing<'a, W: Write> {
    before: &'a Snapshot,
    archive: ArchiveWriter<W>,
    way: Vec<Level>,
    files: u64,
    folders: u64,
    removed: u64,
}

/// A folder on the way down.
struct Level {
    /// None has the folder at the top.
    name: Option<Name>,
    /// Its place in the snapshot, if it was there.
    before: Option<usize>,
    /// How many of its entries there were passed.
    next: usize,
    /// Whether the archive knows of it. A folder that was there is written once something in it is.
    is_written: bool,
}

impl<'a, W: Write> Comparing<'a, W> {
    fn new(before: &'a Snapshot, archive: ArchiveWriter<W>) -> Self {
        let root = Level { name: None, before: Some(Snapshot::ROOT), next: 0, is_written: true };
        Self { before, archive, way: vec![root], files: 0, folders: 0, removed: 0 }
    }

    fn folder(&mut self, name: &Name) -> Result<(), FolderError> {
        let before = match self.pass_to(Some(name))? {
            Some(Entry::Folder(place)) => Some(*place),
            Some(Entry::File(_)) | None => None,
        };
        self.way.push(Level { name: Some(name.clone()), before, next: 0, is_written: false });
        if before.is_none() {
            self.folders += 1;
            self.write_folders()?;
        }
        Ok(())
    }

    fn up(&mut self) -> Result<(), FolderError> {
        self.end_of_folder()?;
        match self.way.pop() {
            Some(level) if level.is_written => self.archive.up(),
            Some(_) | None => Ok(()),
        }
    }

    fn file(&mut self, name: &Name, file: &mut PlainFile) -> Result<FileState, FolderError> {
        if let Some(Entry::File(before)) = self.pass_to(Some(name))?
            && (before.bytes, before.modified) == (file.bytes, file.modified)
        {
            if read_state(file)? == *before {
                return Ok(*before);
            }
            let back = file.file.seek(SeekFrom::Start(0));
            back.map_err(FolderError::system("read a file of the folder"))?;
        }
        self.files += 1;
        self.write_folders()?;
        self.archive.file(name, file)
    }

    /// What else was in the present folder is gone.
    fn end_of_folder(&mut self) -> Result<(), FolderError> {
        self.pass_to(None).map(drop)
    }

    /// What was before this name and wasn't passed is gone. Gives what had this name.
    fn pass_to(&mut self, name: Option<&Name>) -> Result<Option<&'a Entry>, FolderError> {
        let before = self.before;
        loop {
            let Some(level) = self.way.last_mut() else { return Ok(None) };
            let entries = level.before.map_or(&[][..], |place| before.folder(place));
            let Some((was, entry)) = entries.get(level.next) else { return Ok(None) };
            if name.is_some_and(|name| was > name) {
                return Ok(None);
            }
            level.next += 1;
            if name == Some(was) {
                return Ok(Some(entry));
            }
            self.removed += 1;
            self.write_folders()?;
            self.archive.gone(was)?;
        }
    }

    /// Before anything that is in them.
    fn write_folders(&mut self) -> Result<(), FolderError> {
        if self.way.last().is_some_and(|level| level.is_written) {
            return Ok(());
        }
        for level in self.way.iter_mut().filter(|level| !level.is_written) {
            level.is_written = true;
            if let Some(name) = &level.name {
                self.archive.folder(name)?;
            }
        }
        Ok(())
    }
}
