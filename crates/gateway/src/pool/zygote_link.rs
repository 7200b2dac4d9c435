//! What the rest of the pool holds of a running zygote: orders for it, and how its children ended.

use std::collections::HashMap;
#[cfg(test)]
use std::sync::Arc;

use gristmill_protocol::ToZygote;
use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};

use super::child_end::ChildEnd;

pub struct ZygoteLink {
    orders: mpsc::UnboundedSender<ToZygote>,
    exits: Mutex<HashMap<u64, watch::Sender<Option<ChildEnd>>>>,
    supervisor_pid: Option<u32>,
}

impl ZygoteLink {
    /// To a zygote that takes these orders.
    pub(super) fn new(orders: mpsc::UnboundedSender<ToZygote>, supervisor_pid: Option<u32>) -> Self {
        Self { orders, exits: Mutex::default(), supervisor_pid }
    }

    /// A link to nobody, and the orders that a zygote would get.
    #[cfg(test)]
    pub fn to_nobody() -> (Arc<Self>, mpsc::UnboundedReceiver<ToZygote>) {
        let (orders, ordered) = mpsc::unbounded_channel();
        (Arc::new(Self::new(orders, None)), ordered)
    }

    /// False when the zygote is gone.
    pub fn ask_for_fork(&self) -> bool {
        self.orders.send(ToZygote::Fork).is_ok()
    }

    /// The same for a child that analyzes.
    pub fn ask_for_analysis(&self) -> bool {
        self.orders.send(ToZygote::ForkAnalysis).is_ok()
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
        if let Some(sender) = self.exits.lock().remove(&id) {
            sender.send_replace(Some(end));
        }
    }
}
