//! What goes wrong when pages are taken or applied, and what is left then.

use std::io;

/// Why pages could not be taken or applied.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The log isn't the one that was read before, or is no longer kept from beginning anew. The source gives nothing
    /// more: open another one, and start over with the whole file.
    #[error("the database's log was lost; start over with the whole file")]
    LogLost,
    /// Nothing was taken, and every further try ends like this one: start over with the whole file.
    #[error("the changes to the database are larger than {bytes_max} bytes; start over with the whole file")]
    TooLarge { bytes_max: u64 },
    /// Nothing has changed. Try again.
    #[error(
        "the database is in use; stop the other gateway or command that has it open, or wait until it ends"
    )]
    Busy,
    /// The database can't have a log where it is. The file is as usable as before.
    #[error("the database can't be in WAL mode, it is in mode `{mode}`")]
    NoLog { mode: String },
    /// Nothing was written.
    #[error("pages can't be applied: {0}")]
    Malformed(#[from] MalformedPages),
    /// Nothing was taken. Try again.
    #[error("the database's log can't be read")]
    Log(#[from] io::Error),
    /// Pages may have been applied in part. Apply them again.
    #[error("{file} can't be {what}")]
    File { file: String, what: &'static str, source: io::Error },
    /// Nothing was taken. Try again.
    #[error("the database can't be used")]
    Sqlite(#[source] rusqlite::Error),
}

/// What is wrong with pages that came from elsewhere.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MalformedPages {
    #[error("a page can't have {page_bytes} bytes")]
    PageSize { page_bytes: u32 },
    #[error("a database of {bytes} bytes is too large")]
    FileSize { bytes: u64 },
    #[error("page {number} has {bytes} bytes")]
    Length { number: u32, bytes: usize },
    #[error("page {number} is out of order")]
    Order { number: u32 },
    #[error("page {number} is outside the file")]
    Outside { number: u32 },
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy) => Self::Busy,
            Some(_) | None => Self::Sqlite(error),
        }
    }
}
