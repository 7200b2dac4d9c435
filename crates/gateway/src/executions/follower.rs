//! Someone who follows an execution.

use std::sync::Arc;

use tokio::sync::watch;

use super::entry::Entry;
use super::progress::Progress;
use super::ExecutionId;
use crate::execute::Report;
use crate::ports::QuestionAnswer;

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

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.entry.progress()
    }

    /// Waits until something has happened since this was asked the last time.
    pub async fn changed(&mut self) {
        // The sender lives in the entry that is held here.
        let _ = self.changes.changed().await;
    }

    /// Waits for the end.
    pub async fn ended(&mut self) -> Arc<Report> {
        loop {
            self.changes.borrow_and_update();
            if let Some(report) = self.progress().report {
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
}
