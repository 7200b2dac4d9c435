//! How people are told of what the watch has found.

use std::sync::Arc;

use super::box_future::BoxFuture;

/// One way by which alerts leave: the log, a command, a webhook.
pub trait AlertWay: Send + Sync + 'static {
    /// In one word, for figures.
    fn name(&self) -> &'static str;

    /// Tells somebody; the error says why that failed, after all tries. Bounded in time.
    fn tell(&self, notice: Arc<AlertNotice>) -> BoxFuture<'static, Result<(), String>>;
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertNotice {
    /// For people: a line, and a hint if there is something to do.
    pub words: String,
    /// For programs: one JSON object.
    pub json: String,
}
