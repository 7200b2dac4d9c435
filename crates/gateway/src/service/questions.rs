//! Questions of servers, put before whoever follows the execution.

use std::sync::{Arc, Weak};

use super::Answers;
use super::entry::Entry;
use crate::ports::{AnswerWay, Ask, BoxFuture, Question, QuestionAnswer, QuestionKind};

pub(super) struct Questions {
    /// Not owned: the execution holds this while the entry holds the execution's end.
    entry: Weak<Entry>,
    answers: Answers,
}

impl Questions {
    pub fn new(entry: &Arc<Entry>, answers: Answers) -> Self {
        Self { entry: Arc::downgrade(entry), answers }
    }
}

impl Ask for Questions {
    fn ask(&self, question: Question) -> BoxFuture<'static, QuestionAnswer> {
        let entry = self.entry.clone();
        Box::pin(async move {
            let Some(entry) = entry.upgrade() else { return QuestionAnswer::Cancel };
            let (number, answered) = entry.ask(question);
            let _taken_back = TakeBack { entry: &entry, number };
            answered.await.unwrap_or(QuestionAnswer::Cancel)
        })
    }

    fn can_answer(&self, kind: &QuestionKind) -> bool {
        self.answers.fits(kind)
    }

    fn way(&self) -> AnswerWay {
        self.answers.way
    }
}

/// A question is taken back when nobody waits for its answer any more.
struct TakeBack<'a> {
    entry: &'a Entry,
    number: u64,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        self.entry.take_back(self.number);
    }
}
