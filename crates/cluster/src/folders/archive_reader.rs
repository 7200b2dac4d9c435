//! Reading an archive that may come from anybody. Its form is in `archive_writer.rs`.
//!
//! What is read is bounded by [`Bounds`] however it is compressed: nothing is taken from the decoder that was not
//! counted before. A name is one step, must be larger than the one before it in its folder, and so comes once.

use std::io::{self, BufRead, BufReader, Read};

use super::archive_writer::{END, FILE, FOLDER, GONE, Kind, PART_BYTES_MAX, UP};
use super::beneath::within_time;
use super::bounds::{Bounds, Count};
use super::error::FolderError;
use super::name::Name;
use super::snapshot::FileState;

/// What the decoder may look back on, as a power of two: 8 MB, more than our own level asks for.
const WINDOW_LOG_MAX: u32 = 23;

/// What an entry takes besides its content, at most: a name, a time, lengths.
const ENTRY_BYTES_MAX: u64 = 512;

/// What compressed bytes may take beyond that: frames.
const SLACK_BYTES: u64 = 1 << 20;

/// One record of an archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record {
    Folder(Name),
    Up,
    /// Its content is next.
    File {
        name: Name,
        modified: i64,
    },
    Gone(Name),
}

pub(super) struct ArchiveReader<R: Read> {
    input: BufReader<zstd::stream::read::Decoder<'static, BufReader<io::Take<R>>>>,
    kind: Kind,
    bounds: Bounds,
    count: Count,
    /// What is gone can't be more than what was there.
    gone: Count,
    /// The last name in each folder on the way down.
    way: Vec<Option<Name>>,
    part: Vec<u8>,
}

impl<R: Read> ArchiveReader<R> {
    pub fn new(input: R, kind: Kind, bounds: Bounds) -> Result<Self, FolderError> {
        let input = BufReader::new(input.take(compressed_bytes_max(&bounds)));
        let decoder = zstd::stream::read::Decoder::with_buffer(input).and_then(|mut decoder| {
            decoder.window_log_max(WINDOW_LOG_MAX)?;
            Ok(decoder.single_frame())
        });
        let input = BufReader::with_capacity(PART_BYTES_MAX, decoder.map_err(FolderError::read)?);
        let (count, gone) = (Count::new(bounds), Count::new(bounds));
        let part = vec![0; PART_BYTES_MAX];
        let mut reader = Self { input, kind, bounds, count, gone, way: vec![None], part };
        match reader.take::<8>()? == *kind.magic() {
            true => Ok(reader),
            false => Err(FolderError::Damaged("it doesn't begin as one")),
        }
    }

    /// How many bytes and entries were read.
    pub fn count(&self) -> Count {
        self.count
    }

    /// The next record, `None` behind the last. The content of a file must have been taken.
    pub fn next_record(&mut self) -> Result<Option<Record>, FolderError> {
        let [record] = self.take()?;
        let record = match record {
            FOLDER => {
                let name = self.name()?;
                self.count.entry()?;
                self.bounds.check_depth(self.way.len())?;
                self.way.push(None);
                Record::Folder(name)
            }
            UP if self.way.len() > 1 => {
                self.way.pop();
                Record::Up
            }
            FILE => {
                let name = self.name()?;
                self.count.entry()?;
                Record::File { name, modified: within_time(i64::from_le_bytes(self.take()?)) }
            }
            GONE if self.kind == Kind::Changes => {
                let name = self.name()?;
                self.gone.entry()?;
                Record::Gone(name)
            }
            END if self.way.len() == 1 => return self.check_end().map(|()| None),
            _ => return Err(FolderError::Damaged("a record in it can't be read")),
        };
        Ok(Some(record))
    }

    /// Hands on the content of a file, part by part.
    pub fn content(
        &mut self,
        modified: i64,
        mut to: impl FnMut(&[u8]) -> Result<(), FolderError>,
    ) -> Result<FileState, FolderError> {
        let (mut hasher, mut bytes) = (blake3::Hasher::new(), 0_u64);
        loop {
            let length = u32::from_le_bytes(self.take()?) as usize;
            if length == 0 {
                return Ok(FileState { bytes, modified, hash: hasher.finalize() });
            }
            let too_long = FolderError::Damaged("a part of a file in it is too long");
            let part = self.part.get_mut(..length).ok_or(too_long)?;
            bytes += length as u64;
            self.count.bytes(length as u64, bytes)?;
            self.input.read_exact(part).map_err(FolderError::read)?;
            hasher.update(part);
            to(part)?;
        }
    }

    fn name(&mut self) -> Result<Name, FolderError> {
        let [length] = self.take()?;
        let mut bytes = [0; u8::MAX as usize];
        let bytes = &mut bytes[..usize::from(length)];
        self.input.read_exact(bytes).map_err(FolderError::read)?;
        let name = Name::read(bytes).ok_or(FolderError::Damaged("it holds a name that isn't one"))?;
        if let Some(last) = self.way.last_mut() {
            if last.as_ref().is_some_and(|last| *last >= name) {
                return Err(FolderError::Damaged("its names are out of order"));
            }
            *last = Some(name.clone());
        }
        Ok(name)
    }

    /// Nothing comes behind the end: neither in the archive nor behind it.
    fn check_end(&mut self) -> Result<(), FolderError> {
        let more = FolderError::Damaged("it goes on after its end");
        if !self.input.fill_buf().map_err(FolderError::read)?.is_empty() {
            return Err(more);
        }
        let input = self.input.get_mut().get_mut();
        let rest = input.fill_buf().map_err(FolderError::read)?;
        if rest.is_empty() { Ok(()) } else { Err(more) }
    }

    fn take<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], FolderError> {
        let mut bytes = [0; COUNT];
        self.input.read_exact(&mut bytes).map_err(FolderError::read)?;
        Ok(bytes)
    }
}

/// More than an archive within the bounds has; what goes on longer seems to end there.
fn compressed_bytes_max(bounds: &Bounds) -> u64 {
    // Parts, and what can't be compressed, grow a little.
    let content = bounds.bytes.saturating_add(bounds.bytes / 64);
    let entries = bounds.entries.saturating_mul(2).saturating_mul(ENTRY_BYTES_MAX);
    content.saturating_add(entries).saturating_add(SLACK_BYTES)
}
