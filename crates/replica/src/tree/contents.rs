//! Contents on their way: each is checked against the name that it was announced with.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::Arc;

use super::beneath;
use super::path::TreePath;
use super::root::Root;
use crate::seal::{ContentHash, ContentHasher, Seal};

/// A content that has to be stored before the entry that names it.
#[derive(Clone, Debug)]
pub struct StoredContent {
    pub path: TreePath,
    pub hash: ContentHash,
    pub bytes: u64,
    root: Arc<Root>,
}

impl StoredContent {
    pub(super) fn new(root: &Arc<Root>, path: TreePath, hash: ContentHash, bytes: u64) -> Self {
        Self { path, hash, bytes, root: Arc::clone(root) }
    }

    /// Opens the file. If it isn't what was scanned any more, reading it fails at the latest with its last byte: then
    /// the scan has to be made again.
    pub fn open(&self, seal: &Seal) -> io::Result<CheckedReader<File>> {
        let Some(above) = self.root.above(&self.path)? else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let (_, name) = self.path.split();
        let file = beneath::open_file(above.as_fd(), name)?;
        match file.metadata()?.is_file() {
            true => Ok(CheckedReader::new(file, self.hash, self.bytes, seal)),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Gives exactly the content of this name, or an error of the kind [`io::ErrorKind::InvalidData`] in place of its end.
#[derive(Debug)]
pub struct CheckedReader<R> {
    inner: R,
    hash: ContentHash,
    left: u64,
    hasher: ContentHasher,
    is_checked: bool,
}

impl<R: Read> CheckedReader<R> {
    pub fn new(inner: R, hash: ContentHash, bytes: u64, seal: &Seal) -> Self {
        Self { inner, hash, left: bytes, hasher: seal.content_hasher(), is_checked: false }
    }

    /// Before the last piece is handed out: whoever counts the bytes doesn't ask for the end.
    fn check_at_end(&mut self) -> io::Result<()> {
        if self.left == 0 && !self.is_checked {
            if self.hasher.finish() != self.hash {
                return Err(other_content());
            }
            self.is_checked = true;
        }
        Ok(())
    }
}

impl<R: Read> Read for CheckedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 || buffer.is_empty() {
            return self.check_at_end().map(|()| 0);
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let piece = buffer.get_mut(..room).unwrap_or_default();
        let count = self.inner.read(piece)?;
        if count == 0 {
            return Err(other_content());
        }
        self.hasher.update(piece.get(..count).unwrap_or_default());
        self.left = self.left.saturating_sub(count as u64);
        self.check_at_end().map(|()| count)
    }
}

/// What came has another name, or another length.
#[derive(Debug, thiserror::Error)]
#[error("it isn't the content that was announced")]
struct OtherContent;

fn other_content() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, OtherContent)
}

/// Whether a [`CheckedReader`] says that what came is not what was announced.
pub(super) fn is_other_content(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<OtherContent>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_content_is_refused_with_its_last_byte() {
        let seal = Seal::of(&[7; 32]);
        let check = |content: &[u8], bytes: u64, expected: Option<&[u8]>| {
            let mut reader = CheckedReader::new(content, seal.content_hash(b"content"), bytes, &seal);
            let mut read = vec![0; usize::try_from(bytes).expect("small")];
            let outcome = reader.read_exact(&mut read).and_then(|()| reader.read_to_end(&mut Vec::new()));
            assert_eq!(outcome.ok().map(|_| read).as_deref(), expected, "{content:?}");
        };
        check(b"content", 7, Some(b"content"));
        check(b"contenX", 7, None);
        check(b"conten", 7, None);
        check(b"content", 6, None);
        check(b"content", 0, None);
        // What follows is not part of it.
        check(b"contents", 7, Some(b"content"));
    }
}
