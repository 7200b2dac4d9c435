//! What goes wrong with the database, and what still works.

use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::ports::NotShared;

/// The database could not be used. What was written before is still there.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("can't use the data folder {}: {why}; set GRISTMILL_DATA_DIR to a writable folder of your own", .folder.display())]
    Folder {
        folder: PathBuf,
        /// What the system says.
        why: String,
    },
    /// Nothing was opened or changed.
    #[error("{} was written by a newer gristmill (its version is {found}, this one knows {known}); use that gristmill, or set GRISTMILL_DATA_DIR to another folder", .file.display())]
    Newer { file: PathBuf, found: i64, known: i64 },
    /// Nothing was opened or changed.
    #[error("{} isn't a Gristmill database: {why}; move it away, or restore a backup (`gristmill db backup` creates them)", .file.display())]
    NotOurs {
        file: PathBuf,
        /// What was found instead.
        why: String,
    },
    /// Nothing was written. Reading works.
    #[error("can't write the database: it, its folder or the disk is read-only")]
    ReadOnly,
    /// Nothing was written. What was there stays, and reading works.
    #[error("the disk is full; free some space and try again")]
    Full,
    /// Nothing was written. Another process has the database for longer than anyone should.
    #[error("another process is using the database; try again in a moment")]
    Busy,
    /// Parts of it can no longer be read.
    #[error("the database is damaged ({0}); `gristmill doctor` checks it, and you can restore a backup")]
    Damaged(String),
    /// A row that doesn't fit; nothing was written, and trying again is no use.
    #[error("the database: {0}")]
    Refused(String),
    /// Something else; nothing was written.
    #[error("the database: {0}")]
    Other(String),
    /// It is here, and isn't safe with the other gateways that share it.
    #[error("what was written isn't safe: {0}")]
    NotShared(#[from] NotShared),
    /// A gateway that shares its state doesn't lead: what lies here is a copy, or out of date. Nothing was opened.
    #[error("the state of {} is shared with other gateways, and none on this machine leads; run this on the machine whose gateway does (`gristmill cluster status` names it)", .folder.display())]
    StandsBy { folder: PathBuf },
    /// The gateway is ending.
    #[error("the database is closed")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
            Some(ErrorCode::DiskFull) => StoreError::Full,
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(text),
            Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
                StoreError::Refused(text)
            }
            Some(_) | None => StoreError::Other(text),
        }
    }
}
