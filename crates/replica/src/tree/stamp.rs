//! Telling without reading whether a file is still as it was when it was read.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

use crate::manifest::Modified;

/// The clock of files stands still for up to a hundredth of a second: two changes within it have the same time.
const SETTLED_AFTER: Duration = Duration::from_millis(50);

/// The same where times have no fractions of a second.
const SETTLED_AFTER_COARSE: Duration = Duration::from_secs(2);

/// Two equal stamps of a path, the first of them settled, mean that its file was neither replaced nor changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    pub bytes: u64,
    pub modified: Modified,
    /// Of content or mode. Unlike the time of modification, no program can set it back.
    changed: Modified,
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

    /// Whether a change from `now` on would show.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let after = match self.changed.nanos {
            0 => SETTLED_AFTER_COARSE,
            _ => SETTLED_AFTER,
        };
        let Ok(seconds) = u64::try_from(self.changed.seconds) else { return true };
        let changed = UNIX_EPOCH.checked_add(Duration::new(seconds, self.changed.nanos));
        changed.and_then(|changed| changed.checked_add(after)).is_some_and(|settled| settled <= now)
    }
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
    fn a_file_that_has_just_changed_may_change_again_unseen() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        let check = |seconds: i64, nanos: u32, expected: bool| {
            let modified = Modified { seconds: 0, nanos: 0 };
            let changed = Modified { seconds, nanos };
            let stamp = Stamp { device: 1, inode: 1, bytes: 1, modified, changed };
            assert_eq!(stamp.is_settled(now), expected, "{seconds}.{nanos}");
        };
        check(999, 900_000_000, true);
        check(999, 960_000_000, false);
        check(1_000, 1, false);
        check(2_000, 1, false);
        check(999, 0, false);
        check(998, 0, true);
        check(-1, 5, true);
    }
}
