//! The archive that a folder travels in.
//!
//! Not tar: names are any bytes, times matter, changes need a record for what is gone, and what reads it should
//! have nothing to be lenient about. A folder has exactly one archive, in the order of names, so that no entry can
//! come twice or be put through another.
//!
//! ```text
//! zstd of:  magic  record…  END
//! FOLDER length name          its records follow, then UP
//! UP
//! FILE length name time       then parts: 4 bytes of length, so many bytes; a length of 0 ends it
//! GONE length name            in changes only: nothing has this name any more
//! ```
//! Lengths of names are one byte, numbers are little-endian, times are seconds.

use std::io::{self, BufWriter, Read, Write};

use super::beneath::PlainFile;
use super::bounds::{Bounds, Count};
use super::error::FolderError;
use super::name::Name;
use super::snapshot::FileState;

pub(super) const END: u8 = 0;
pub(super) const FOLDER: u8 = 1;
pub(super) const UP: u8 = 2;
pub(super) const FILE: u8 = 3;
pub(super) const GONE: u8 = 4;

/// The most that a part of a file holds.
pub(super) const PART_BYTES_MAX: usize = 64 * 1024;

/// What an archive is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// All of a folder.
    Folder,
    /// What is different from an earlier state of it.
    Changes,
}

impl Kind {
    pub fn magic(self) -> &'static [u8; 8] {
        match self {
            Kind::Folder => b"GMFOLD01",
            Kind::Changes => b"GMCHNG01",
        }
    }
}

/// Fast, and for text nearly as small as any.
const LEVEL: i32 = 1;

/// Writes records. Whoever calls keeps their order.
pub(super) struct ArchiveWriter<W: Write> {
    out: BufWriter<zstd::stream::write::Encoder<'static, W>>,
    count: Count,
    part: Vec<u8>,
}

impl<W: Write> ArchiveWriter<W> {
    pub fn new(out: W, kind: Kind, bounds: Bounds) -> Result<Self, FolderError> {
        let encoder = zstd::stream::write::Encoder::new(out, LEVEL).map_err(FolderError::Write)?;
        let out = BufWriter::with_capacity(PART_BYTES_MAX, encoder);
        let mut writer = Self { out, count: Count::new(bounds), part: vec![0; PART_BYTES_MAX] };
        writer.put(kind.magic())?;
        Ok(writer)
    }

    /// How many bytes of files were written.
    pub fn bytes(&self) -> u64 {
        self.count.bytes
    }

    pub fn folder(&mut self, name: &Name) -> Result<(), FolderError> {
        self.head(FOLDER, name)
    }

    pub fn up(&mut self) -> Result<(), FolderError> {
        self.put(&[UP])
    }

    pub fn gone(&mut self, name: &Name) -> Result<(), FolderError> {
        self.head(GONE, name)
    }

    /// A file as it is now: somebody may write to it meanwhile. What is added to it after it was opened is left for
    /// the next time, or one who adds without end would be followed without end. Gives what was written of it.
    pub fn file(&mut self, name: &Name, file: &mut PlainFile) -> Result<FileState, FolderError> {
        // A file with holes may say that it is larger than any disk, and is not read to find that out.
        self.count.check_room(file.bytes, file.bytes)?;
        self.head(FILE, name)?;
        self.put(&file.modified.to_le_bytes())?;
        let (mut hasher, mut bytes) = (blake3::Hasher::new(), 0);
        let mut part = std::mem::take(&mut self.part);
        while bytes < file.bytes {
            let count = read_part(&mut file.file, &mut part[..part_bytes(file.bytes - bytes)])
                .map_err(FolderError::system("read a file of the folder"))?;
            let Some(content) = part.get(..count).filter(|content| !content.is_empty()) else { break };
            bytes += content.len() as u64;
            self.count.bytes(content.len() as u64, bytes)?;
            self.put(&(content.len() as u32).to_le_bytes())?;
            self.put(content)?;
            hasher.update(content);
        }
        self.part = part;
        self.put(&0_u32.to_le_bytes())?;
        Ok(FileState { bytes, modified: file.modified, hash: hasher.finalize() })
    }

    /// The end of the archive.
    pub fn finish(mut self) -> Result<W, FolderError> {
        self.put(&[END])?;
        let encoder = self.out.into_inner().map_err(|error| FolderError::Write(error.into_error()))?;
        let mut out = encoder.finish().map_err(FolderError::Write)?;
        out.flush().map_err(FolderError::Write)?;
        Ok(out)
    }

    fn head(&mut self, record: u8, name: &Name) -> Result<(), FolderError> {
        self.put(&[record, name.length()])?;
        self.put(name.bytes())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), FolderError> {
        self.out.write_all(bytes).map_err(FolderError::Write)
    }
}

/// How much of what is left of a file the next part holds.
pub(super) fn part_bytes(left: u64) -> usize {
    usize::try_from(left).unwrap_or(usize::MAX).min(PART_BYTES_MAX)
}

/// As much as there is, up to the whole part; 0 at the end of the file.
pub(super) fn read_part(file: &mut impl Read, part: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(part) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
