//! A JSON text that comes from a reader, in pieces of a fixed size.

use std::io::{self, Read};

use gristmill_json_text::{ScanError, Source};

use super::PathError;

/// What is held of the text at once.
const BUFFER_BYTES: usize = 64 << 10;

pub(super) struct ReadSource<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes that came before the buffer.
    before: u64,
}

impl<R: Read> ReadSource<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, before: 0 }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.before += self.end as u64;
        (self.start, self.end) = (0, 0);
        loop {
            match self.reader.read(&mut self.buffer) {
                Ok(count) => {
                    self.end = count.min(self.buffer.len());
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl<R: Read> Source for ReadSource<R> {
    type Error = io::Error;

    fn chunk(&mut self) -> io::Result<&[u8]> {
        if self.start >= self.end {
            self.fill()?;
        }
        Ok(self.buffer.get(self.start..self.end).unwrap_or_default())
    }

    fn advance(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
    }

    fn position(&self) -> u64 {
        self.before + self.start as u64
    }
}

impl From<ScanError<io::Error>> for PathError {
    fn from(error: ScanError<io::Error>) -> Self {
        match error {
            ScanError::NotJson { at } => PathError::Damaged { at },
            ScanError::Source(error) => PathError::Read(error),
        }
    }
}
