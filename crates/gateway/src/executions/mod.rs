//! Executions that can be asked about: started by one request, followed by it or by later ones.
//!
//! Whoever started an execution owns it, and nobody else can find it, not even by its id. What has
//! ended is kept for a while, so that an answer that did not arrive can be fetched again.
//!
//! Walls: everything kept is bounded in number, bytes and time.

mod entry;
mod execution_id;
mod follower;
mod progress;
mod questions;
mod shelf;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gristmill_domain::Code;

use crate::builder::Gateway;
use crate::execute::{ExecuteRequest, Refusal, Report};
use crate::history::{Beginning, History};
use crate::ports::{Asker, QuestionKind};
use crate::session::{SessionError, Sessions};
use entry::Entry;
use questions::Questions;
use shelf::Shelf;

pub use execution_id::ExecutionId;
pub use follower::Follower;
pub use progress::{PendingQuestion, Progress, Status};
pub use shelf::KeepLimits;

/// Programs of one owner that run or wait for their turn; some places are left for others.
const RUNNING_OF_ONE_MAX: usize = 128;

/// Who may ask about an execution, and whose sessions it may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(pub String);

/// Which questions of servers whoever started an execution can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Forms to fill in.
    pub forms: bool,
    /// Pages to go to.
    pub urls: bool,
}

impl Answers {
    fn any(self) -> bool {
        self.forms || self.urls
    }

    fn fits(self, kind: &QuestionKind) -> bool {
        match kind {
            QuestionKind::Form { .. } => self.forms,
            QuestionKind::Url { .. } => self.urls,
        }
    }
}

/// What to start, for whom.
pub struct Start {
    /// Whose it is.
    pub owner: Owner,
    /// The program.
    pub request: ExecuteRequest,
    /// The session whose workspace it works in; without one its files are thrown away.
    pub session: Option<String>,
    /// What can be asked back.
    pub answers: Answers,
    /// The most tokens that an answer about it may take; `None` if nothing is cut.
    pub answer_tokens_max: Option<usize>,
}

/// Every execution of a gateway that somebody may still ask about. Cheap to clone.
#[derive(Clone)]
pub struct Executions {
    inner: Arc<Inner>,
}

struct Inner {
    gateway: Gateway,
    sessions: Sessions,
    history: Option<History>,
    shelf: Mutex<Shelf>,
}

impl Executions {
    /// Of this gateway. Each is recorded in `history`, if there is one.
    pub fn new(gateway: Gateway, history: Option<History>, limits: KeepLimits) -> Self {
        let sessions = Sessions::new(gateway.clone());
        Self { inner: Arc::new(Inner { gateway, sessions, history, shelf: Mutex::new(Shelf::new(limits)) }) }
    }

    /// The gateway that runs them.
    pub fn gateway(&self) -> &Gateway {
        &self.inner.gateway
    }

    /// Starts a program. It runs on whether it is followed or not, until it ends or is cancelled.
    /// The error is its report: nothing ran.
    pub fn start(&self, start: Start) -> Result<Follower, Box<Report>> {
        let asked = Instant::now();
        let Start { owner, mut request, session, answers, answer_tokens_max } = start;
        let refuse = |refusal: Refusal| Box::new(refusal.report(asked));
        let theirs = self.shelf().all().filter(|entry| entry.owner == owner && !entry.has_ended()).count();
        if theirs >= RUNNING_OF_ONE_MAX {
            return Err(refuse(Refusal::new(
                Code::Busy,
                format!("{theirs} of your programs are running or waiting, which is as many as may"),
                "wait for some of them: get_execution",
            )));
        }
        let entry = Arc::new(Entry::new(owner.clone()).map_err(refuse)?);
        let held = match &session {
            None => None,
            Some(name) => {
                let held = self.inner.sessions.enter(&owner, name).map_err(|error| refuse(error.into()))?;
                request.workspace = held.workspace();
                Some(held)
            }
        };
        if answers.any() {
            request.asker = Asker::new(Arc::new(Questions::new(&entry, answers)));
        }
        self.shelf().put(Arc::clone(&entry), asked);
        let beginning = self.inner.history.as_ref().map(|history| {
            let level = request.limits.as_ref().unwrap_or(self.inner.gateway.limits()).level();
            let beginning = history.about_to_run(&entry.id, &owner, &mut request, level);
            beginning.answered_within(answer_tokens_max)
        });
        let execution = self.inner.gateway.execute(request);
        let (watched, runtime) = (Arc::clone(&entry), self.inner.gateway.runtime());
        let inner = Arc::downgrade(&self.inner);
        runtime.spawn(async move {
            // Beside the program, which runs already.
            let recording = beginning.map(Beginning::begin);
            let mut report = entry::follow(&watched, execution).await;
            // Before anybody hears of the end: the next program of the session may come at once.
            drop(held);
            // Before anybody hears of the end: what was answered is known, whatever happens next.
            if let Some(recording) = recording {
                recording.end(&mut report, session.as_deref().unwrap_or_default()).await;
            }
            watched.end(report);
            if let Some(inner) = inner.upgrade() {
                inner.shelf.lock().unwrap_or_else(PoisonError::into_inner).tidy(Instant::now());
            }
        });
        Ok(Follower::new(entry))
    }

    /// Where they are recorded.
    pub fn history(&self) -> Option<&History> {
        self.inner.history.as_ref()
    }

    /// One of the owner's executions, running or ended a short while ago.
    pub fn find(&self, owner: &Owner, id: &ExecutionId) -> Option<Follower> {
        let entry = self.shelf().find(id)?;
        (entry.owner == *owner).then(|| Follower::new(entry))
    }

    /// The owner's executions that are still known, the newest first.
    pub fn recent(&self, owner: &Owner) -> Vec<Follower> {
        self.shelf().all().filter(|entry| entry.owner == *owner).map(Follower::new).collect()
    }

    /// Nobody will ask about it again. Running ones are not forgotten.
    pub fn forget(&self, id: &ExecutionId) {
        self.shelf().forget(id);
    }

    /// How many are running.
    pub fn running(&self) -> usize {
        self.shelf().all().filter(|entry| !entry.has_ended()).count()
    }

    /// Lets what runs end within `grace`, then cancels it and waits for that.
    pub async fn finish(&self, grace: Duration) {
        let running: Vec<Follower> =
            self.shelf().all().filter(|entry| !entry.has_ended()).map(Follower::new).collect();
        let all = |followers: Vec<Follower>| async move {
            for mut follower in followers {
                follower.ended().await;
            }
        };
        if tokio::time::timeout(grace, all(running.clone())).await.is_err() {
            for follower in &running {
                follower.cancel();
            }
            all(running).await;
        }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.inner.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<SessionError> for Refusal {
    fn from(error: SessionError) -> Self {
        let (code, hint) = match &error {
            SessionError::Busy { .. } => (Code::Busy, "wait for it, or use another session"),
            SessionError::TooMany { .. } => (Code::Busy, "use a session that is open, or none"),
            SessionError::BadName { .. } => {
                (Code::BadRequest, "without a session a program works on its own")
            }
            SessionError::NoFolder { .. } => {
                (Code::Workspace, "free some disk space, or set GRISTMILL_SCRATCH_DIR to a folder with room")
            }
        };
        Refusal::new(code, error.to_string(), hint)
    }
}
