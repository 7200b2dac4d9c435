//! What a program may ask about earlier ones.

use super::box_future::BoxFuture;

/// What the programs of one caller took and saved.
pub trait ExecutionStats: Send + Sync + 'static {
    /// The figures as a JSON object: of one session, or of everything that the caller ran.
    fn of_caller(&self, session: Option<String>) -> BoxFuture<'static, Result<String, StatsFailure>>;
}

/// Figures that cannot be had. Programs run all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StatsFailure(pub String);

impl std::fmt::Debug for dyn ExecutionStats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExecutionStats")
    }
}
