//! How much a folder holds, whoever filled it.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// More entries than any limit permits: there is no need to count on.
const ENTRIES_MAX: u64 = 1_000_001;

/// Deeper than any program can make it.
const DEPTH_MAX: usize = 256;

/// Bytes and entries below a folder, links not followed. By descriptor: a path can be too long to
/// be named, and what cannot be named must still count. A program may work in it meanwhile: what is gone
/// between two looks holds nothing.
pub(crate) fn measure(folder: &OwnedFd, depth: usize, found: &mut (u64, u64)) -> std::io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(std::io::Error::other(format!(
            "it has folders nested more than {DEPTH_MAX} levels deep"
        )));
    }
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = match entry {
            // The folder itself was removed.
            Err(Errno::NOENT) => return Ok(()),
            entry => entry?,
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => continue,
            outcome => outcome?,
        };
        found.1 += 1;
        if found.1 > ENTRIES_MAX {
            return Ok(());
        }
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match rustix::fs::openat(folder, name, flags, Mode::empty()) {
                // Something else has its name by now.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                below => measure(&below?, depth + 1, found)?,
            }
        } else {
            found.0 += u64::try_from(stat.st_size).unwrap_or(0);
        }
    }
    Ok(())
}
