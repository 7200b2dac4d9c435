//! Why a result cannot be kept or found, and what still works.

use std::path::PathBuf;
use std::time::Duration;

use gristmill_domain::result_path::PathError;
use gristmill_domain::{Code, format_bytes, format_ms};

use crate::store::StoreError;

/// A result that is not kept, or cannot be looked at. What was kept before is still there, and no
/// execution fails for it.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    #[error("a result of {} is too large to store; the most is {}; return less, or write it to a file in /workspace", size(.bytes), size(.bytes_max))]
    TooLarge {
        /// How large it is.
        bytes: u64,
        bytes_max: u64,
    },
    /// Nothing was kept; what the same program left before is.
    #[error("there's no room beside what the same program stored before; all results can take {} (max_size); return less, or write it to a file in /workspace", size(.bytes_max))]
    Full {
        /// The most that all take together.
        bytes_max: u64,
    },
    #[error("can't store results in {}: {why}; free some disk space, or set GRISTMILL_DATA_DIR to a writable folder", .folder.display())]
    Folder {
        folder: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file was not what was kept, and is removed. The same value can be kept again.
    #[error("the stored result `{handle}` was damaged and is removed; run the program again")]
    Damaged { handle: String },
    /// Nothing was changed: another gateway is busy with the results for longer than anyone should be.
    #[error("another process is using the results; try again in a moment")]
    Busy,
    /// What is known of results cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A result, or a part of it, that cannot be shown. It stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is none of this handle for whoever asks.
    #[error("no result `{handle}`")]
    Missing {
        /// As it was written, shortened.
        handle: String,
        /// How long results are kept.
        keep: Duration,
    },
    #[error("the result is {} of {} and can't be shown as text", size(.bytes), .media_type.as_deref().unwrap_or("bytes"))]
    Binary {
        bytes: u64,
        media_type: Option<String>,
        /// Where a program finds it.
        path_in_program: String,
    },
    /// A path into a text.
    #[error("the result is text and has no `{path}`; leave `path` out")]
    PathInText {
        /// As it was written, shortened.
        path: String,
    },
    /// There is nothing under the path, or not so much.
    #[error(transparent)]
    Path(#[from] PathError),
    #[error(transparent)]
    Results(#[from] ResultsError),
}

impl From<StoreError> for ReadError {
    fn from(error: StoreError) -> Self {
        ReadError::Results(error.into())
    }
}

impl ReadError {
    /// What to do next, for a caller.
    pub fn hint(&self) -> Option<String> {
        match self {
            ReadError::Missing { keep, .. } => {
                let keep = format_ms(u64::try_from(keep.as_millis()).unwrap_or(u64::MAX));
                Some(format!(
                    "results expire {keep} after their last use; run the program again (the same value gets the same handle)"
                ))
            }
            ReadError::Binary { path_in_program, .. } => {
                Some(format!("read it in a program: open({path_in_program:?}, \"rb\")"))
            }
            // It says so itself.
            ReadError::Results(ResultsError::Damaged { .. }) => None,
            ReadError::Path(PathError::Read(_)) | ReadError::Results(_) => {
                Some("`gristmill doctor` checks the data folder".to_owned())
            }
            ReadError::PathInText { .. } | ReadError::Path(_) => None,
        }
    }

    pub fn code(&self) -> Code {
        match self {
            ReadError::Missing { .. }
            | ReadError::Binary { .. }
            | ReadError::PathInText { .. }
            | ReadError::Path(_) => Code::BadRequest,
            ReadError::Results(_) => Code::Workspace,
        }
    }
}

fn size(bytes: &u64) -> String {
    format_bytes(*bytes)
}
