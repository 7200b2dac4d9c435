//! What can go wrong with a folder on its way.

use std::io;

use rustix::io::Errno;

use super::tree_hash::TreeHash;

/// A folder that was not packed, unpacked or changed. What an archive was unpacked into holds a part of it, and is to
/// be removed; what changes were applied to is as it was, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Whoever filled the folder, or wrote the archive, put too much into it.
    #[error("its files hold more than {bytes_max} bytes")]
    TooManyBytes { bytes_max: u64 },
    /// The same of one file.
    #[error("a file in it holds more than {bytes_max} bytes")]
    FileTooLarge { bytes_max: u64 },
    /// The same of their number.
    #[error("it holds more than {entries_max} files and folders")]
    TooManyEntries { entries_max: u64 },
    /// The same of folders inside each other.
    #[error("it has folders nested more than {depth_max} levels deep")]
    TooDeep { depth_max: usize },
    /// Whoever sent the archive wrote it wrongly, or it was cut on its way.
    #[error("the archive is damaged: {0}")]
    Damaged(&'static str),
    /// The sender of a tree said that it has another content. Nothing of it is kept.
    #[error("it was sent as tree {expected}, but it is {found}")]
    OtherTree { expected: TreeHash, found: TreeHash },
    /// All that could be removed was. The tree isn't kept; it can be used once others aren't any more.
    #[error("the cache of trees may hold {bytes_max} bytes, and what is in it is in use")]
    CacheFull { bytes_max: u64 },
    /// Our end of the line failed, or whoever should have sent more is gone.
    #[error("can't read the archive: {0}")]
    Read(io::Error),
    /// Our end of the line failed, or the disk that the archive goes to.
    #[error("can't write the archive: {0}")]
    Write(io::Error),
    /// This machine's file system says no.
    #[error("can't {what}: {source}")]
    System { what: &'static str, source: io::Error },
    /// The file system failed halfway through changes, and again when they were taken back. Every file in the folder
    /// is whole, but some are new and some old.
    #[error("only a part of the changes was applied, since {why}; they couldn't be taken back: {source}")]
    Mixed { why: Box<FolderError>, source: io::Error },
}

impl FolderError {
    /// For `map_err`: what was being done.
    pub(super) fn system<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> Self {
        move |error| Self::System { what, source: error.into() }
    }

    /// Of an archive that is being read.
    pub(super) fn read(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged("it ends too early"),
            _ => Self::Read(error),
        }
    }

    pub(super) fn errno(what: &'static str, error: Errno) -> Self {
        Self::System { what, source: error.into() }
    }
}
