//! When a server that failed is tried again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

/// The first pause after a failure; each further one doubles it.
const PAUSE_FIRST: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// A connection that lasted so long was a good one.
const GOOD_AFTER: Duration = Duration::from_secs(30);

/// Failures in a row, and when the next attempt may be made.
#[derive(Default)]
pub(super) struct Attempts {
    pub failed: u32,
    pub not_before: Option<Instant>,
}

impl Attempts {
    pub fn succeeded(&mut self) {
        self.not_before = None;
    }

    pub fn failed_again(&mut self, now: Instant) {
        self.failed += 1;
        self.not_before = Some(now + pause(self.failed));
    }

    /// A connection ended that had been there for so long.
    pub fn lost_after(&mut self, lasted: Duration, now: Instant) {
        if lasted > GOOD_AFTER {
            self.failed = 0;
        }
        self.failed_again(now);
    }

    pub fn is_due(&self, now: Instant) -> bool {
        self.not_before.is_none_or(|at| at <= now)
    }

    /// How long until the next attempt; `None` if it may be made now.
    pub fn wait(&self, now: Instant) -> Option<Duration> {
        self.not_before.and_then(|at| at.checked_duration_since(now))
    }
}

/// Grows with each failure; a quarter of it is left to chance, so that many do not come at once.
fn pause(failed: u32) -> Duration {
    let doubled = PAUSE_FIRST.saturating_mul(1 << failed.saturating_sub(1).min(10));
    let chance = RandomState::new().build_hasher().finish() % 1000;
    let jitter = 0.75 + 0.5 * (chance as f64 / 1000.0);
    doubled.min(PAUSE_MAX).mul_f64(jitter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_with_failures_and_begin_anew_after_a_good_connection() {
        let (mut attempts, now) = (Attempts::default(), Instant::now());
        assert!(attempts.is_due(now) && attempts.wait(now).is_none());
        let mut check = |pause_ms: f64, change: &mut dyn FnMut(&mut Attempts)| {
            change(&mut attempts);
            let wait_ms = attempts.wait(now).unwrap().as_secs_f64() * 1000.0;
            assert!((0.75 * pause_ms..=1.25 * pause_ms).contains(&wait_ms), "{wait_ms} for {pause_ms}");
            assert!(!attempts.is_due(now) && attempts.is_due(now + Duration::from_secs(80)));
        };
        check(500.0, &mut |attempts| attempts.failed_again(now));
        check(1000.0, &mut |attempts| attempts.failed_again(now));
        check(2000.0, &mut |attempts| attempts.lost_after(GOOD_AFTER, now));
        check(500.0, &mut |attempts| attempts.lost_after(GOOD_AFTER * 2, now));
        check(60_000.0, &mut |attempts| (0..20).for_each(|_| attempts.failed_again(now)));
    }
}
