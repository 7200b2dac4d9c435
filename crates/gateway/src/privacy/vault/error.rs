//! What goes wrong with the vault, and what still works.

use gristmill_files::PrivateFileError;

use crate::store::StoreError;

/// Values can't be kept or looked up now. Nothing was lost by it, and nothing was told.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error(transparent)]
    File(#[from] PrivateFileError),
    #[error(
        "{path} isn't a vault key; restore it from a backup, or move it away to start with a new one (tokens made so far can't be restored then)"
    )]
    NotAKey { path: String },
    #[error("the system random source failed; try again")]
    Randomness,
    /// Its values went with it.
    #[error("the session has ended, and its vault with it")]
    NoSession,
    #[error(transparent)]
    Store(#[from] StoreError),
}
