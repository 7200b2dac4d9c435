//! Folders are sent in parts, unless there is nothing in them.

use std::io::{self, Read};
use std::os::fd::OwnedFd;

use rustix::fs::Dir;

use crate::folders::Spooled;

/// The next part of something; shorter than it could be only at the end. Blocks on the disk.
pub(crate) fn next_part(from: &mut Spooled, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut part = Vec::with_capacity(bytes_max.min(64 * 1024));
    from.take(bytes_max as u64).read_to_end(&mut part)?;
    Ok(part)
}

/// Whether there is nothing in a folder. One that can't be read may hold something.
pub(crate) fn is_empty(folder: &OwnedFd) -> bool {
    let Ok(entries) = Dir::read_from(folder) else { return false };
    let found: Vec<_> = entries.take(3).collect();
    // Two are the folder itself and the one above.
    found.len() <= 2 && found.iter().all(Result::is_ok)
}
