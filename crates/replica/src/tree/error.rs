//! What can go wrong with the kept files of a data folder.

use std::io;

use super::path::TreePath;

/// Nothing was taken. What was committed before is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// Whoever set up the data folder has it elsewhere: it can't be kept together with others.
    #[error(
        "{path} in the data folder is a link or something else unexpected; replace it with what it stands for"
    )]
    Unexpected { path: TreePath },
    /// Whoever asks made it up.
    #[error("{id:?} isn't the id of a session")]
    NotASession { id: String },
    /// This machine's file system says no.
    #[error("can't {what} {path} in the data folder: {source}")]
    System { what: &'static str, path: TreePath, source: io::Error },
    /// The same of the data folder itself.
    #[error("can't open the data folder {path}: {source}")]
    Folder { path: String, source: io::Error },
}

/// Not everything was applied. What was is whole: each file is as it was before or as it is to be. Once the reason is
/// gone, the same can be applied again.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Nothing was touched. Whoever wrote the entry has another version, or means harm.
    #[error("{path} isn't a path that is kept together")]
    NotKept { path: TreePath },
    /// Something else is in the place of a folder on this machine. Nothing was reached through it.
    #[error("{path} in the data folder is a link or something else that isn't a folder; move it away")]
    NotAFolder { path: TreePath },
    /// What came is not what was announced. The file is as it was.
    #[error("the content for {path} isn't the one that was announced")]
    OtherContent { path: TreePath },
    /// The content didn't come. The file is as it was.
    #[error("can't get the content for {path}: {source}")]
    Fetch { path: TreePath, source: io::Error },
    /// This machine's file system says no.
    #[error("can't {what} {path} in the data folder: {source}")]
    System { what: &'static str, path: TreePath, source: io::Error },
    /// The same, of what is there already.
    #[error(transparent)]
    Scan(#[from] ScanError),
}

impl ScanError {
    /// For `map_err`: what was being done, and to what.
    pub(super) fn system<E: Into<io::Error>>(what: &'static str, path: &TreePath) -> impl FnOnce(E) -> Self {
        let path = path.clone();
        move |error| Self::System { what, path, source: error.into() }
    }
}

impl ApplyError {
    pub(super) fn system<E: Into<io::Error>>(what: &'static str, path: &TreePath) -> impl FnOnce(E) -> Self {
        let path = path.clone();
        move |error| Self::System { what, path, source: error.into() }
    }
}
