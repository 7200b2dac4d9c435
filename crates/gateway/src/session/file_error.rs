//! Why a file of a workspace could not be read or written.

use gristmill_domain::one_line;
use rustix::io::Errno;

/// What of a path is shown in a message.
pub(super) const CHARS_SHOWN: usize = 120;

/// A file that could not be read or written. The others are untouched, and so is it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Not a path into a workspace.
    #[error("can't use the path `{path}`: {why}")]
    BadPath {
        /// As it was written, shortened.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    #[error("the pattern is longer than any path; write something like `data/**/*.csv`")]
    BadPattern,
    #[error("no file `{path}` in the workspace")]
    Missing { path: String },
    /// A folder is in its place.
    #[error("`{path}` is a folder")]
    IsFolder { path: String },
    /// A file is in the place of a folder.
    #[error("a part of `{path}` is a file, not a folder")]
    NotFolder { path: String },
    /// A link, which would lead elsewhere.
    #[error("`{path}` is a link or goes through one, and links aren't followed")]
    Link { path: String },
    /// A device, a pipe or a socket.
    #[error("`{path}` isn't a plain file")]
    Special { path: String },
    /// Bytes that are no text.
    #[error("`{path}` isn't UTF-8 text (byte {at}); read it as base64")]
    NotText {
        path: String,
        /// Where the first such byte is.
        at: u64,
    },
    #[error("the content isn't base64: {why}")]
    NotBase64 {
        /// What is wrong with it.
        why: String,
    },
    /// It would not fit.
    #[error("{0}")]
    Limit(String),
    /// Something else, in the system's words.
    #[error("can't use `{path}`: {why}")]
    System {
        path: String,
        /// What the system says.
        why: String,
    },
}

impl FileError {
    pub(super) fn system(path: &str, error: Errno) -> Self {
        let path = one_line(path, CHARS_SHOWN);
        match error {
            Errno::NOENT => FileError::Missing { path },
            Errno::LOOP | Errno::XDEV | Errno::MLINK => FileError::Link { path },
            Errno::NOTDIR => FileError::NotFolder { path },
            Errno::ISDIR => FileError::IsFolder { path },
            Errno::NXIO | Errno::NODEV => FileError::Special { path },
            Errno::NOSPC | Errno::DQUOT => FileError::Limit("the disk is full; free some space".to_owned()),
            error => FileError::System { path, why: error.to_string() },
        }
    }

    pub(super) fn io(path: &str, error: &std::io::Error) -> Self {
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(error) => Self::system(path, error),
            None => FileError::System { path: one_line(path, CHARS_SHOWN), why: error.to_string() },
        }
    }
}
