//! What a folder held at one moment, so that changes are found later.
//!
//! Of each file its size, the second of its last change, and a hash of its content. Not its inode or the time of its
//! change of status: on some file systems a program that maps a file can write to it without either telling, and
//! clocks are coarser than programs. A hash can't be evaded, and reading a file costs less than the way here did.

use std::os::fd::BorrowedFd;

use super::archive_writer::{part_bytes, read_part};
use super::beneath::PlainFile;
use super::bounds::{Bounds, Count};
use super::error::FolderError;
use super::name::Name;
use super::walk::{Locked, Step, Walk};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The first is the folder itself; others are named by their place here. A list, since dropping folders in
    /// folders would call itself for each level.
    folders: Vec<FolderState>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FolderState {
    /// In the order of names.
    pub entries: Vec<(Name, Entry)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Folder(usize),
    File(FileState),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    pub bytes: u64,
    pub modified: i64,
    pub hash: blake3::Hash,
}

/// Reads a folder. What `pack` would leave out is left out here.
pub fn snapshot(folder: BorrowedFd<'_>, bounds: Bounds) -> Result<Snapshot, FolderError> {
    let mut walk = Walk::of(folder, Locked::LeaveOut, bounds)?;
    let mut building = SnapshotBuilder::new();
    let mut count = Count::new(bounds);
    while let Some(step) = walk.next_step()? {
        match step {
            Step::Folder(name) => building.folder(name),
            Step::Up => building.up(),
            Step::File(name, mut file) => {
                count.bytes(file.bytes, file.bytes)?;
                building.file(name, read_state(&mut file)?);
            }
            Step::Unreadable => {}
        }
    }
    Ok(building.finish())
}

/// What a file holds, up to where it ended when it was opened.
pub(super) fn read_state(file: &mut PlainFile) -> Result<FileState, FolderError> {
    let (mut hasher, mut bytes) = (blake3::Hasher::new(), 0);
    // Most files are smaller than a part.
    let mut part = vec![0; part_bytes(file.bytes)];
    while bytes < file.bytes {
        let count = read_part(&mut file.file, &mut part[..part_bytes(file.bytes - bytes)])
            .map_err(FolderError::system("read a file of the folder"))?;
        let Some(content) = part.get(..count).filter(|content| !content.is_empty()) else { break };
        hasher.update(content);
        bytes += content.len() as u64;
    }
    Ok(FileState { bytes, modified: file.modified, hash: hasher.finalize() })
}

impl Snapshot {
    /// Of a folder with nothing in it.
    pub fn empty() -> Self {
        SnapshotBuilder::new().finish()
    }

    /// Whether there is nothing in the folder.
    pub fn is_empty(&self) -> bool {
        self.folder(Self::ROOT).is_empty()
    }

    pub(super) const ROOT: usize = 0;

    pub(super) fn folder(&self, place: usize) -> &[(Name, Entry)] {
        self.folders.get(place).map_or(&[], |folder| &folder.entries)
    }
}

/// Makes a snapshot of steps in the order of names.
pub(super) struct SnapshotBuilder {
    folders: Vec<FolderState>,
    way: Vec<usize>,
}

impl SnapshotBuilder {
    pub fn new() -> Self {
        Self { folders: vec![FolderState::default()], way: vec![Snapshot::ROOT] }
    }

    pub fn folder(&mut self, name: Name) {
        let place = self.folders.len();
        self.folders.push(FolderState::default());
        self.add(name, Entry::Folder(place));
        self.way.push(place);
    }

    pub fn up(&mut self) {
        self.way.pop();
    }

    pub fn file(&mut self, name: Name, state: FileState) {
        self.add(name, Entry::File(state));
    }

    pub fn finish(self) -> Snapshot {
        Snapshot { folders: self.folders }
    }

    fn add(&mut self, name: Name, entry: Entry) {
        let folder = self.way.last().and_then(|place| self.folders.get_mut(*place));
        if let Some(folder) = folder {
            folder.entries.push((name, entry));
        }
    }
}
