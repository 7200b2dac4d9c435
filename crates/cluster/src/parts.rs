//! Folders are sent in parts.

use std::io::{self, Read};

use crate::folders::Spooled;

/// The next part of something; shorter than it could be only at the end. Blocks on the disk.
pub(crate) fn next_part(from: &mut Spooled, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut part = Vec::with_capacity(bytes_max.min(64 * 1024));
    from.take(bytes_max as u64).read_to_end(&mut part)?;
    Ok(part)
}
