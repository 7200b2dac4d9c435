//! Types learned from use: what passes the door is looked at off the way, and what was learned is shown to whoever
//! made the calls.
//!
//! A call costs a copy of its answer at most: it is put into a queue, or dropped where that is full. One task merges
//! what waits into the database, batch by batch. What an owner's calls have taught is that owner's.
//!
//! Walls: no value is kept, and nothing is learned of errors, of servers that anybody can write to, or of what a
//! program may not see. Losing the process loses what waits.

mod owner_types;
mod personal_names;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use gristmill_domain::ServerSettings;
use gristmill_domain::catalogue::ToolDefinition;
use gristmill_domain::learned::observe;
use gristmill_domain::policy::Mark;
use gristmill_privacy::{Detector, Settings as DetectorSettings, SettingsError};
use tokio::sync::{Notify, mpsc, watch};

use crate::ids::{Caller, Owner};
use crate::privacy::Privacy;
use crate::spans::SERVERS;
use crate::store::{ObservedAnswer, Store};
use owner_types::OwnerViews;
use personal_names::PersonalNames;

pub use owner_types::LearnedTypes;

/// A longer answer is not looked at: copying it would be felt.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// What waits, in answers and in bytes. Beyond either, answers are dropped: there will be others.
const WAITING_MAX: usize = 64;
const WAITING_BYTES_MAX: usize = 16 << 20;

/// Between batches, so that a busy tool doesn't keep the database busy.
const PAUSE: Duration = Duration::from_millis(100);

/// How long what waits may hold up the end.
const CLOSING: Duration = Duration::from_secs(2);

/// See the module. Cheap to clone; its task ends with the last clone.
#[derive(Clone)]
pub struct Learner {
    queue: mpsc::Sender<Answer>,
    shared: Arc<Shared>,
}

struct Shared {
    store: Store,
    views: OwnerViews,
    /// Answers that are not written yet.
    waiting: watch::Sender<usize>,
    waiting_bytes: AtomicUsize,
    dropped: AtomicU64,
    /// Somebody waits for what waits.
    hurry: Notify,
    /// Counts batches.
    learned: watch::Sender<u64>,
}

struct Answer {
    owner: Owner,
    server: String,
    tool: String,
    definition: String,
    json: String,
}

impl Learner {
    /// One that learns, and takes for personal what `privacy` does, or what is by default. Needs a tokio runtime.
    pub fn start(store: Store, privacy: Option<&Privacy>) -> Result<Self, SettingsError> {
        let detector = match privacy {
            Some(privacy) => privacy.detector(),
            None => Arc::new(Detector::new(&DetectorSettings::default())?),
        };
        let (learner, waiting) = Self::around(store);
        tokio::spawn(learn(Arc::clone(&learner.shared), waiting, detector));
        Ok(learner)
    }

    /// One that only tells what was learned.
    pub fn reading(store: Store) -> Self {
        Self::around(store).0
    }

    fn around(store: Store) -> (Self, mpsc::Receiver<Answer>) {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let shared = Shared {
            views: OwnerViews::new(store.clone()),
            store,
            waiting: watch::Sender::new(0),
            waiting_bytes: AtomicUsize::new(0),
            dropped: AtomicU64::new(0),
            hurry: Notify::new(),
            learned: watch::Sender::new(0),
        };
        (Self { queue, shared: Arc::new(shared) }, waiting)
    }

    /// A tool has answered, and this is what the caller's program sees of it. Doesn't block.
    pub(crate) fn answered(
        &self,
        caller: &Caller,
        server: &ServerSettings,
        definition: &ToolDefinition,
        json: &str,
    ) {
        // What anybody can write is not shown to those who haven't read it.
        let is_learned = definition.output_schema.is_none() && !server.marks.has(Mark::Untrusted);
        if !is_learned || json.len() > ANSWER_BYTES_MAX {
            return;
        }
        let Ok(place) = self.queue.try_reserve() else { return self.drop_one() };
        let shared = &self.shared;
        if shared.waiting_bytes.fetch_add(json.len(), Ordering::Relaxed) + json.len() > WAITING_BYTES_MAX {
            shared.waiting_bytes.fetch_sub(json.len(), Ordering::Relaxed);
            return self.drop_one();
        }
        shared.waiting.send_modify(|waiting| *waiting += 1);
        place.send(Answer {
            owner: caller.owner.clone(),
            server: server.name.clone(),
            tool: definition.name.clone(),
            definition: definition.hash.to_hex(),
            json: json.to_owned(),
        });
    }

    fn drop_one(&self) {
        self.shared.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Answers that were not looked at because too many waited.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// What an owner's calls have taught, as stubs show it. Of another process's calls it is a moment old.
    pub async fn types(&self, owner: &Owner) -> Arc<LearnedTypes> {
        self.shared.views.of(owner).await
    }

    /// Counts up whenever answers have been learned from.
    pub(crate) fn learned(&self) -> watch::Receiver<u64> {
        self.shared.learned.subscribe()
    }

    /// Waits until everything that was answered so far has been learned from.
    pub async fn idle(&self) {
        let mut waiting = self.shared.waiting.subscribe();
        while *waiting.borrow_and_update() > 0 {
            self.shared.hurry.notify_one();
            if waiting.changed().await.is_err() {
                return;
            }
        }
    }

    /// The same, but not for long.
    pub async fn close(&self) {
        let _ = tokio::time::timeout(CLOSING, self.idle()).await;
    }
}

async fn learn(shared: Arc<Shared>, mut waiting: mpsc::Receiver<Answer>, detector: Arc<Detector>) {
    let mut batch = Vec::with_capacity(WAITING_MAX);
    while waiting.recv_many(&mut batch, WAITING_MAX).await > 0 {
        let answers = std::mem::take(&mut batch);
        let (count, bytes) = (answers.len(), answers.iter().map(|answer| answer.json.len()).sum());
        let detector = Arc::clone(&detector);
        let observed = tokio::task::spawn_blocking(move || observe_all(answers, &detector)).await;
        if let Ok(observed) = observed {
            write(&shared, observed).await;
        }
        shared.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        shared.learned.send_modify(|batches| *batches += 1);
        shared.waiting.send_modify(|waiting| *waiting -= count);
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = shared.hurry.notified() => {}
        }
    }
}

fn observe_all(answers: Vec<Answer>, detector: &Detector) -> Vec<ObservedAnswer> {
    let observed = answers.into_iter().filter_map(|answer| {
        let shape = observe(&answer.json, &PersonalNames(detector))?;
        let Answer { owner, server, tool, definition, .. } = answer;
        Some(ObservedAnswer { owner: owner.0, server, tool, definition, shape })
    });
    observed.collect()
}

/// What can't be written is lost: later answers teach the same.
async fn write(shared: &Shared, observed: Vec<ObservedAnswer>) {
    let owners: Vec<Owner> = observed.iter().map(|answer| Owner(answer.owner.clone())).collect();
    match shared.store.learn(observed).await {
        Ok(drifted) => {
            for tool in drifted {
                let (server, drifts) = (tool.server, tool.drifts);
                tracing::info!(
                    target: SERVERS, server, tool = tool.tool, drifts, "answers differ from what was learned"
                );
            }
        }
        Err(error) => {
            tracing::debug!(target: SERVERS, why = %error, "what was learned can't be kept");
        }
    }
    owners.iter().for_each(|owner| shared.views.outdate(owner));
}
