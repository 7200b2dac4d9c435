//! Copies of a client's file as it was before we changed it: beside it, or in the data folder if it is
//! a project's.

use std::ffi::OsString;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gristmill_files::{WriteError, replace_keeping_mode};
use gristmill_gateway::domain::utc_text;

use super::places::{FileScope, Place};
use super::records::hash_of;

const MARK: &str = ".gristmill-backup-";
/// Changes of one file within one second.
const ATTEMPTS_MAX: usize = 100;
/// What a stamp looks like; each `0` is any digit.
const STAMP_FORM: &[u8] = b"00000000T000000Z";

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

/// Those that are there, oldest first: plain files with a name that we give. Others may be anybody's.
pub fn list(place: &Place, data_folder: &Path) -> Vec<PathBuf> {
    let file = base(place, data_folder);
    let Some((folder, name)) = file.parent().zip(file.file_name()) else { return Vec::new() };
    let mut begins = name.to_os_string();
    begins.push(MARK);
    let is_backup = |entry: &DirEntry| {
        let name = entry.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(begins.as_encoded_bytes());
        rest.is_some_and(is_stamp) && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        entries.flatten().filter(is_backup).map(|entry| folder.join(entry.file_name())).collect();
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

/// Whether a name ends like this when we give it: `20261115T100342Z`, or `20261115T100342Z-2`.
fn is_stamp(text: &[u8]) -> bool {
    let Some((moment, number)) = text.split_at_checked(STAMP_FORM.len()) else { return false };
    let is_moment = moment.iter().zip(STAMP_FORM).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    });
    let is_number = || (2..ATTEMPTS_MAX).any(|known| number == format!("-{known}").as_bytes());
    is_moment && (number.is_empty() || is_number())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gristmill_config::format::Format;

    use super::*;
    use crate::known::Client;
    use crate::places::Block;

    #[test]
    fn only_plain_files_with_a_stamp_of_ours_are_backups() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place {
            client: Client::Cursor,
            file_scope: FileScope::User,
            path: folder.path().join("mcp.json"),
            format: Format::Json,
            block: Block::Top("mcpServers"),
        };
        let mut saved = Vec::new();
        for _ in 0..3 {
            saved.push(save(&place, folder.path(), b"{}", SystemTime::UNIX_EPOCH).expect("a backup"));
        }
        let at = |rest: &str| folder.path().join(format!("mcp.json{MARK}{rest}"));
        assert_eq!(saved, [at("19700101T000000Z"), at("19700101T000000Z-2"), at("19700101T000000Z-3")]);
        let others = [
            "",
            "mine",
            "20261115",
            "2026-11-15T10:03:42Z",
            "20261115T100342",
            "20261115T10034xZ",
            "20261115T100342Z.txt",
            "20261115T100342Z-",
            "20261115T100342Z-1",
            "20261115T100342Z-02",
            "20261115T100342Z-100",
            "20261115T100342Z-2-3",
        ];
        for rest in others {
            std::fs::write(at(rest), "mine").expect("a file");
        }
        std::fs::create_dir(at("20261115T100342Z")).expect("a folder");
        std::os::unix::fs::symlink(at("mine"), at("20261115T100343Z")).expect("a link");
        assert_eq!(list(&place, folder.path()), saved);
    }

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
