//! How a program came to its end, and everything that is known of it then.

use std::time::{Duration, Instant};

use gristmill_domain::{LimitName, Limits};
use gristmill_protocol::{ChildExit, EngineId, Outcome, RunStats};

use super::prepare::CpuRule;
use super::standing::Standing;
use crate::ports::GrowingResult;
use crate::report::{CallTokens, ToolCalled};

/// How a program came to its end.
pub(super) enum Ending {
    /// The worker said so.
    Done(Outcome),
    /// A limit that the gateway keeps.
    Limit(LimitName),
    /// The caller took it back.
    Cancelled,
    /// The worker is gone.
    Lost(Option<ChildExit>),
    /// The worker broke the protocol.
    Misbehaved(String),
    /// The machine that the worker was on is gone.
    NodeLost { node: String },
}

impl Ending {
    pub fn in_a_word(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Limit(name) => name.as_str(),
            Self::Cancelled => "canceled",
            Self::Lost(_) => "lost",
            Self::Misbehaved(_) => "misbehaved",
            Self::NodeLost { .. } => "node_lost",
        }
    }
}

/// Everything that is known of a program that ended.
pub(super) struct Finished {
    pub ending: Ending,
    /// What ran it.
    pub engine: EngineId,
    /// The machine that it ran on, if that was another.
    pub node: Option<String>,
    /// What is to be said about where it ran.
    pub notes: Vec<String>,
    /// Where it was in its program, if its time was over.
    pub standing: Standing,
    /// What it handed over of a result that is too large for the outcome.
    pub large_result: Option<Box<dyn GrowingResult>>,
    pub limits: Limits,
    pub cpu: CpuRule,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub stats: RunStats,
    pub tools_called: Vec<ToolCalled>,
    /// When each of them began.
    pub calls_began: Vec<Instant>,
    pub call_tokens: CallTokens,
    pub ran_for: Duration,
    pub took: Duration,
}

/// What takes longer to read than waking up another thread to go on with the other tasks.
const LARGE_BYTES: usize = 256 * 1024;

impl Finished {
    /// Whether it takes long to make a report of it.
    pub fn is_large(&self) -> bool {
        matches!(&self.ending, Ending::Done(Outcome::Returned(told)) if told.len() > LARGE_BYTES)
    }
}
