//! What the rest of the pool holds of a running zygote: orders for it, and how its children ended.

use std::collections::HashMap;
#[cfg(test)]
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use gristmill_protocol::ToZygote;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, watch};

use super::child_end::ChildEnd;

pub struct ZygoteLink {
    orders: mpsc::UnboundedSender<ToZygote>,
    /// Forks that were asked for and of which nothing was heard.
    asked: AtomicUsize,
    /// Children that came of them.
    forks: AtomicU64,
    renewal_asked: AtomicBool,
    /// Another has taken its place.
    retired: AtomicBool,
    changed: Notify,
    exits: Mutex<HashMap<u64, watch::Sender<Option<ChildEnd>>>>,
    supervisor_pid: Option<u32>,
}

impl ZygoteLink {
    /// To a zygote that takes these orders.
    pub(super) fn new(orders: mpsc::UnboundedSender<ToZygote>, supervisor_pid: Option<u32>) -> Self {
        Self {
            orders,
            asked: AtomicUsize::new(0),
            forks: AtomicU64::new(0),
            renewal_asked: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            changed: Notify::new(),
            exits: Mutex::default(),
            supervisor_pid,
        }
    }

    /// A link to nobody, and the orders that a zygote would get.
    #[cfg(test)]
    pub fn to_nobody() -> (Arc<Self>, mpsc::UnboundedReceiver<ToZygote>) {
        let (orders, ordered) = mpsc::unbounded_channel();
        (Arc::new(Self::new(orders, None)), ordered)
    }

    /// False when the zygote is gone.
    pub fn ask_for_fork(&self) -> bool {
        self.ask(ToZygote::Fork)
    }

    /// The same for a child that analyzes.
    pub fn ask_for_analysis(&self) -> bool {
        self.ask(ToZygote::ForkAnalysis)
    }

    fn ask(&self, order: ToZygote) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let is_sent = self.orders.send(order).is_ok();
        if !is_sent {
            self.answered();
        }
        is_sent
    }

    /// A fork that was asked for came, or failed.
    fn answered(&self) {
        // Never below zero, whatever a zygote says.
        let _ = self.asked.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |asked| asked.checked_sub(1));
        self.changed.notify_waiters();
    }

    /// One that was asked for did not come.
    pub(super) fn fork_failed(&self) {
        self.answered();
    }

    /// Gives how many there were, with this one.
    pub(super) fn forked(&self) -> u64 {
        self.answered();
        self.forks.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Whether this is the first to ask for another in its place.
    pub(super) fn ask_for_renewal(&self) -> bool {
        !self.renewal_asked.swap(true, Ordering::SeqCst)
    }

    /// The one that was to take its place did not come up: it can be asked for again.
    pub(super) fn renewal_failed(&self) {
        self.renewal_asked.store(false, Ordering::SeqCst);
    }

    /// Nobody asks it for anything any more.
    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(super) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
    }

    /// Until it is retired and has no child left.
    pub(super) async fn out_of_use(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.is_retired() && self.asked.load(Ordering::SeqCst) == 0 && self.exits.lock().is_empty() {
                return;
            }
            changed.await;
        }
    }

    pub fn ask_for_kill(&self, id: u64) {
        let _ = self.orders.send(ToZygote::Kill { id });
    }

    pub fn supervisor_pid(&self) -> Option<u32> {
        self.supervisor_pid
    }

    /// Nobody will tell any more how children ended.
    pub fn forget_exits(&self) {
        self.exits.lock().clear();
    }

    pub(super) fn expect_exit(&self, id: u64) -> watch::Receiver<Option<ChildEnd>> {
        let (sender, receiver) = watch::channel(None);
        self.exits.lock().insert(id, sender);
        receiver
    }

    pub(super) fn tell_exit(&self, id: u64, end: ChildEnd) {
        let told = self.exits.lock().remove(&id);
        if let Some(sender) = told {
            sender.send_replace(Some(end));
        }
        self.changed.notify_waiters();
    }
}
