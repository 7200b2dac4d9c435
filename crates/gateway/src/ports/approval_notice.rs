//! Telling people elsewhere that a call waits for them.

use std::time::SystemTime;

use super::box_future::BoxFuture;

/// A call that a person is asked about, as people are shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalNotice {
    /// By which it is answered.
    pub id: String,
    /// As `server.tool`.
    pub what: String,
    /// Why it is asked about.
    pub why: String,
    /// On one line, cut.
    pub arguments: String,
    /// Who wants to make it, in words.
    pub caller: String,
    /// From when on an answer comes too late.
    pub expires: SystemTime,
}

/// Whoever tells people.
pub trait NotifyApproval: Send + Sync + 'static {
    /// Tells them; whether that worked. Bounded in time; dropping the future gives up.
    fn notify(&self, notice: ApprovalNotice) -> BoxFuture<'static, bool>;
}
