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

use crate::answer::{self, Answer, AnswerBudget, Keeping};
use crate::builder::Gateway;
use crate::execute::{ExecuteRequest, Refusal, Report};
use crate::history::{Beginning, History};
use crate::ports::{Asker, QuestionKind};
use crate::results::{Origin, Results};
use crate::session::{Patience, Place, SessionChoice, SessionId, Sessions};
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

impl Owner {
    /// Whoever uses this machine: the command line, a client over pipes, and callers over HTTP from
    /// this machine who need no token.
    pub const LOCAL: &'static str = "local";

    /// See [`Owner::LOCAL`].
    pub fn local() -> Self {
        Self(Self::LOCAL.to_owned())
    }

    /// Whoever calls with a token of this name.
    pub fn of_token(identity: &str) -> Self {
        Self(format!("http:{identity}"))
    }
}

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
    /// The session that it works in; what it leaves behind without one becomes one.
    pub session: SessionChoice,
    /// What to do if that is running another program.
    pub patience: Patience,
    /// Whether it goes on with the variables of the session's programs, and leaves its own to the
    /// next. A session is then there before it begins.
    pub keep_variables: bool,
    /// What can be asked back.
    pub answers: Answers,
    /// What the answer about it may take.
    pub answer: AnswerBudget,
    /// Whether the caller said how many tokens that are; if not, a session's own number goes before.
    pub answer_is_said: bool,
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
    results: Option<Results>,
    shelf: Mutex<Shelf>,
}

impl Executions {
    /// Of this gateway, with these sessions. Each is recorded in `history` and finds its owner's
    /// `results`, if there are any.
    pub fn new(
        gateway: Gateway,
        sessions: Sessions,
        history: Option<History>,
        results: Option<Results>,
        limits: KeepLimits,
    ) -> Self {
        let shelf = Mutex::new(Shelf::new(limits));
        Self { inner: Arc::new(Inner { gateway, sessions, history, results, shelf }) }
    }

    /// The gateway that runs them.
    pub fn gateway(&self) -> &Gateway {
        &self.inner.gateway
    }

    /// The sessions that they work in.
    pub fn sessions(&self) -> &Sessions {
        &self.inner.sessions
    }

    /// Starts a program, as soon as its session is free. It runs on whether it is followed or not,
    /// until it ends or is cancelled. The error is its report: nothing ran.
    pub fn start(&self, start: Start) -> Result<Follower, Box<Report>> {
        let asked = Instant::now();
        let refuse = |refusal: Refusal| Box::new(refusal.report(asked));
        let is_theirs = |entry: &Arc<Entry>| entry.owner == start.owner && !entry.has_ended();
        let theirs = self.shelf().all().filter(is_theirs).count();
        if theirs >= RUNNING_OF_ONE_MAX {
            return Err(refuse(Refusal::new(
                Code::Busy,
                format!("{theirs} of your programs are running or waiting, which is as many as may"),
                "wait for some of them: get_execution",
            )));
        }
        let entry = Arc::new(Entry::new(start.owner.clone()).map_err(refuse)?);
        self.shelf().put(Arc::clone(&entry), asked);
        let (watched, runtime) = (Arc::clone(&entry), self.inner.gateway.runtime());
        let world = World {
            gateway: self.inner.gateway.clone(),
            sessions: self.inner.sessions.clone(),
            history: self.inner.history.clone(),
            results: self.inner.results.clone(),
        };
        let inner = Arc::downgrade(&self.inner);
        runtime.spawn(async move {
            let mut start = start;
            if let Some(results) = &world.results {
                start.request.offer_results(results.clone(), &start.owner);
            }
            let (report, answer) = carry_out(&watched, &world, start, asked).await;
            drop(world);
            watched.end(report, answer);
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

    /// Where whole values are kept.
    pub fn results(&self) -> Option<&Results> {
        self.inner.results.as_ref()
    }

    /// What is said about the end of an execution within another budget than it was started with.
    pub async fn answer(&self, follower: &Follower, report: &Report, budget: &AnswerBudget) -> Answer {
        let keep = keeping(self.inner.results.as_ref(), follower.owner(), follower.id(), report);
        answer::of_report(report, budget, keep.as_ref(), None).await
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

/// What an execution needs while it runs.
struct World {
    gateway: Gateway,
    sessions: Sessions,
    history: Option<History>,
    results: Option<Results>,
}

/// One program, from its place in a session to its report, and what is said about it.
async fn carry_out(entry: &Arc<Entry>, world: &World, start: Start, asked: Instant) -> (Report, Answer) {
    let Start { owner, mut request, session, patience, keep_variables, answers, .. } = start;
    let Start { answer: mut budget, answer_is_said, .. } = start;
    let World { gateway, sessions, history, results } = world;
    let found = tokio::select! {
        biased;
        () = entry.cancelled() => return refused(Refusal::cancelled(), &budget, asked).await,
        found = sessions.place(&owner, &session, patience, keep_variables) => found,
    };
    let place: Place = match found {
        Ok(place) => place,
        Err(error) => return refused(Refusal::from(error), &budget, asked).await,
    };
    place.equip(&mut request, gateway.limits(), keep_variables);
    if let (Some(tokens_max), false) = (place.answer_tokens_max(), answer_is_said) {
        budget.tokens_max = tokens_max;
    }
    if answers.any() {
        request.asker = Asker::new(Arc::new(Questions::new(entry, answers)));
    }
    let beginning = history.as_ref().map(|history| {
        let level = request.limits.as_ref().unwrap_or(gateway.limits()).level();
        let beginning = history.about_to_run(&entry.id, &owner, &mut request, level);
        beginning.in_session(place.session().map(SessionId::as_str))
    });
    let execution = gateway.execute(request);
    // Beside the program, which runs already.
    let recording = beginning.map(Beginning::begin);
    let mut report = entry::follow(entry, execution).await;
    place.leave(sessions, &owner, &mut report).await;
    let keep = keeping(results.as_ref(), &owner, &entry.id, &report);
    let answer = answer::of_report(&report, &budget, keep.as_ref(), None).await;
    // Before anybody hears of the end: what was answered is known, whatever happens next.
    let Some(recording) = recording else { return (report, answer) };
    let session = report.session.as_ref().map(|session| session.id.clone()).unwrap_or_default();
    recording.end(&mut report, &session, Some(answer.tokens)).await;
    if report.is_recorded {
        return (report, answer);
    }
    // The report has one more note now.
    let answer = answer::of_report(&report, &budget, keep.as_ref(), None).await;
    (report, answer)
}

/// A program that never ran.
async fn refused(refusal: Refusal, budget: &AnswerBudget, asked: Instant) -> (Report, Answer) {
    let report = refusal.report(asked);
    let answer = answer::of_report(&report, budget, None, None).await;
    (report, answer)
}

/// Where what an answer has no room for is kept, and what is noted of it.
fn keeping(results: Option<&Results>, owner: &Owner, id: &ExecutionId, report: &Report) -> Option<Keeping> {
    let session = report.session.as_ref().map(|session| session.id.clone());
    let origin = Origin { session, execution: Some(id.as_str().to_owned()) };
    results.map(|results| Keeping { results: results.clone(), owner: owner.clone(), origin })
}
