//! The write-ahead log as a file: its header, its frames, and the checksums that chain them.
//!
//! A frame belongs to the log if it has the salts of the header and continues the chain; what stands behind may be of
//! an earlier round, or of a transaction that was never finished. Which frames are committed SQLite knows, not this.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::error::DatabaseError;
use super::pages::PAGE_BYTES;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;

/// With the lowest bit set, checksums read their words big-endian.
const MAGIC: u32 = 0x377f_0682;
const VERSION: u32 = 3_007_000;

/// What is read from the disk at once.
const CHUNK_BYTES: usize = 1 << 20;

/// A log, open for reading.
#[derive(Debug)]
pub(super) struct LogFile {
    file: File,
}

/// How a round of the log begins: each time the log begins anew, with other salts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogHeader {
    order: WordOrder,
    pub(super) page_bytes: u32,
    salts: [u8; 8],
    checksum: Checksum,
}

/// How far a round of the log was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) header: LogHeader,
    /// Frames before this place.
    pub(super) frames: u32,
    checksum: Checksum,
}

/// One frame: a page, and whether a transaction ends with it.
pub(super) struct Frame<'a> {
    pub(super) page_number: u32,
    /// Of the last frame of a transaction: how long the file is after it. Otherwise 0.
    pub(super) pages_in_file: u32,
    pub(super) page: &'a [u8],
}

impl LogFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Self { file })
    }

    /// Whether it is no longer in its folder, so that others write another one.
    pub(super) fn is_removed(&self) -> io::Result<bool> {
        Ok(self.file.metadata()?.nlink() == 0)
    }

    /// The header; `None` if there is none yet or it is half written.
    pub(super) fn header(&self) -> io::Result<Option<LogHeader>> {
        let mut bytes = [0; HEADER_BYTES];
        Ok(if self.read(&mut bytes, 0)? { LogHeader::parse(&bytes) } else { None })
    }

    /// Whether something stands at this place that looks like a frame of this round.
    pub(super) fn has_frame_at(&self, place: &Place) -> io::Result<bool> {
        let mut bytes = [0; FRAME_HEADER_BYTES];
        Ok(self.read(&mut bytes, place.offset())? && salts(&bytes) == place.header.salts)
    }

    /// Shows each frame from a place up to a number of frames, and gives the place behind them; `None` if not all of
    /// them are frames of this round. The first error of `visit` ends it.
    pub(super) fn frames(
        &self,
        from: &Place,
        until: u32,
        mut visit: impl FnMut(Frame<'_>) -> Result<(), DatabaseError>,
    ) -> Result<Option<Place>, DatabaseError> {
        let mut place = *from;
        let frame_bytes = place.frame_bytes();
        let chunk_frames = (CHUNK_BYTES / frame_bytes).max(1);
        let mut chunk = Vec::new();
        while place.frames < until {
            let count = chunk_frames.min((until - place.frames) as usize);
            chunk.resize(count * frame_bytes, 0);
            if !self.read(&mut chunk, place.offset())? {
                return Ok(None);
            }
            for bytes in chunk.chunks_exact(frame_bytes) {
                let Some(frame) = place.pass(bytes) else { return Ok(None) };
                visit(frame)?;
            }
        }
        Ok(Some(place))
    }

    /// Fills the buffer; `false` if the file ends before.
    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<bool> {
        match self.file.read_exact_at(buffer, offset) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl LogHeader {
    fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let order = match word(bytes, 0) ^ MAGIC {
            0 => WordOrder::Little,
            1 => WordOrder::Big,
            _ => return None,
        };
        let page_bytes = word(bytes, 8);
        let checksum = Checksum::default().over(&bytes[..24], order);
        let is_header = word(bytes, 4) == VERSION
            && PAGE_BYTES.contains(&page_bytes)
            && page_bytes.is_power_of_two()
            && checksum == Checksum(word(bytes, 24), word(bytes, 28));
        is_header.then(|| Self { order, page_bytes, salts: salts_at(bytes, 16), checksum })
    }
}

impl Place {
    /// Before the first frame.
    pub(super) fn first(header: LogHeader) -> Self {
        Self { header, frames: 0, checksum: header.checksum }
    }

    /// Where in the file it is.
    pub(super) fn offset(&self) -> u64 {
        HEADER_BYTES as u64 + u64::from(self.frames) * self.frame_bytes() as u64
    }

    fn frame_bytes(&self) -> usize {
        FRAME_HEADER_BYTES + self.header.page_bytes as usize
    }

    /// Goes on behind a frame, if these bytes are one of this round.
    fn pass<'a>(&mut self, bytes: &'a [u8]) -> Option<Frame<'a>> {
        let (header, page) = bytes.split_at(FRAME_HEADER_BYTES);
        let order = self.header.order;
        let checksum = self.checksum.over(&header[..8], order).over(page, order);
        let page_number = word(header, 0);
        let is_frame = page_number > 0
            && salts(header) == self.header.salts
            && checksum == Checksum(word(header, 16), word(header, 20));
        if !is_frame {
            return None;
        }
        self.frames += 1;
        self.checksum = checksum;
        Some(Frame { page_number, pages_in_file: word(header, 4), page })
    }
}

/// How a checksum reads the words that it adds up. The log's own numbers are always big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordOrder {
    Little,
    Big,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Checksum(u32, u32);

impl Checksum {
    /// The checksum after these bytes, a multiple of eight of them.
    fn over(self, bytes: &[u8], order: WordOrder) -> Self {
        match order {
            WordOrder::Little => self.fold(bytes, u32::from_le_bytes),
            WordOrder::Big => self.fold(bytes, u32::from_be_bytes),
        }
    }

    fn fold(self, bytes: &[u8], word: fn([u8; 4]) -> u32) -> Self {
        let (pairs, _) = bytes.as_chunks::<8>();
        let (mut first, mut second) = (self.0, self.1);
        for &[a, b, c, d, e, f, g, h] in pairs {
            first = first.wrapping_add(word([a, b, c, d])).wrapping_add(second);
            second = second.wrapping_add(word([e, f, g, h])).wrapping_add(first);
        }
        Self(first, second)
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(word)
}

/// The salts in a frame's header.
fn salts(frame_header: &[u8]) -> [u8; 8] {
    salts_at(frame_header, 8)
}

fn salts_at(bytes: &[u8], at: usize) -> [u8; 8] {
    let mut salts = [0; 8];
    salts.copy_from_slice(&bytes[at..at + 8]);
    salts
}
