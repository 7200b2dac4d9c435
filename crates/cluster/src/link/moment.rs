//! What time it is, as the owner of a link says.

use std::time::Duration;

/// A moment: how long after its link began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(Duration);

impl Moment {
    /// When the link began. As something that is due, it means at once.
    pub const START: Moment = Moment(Duration::ZERO);

    /// The moment this long after the link began.
    pub fn after_start(elapsed: Duration) -> Moment {
        Moment(elapsed)
    }

    /// How long after the link began this is.
    pub fn since_start(self) -> Duration {
        self.0
    }

    /// How long after `earlier` this is; nothing if it is not later.
    pub fn since(self, earlier: Moment) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    pub(super) fn plus(self, pause: Duration) -> Moment {
        Moment(self.0.saturating_add(pause))
    }
}
