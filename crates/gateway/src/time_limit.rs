//! A time limit that stands still while somebody waits for a person.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// See the module. Clones are the same limit.
#[derive(Clone, Debug)]
pub struct TimeLimit(Arc<watch::Sender<Clock>>);

#[derive(Debug)]
struct Clock {
    /// What is left, counted from `since`.
    left: Duration,
    since: Instant,
    /// How many hold it.
    held: usize,
}

impl Clock {
    /// When it is over; `None` while it stands still, or if that is too far away to be counted.
    fn end(&self) -> Option<Instant> {
        if self.held > 0 { None } else { self.since.checked_add(self.left) }
    }
}

/// Holds a time limit until it is dropped.
#[derive(Debug)]
pub struct Held(TimeLimit);

impl TimeLimit {
    /// Runs from now on.
    pub fn new(limit: Duration) -> Self {
        Self(Arc::new(watch::Sender::new(Clock { left: limit, since: Instant::now(), held: 0 })))
    }

    /// Begins anew, with so much time.
    pub fn restart(&self, limit: Duration) {
        self.0.send_modify(|clock| (clock.left, clock.since) = (limit, Instant::now()));
    }

    /// Stops it. It goes on when everyone who holds it has let go.
    pub fn hold(&self) -> Held {
        self.0.send_modify(|clock| {
            if clock.held == 0 {
                clock.left = clock.left.saturating_sub(clock.since.elapsed());
            }
            clock.held += 1;
        });
        Held(self.clone())
    }

    /// Waits until it is over.
    pub async fn passed(&self) {
        let mut clock = self.0.subscribe();
        loop {
            let end = clock.borrow_and_update().end();
            let over = async {
                match end {
                    Some(end) => tokio::time::sleep_until(end).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = over => return,
                // The sender is ours: it cannot be gone.
                _ = clock.changed() => {}
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.send_modify(|clock| {
            clock.held = clock.held.saturating_sub(1);
            if clock.held == 0 {
                clock.since = Instant::now();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    async fn passes_after(limit: &TimeLimit) -> Duration {
        let began = Instant::now();
        limit.passed().await;
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_stands_still_while_anyone_holds_it() {
        let limit = TimeLimit::new(10 * SECOND);
        tokio::time::advance(4 * SECOND).await;
        let (first, second) = (limit.hold(), limit.hold());
        tokio::time::advance(600 * SECOND).await;
        drop(first);
        tokio::time::advance(600 * SECOND).await;
        let let_go = async {
            tokio::time::sleep(100 * SECOND).await;
            drop(second);
        };
        let (took, ()) = tokio::join!(passes_after(&limit), let_go);
        assert_eq!(took.as_secs(), 106);
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_can_begin_anew() {
        let limit = TimeLimit::new(10 * SECOND);
        tokio::time::advance(9 * SECOND).await;
        limit.restart(5 * SECOND);
        assert_eq!(passes_after(&limit).await.as_secs(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_that_is_over_stays_over() {
        let limit = TimeLimit::new(SECOND);
        tokio::time::advance(2 * SECOND).await;
        drop(limit.hold());
        assert_eq!(passes_after(&limit).await, Duration::ZERO);
    }
}
