//! The time of day, from outside: tests hold it still.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    pub fn system() -> Self {
        Self::new(SystemTime::now)
    }

    pub fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Seconds since 1970.
    pub(super) fn now(&self) -> u64 {
        (self.0)().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

/// The other way round. None for a time that the system cannot express.
pub(super) fn system_time(seconds: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
