//! A configuration file's bytes: regular files only, capped, and text.

use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The largest file that is read. The largest real one known is a hundredth of it.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// A file that cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system says no.
    #[error("can't be read: {0}")]
    Io(#[from] io::Error),
    /// A folder, a pipe, a device.
    #[error("isn't a regular file")]
    NotAFile,
    #[error("is larger than {} MB, which no configuration is", .max_bytes >> 20)]
    TooLarge {
        /// The largest that is read.
        max_bytes: u64,
    },
    #[error("isn't UTF-8 text (at byte {0})")]
    NotText(usize),
    /// No format goes by this name.
    #[error("has no known extension; use .toml, .yaml, .yml or .json")]
    UnknownFormat,
}

/// A file as it was at one moment: what is hashed is what is parsed.
#[derive(Clone, PartialEq, Eq)]
pub struct FileText {
    /// Where it was found.
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    /// Whether anyone but its owner may write it.
    pub writable_by_others: bool,
}

/// Files hold secrets that someone wrote down.
impl std::fmt::Debug for FileText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FileText({}, {} bytes)", self.path.display(), self.bytes.len())
    }
}

impl FileText {
    /// Reads it. Links are followed; a pipe does not keep us waiting.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Self::read_within(path, FILE_BYTES_MAX)
    }

    /// The same, with another bound.
    pub fn read_within(path: &Path, max_bytes: u64) -> Result<Self, ReadError> {
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let file = std::fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(ReadError::NotAFile);
        }
        let mut bytes = Vec::new();
        // The size is not taken from the metadata: a file may grow while it is read.
        file.take(max_bytes + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_bytes {
            return Err(ReadError::TooLarge { max_bytes });
        }
        Ok(Self { path: path.to_owned(), bytes, writable_by_others: metadata.mode() & 0o022 != 0 })
    }

    /// The same, or nothing if there is no such file.
    pub fn read_if_there(path: &Path) -> Result<Option<Self>, ReadError> {
        Self::read_if_there_within(path, FILE_BYTES_MAX)
    }

    /// The same, with another bound.
    pub fn read_if_there_within(path: &Path, max_bytes: u64) -> Result<Option<Self>, ReadError> {
        match Self::read_within(path, max_bytes) {
            Ok(file) => Ok(Some(file)),
            Err(ReadError::Io(error))
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Its text, without a byte order mark.
    pub fn text(&self) -> Result<&str, ReadError> {
        let text =
            std::str::from_utf8(&self.bytes).map_err(|error| ReadError::NotText(error.valid_up_to()))?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
    }
}
