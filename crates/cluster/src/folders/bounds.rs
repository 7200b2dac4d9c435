//! How much a folder may hold, and counting towards it.

use super::error::FolderError;

/// As deep as folders of sessions are ever measured: deeper than any program of the WebAssembly engines makes them.
/// One descriptor is open for each level.
pub const DEPTH_MAX: usize = 256;

/// What a folder, or an archive of one, may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Of all files together.
    pub bytes: u64,
    /// Files and folders, those that are left out among them.
    pub entries: u64,
    /// Of one file.
    pub file_bytes: u64,
    /// Folders inside each other.
    pub depth: usize,
}

impl Bounds {
    /// Of these sums; one file may hold all bytes.
    pub fn new(bytes: u64, entries: u64) -> Self {
        Self { bytes, entries, file_bytes: bytes, depth: DEPTH_MAX }
    }

    pub(super) fn check_depth(&self, depth: usize) -> Result<(), FolderError> {
        match depth > self.depth {
            true => Err(FolderError::TooDeep { depth_max: self.depth }),
            false => Ok(()),
        }
    }
}

/// What was counted so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    bounds: Bounds,
    pub bytes: u64,
    pub entries: u64,
}

impl Count {
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, bytes: 0, entries: 0 }
    }

    pub fn entry(&mut self) -> Result<(), FolderError> {
        self.entries += 1;
        match self.entries > self.bounds.entries {
            true => Err(FolderError::TooManyEntries { entries_max: self.bounds.entries }),
            false => Ok(()),
        }
    }

    /// More of a file, which has so many bytes with these.
    pub fn bytes(&mut self, count: u64, of_file: u64) -> Result<(), FolderError> {
        self.check_room(count, of_file)?;
        self.bytes += count;
        Ok(())
    }

    /// Whether so many more would fit.
    pub fn check_room(&self, count: u64, of_file: u64) -> Result<(), FolderError> {
        let Bounds { bytes, file_bytes, .. } = self.bounds;
        if of_file > file_bytes {
            return Err(FolderError::FileTooLarge { bytes_max: file_bytes });
        }
        match self.bytes.saturating_add(count) > bytes {
            true => Err(FolderError::TooManyBytes { bytes_max: bytes }),
            false => Ok(()),
        }
    }
}
