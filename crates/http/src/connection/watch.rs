//! What is known about one connection by all who handle it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::Context;

use futures_util::task::AtomicWaker;

#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Requests whose answers are not finished: one, but for what is pipelined.
    in_flight: AtomicUsize,
    requests: AtomicU64,
    /// A request's body is still awaited.
    body_awaited: AtomicBool,
    /// The client has closed its side.
    half_closed: AtomicBool,
    /// Whether a sign of life can be sent before the answer: not once it has begun, and not to a
    /// client that does not know such things.
    may_hint: AtomicBool,
    /// Whoever waits for the last answer to be finished, or for a body to be read.
    waits: AtomicWaker,
}

impl Watch {
    /// A request has come.
    pub(crate) fn begin(self: &Arc<Self>, has_body: bool, knows_hints: bool) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.body_awaited.store(has_body, Ordering::SeqCst);
        self.may_hint.store(knows_hints, Ordering::SeqCst);
        InFlight { watch: Arc::clone(self) }
    }

    pub(crate) fn body_is_read(&self) {
        self.body_awaited.store(false, Ordering::SeqCst);
        self.waits.wake();
    }

    pub(crate) fn answer_begins(&self) {
        self.may_hint.store(false, Ordering::SeqCst);
    }

    pub(crate) fn may_hint(&self) -> bool {
        self.may_hint.load(Ordering::SeqCst)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight.load(Ordering::SeqCst) == 0
    }

    /// The same; if it is not, the task is woken when it is.
    pub(crate) fn is_idle_or_wakes(&self, context: &Context<'_>) -> bool {
        self.waits.register(context.waker());
        self.is_idle()
    }

    /// Whether a body is awaited; if it is, the task is woken when it has been read.
    pub(crate) fn has_body_or_wakes(&self, context: &Context<'_>) -> bool {
        self.waits.register(context.waker());
        !self.body_awaited.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn half_closed(&self) {
        self.half_closed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_half_closed(&self) -> bool {
        self.half_closed.load(Ordering::SeqCst)
    }
}

/// A request, until its answer is finished or given up.
#[derive(Debug)]
pub(crate) struct InFlight {
    watch: Arc<Watch>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.watch.in_flight.fetch_sub(1, Ordering::SeqCst);
        self.watch.waits.wake();
    }
}
