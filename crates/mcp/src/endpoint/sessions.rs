//! Sessions of clients with a handshake: how many there are, whose each is, and which nobody uses
//! any more. `rmcp` keeps them; it neither counts them nor knows to whom they belong.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::SessionId;
use tokio::time::Instant;

use super::resumable::{KEPT_FOR, ResumableSessions};

/// Who opened a session: which token it was, or nobody in particular.
pub(super) type Owner = Option<String>;

/// The part of all sessions that one token may have: a quarter.
const SHARE: usize = 4;

struct Session {
    owner: Owner,
    /// Requests and streams of it that are open.
    open: usize,
    used_at: Instant,
}

pub(super) struct Sessions {
    /// Where they really are.
    pub(super) kept: Arc<ResumableSessions>,
    known: Mutex<Known>,
    max: usize,
    idle_time: Duration,
}

#[derive(Default)]
struct Known {
    sessions: HashMap<String, Session>,
    /// Places for sessions that are being opened.
    reserved: usize,
}

impl Sessions {
    pub(super) fn new(max: usize, idle_time: Duration) -> Arc<Self> {
        Arc::new(Self { kept: Arc::new(ResumableSessions::new()), known: Mutex::default(), max, idle_time })
    }

    /// A place for one more.
    pub(super) async fn reserve(self: &Arc<Self>, owner: &Owner) -> Option<Reserved> {
        if let Some(reserved) = self.try_reserve(owner) {
            return Some(reserved);
        }
        self.sweep().await;
        self.try_reserve(owner)
    }

    fn try_reserve(self: &Arc<Self>, owner: &Owner) -> Option<Reserved> {
        let mut known = self.known.lock();
        // One token must not take what all need.
        let theirs = known.sessions.values().filter(|session| session.owner == *owner).count();
        let is_fair = owner.is_none() || theirs < self.max.div_ceil(SHARE);
        let has_room = is_fair && known.sessions.len() + known.reserved < self.max;
        has_room.then(|| {
            known.reserved += 1;
            Reserved { sessions: Arc::clone(self) }
        })
    }

    /// Begins to use a session, if there is such a session of this owner.
    pub(super) fn enter(self: &Arc<Self>, id: &str, owner: &Owner) -> Option<Entered> {
        let mut known = self.known.lock();
        let session = known.sessions.get_mut(id).filter(|session| session.owner == *owner)?;
        session.open += 1;
        session.used_at = Instant::now();
        Some(Entered { sessions: Arc::clone(self), id: id.to_owned() })
    }

    /// Forgets those that are gone, and what can't be read again; ends those that nobody uses.
    pub(super) async fn sweep(&self) {
        let alive: HashSet<SessionId> = self.kept.inner.sessions.read().await.keys().cloned().collect();
        let now = Instant::now();
        self.kept.drop_old(now);
        let idle: Vec<String> = {
            let mut known = self.known.lock();
            known.sessions.retain(|id, session| session.open > 0 || alive.contains(id.as_str()));
            let is_idle = |session: &Session| {
                session.open == 0 && now.duration_since(session.used_at) >= self.idle_time
            };
            known.sessions.extract_if(|_, session| is_idle(session)).map(|(id, _)| id).collect()
        };
        for id in idle {
            self.end(&id).await;
        }
    }

    /// Sweeps now and then, for ever.
    pub(super) async fn keep_swept(&self) {
        // Answers go long before a session that nobody uses does.
        let between = (self.idle_time / 4).clamp(Duration::from_millis(10), KEPT_FOR / 4);
        let mut ticks = tokio::time::interval(between);
        loop {
            ticks.tick().await;
            self.sweep().await;
        }
    }

    pub(super) async fn end_all(&self) {
        let all: Vec<SessionId> = self.kept.inner.sessions.read().await.keys().cloned().collect();
        for id in all {
            self.end(&id).await;
        }
    }

    async fn end(&self, id: &str) {
        // What does not end is gone already.
        let _ = self.kept.close_session(&SessionId::from(id)).await;
    }
}

/// A place for a session; free again if none comes of it.
pub(super) struct Reserved {
    sessions: Arc<Sessions>,
}

impl Reserved {
    /// The session that the place was for has been opened.
    pub(super) fn opened(self, id: &str, owner: Owner) {
        let mut known = self.sessions.known.lock();
        known.sessions.insert(id.to_owned(), Session { owner, open: 0, used_at: Instant::now() });
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut known = self.sessions.known.lock();
        known.reserved -= 1;
    }
}

/// A request or stream of a session.
pub(super) struct Entered {
    sessions: Arc<Sessions>,
    id: String,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut known = self.sessions.known.lock();
        if let Some(session) = known.sessions.get_mut(&self.id) {
            session.open -= 1;
            session.used_at = Instant::now();
        }
    }
}
