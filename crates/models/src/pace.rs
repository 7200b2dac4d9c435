//! Time and chance, as the outside gives them. Tests hold both still.

use std::time::{Duration, SystemTime};

use gristmill_gateway::ports::BoxFuture;

/// See the module.
pub trait Pace: Send + Sync {
    /// The time of day, for dates in `Retry-After`.
    fn now(&self) -> SystemTime;
    /// From 0 up to 1.
    fn chance(&self) -> f64;
    fn pause(&self, length: Duration) -> BoxFuture<'_, ()>;
}

/// The machine's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemPace;

impl Pace for SystemPace {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn chance(&self) -> f64 {
        // Without randomness pauses are all of middle length.
        getrandom::u32().map_or(0.5, |random| f64::from(random) / (f64::from(u32::MAX) + 1.0))
    }

    fn pause(&self, length: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(length))
    }
}
