//! Copies of a client's file as it was before we changed it: beside it, or in the data folder if it is
//! a project's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gristmill_files::{WriteError, replace_keeping_mode};
use gristmill_gateway::domain::utc_text;

use super::places::{FileScope, Place};
use super::records::hash_of;

const MARK: &str = ".gristmill-backup-";
/// Changes of one file within one second.
const ATTEMPTS_MAX: usize = 100;

/// Writes one, for its owner only. It is whole when this returns.
pub fn save(place: &Place, data_folder: &Path, bytes: &[u8], now: SystemTime) -> Result<PathBuf, WriteError> {
    let stamp = stamp(now);
    let file = &base(place, data_folder);
    let numbered = (2..ATTEMPTS_MAX).map(|number| format!("{stamp}-{number}"));
    let mut names = std::iter::once(stamp.clone()).chain(numbered).map(|stamp| beside(file, &stamp));
    let free = names.find(|path| path.symlink_metadata().is_err());
    let path = free.ok_or_else(|| {
        let kind = std::io::ErrorKind::AlreadyExists;
        WriteError::system(file, std::io::Error::new(kind, "too many backups within one second"))
    })?;
    replace_keeping_mode(&path, bytes)?;
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
    match place.file_scope {
        FileScope::User => place.path.clone(),
        FileScope::Project => {
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
    utc_text(now).replace(['-', ':'], "")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        let check = |seconds: u64, expected: &str| {
            assert_eq!(stamp(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        };
        check(0, "19700101T000000Z");
        check(951_782_400, "20000229T000000Z");
        check(1_767_225_599, "20251231T235959Z");
        check(1_794_737_022, "20261115T100342Z");
    }
}
