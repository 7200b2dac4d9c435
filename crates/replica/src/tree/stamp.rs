//! Telling without reading whether a file is still as it was when it was read.

use std::fs::File;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

use crate::manifest::Modified;

/// A program that has a file mapped to memory changes the file's time when it first writes to a page, and then not
/// again until the kernel has brought that page to the disk: after some 35 s, unless somebody has set it up otherwise.
/// A file that was changed longer ago than this has no such page.
pub(super) const SETTLED_AFTER: Duration = Duration::from_secs(60);

/// Two equal stamps of a path, the first of them settled, mean that its file was neither replaced nor changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    pub bytes: u64,
    pub modified: Modified,
    /// Of content or mode. Unlike the time of modification, no program can set it back.
    pub(super) changed: Modified,
}

impl Stamp {
    pub fn of(stat: &Stat) -> Self {
        Self {
            device: bits(stat.st_dev),
            inode: bits(stat.st_ino),
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified: time(stat.st_mtime, stat.st_mtime_nsec),
            changed: time(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Whether the last change was at least so long before `now`.
    pub fn is_settled(&self, now: SystemTime, after: Duration) -> bool {
        let Ok(seconds) = u64::try_from(self.changed.seconds) else { return true };
        let changed = UNIX_EPOCH.checked_add(Duration::new(seconds, self.changed.nanos));
        changed.and_then(|changed| changed.checked_add(after)).is_some_and(|settled| settled <= now)
    }
}

/// Whether a file's time tells of what is written to it through a mapping. One in memory is never brought to a disk, so
/// only the first write shows, and sometimes none.
#[cfg(target_os = "linux")]
pub(super) fn tells_of_changes(file: &File) -> bool {
    const TMPFS: u32 = 0x0102_1994;
    const RAMFS: u32 = 0x8584_58f6;
    rustix::fs::fstatfs(file).is_ok_and(|system| !matches!(bits(system.f_type) as u32, TMPFS | RAMFS))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn tells_of_changes(_file: &File) -> bool {
    true
}

/// The kinds of these numbers differ between systems.
fn bits(number: impl Into<i128>) -> u64 {
    number.into() as u64
}

fn time(seconds: impl Into<i128>, nanos: impl Into<i128>) -> Modified {
    Modified {
        seconds: i64::try_from(seconds.into()).unwrap_or(0),
        nanos: u32::try_from(nanos.into()).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_settled_when_its_last_change_is_long_ago() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        let check = |seconds: i64, nanos: u32, expected: bool| {
            let modified = Modified { seconds: 0, nanos: 0 };
            let changed = Modified { seconds, nanos };
            let stamp = Stamp { device: 1, inode: 1, bytes: 1, modified, changed };
            assert_eq!(stamp.is_settled(now, SETTLED_AFTER), expected, "{seconds}.{nanos}");
        };
        check(939, 900_000_000, true);
        check(940, 0, true);
        check(940, 1, false);
        check(999, 900_000_000, false);
        check(2_000, 1, false);
        check(-1, 5, true);
    }
}
