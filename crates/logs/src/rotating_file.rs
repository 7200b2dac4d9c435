//! A log file that begins anew when it is large, with a few of those before it kept beside it. Several
//! processes may write to it at once: each line is one append, and one of them turns the files over.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use gristmill_files::{FileLock, make_private_folder};

/// A log begins anew at this size.
pub const FILE_BYTES_MAX: u64 = 5 * 1024 * 1024;

/// How many files there are, the one that is written among them.
pub const FILES_MAX: usize = 4;

pub(crate) struct RotatingFile {
    path: PathBuf,
    bytes_max: u64,
    files_max: usize,
    file: File,
    /// Of the open file: its device and its number there.
    identity: (u64, u64),
}

impl RotatingFile {
    /// For its owner alone, if it is not there yet.
    pub fn open(path: &Path, bytes_max: u64, files_max: usize) -> io::Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_private_folder(folder)?;
        }
        let (file, identity) = open(path)?;
        Ok(Self { path: path.to_owned(), bytes_max, files_max, file, identity })
    }

    /// One line, with its end.
    pub fn write(&mut self, line: &[u8]) -> io::Result<()> {
        match std::fs::metadata(&self.path) {
            Ok(found) if identity(&found) == self.identity => {
                if found.is_file() && found.len() + line.len() as u64 > self.bytes_max && found.len() > 0 {
                    self.turn_over()?;
                }
            }
            // Another process has turned it over, or somebody has removed it.
            Ok(_) | Err(_) => self.reopen()?,
        }
        self.file.write_all(line)
    }

    fn reopen(&mut self) -> io::Result<()> {
        (self.file, self.identity) = open(&self.path)?;
        Ok(())
    }

    /// Unless another process did so while we waited.
    fn turn_over(&mut self) -> io::Result<()> {
        let _lock = FileLock::take(&self.numbered("lock"))?;
        let is_same = std::fs::metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity);
        if is_same {
            for number in (1..self.files_max.saturating_sub(1)).rev() {
                let _ = std::fs::rename(self.numbered(number), self.numbered(number + 1));
            }
            match self.files_max {
                0 | 1 => std::fs::remove_file(&self.path)?,
                _ => std::fs::rename(&self.path, self.numbered(1))?,
            }
        }
        self.reopen()
    }

    fn numbered(&self, end: impl std::fmt::Display) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(format!(".{end}"));
        PathBuf::from(name)
    }
}

fn open(path: &Path) -> io::Result<(File, (u64, u64))> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    let identity = identity(&file.metadata()?);
    Ok((file, identity))
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn files(folder: &Path) -> Vec<(String, u64)> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        let mut files: Vec<(String, u64)> = entries
            .map(|entry| {
                let metadata = entry.metadata().expect("a file");
                assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
                (entry.file_name().to_string_lossy().into_owned(), metadata.len())
            })
            .filter(|(name, _)| !name.ends_with(".lock"))
            .collect();
        files.sort();
        files
    }

    #[test]
    fn a_log_stays_within_its_files_and_only_its_owner_reads_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("logs").join("a.log");
        let mut log = RotatingFile::open(&path, 100, 3).expect("a log");
        for _ in 0..100 {
            log.write(b"twenty bytes, a line\n").expect("a line");
        }
        let expected = ["a.log", "a.log.1", "a.log.2"].map(|name| (name.to_owned(), 84));
        assert_eq!(files(path.parent().expect("a folder")), expected);
    }

    #[test]
    fn two_processes_turn_a_log_over_without_losing_a_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.log");
        let write = |letter: char| {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut log = RotatingFile::open(&path, 4000, 50).expect("a log");
                for number in 0..1000 {
                    log.write(format!("{letter}{number:03}\n").as_bytes()).expect("a line");
                }
            })
        };
        for thread in [write('a'), write('b')] {
            thread.join().expect("a writer");
        }
        let mut lines: Vec<String> = Vec::new();
        for (name, bytes) in files(folder.path()) {
            assert!(bytes <= 4100, "{name} has {bytes}");
            let text = std::fs::read_to_string(folder.path().join(name)).expect("a log");
            lines.extend(text.lines().map(str::to_owned));
        }
        lines.sort();
        let expected = ["a", "b"].iter().flat_map(|letter| (0..1000).map(move |n| format!("{letter}{n:03}")));
        assert_eq!(lines, expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_log_that_was_removed_begins_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.log");
        let mut log = RotatingFile::open(&path, 100, 3).expect("a log");
        log.write(b"one\n").expect("a line");
        std::fs::remove_file(&path).expect("removed");
        log.write(b"two\n").expect("a line");
        assert_eq!(std::fs::read_to_string(&path).expect("a log"), "two\n");
    }
}
