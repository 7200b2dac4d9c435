//! State that other gateways go on from, should this one be gone.
//!
//! Of several gateways that share a state, one leads: it works on its data folder as any gateway does, and what it
//! changes there is kept elsewhere, too. Nobody is told of a change before that.

use super::box_future::BoxFuture;

/// Takes what changes in the data folder to where others find it.
pub trait SharedState: Send + Sync + 'static {
    /// Something at this path was written, made or removed, or below it: a path in the data folder, with `/`. Must not
    /// wait.
    fn changed(&self, path: &str);

    /// Waits until everything that was written before is safe elsewhere, the database's transactions too.
    fn settle(&self) -> BoxFuture<'_, Result<(), NotShared>>;

    /// Whether this gateway leads, as far as it knows: if it doesn't, another may be at work by now. Must not wait.
    fn leads(&self) -> bool;
}

/// What was changed isn't safe elsewhere, and may never be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotShared {
    /// Another gateway goes on from what was safe.
    #[error("another gateway leads now")]
    Overtaken,
    /// It can't be reached.
    #[error("the shared state can't be reached: {0}")]
    Unreachable(String),
}
