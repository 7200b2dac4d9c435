//! Reads a log file that another process writes: its last lines, and those that come, also when the file
//! begins anew.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What is read at once. A log begins anew at 5 MB at the latest.
const READ_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// One log, and how far it was read.
pub struct LogReader {
    pub path: PathBuf,
    /// Kept open: what was written to it before it was moved away is read, too.
    file: Option<File>,
    offset: u64,
    /// The beginning of a line whose end isn't written yet.
    unfinished: Vec<u8>,
}

impl LogReader {
    pub fn new(path: PathBuf) -> Self {
        Self { path, file: None, offset: 0, unfinished: Vec::new() }
    }

    /// The last of the lines that are wanted, of older files as well, as many as there are of those; `None`
    /// if there is no log.
    pub fn last(
        &mut self,
        lines: usize,
        older: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> io::Result<Option<VecDeque<String>>> {
        let mut found = VecDeque::new();
        let mut take = |line: &str| {
            if is_wanted(line) {
                found.push_back(line.to_owned());
            }
            if found.len() > lines {
                found.pop_front();
            }
        };
        let mut is_there = false;
        for number in (1..=older).rev() {
            if let Some(file) = open(&numbered(&self.path, number))? {
                is_there = true;
                for line in BufReader::new(file).split(b'\n') {
                    take(&String::from_utf8_lossy(&line?));
                }
            }
        }
        let text = self.read_new()?;
        text.lines().for_each(take);
        Ok((is_there || self.file.is_some()).then_some(found))
    }

    /// Whole lines that were not read before.
    pub fn read_new(&mut self) -> io::Result<String> {
        let mut text = match self.file.is_some() {
            true => self.read_open()?,
            false => String::new(),
        };
        let next = match open(&self.path)? {
            Some(next) if self.is_another(&next)? => next,
            Some(_) | None => return Ok(text),
        };
        self.file = Some(next);
        self.offset = 0;
        self.unfinished.clear();
        text.push_str(&self.read_open()?);
        Ok(text)
    }

    fn is_another(&self, next: &File) -> io::Result<bool> {
        let Some(file) = &self.file else { return Ok(true) };
        let (file, next) = (file.metadata()?, next.metadata()?);
        Ok((file.dev(), file.ino()) != (next.dev(), next.ino()))
    }

    fn read_open(&mut self) -> io::Result<String> {
        let Some(file) = &mut self.file else { return Ok(String::new()) };
        if file.metadata()?.len() < self.offset {
            self.offset = 0;
            self.unfinished.clear();
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let read = file.take(READ_BYTES_MAX).read_to_end(&mut self.unfinished)?;
        self.offset += read as u64;
        let whole = self.unfinished.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let rest = self.unfinished.split_off(whole);
        let lines = std::mem::replace(&mut self.unfinished, rest);
        Ok(String::from_utf8_lossy(&lines).into_owned())
    }
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_are_read_once_and_a_log_that_begins_anew_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.log");
        let mut log = LogReader::new(path.clone());
        let mut check = |content: &str, expected: &str| {
            std::fs::write(&path, content).expect("a file");
            assert_eq!(log.read_new().expect("a log"), expected, "{content:?}");
        };
        check("one\ntwo\nunfin", "one\ntwo\n");
        check("one\ntwo\nunfinished\n", "unfinished\n");
        check("one\ntwo\nunfinished\n", "");
        check("new\n", "new\n");
    }

    #[test]
    fn lines_that_were_written_before_the_log_was_moved_away_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.log");
        std::fs::write(&path, "one\n").expect("a file");
        let mut log = LogReader::new(path.clone());
        assert_eq!(log.read_new().expect("a log"), "one\n");
        std::fs::write(&path, "one\ntwo\n").expect("a file");
        std::fs::rename(&path, numbered(&path, 1)).expect("moved");
        std::fs::write(&path, "three\n").expect("a file");
        assert_eq!(log.read_new().expect("a log"), "two\nthree\n");
    }

    #[test]
    fn the_last_lines_are_those_of_older_files_as_well() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.log");
        let is_wanted = |line: &str| line != "b";
        assert_eq!(LogReader::new(path.clone()).last(9, 3, is_wanted).expect("no error"), None);
        std::fs::write(numbered(&path, 2), "a\nb\n").expect("a file");
        std::fs::write(numbered(&path, 1), "c\n").expect("a file");
        std::fs::write(&path, "d\n").expect("a file");
        let check = |lines: usize, expected: &[&str]| {
            let found = LogReader::new(path.clone()).last(lines, 3, is_wanted).expect("a log");
            assert_eq!(found.expect("a log"), expected);
        };
        check(9, &["a", "c", "d"]);
        check(2, &["c", "d"]);
        check(0, &[]);
    }
}
