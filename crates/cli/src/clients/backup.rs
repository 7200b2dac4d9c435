//! Copies of a client's file as it was before we changed it: beside it, or in the data folder if it is
//! a project's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::places::{Place, Reach};
use super::records::hash_of;
use crate::config::atomic_file::{self, WriteError};

const MARK: &str = ".gristmill-backup-";
/// Changes of one file within one second.
const ATTEMPTS_MAX: usize = 100;

/// Writes one, for its owner only. It is whole when this returns.
pub fn keep(place: &Place, data_folder: &Path, bytes: &[u8], now: SystemTime) -> Result<PathBuf, WriteError> {
    let stamp = stamp(now);
    let file = &base(place, data_folder);
    let numbered = (2..ATTEMPTS_MAX).map(|number| format!("{stamp}-{number}"));
    let mut names = std::iter::once(stamp.clone()).chain(numbered).map(|stamp| beside(file, &stamp));
    let free = names.find(|path| path.symlink_metadata().is_err());
    let path = free.ok_or_else(|| WriteError {
        path: file.to_owned(),
        source: std::io::Error::new(
            std::io::ErrorKind::AlreadyExists,
            "there are too many backups of this second",
        ),
    })?;
    atomic_file::write(&path, bytes)?;
    Ok(path)
}

/// Those that are there, oldest first.
pub fn list(place: &Place, data_folder: &Path) -> Vec<PathBuf> {
    let file = base(place, data_folder);
    let Some((folder, name)) = file.parent().zip(file.file_name()) else { return Vec::new() };
    let mut begins = name.to_os_string();
    begins.push(MARK);
    let begins = begins.to_string_lossy().into_owned();
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut found: Vec<PathBuf> = names
        .filter(|name| name.to_string_lossy().starts_with(&begins))
        .map(|name| folder.join(name))
        .collect();
    found.sort();
    found
}

/// The path that a backup's name begins with. In a repository a copy with secrets would be committed
/// sooner or later.
fn base(place: &Place, data_folder: &Path) -> PathBuf {
    match place.reach {
        Reach::User => place.path.clone(),
        Reach::Project => {
            let folder =
                hash_of(place.path.as_os_str().as_encoded_bytes()).chars().take(16).collect::<String>();
            let name = place.path.file_name().unwrap_or_default();
            data_folder.join("backups").join(folder).join(name)
        }
    }
}

fn beside(file: &Path, stamp: &str) -> PathBuf {
    let mut name = file.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!("{MARK}{stamp}"));
    file.with_file_name(name)
}

/// `20261115T100342Z`
pub fn stamp(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / 86_400);
    let clock = seconds % 86_400;
    format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", clock / 3600, clock / 60 % 60, clock % 60)
}

/// The Gregorian date of a day since 1970, by eras of 400 years that begin in March.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        let check = |seconds: u64, expected: &str| {
            assert_eq!(stamp(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        };
        check(0, "19700101T000000Z");
        check(951_782_400, "20000229T000000Z");
        check(1_767_225_599, "20251231T235959Z");
        check(1_794_737_022, "20261115T100342Z");
    }
}
