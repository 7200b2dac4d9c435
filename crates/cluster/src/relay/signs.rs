//! When packets of a link last came.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Every packet counts, also one that was doubled or came too late: links send again what isn't acknowledged, so an end
/// that is there is heard however full its link is. But anybody who reaches the bus can send one, so this is asked only
/// while sealed messages can't be opened, since those before them wait to be written.
pub(super) struct Signs(Mutex<Instant>);

impl Default for Signs {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl Signs {
    pub fn heard(&self) {
        *self.0.lock() = Instant::now();
    }

    pub fn silence(&self) -> Duration {
        self.0.lock().elapsed()
    }
}
