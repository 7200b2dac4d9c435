//! Bytes of unknown number: in memory while they are few, else in a file that has no name.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, openat};
use rustix::io::Errno;

/// Takes bytes. `F` gives the file when it is needed.
pub struct Spool<F> {
    memory: Vec<u8>,
    memory_max: usize,
    file: Option<File>,
    open: F,
    bytes: u64,
}

impl<F: FnMut() -> io::Result<File>> Spool<F> {
    /// Keeps `memory_max` bytes in memory, at most.
    pub fn new(memory_max: usize, open: F) -> Self {
        Self { memory: Vec::new(), memory_max, file: None, open, bytes: 0 }
    }

    /// All bytes, from the first.
    pub fn finish(self) -> io::Result<Spooled> {
        let content = match self.file {
            None => Content::Memory(Cursor::new(self.memory)),
            Some(mut file) => {
                file.seek(SeekFrom::Start(0))?;
                Content::File(file)
            }
        };
        Ok(Spooled { content, bytes: self.bytes })
    }
}

impl<F: FnMut() -> io::Result<File>> Write for Spool<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match &mut self.file {
            Some(file) => file.write(bytes)?,
            None if self.memory.len() + bytes.len() <= self.memory_max => {
                self.memory.extend_from_slice(bytes);
                bytes.len()
            }
            None => {
                let mut file = (self.open)()?;
                file.write_all(&self.memory)?;
                self.memory = Vec::new();
                self.file.insert(file).write(bytes)?
            }
        };
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.flush(),
            None => Ok(()),
        }
    }
}

/// All that a spool took, to be read once.
#[derive(Debug)]
pub struct Spooled {
    content: Content,
    bytes: u64,
}

#[derive(Debug)]
enum Content {
    Memory(Cursor<Vec<u8>>),
    File(File),
}

impl Spooled {
    /// How many there are, those that were read among them.
    pub fn total_bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether all of it is in memory.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.content, Content::Memory(_))
    }
}

impl Read for Spooled {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.content {
            Content::Memory(bytes) => bytes.read(buffer),
            Content::File(file) => file.read(buffer),
        }
    }
}

/// Names for files that lose theirs at once.
const NAMES: u32 = 1000;

/// A file in this folder that has no name: it is gone when it is closed, however that comes about.
pub fn unlinked_file(folder: BorrowedFd<'_>) -> io::Result<File> {
    match without_name(folder) {
        Ok(file) => Ok(file.into()),
        // Not every file system can.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::NOSYS | Errno::INVAL) => {
            create_and_unlink(folder)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(target_os = "linux")]
fn without_name(folder: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    openat(folder, c".", flags, Mode::RUSR | Mode::WUSR)
}

#[cfg(not(target_os = "linux"))]
fn without_name(_: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

fn create_and_unlink(folder: BorrowedFd<'_>) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for number in 0..NAMES {
        let name = format!(".spool-{}-{number}", std::process::id());
        match openat(folder, name.as_str(), flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::EXIST) => {}
            opened => {
                let file = opened?;
                rustix::fs::unlinkat(folder, name.as_str(), AtFlags::empty())?;
                return Ok(file.into());
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::super::tests::World;
    use super::*;

    fn check(file: impl FnMut() -> io::Result<File>, memory_max: usize, is_in_memory: bool) {
        let mut spool = Spool::new(memory_max, file);
        for part in [&b"one "[..], b"", b"two ", b"three"] {
            spool.write_all(part).expect("it takes all");
        }
        spool.flush().expect("flushed");
        let mut spooled = spool.finish().expect("it can be read");
        assert_eq!((spooled.total_bytes(), spooled.is_in_memory()), (13, is_in_memory));
        let mut text = String::new();
        spooled.read_to_string(&mut text).expect("text");
        assert_eq!(text, "one two three");
    }

    #[test]
    fn few_bytes_stay_in_memory_and_many_go_to_a_file_without_a_name() {
        let world = World::new("spool");
        let folder = world.folder("at");
        check(|| unreachable!("13 bytes fit"), 13, true);
        for memory_max in [0, 3, 4, 12] {
            check(|| unlinked_file(folder.as_fd()), memory_max, false);
            check(|| create_and_unlink(folder.as_fd()), memory_max, false);
        }
        assert_eq!(world.names("at"), [""; 0]);
    }
}
