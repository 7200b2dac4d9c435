//! How far an execution has come, as anyone who follows it can see.

use std::sync::Arc;
use std::time::Duration;

use crate::answer::Answer;
use crate::ports::Question;
use crate::report::Report;

#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub status: Status,
    /// Since it was asked for, until now or until it ended.
    pub elapsed: Duration,
    /// Tool calls that have begun.
    pub calls_begun: usize,
    /// Tool calls that were answered.
    pub calls_answered: usize,
    /// What it is doing, in a few words.
    pub doing: String,
    /// The end of what it has printed.
    pub output_tail: String,
    /// What servers want to know.
    pub questions: Vec<PendingQuestion>,
    pub report: Option<Arc<Report>>,
    /// What is said about that, within the budget that it was started with.
    pub answer: Option<Arc<Answer>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It runs, or waits for its turn.
    Running,
    /// A server has asked something.
    Asking,
    /// There is a report.
    Ended,
}

impl Status {
    /// As it is written in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Asking => "input_required",
            Status::Ended => "ended",
        }
    }
}

/// A question that waits for its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingQuestion {
    /// Unique within its execution.
    pub number: u64,
    pub question: Question,
}
