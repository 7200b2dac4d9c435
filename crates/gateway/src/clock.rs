//! The time of day: where it comes from, and how it is kept.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

/// Says what time it is. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The system's clock, unless somebody holds this one.
    held: Option<Arc<Mutex<SystemTime>>>,
}

impl Clock {
    pub fn system() -> Self {
        Self::default()
    }

    /// One that stands still until it is moved, the same for all clones: for tests of what happens after
    /// hours and days.
    pub fn held_at(time: SystemTime) -> Self {
        Self { held: Some(Arc::new(Mutex::new(time))) }
    }

    /// Moves one that stands still. The machine's own moves by itself.
    pub fn advance(&self, by: Duration) {
        if let Some(held) = &self.held {
            *held.lock() += by;
        }
    }

    pub fn now(&self) -> SystemTime {
        self.held.as_ref().map_or_else(SystemTime::now, |held| *held.lock())
    }
}

/// A moment as the database keeps it: in milliseconds since 1970. What is before counts as that.
pub(crate) fn unix_ms(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
