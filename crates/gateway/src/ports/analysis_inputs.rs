//! What analyses may read.

use super::box_future::BoxFuture;

/// What an analysis that a program asks for may read beside the program's own files: whole results of
/// the same caller.
pub trait AnalysisInputs: Send + Sync + 'static {
    /// Opens a stored result for reading; `None` if its caller has none of this handle.
    fn open_result<'a>(
        &'a self,
        handle: &'a str,
    ) -> BoxFuture<'a, Result<Option<std::fs::File>, InputFailure>>;
}

impl std::fmt::Debug for dyn AnalysisInputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnalysisInputs")
    }
}

/// A stored result that is there and cannot be opened. Nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputFailure(pub String);
