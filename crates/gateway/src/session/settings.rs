//! How many sessions there may be, and how long they last.

use std::time::Duration;

use crate::store::SessionCounts;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    /// How long one without a name is kept after its last use.
    pub idle: Duration,
    /// The same for one with a name: somebody means to come back to it.
    pub named_idle: Duration,
    /// How many there may be, of all owners together. One owner has half of them at most, so that
    /// nobody takes what all need.
    pub max: usize,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Default for SessionSettings {
    fn default() -> Self {
        Self { idle: DAY, named_idle: 30 * DAY, max: 1_000 }
    }
}

impl SessionSettings {
    pub(super) fn counts(&self) -> SessionCounts {
        SessionCounts { all: self.max, of_one: self.max.div_ceil(2) }
    }
}
