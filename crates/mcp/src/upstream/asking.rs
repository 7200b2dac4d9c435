//! Questions that come as requests of a server, as those of the handshake era ask: whom each is for,
//! and what goes back.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;
use gristmill_gateway::ports::Asker;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::call_clock::CallClock;
use super::redact::Redactor;
use super::{declined, question, wire};

/// Questions of one server that wait for a person at the same time.
const QUESTIONS_AT_ONCE_MAX: usize = 8;

/// A call that a question may belong to.
#[derive(Clone)]
pub(crate) struct Caller {
    pub asker: Asker,
    pub clock: CallClock,
    /// Cancelled when the call is over.
    pub over: CancellationToken,
}

/// The questions of one server that wait for an answer.
pub(crate) struct Questions {
    server: String,
    redactor: Redactor,
    places: Arc<Semaphore>,
    /// By the id that the server gave it, as it is written.
    waiting: Arc<Mutex<HashMap<String, CancellationToken>>>,
}

/// A question that is to be asked.
pub(crate) struct Asking {
    server: String,
    redactor: Redactor,
    id: String,
    params: String,
    callers: Vec<Caller>,
    taken_back: TakenBack,
    _place: OwnedSemaphorePermit,
}

/// Forgets the question when it is dropped.
struct TakenBack {
    id: String,
    token: CancellationToken,
    waiting: Arc<Mutex<HashMap<String, CancellationToken>>>,
}

impl Questions {
    pub(crate) fn new(server: &str, redactor: Redactor) -> Self {
        let places = Arc::new(Semaphore::new(QUESTIONS_AT_ONCE_MAX));
        Self { server: server.to_owned(), redactor, places, waiting: Arc::default() }
    }

    /// What to do with a question: ask it, or send this back at once. `callers` are the calls that it
    /// may belong to.
    pub(crate) fn take(&self, id: &str, params: &str, callers: Vec<Caller>) -> Result<Asking, Value> {
        let Some(first) = callers.first().filter(|_| callers.iter().any(|caller| caller.asker.is_some()))
        else {
            return Err(declined::nobody_to_ask());
        };
        if !callers.iter().all(|caller| caller.asker.is_same_as(&first.asker)) {
            return Err(declined::with_reason(
                "several programs are calling this server, and it doesn't say which one it's asking",
            ));
        }
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            declined::with_reason(&format!("{QUESTIONS_AT_ONCE_MAX} questions are already waiting"))
        })?;
        let token = CancellationToken::new();
        lock(&self.waiting).insert(id.to_owned(), token.clone());
        let taken_back = TakenBack { id: id.to_owned(), token, waiting: Arc::clone(&self.waiting) };
        Ok(Asking {
            server: self.server.clone(),
            redactor: self.redactor.clone(),
            id: id.to_owned(),
            params: params.to_owned(),
            callers,
            taken_back,
            _place: place,
        })
    }

    /// The server does not want an answer any more.
    pub(crate) fn take_back(&self, id: &str) {
        if let Some(token) = lock(&self.waiting).get(id) {
            token.cancel();
        }
    }
}

impl Asking {
    /// Asks, while the clocks of the calls stand still. What goes back to the server, if anything.
    pub(crate) async fn answer(self) -> Option<String> {
        let asker = self.callers.first()?.asker.clone();
        let held: Vec<_> = self.callers.iter().map(|caller| caller.clock.hold()).collect();
        let all_over = join_all(self.callers.iter().map(|caller| caller.over.cancelled()));
        let result = tokio::select! {
            biased;
            () = self.taken_back.token.cancelled() => return None,
            // Nobody waits for what the answer is needed for.
            _ = all_over => serde_json::json!({ "action": "cancel" }),
            result = question::ask(&self.server, &self.params, &self.redactor, &asker) => result,
        };
        drop(held);
        Some(wire::response(&self.id, &result.to_string()))
    }
}

impl Drop for TakenBack {
    fn drop(&mut self) {
        lock(&self.waiting).remove(&self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> parking_lot::MutexGuard<'_, T> {
    mutex.lock()
}
