//! What a file is at a moment, although programs may write to it meanwhile.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::time::{Duration, SystemTime};

use rustix::fs::FileType;
use rustix::io::Errno;

use super::beneath;
use super::stamp::{Stamp, tells_of_changes};
use super::walk::SkippedWhy;
use crate::manifest::FileState;
use crate::seal::{ContentHash, Seal};

/// Larger ones are left out.
const FILE_BYTES_MAX: u64 = 64 << 30;

/// How often a file that changes is read.
const TRIES: usize = 3;

/// What is read at once.
pub(super) const PIECE_BYTES: usize = 128 << 10;

pub(super) enum Measured {
    File {
        state: FileState,
        /// `None` if a change from now on might not show.
        stamp: Option<Stamp>,
    },
    /// There is no file of this name any more.
    Gone,
    Skipped(SkippedWhy),
}

/// The state of the file of this name, without its content. Its stamp counts if its last change was so long ago.
pub(super) fn measure(
    at: BorrowedFd<'_>,
    name: &[u8],
    seal: &Seal,
    settled_after: Duration,
) -> io::Result<Measured> {
    for _ in 0..TRIES {
        let file = match beneath::open_file(at, name) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(Measured::Gone),
            Err(Errno::ACCESS | Errno::PERM) => return Ok(Measured::Skipped(SkippedWhy::Unreadable)),
            // A program has a lease on it, and has to give that back first.
            Err(Errno::AGAIN) => return Ok(Measured::Skipped(SkippedWhy::Changing)),
            Err(error) => return Err(error.into()),
        };
        let now = SystemTime::now();
        let stat = rustix::fs::fstat(&file)?;
        if beneath::kind_of(&stat) != FileType::RegularFile {
            return Ok(Measured::Gone);
        }
        let before = Stamp::of(&stat);
        if before.bytes > FILE_BYTES_MAX {
            return Ok(Measured::Skipped(SkippedWhy::TooLarge));
        }
        let (hash, bytes) = hash(&file, before.bytes, seal)?;
        if bytes == before.bytes && Stamp::of(&rustix::fs::fstat(&file)?) == before {
            let mode = beneath::mode_of(&stat);
            let state = FileState { hash, bytes, mode, modified: before.modified, inline: None };
            let is_trusted = before.is_settled(now, settled_after) && tells_of_changes(&file);
            return Ok(Measured::File { state, stamp: is_trusted.then_some(before) });
        }
    }
    Ok(Measured::Skipped(SkippedWhy::Changing))
}

/// The name of a file's content, and how long it is; a file that has grown beyond `bytes` is not read to its end.
pub(super) fn hash(file: &File, bytes: u64, seal: &Seal) -> io::Result<(ContentHash, u64)> {
    let mut hasher = seal.content_hasher();
    let room = usize::try_from(bytes.saturating_add(1)).unwrap_or(PIECE_BYTES);
    let mut piece = vec![0; room.min(PIECE_BYTES)];
    let (mut file, mut length) = (file.take(bytes.saturating_add(1)), 0);
    loop {
        let count = match file.read(&mut piece) {
            Ok(0) => return Ok((hasher.finish(), length)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(piece.get(..count).unwrap_or(&piece));
        length += count as u64;
    }
}
