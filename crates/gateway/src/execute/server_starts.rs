//! Calls of one execution that wait for a server to start: the program's clock stands still, its caller
//! sees what it waits for, and nobody says that such a call was sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;

use super::Event;
use crate::ports::{CallWatch, CallWatcher};
use crate::time_limit::{Held, TimeLimit};

/// Starts of one execution that hold its clock. Each is bounded by its server's own limit; a server that
/// starts again and again must not keep a program alive.
const HOLDS_MAX: usize = 32;

/// A start that takes less is not worth a word.
const NOTICE_AFTER: Duration = Duration::from_secs(1);

/// Those of one execution.
#[derive(Clone)]
pub(super) struct ServerStarts {
    limit: TimeLimit,
    events: mpsc::Sender<Event>,
    holds: Arc<AtomicUsize>,
}

/// Whether a call may have been carried out.
#[derive(Clone, Debug)]
pub(super) struct Sent(Arc<AtomicBool>);

impl Sent {
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl ServerStarts {
    pub fn new(limit: TimeLimit, events: mpsc::Sender<Event>) -> Self {
        Self { limit, events, holds: Arc::default() }
    }

    /// Watches one call. It counts as sent unless it is known to wait for something.
    pub fn watch_call(&self, line: Option<u64>) -> (CallWatcher, Sent) {
        let sent = Sent(Arc::new(AtomicBool::new(true)));
        (CallWatcher::new(WatchedCall { starts: self.clone(), sent: sent.clone(), line }), sent)
    }
}

struct WatchedCall {
    starts: ServerStarts,
    sent: Sent,
    line: Option<u64>,
}

impl CallWatch for WatchedCall {
    fn starting(&self, server: &str) -> Box<dyn Send> {
        self.sent.0.store(false, Ordering::Relaxed);
        let is_held = self.starts.holds.fetch_add(1, Ordering::Relaxed) < HOLDS_MAX;
        let (events, server) = (self.starts.events.clone(), server.to_owned());
        let notice = tokio::spawn(async move {
            tokio::time::sleep(NOTICE_AFTER).await;
            let _ = events.try_send(Event::ServerStarting { server });
        });
        Box::new(Starting { _held: is_held.then(|| self.starts.limit.hold()), notice })
    }

    fn holding(&self) {
        self.sent.0.store(false, Ordering::Relaxed);
    }

    fn sending(&self) {
        self.sent.0.store(true, Ordering::Relaxed);
    }

    fn held(&self) {
        self.sent.0.store(false, Ordering::Relaxed);
    }

    fn line(&self) -> Option<u64> {
        self.line
    }
}

/// Lasts as long as the call waits.
struct Starting {
    _held: Option<Held>,
    notice: tokio::task::JoinHandle<()>,
}

impl Drop for Starting {
    fn drop(&mut self) {
        self.notice.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{Instant, advance};

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn the_clock_stands_still_and_the_caller_is_told_while_a_server_starts() {
        let (events, mut told) = mpsc::channel(8);
        let limit = TimeLimit::new(5 * SECOND);
        let (watcher, sent) = ServerStarts::new(limit.clone(), events).watch_call(None);
        assert!(sent.get(), "what nobody watches may have been sent");
        let began = Instant::now();
        let starting = watcher.starting("slow");
        assert!(!sent.get());
        let start = async {
            tokio::time::sleep(8 * SECOND).await;
            drop(starting);
            watcher.sending();
        };
        let ((), ()) = tokio::join!(start, limit.passed());
        assert_eq!((began.elapsed().as_secs(), sent.get()), (13, true));
        assert_eq!(told.try_recv(), Ok(Event::ServerStarting { server: "slow".to_owned() }));
        assert!(told.try_recv().is_err(), "it is told once");
    }

    #[tokio::test(start_paused = true)]
    async fn a_quick_start_is_not_worth_a_word() {
        let (events, mut told) = mpsc::channel(8);
        let (watcher, _) = ServerStarts::new(TimeLimit::new(SECOND), events).watch_call(None);
        let starting = watcher.starting("quick");
        advance(SECOND / 2).await;
        drop(starting);
        advance(10 * SECOND).await;
        tokio::task::yield_now().await;
        assert!(told.try_recv().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_starts_again_and_again_does_not_hold_the_clock_for_ever() {
        let (events, _told) = mpsc::channel(8);
        let limit = TimeLimit::new(5 * SECOND);
        let starts = ServerStarts::new(limit.clone(), events);
        for _ in 0..HOLDS_MAX {
            drop(starts.watch_call(None).0.starting("flapping"));
        }
        let began = Instant::now();
        let _starting = starts.watch_call(None).0.starting("flapping");
        limit.passed().await;
        assert_eq!(began.elapsed(), 5 * SECOND);
    }
}
