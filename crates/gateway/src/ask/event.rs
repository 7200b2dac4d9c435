//! What happens while a sentence becomes a program, and what came of it.

use std::fmt;
use std::sync::Arc;

use gristmill_checks::Finding;
use gristmill_domain::policy::Decision;
use gristmill_domain::skills::NameError;
use gristmill_protocol::{EngineId, Stream};
use serde_json::Value;

use crate::answer::Answer;
use crate::ids::ExecutionId;
use crate::ports::{ModelName, Prompt, TokensUsed};
use crate::report::Report;
use crate::service::Follower;

/// Something that happens.
#[derive(Clone)]
pub enum AskEvent {
    /// Tools were found for the sentence.
    Searched {
        tools: Vec<PickedTool>,
        /// Found, and without room in the prompt.
        left_out: usize,
        /// What the prompt comes to (o200k).
        prompt_tokens: usize,
    },
    /// A model is about to be asked.
    Prompted { author: Author, prompt: Prompt },
    /// A piece of an answer. Some are left out if nobody takes them.
    Writing { text: String },
    /// What was written so far is void.
    WritingAgain { reason: String },
    /// A program.
    Program(AskedProgram),
    /// What is said about it before it runs.
    Checked {
        findings: Vec<Finding>,
        /// How many more there are.
        more: usize,
        is_refused: bool,
    },
    /// What it would call.
    Preview(Preview),
    /// It waits for a yes or a no: [`Asking::consent`](super::Asking::consent).
    AwaitingConsent {
        /// Tools that write, or may; those that send requests with their hosts, as far as these are known:
        /// [`question_words`](super::question_words).
        writes: Vec<String>,
        /// What earlier attempts wrote already.
        made: Vec<String>,
    },
    /// It runs.
    Running {
        id: ExecutionId,
        /// Whether what it writes is refused.
        only_reads: bool,
        /// By which questions are answered.
        follower: Follower,
    },
    /// It printed something.
    Output { stream: Stream, bytes: Vec<u8> },
    /// It was refused or failed, in words for a person.
    Failed { attempt: u32, text: String },
    /// Somebody writes no program, or nobody of a kind is there to write one, and why.
    Fallback { from: Option<String>, reason: String },
    /// It ran to its end.
    Finished { value: Option<Value>, answer: String },
}

/// A tool in the prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PickedTool {
    /// As `server.tool`.
    pub name: String,
    /// From 0 to 1, beside the best.
    pub nearness: f32,
}

/// Who wrote a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    Model(ModelName),
    Rules,
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Author::Model(ModelName { provider, model }) => write!(f, "{provider} {model}"),
            Author::Rules => f.write_str("rules"),
        }
    }
}

/// A program that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedProgram {
    /// From 1.
    pub attempt: u32,
    pub author: Author,
    pub engine: EngineId,
    pub code: String,
    /// What it takes for granted, a sentence each.
    pub assumptions: Vec<String>,
    /// What writing it took, as the provider counts or else as we do.
    pub tokens: TokensUsed,
    /// In US dollars, if the price is known.
    pub price: Option<f64>,
}

/// What a program would call, as far as its text says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    pub tools: Vec<PreviewedTool>,
    /// Whether it may call others, too: something in it can't be followed.
    pub may_call_others: bool,
    /// Whether it only reads: every call is one of a tool that its server marks as read-only and that the policy
    /// allows, and there are no others.
    pub only_reads: bool,
}

/// One tool that a program names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewedTool {
    /// As `server.tool`.
    pub name: String,
    /// What the policy says of it, whatever its arguments; `None` if there is no such tool.
    pub decision: Option<Decision>,
    /// Whether its server marks it as read-only, and it isn't a request to a host.
    pub is_read_only: bool,
    /// Where its requests go, if the text says so of each.
    pub hosts: Vec<String>,
}

/// What all writing took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub tokens: TokensUsed,
    /// In US dollars; `None` if a price isn't known.
    pub price: Option<f64>,
}

/// How an ask ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskEnding {
    /// The program ran to its end.
    Finished,
    /// It was written and checked, and nobody wanted it to run.
    Written,
    /// Nobody said yes to it. It did not run, or what it wanted to write was refused.
    NoConsent,
    /// The last program was refused or failed.
    Failed,
    /// Nobody wrote one.
    NotWritten,
    /// Whoever asked went away.
    Cancelled,
}

impl AskEnding {
    /// As it is written in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            AskEnding::Finished => "ok",
            AskEnding::Written => "written",
            AskEnding::NoConsent => "needs_consent",
            AskEnding::Failed => "failed",
            AskEnding::NotWritten => "not_written",
            AskEnding::Cancelled => "cancelled",
        }
    }
}

/// What came of a sentence.
#[derive(Clone)]
pub struct Asked {
    pub ending: AskEnding,
    /// The task as a model may read it.
    pub sentence: String,
    /// The last one.
    pub program: Option<AskedProgram>,
    /// What was found in it.
    pub findings: Vec<Finding>,
    pub preview: Option<Preview>,
    /// Its last execution.
    pub execution: Option<ExecutionId>,
    pub report: Option<Arc<Report>>,
    pub answer: Option<Arc<Answer>>,
    /// Programs that were written.
    pub attempts: u32,
    pub spent: Spent,
    /// What all attempts wrote, as `server.tool` with how that ended.
    pub made: Vec<String>,
    /// Why writers gave up, and what else is worth knowing.
    pub reasons: Vec<String>,
    /// Why the last program failed, or why there is none, for people.
    pub failure: Option<String>,
    /// Why nothing can be saved under the name that was wanted. Nothing was written then.
    pub bad_name: Option<NameError>,
    /// Tools that come nearest, if nobody wrote a program.
    pub nearest: Vec<String>,
}
