//! Someone who follows an execution.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::entry::Entry;
use super::progress::{Progress, Status};
use super::{ExecutionId, Owner};
use crate::execute::Event;
use crate::ports::QuestionAnswer;
use crate::privacy::Veil;
use crate::report::Report;

/// Sees how an execution goes. Dropping it changes nothing: the program runs on.
#[derive(Clone)]
pub struct Follower {
    entry: Arc<Entry>,
    changes: watch::Receiver<u64>,
}

impl Follower {
    pub(super) fn new(entry: Arc<Entry>) -> Self {
        let changes = entry.changes();
        Self { entry, changes }
    }

    /// Which execution this is.
    pub fn id(&self) -> &ExecutionId {
        &self.entry.id
    }

    pub(super) fn veil(&self) -> Option<Arc<Veil>> {
        self.entry.veil()
    }

    pub(super) fn owner(&self) -> &Owner {
        &self.entry.owner
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.entry.progress()
    }

    /// How far it is; [`Follower::changed`] waits for what happens after this.
    pub fn look(&mut self) -> Progress {
        self.changes.borrow_and_update();
        self.entry.progress()
    }

    /// When it was asked for.
    pub fn started(&self) -> std::time::SystemTime {
        self.entry.started
    }

    /// Waits until something has happened since this was asked the last time.
    pub async fn changed(&mut self) {
        // The sender lives in the entry that is held here.
        let _ = self.changes.changed().await;
    }

    /// Waits until it is noted that the program runs. Also over if it has ended, or asks something before it runs.
    pub async fn begun(&mut self) {
        while self.look().status == Status::Running && !self.entry.has_begun() {
            self.changed().await;
        }
    }

    /// Waits for the end.
    pub async fn ended(&mut self) -> Arc<Report> {
        loop {
            if let Some(report) = self.look().report {
                return report;
            }
            self.changed().await;
        }
    }

    /// Stops the program at once. Its report says what had been done.
    pub fn cancel(&self) {
        self.entry.cancel();
    }

    /// Answers a question; `false` if it is not asked any more.
    pub fn answer(&self, number: u64, answer: QuestionAnswer) -> bool {
        self.entry.answer(number, answer)
    }

    /// Questions are about to be put to a client that comes back with the answers. The number is for
    /// [`Follower::end_round`], which takes it once.
    pub fn begin_round(&self) -> u64 {
        self.entry.begin_round()
    }

    /// A client has come back; `false` if somebody has come back from this round before.
    pub fn end_round(&self, round: u64) -> bool {
        self.entry.end_round(round)
    }
}

/// Everything that happens in one execution, as it happens. Dropping it changes nothing: the program
/// runs on.
pub struct LiveEvents {
    events: mpsc::Receiver<Event>,
}

impl LiveEvents {
    pub(super) fn new(events: mpsc::Receiver<Event>) -> Self {
        Self { events }
    }

    /// The next thing that happens; `None` when nothing more will. What has happened is not lost when
    /// the program ends: it is given first.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }
}
