//! Which marked data was read, by session, or by client where there is no session.
//!
//! The marks of a session are in the database, for every gateway that uses it and for the next one after a
//! kill; they are written before the answer that they come with is handed on. Those of a client without a
//! session last as long as this gateway. What a session's programs keep (files, state, variables) has the
//! session's marks; what others can read (results, skills) carries its own.
//!
//! Walls: marks are added and never taken away; what cannot be looked up counts as everything.

mod scope;

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_domain::policy::Seen;
use parking_lot::Mutex;

use crate::ids::{Caller, ExecutionId, SessionId};
use crate::ports::BoxFuture;
use crate::store::Store;

pub use scope::Scope;

/// Scopes that are remembered one by one. Of sessions beyond that the database knows; clients share.
const SCOPES_MAX: usize = 10_000;

/// What a running program reads without asking us.
pub(crate) trait MarkedReads: Send + Sync + 'static {
    /// The marks of what it has read so far.
    fn seen(&self) -> BoxFuture<'_, Seen>;
}

/// What was read from the beginning.
impl MarkedReads for Seen {
    fn seen(&self) -> BoxFuture<'_, Seen> {
        Box::pin(async { self.clone() })
    }
}

/// See the module. Cheap to clone: all clones are the same.
#[derive(Clone)]
pub struct MarkLedger {
    inner: Arc<Inner>,
}

struct Inner {
    store: Option<Store>,
    known: Mutex<Known>,
    reading: Mutex<HashMap<ExecutionId, Arc<dyn MarkedReads>>>,
}

#[derive(Default)]
struct Known {
    scopes: HashMap<Scope, Seen>,
    /// What clients have read that there was no room for.
    shared: Seen,
}

/// As long as this is held, what an execution reads without asking counts.
pub(crate) struct Reading {
    ledger: MarkLedger,
    execution: ExecutionId,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.ledger.inner.reading.lock().remove(&self.execution);
    }
}

impl MarkLedger {
    /// With a database sessions keep their marks.
    pub fn new(store: Option<Store>) -> Self {
        let (known, reading) = (Mutex::default(), Mutex::default());
        Self { inner: Arc::new(Inner { store, known, reading }) }
    }

    /// What a caller has read, and the program that asks for it.
    pub async fn seen(&self, caller: &Caller) -> Seen {
        let mut seen = self.seen_in(&Scope::of(caller)).await;
        let reads = caller.execution.as_ref().and_then(|id| self.inner.reading.lock().get(id).cloned());
        if let Some(reads) = reads.filter(|_| !seen.is_both()) {
            seen.add(&reads.seen().await);
        }
        seen
    }

    /// Notes what a caller has read. Once this is done it outlives a kill, if there is a session. A client
    /// has read what its sessions have.
    pub async fn note(&self, caller: &Caller, seen: &Seen) {
        if seen.is_empty() {
            return;
        }
        let scope = Scope::of(caller);
        if let (Scope::Session(_), Some(_)) = (&scope, &caller.client) {
            self.note_in(Scope::of_client(caller), seen).await;
        }
        self.note_in(scope, seen).await;
    }

    /// The same for whatever belongs to a session.
    pub async fn note_session(&self, session: &SessionId, seen: &Seen) {
        self.note_in(Scope::Session(session.clone()), seen).await;
    }

    /// What a session has read.
    pub async fn seen_in_session(&self, session: &SessionId) -> Seen {
        self.seen_in(&Scope::Session(session.clone())).await
    }

    /// What a caller has read, also without asking, which is noted. For the end of a program.
    pub(crate) async fn settle(&self, caller: &Caller) -> Seen {
        let seen = self.seen(caller).await;
        self.note(caller, &seen).await;
        seen
    }

    /// From now on an execution reads this without asking.
    pub(crate) fn reading(&self, execution: &ExecutionId, reads: Arc<dyn MarkedReads>) -> Reading {
        self.inner.reading.lock().insert(execution.clone(), reads);
        Reading { ledger: self.clone(), execution: execution.clone() }
    }

    async fn seen_in(&self, scope: &Scope) -> Seen {
        let mut seen = self.inner.known.lock().of(scope);
        if let (Scope::Session(id), Some(store), false) = (scope, &self.inner.store, seen.is_both()) {
            // Another gateway may have added some.
            let kept = store.session_seen(id.to_string()).await;
            seen.add(&kept.unwrap_or_else(|_| Seen::unknown()));
        }
        seen
    }

    async fn note_in(&self, scope: Scope, seen: &Seen) {
        if self.inner.known.lock().of(&scope).covers(seen) {
            return;
        }
        // First: whoever finds it in memory relies on its being written.
        if let (Scope::Session(id), Some(store)) = (&scope, &self.inner.store) {
            // If it cannot be written, this gateway remembers it all the same.
            let _ = store.add_session_seen(id.to_string(), seen.clone()).await;
        }
        self.inner.known.lock().add(scope, seen);
    }
}

impl Known {
    fn of(&self, scope: &Scope) -> Seen {
        let mut seen = self.scopes.get(scope).cloned().unwrap_or_default();
        if let Scope::Client { .. } = scope {
            seen.add(&self.shared);
        }
        seen
    }

    fn add(&mut self, scope: Scope, seen: &Seen) {
        let has_room = self.scopes.len() < SCOPES_MAX;
        match (self.scopes.get_mut(&scope), has_room, &scope) {
            (Some(known), _, _) => {
                known.add(seen);
            }
            (None, true, _) => {
                self.scopes.insert(scope, seen.clone());
            }
            (None, false, Scope::Client { .. }) => {
                self.shared.add(seen);
            }
            // Read from the database each time.
            (None, false, Scope::Session(_)) => {}
        }
    }
}

impl std::fmt::Debug for MarkLedger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MarkLedger")
    }
}

#[cfg(test)]
mod tests;
