//! The service: every execution of a gateway, whoever asked for it, goes this way.
//!
//! [`life`] (place → execute → record → answer) is the way of one; `run`, `serve`, `rerun` and the tests
//! of skills ([`skill_sandbox`]) differ in what they ask for and in nothing else. Whoever started an
//! execution owns it, and nobody else can find it, not even by its id. What has ended is kept for a
//! while ([`shelf`]), so that an answer that did not arrive can be fetched again.
//!
//! Walls: everything kept is bounded in number, bytes and time.

mod engine;
mod entry;
mod follower;
mod hidden;
mod life;
mod planning;
mod progress;
mod questions;
mod shelf;
mod skill_sandbox;
mod start;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_domain::Code;
use parking_lot::{Mutex, MutexGuard};

use crate::answer::{self, Answer, AnswerBudget};
use crate::execute::{self, Purpose};
use crate::ids::{ExecutionId, Owner};
use crate::report::{Refusal, Report};
use crate::skills::SkillSandbox;
use entry::Entry;
use life::{Order, keeping};
use shelf::Shelf;

pub(crate) use engine::kept_wishes;
pub(crate) use life::World;

pub use follower::{Follower, LiveEvents};
pub use progress::{PendingQuestion, Progress, Status};
pub use shelf::KeepLimits;
pub use start::{Answers, PlaceChoice, StartRequest};

/// Programs of one owner that run or wait for their turn; some places are left for others.
const RUNNING_OF_ONE_MAX: usize = 128;

/// Every execution of a gateway that somebody may still ask about. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

struct Inner {
    world: Arc<World>,
    shelf: Mutex<Shelf>,
}

impl Service {
    pub(crate) fn new(world: Arc<World>, limits: KeepLimits) -> Self {
        Self { inner: Arc::new(Inner { world, shelf: Mutex::new(Shelf::new(limits)) }) }
    }

    /// Starts a program, as soon as its session is free. It runs on whether it is followed or not,
    /// until it ends or is cancelled. The error is its report: nothing ran.
    pub fn start(&self, start: StartRequest) -> Result<Follower, Box<Report>> {
        self.begin(start, Order::asked)
    }

    /// The same, with everything that happens as it happens. A program whose events are not taken is
    /// held up after some thousand of them, but its time limit is not. [`Follower::progress`] shows no
    /// more than whether it has ended.
    pub fn start_live(&self, start: StartRequest) -> Result<(Follower, LiveEvents), Box<Report>> {
        let (sender, events) = execute::event_channel();
        let follower = self.begin(start, |start, purpose| Order::live(start, purpose, sender))?;
        Ok((follower, LiveEvents::new(events)))
    }

    fn begin(
        &self,
        start: StartRequest,
        order: impl FnOnce(StartRequest, Purpose) -> Order,
    ) -> Result<Follower, Box<Report>> {
        let asked = Instant::now();
        let refuse = |refusal: Refusal| {
            let report = Box::new(refusal.report(asked));
            if let Some(telemetry) = &self.inner.world.telemetry {
                telemetry.refused(&start.caller, None, &report);
            }
            report
        };
        let is_theirs = |entry: &Arc<Entry>| entry.owner == start.caller.owner && !entry.has_ended();
        let theirs = self.shelf().all().filter(is_theirs).count();
        if theirs >= RUNNING_OF_ONE_MAX {
            return Err(refuse(Refusal::new(
                Code::Busy,
                format!("{theirs} of your programs are running or waiting, which is the most you can have"),
                "wait for some of them to end",
            )));
        }
        let entry = Arc::new(Entry::new(start.caller.owner.clone()).map_err(refuse)?);
        self.shelf().put(Arc::clone(&entry), asked);
        let (watched, world) = (Arc::clone(&entry), Arc::clone(&self.inner.world));
        let inner = Arc::downgrade(&self.inner);
        let order = order(start, Purpose::Asked(Arc::clone(&world) as Arc<dyn SkillSandbox>));
        self.inner.world.core.runtime.spawn(async move {
            let carried_out = life::carry_out(&watched, &world, order, asked).await;
            drop(world);
            carried_out.tell(&watched).await;
            if let Some(inner) = inner.upgrade() {
                inner.shelf.lock().tidy(Instant::now());
            }
        });
        Ok(Follower::new(entry))
    }

    /// What is said about the end of an execution within another budget than it was started with.
    pub async fn answer(&self, follower: &Follower, report: &Report, budget: &AnswerBudget) -> Answer {
        let results = self.inner.world.results.as_ref();
        let keep = keeping(results, follower.owner(), follower.id(), report, follower.veil());
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
        self.inner.shelf.lock()
    }
}
