//! Who comes next into a session: within this gateway, in the order in which they came. Other processes are kept out by
//! the lock of its folder.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{Mutex as Queue, OwnedMutexGuard};
use tokio::time::timeout;

use super::Patience;

/// Sessions that somebody is in or waits for. Each queue lets its waiters in by turns.
#[derive(Default)]
pub(super) struct Turns(Mutex<HashMap<String, Weak<Queue<()>>>>);

/// Nobody else in this gateway has that session until this is dropped.
pub(super) struct Turn {
    _guard: OwnedMutexGuard<()>,
}

impl Turns {
    /// None if patience ends before it's this one's turn.
    pub async fn take(&self, session: &str, patience: Patience) -> Option<Turn> {
        let queue = self.queue(session);
        let guard = match patience {
            Patience::Refuse => queue.try_lock_owned().ok()?,
            Patience::Wait(longest) => timeout(longest, queue.lock_owned()).await.ok()?,
        };
        Some(Turn { _guard: guard })
    }

    fn queue(&self, session: &str) -> Arc<Queue<()>> {
        let mut queues = self.0.lock();
        if let Some(queue) = queues.get(session).and_then(Weak::upgrade) {
            return queue;
        }
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::new(Queue::new(()));
        queues.insert(session.to_owned(), Arc::downgrade(&queue));
        queue
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LONG: Patience = Patience::Wait(Duration::from_secs(30));

    #[tokio::test(start_paused = true)]
    async fn whoever_came_first_goes_first() {
        let turns = Arc::new(Turns::default());
        let first = turns.take("s", LONG).await.expect("nobody is in it");
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = Vec::new();
        for number in 0..5 {
            let (turns, order) = (Arc::clone(&turns), Arc::clone(&order));
            waiting.push(tokio::spawn(async move {
                let turn = turns.take("s", LONG).await.expect("its turn");
                tokio::time::sleep(Duration::from_millis(5)).await;
                order.lock().push(number);
                drop(turn);
            }));
            tokio::task::yield_now().await;
        }
        drop(first);
        for task in waiting {
            task.await.expect("no panic");
        }
        assert_eq!(*order.lock(), [0, 1, 2, 3, 4]);
        assert!(turns.0.lock().values().all(|queue| queue.strong_count() == 0));
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends_and_other_sessions_are_free() {
        let turns = Turns::default();
        let held = turns.take("s", Patience::Refuse).await.expect("nobody is in it");
        assert!(turns.take("s", Patience::Refuse).await.is_none());
        assert!(turns.take("s", Patience::Wait(Duration::from_secs(1))).await.is_none());
        assert!(turns.take("t", Patience::Refuse).await.is_some());
        drop(held);
        assert!(turns.take("s", Patience::Refuse).await.is_some());
        assert_eq!(turns.0.lock().len(), 1, "what nobody has is forgotten");
    }
}
