//! Calls in any minute.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

const WINDOW: Duration = Duration::from_secs(60);

/// Remembers when calls were made.
pub(super) struct Rate {
    per_minute: usize,
    made: Mutex<VecDeque<Instant>>,
}

impl Rate {
    /// 0 means as many as you like.
    pub(super) fn new(per_minute: u64) -> Self {
        Self { per_minute: usize::try_from(per_minute).unwrap_or(usize::MAX), made: Mutex::default() }
    }

    /// Counts a call, or says how long to wait for the next one.
    pub(super) fn take(&self, now: Instant) -> Result<(), Duration> {
        if self.per_minute == 0 {
            return Ok(());
        }
        let mut made = self.made.lock();
        while made.front().is_some_and(|at| now.duration_since(*at) >= WINDOW) {
            made.pop_front();
        }
        match made.front() {
            Some(oldest) if made.len() >= self.per_minute => Err(WINDOW - now.duration_since(*oldest)),
            Some(_) | None => {
                made.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_so_many_calls_and_no_more() {
        let rate = Rate::new(2);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(rate.take(at(0)), Ok(()));
        assert_eq!(rate.take(at(10)), Ok(()));
        assert_eq!(rate.take(at(20)), Err(Duration::from_secs(40)));
        assert_eq!(rate.take(at(60)), Ok(()));
        assert_eq!(rate.take(at(61)), Err(Duration::from_secs(9)));
        assert_eq!(Rate::new(0).take(start), Ok(()));
    }
}
