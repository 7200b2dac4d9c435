//! Why a state can't be shared.

use std::path::PathBuf;

use gristmill_replica::database::DatabaseError;

use super::log::{AppendError, BlobError, LogError};

/// Nothing was changed unless it's said.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("can't use the data folder {}: {why}", .folder.display())]
    Folder { folder: PathBuf, why: String },
    /// Another process has it.
    #[error("another gateway uses the data folder {}; each needs one of its own (set GRISTMILL_DATA_DIR)", .folder.display())]
    InUse { folder: PathBuf },
    /// It would be replaced.
    #[error(
        "the data folder {} has sessions and records of its own, and the cluster `{cluster}` has a shared state already; \
         set GRISTMILL_DATA_DIR to an empty folder for this gateway, or move this one away",
        .folder.display()
    )]
    OwnState { folder: PathBuf, cluster: String },
    /// It would be replaced.
    #[error(
        "the data folder {} belongs to the shared state of another cluster (`{cluster}`); set GRISTMILL_DATA_DIR to an \
         empty folder for this gateway",
        .folder.display()
    )]
    OtherCluster { folder: PathBuf, cluster: String },
    /// It would be begun anew, from a copy that may be old.
    #[error(
        "the bus has no shared state of the cluster `{cluster}` any more, and the data folder {} is a copy of one; \
         to begin anew with this copy, move {0}/replica/gristmill.db to {0}/gristmill.db and remove {0}/replica",
        .folder.display()
    )]
    Forgotten { folder: PathBuf, cluster: String },
    #[error(
        "the shared state can't be opened with this `state_key` ({key}): all gateways of a cluster need the same one"
    )]
    WrongKey { key: String },
    /// It's written by others, or servers have lost some of it.
    #[error(
        "entry {after} of the shared log isn't followed by what was written after it: servers of the bus have lost some \
         of it, or it was sealed with another `state_key` than this one ({key})"
    )]
    Torn { after: u64, key: String },
    #[error("the shared state was written by another version of gristmill ({0}); upgrade this gateway")]
    OtherVersion(String),
    #[error("the shared state can't be read: {0}")]
    Damaged(String),
    /// Nothing was taken. It's taken the next time.
    #[error("a file changes while it's taken: {0}")]
    Changing(String),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("a content of the shared state: {0}")]
    Content(#[from] BlobError),
    /// Whoever hears this follows the log before it goes on.
    #[error("the shared state can't be written: {0}")]
    Append(#[from] AppendError),
    #[error("the copy of the database: {0}")]
    Database(#[from] DatabaseError),
    #[error("the copy of the files: {0}")]
    Files(String),
    #[error("the system random source failed: {0}")]
    Random(#[from] getrandom::Error),
}

impl StateError {
    /// Whether it may be otherwise in a moment.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Log(error) | Self::Content(BlobError::Log(error)) => match error {
                LogError::Unavailable(_)
                | LogError::NoJetStream
                | LogError::NoStream(_)
                | LogError::TooFewServers { .. }
                | LogError::Gap { .. }
                | LogError::Shorter { .. } => true,
                LogError::NotPermitted { .. }
                | LogError::OtherSettings { .. }
                | LogError::Foreign { .. }
                | LogError::Ended => false,
            },
            Self::Content(BlobError::NotThere { .. } | BlobError::Unknown(_)) => true,
            Self::Append(AppendError::Unavailable(_)) => true,
            Self::Content(BlobError::TooLarge { .. })
            | Self::Append(AppendError::Overtaken { .. } | AppendError::TooLarge { .. })
            | Self::Folder { .. }
            | Self::InUse { .. }
            | Self::OwnState { .. }
            | Self::OtherCluster { .. }
            | Self::Forgotten { .. }
            | Self::WrongKey { .. }
            | Self::Torn { .. }
            | Self::OtherVersion(_)
            | Self::Damaged(_)
            | Self::Changing(_)
            | Self::Random(_) => false,
            // A content that can't be fetched, or a disk that is full.
            Self::Database(_) | Self::Files(_) => true,
        }
    }
}
