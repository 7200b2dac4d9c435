//! Where a result goes that is too large for a report.

use serde::Serialize;
use serde_json::Value;

use super::box_future::BoxFuture;

/// Stores results that are too large for a report, for the caller of one program.
pub trait LargeResults: Send + Sync + 'static {
    /// The most bytes that one may take.
    fn bytes_max(&self) -> u64;

    /// A new one, empty. It is gone if it is dropped.
    fn begin(&self) -> BoxFuture<'static, Result<Box<dyn GrowingResult>, LargeResultFailure>>;
}

/// A result that comes in parts.
pub trait GrowingResult: Send {
    /// Takes the next part of its JSON.
    fn append(
        self: Box<Self>,
        part: String,
    ) -> BoxFuture<'static, Result<Box<dyn GrowingResult>, LargeResultFailure>>;

    /// It is whole: checks and stores it.
    fn keep(self: Box<Self>) -> BoxFuture<'static, Result<KeptResult, LargeResultFailure>>;
}

/// A large result that is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptResult {
    pub stored: LargeResult,
    /// What a report shows of it.
    pub condensed: Value,
}

/// Where a large result is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LargeResult {
    pub handle: String,
    /// Where programs find it.
    pub path: String,
    pub bytes: u64,
}

/// A large result that could not be stored. Nothing of it is left.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LargeResultFailure(pub String);

impl std::fmt::Debug for dyn LargeResults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LargeResults")
    }
}
