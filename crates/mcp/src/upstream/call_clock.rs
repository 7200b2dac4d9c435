//! The time that one request has: longer while its server says that it is still at it, and standing
//! still while the server waits for the answer to a question.

use std::time::Duration;

use gristmill_gateway::time_limit::{Held, TimeLimit};

/// A call whose tool reports progress may take this many times its limit.
const PROGRESS_PROLONGS: u32 = 10;

/// See the module. Clones are the same clock.
#[derive(Clone, Debug)]
pub(crate) struct CallClock {
    limit: Duration,
    until: TimeLimit,
    last: TimeLimit,
}

impl CallClock {
    pub(crate) fn new(limit: Duration) -> Self {
        let last = TimeLimit::new(limit.saturating_mul(PROGRESS_PROLONGS));
        Self { limit, until: TimeLimit::new(limit), last }
    }

    /// The server is still at it.
    pub(crate) fn prolong(&self) {
        self.until.restart(self.limit);
    }

    /// Stops it until what is returned is dropped.
    pub(crate) fn hold(&self) -> [Held; 2] {
        [self.until.hold(), self.last.hold()]
    }

    /// Waits until it is over, and says how long the limit is.
    pub(crate) async fn passed(&self) -> u64 {
        tokio::select! {
            () = self.until.passed() => {}
            () = self.last.passed() => {}
        }
        u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX)
    }
}
