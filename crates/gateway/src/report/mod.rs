//! What a caller gets back: the report of an execution, or the refusal of one that did not run.

mod refusal;
mod timing;
mod token_account;
mod writes;

use std::time::Duration;

use gristmill_checks::Finding;
use gristmill_domain::policy::Seen;
use gristmill_domain::{Code, LimitName, Limits, format_bytes};
use serde::Serialize;
use serde_json::Value;

use crate::ports::LargeResult;

pub(crate) use refusal::Refusal;
pub(crate) use timing::milliseconds;
pub use timing::{StageTime, Timing};
pub(crate) use token_account::CountedOutside;
pub use token_account::{TokenAccount, Verdict};
pub use writes::{DryRunReport, PlanReport, PlannedWriteReport, WriteReport};

/// How one program ended. As JSON, this is what `gristmill run --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Whether the program ran to its end without an error or a limit.
    pub success: bool,
    /// Its result: the variable `result`, or the value of its last expression.
    pub result: Option<Value>,
    /// Where its result is stored if it is too large for a report; `result` is then a condensed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub large_result: Option<LargeResult>,
    pub stdout: String,
    /// What it printed as errors.
    pub stderr: String,
    pub error: Option<ErrorReport>,
    /// From the program's first instruction to its last.
    pub execution_time_ms: f64,
    /// From the request to the report: with waiting for a worker and everything else.
    pub total_time_ms: f64,
    /// Every tool call, in the order in which they began.
    pub tools_called: Vec<ToolCalled>,
    /// Limits that refused something, the fatal one first.
    pub limits_hit: Vec<LimitHit>,
    /// Things worth knowing that are not errors.
    pub notes: Vec<String>,
    /// What was found in the program before it ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What it would have written, if it was a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<DryRunReport>,
    /// What became of the writes of its plan, if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanReport>,
    /// The most memory that the interpreter had.
    pub memory_peak_bytes: u64,
    pub cpu_time_ms: f64,
    /// What became of its variables, if it was asked to keep them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<VariablesReport>,
    /// The session that it worked in, or that was made of what it left behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionReport>,
    /// What it took of a model's context, and what it saved; only where that is counted,
    /// which it is for the history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenAccount>,
    /// What its calls come to in tokens, beside their arguments and answers.
    #[serde(skip)]
    pub call_tokens: CallTokens,
    /// Where its time went.
    #[serde(skip)]
    pub timing: Timing,
    /// Whether it is in the history.
    #[serde(skip)]
    pub is_recorded: bool,
    /// What its process did that no process of ours does.
    #[serde(skip)]
    pub broke: Option<Broke>,
    /// The machine that it ran on, if that was another.
    #[serde(skip)]
    pub node: Option<String>,
    /// Which marked data its caller has read.
    #[serde(skip)]
    pub seen: Seen,
}

/// What a worker's process did that none does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broke {
    /// A system call that is not permitted: the kernel ended it.
    SystemCalls,
    /// It said something that no worker says.
    Protocol,
    /// It died by this signal, of which we know nothing.
    Process(i32),
}

/// Variables from one program of a session to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VariablesReport {
    /// Whether this program found those of the one before.
    pub found: bool,
    /// Whether the next one will find this one's.
    pub kept: bool,
    /// Why variables that had been there are gone, if they are.
    pub lost: Option<String>,
}

impl VariablesReport {
    /// What a caller must know: only where something was lost that had been there.
    pub fn note(&self) -> Option<String> {
        let lost = self.lost.as_ref()?;
        Some(match self.found {
            true => format!("the session's variables are gone: {lost}; the next program starts without them"),
            false => format!("the session's variables were gone: {lost}; this program started without them"),
        })
    }
}

/// The session of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionReport {
    /// Its handle: with it, other programs find the same files.
    pub id: String,
    pub name: Option<String>,
    /// Whether it was made for this program.
    pub is_new: bool,
}

/// Why a program failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorReport {
    /// Stable; see docs/errors.md.
    pub code: Code,
    /// In one word: `exception`, `syntax`, `limit`, `crash` …
    pub kind: String,
    /// In one sentence or two.
    pub message: String,
    pub line: Option<u64>,
    /// The program's own frames.
    pub traceback: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCalled {
    /// As the program named it.
    pub name: String,
    /// The program's line, as far as it told.
    pub line: Option<u64>,
    /// Whether the tool answered with a value.
    pub ok: bool,
    /// Whether it left us: what was refused before, or is an analysis, has done nothing outside.
    pub sent: bool,
    /// How long it took.
    pub time_ms: f64,
    pub error: Option<String>,
    /// The error as it is remembered: without anything that was sent or came back.
    #[serde(skip)]
    pub kept_error: Option<String>,
    /// Its arguments, as JSON.
    pub argument_bytes: u64,
    /// What came back, as JSON, with its files.
    pub answer_bytes: u64,
    /// Tokens of the arguments; only where somebody asked for them to be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument_tokens: Option<u64>,
    /// Tokens of what came back, without its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_tokens: Option<u64>,
}

/// What the calls of an execution come to in tokens, beside their arguments and answers; all 0 where
/// nobody asked for them to be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTokens {
    /// Definitions of the tools that were called, each once, as far as they are known.
    pub definitions: u64,
    /// Answers of `search_tools` and about skills.
    pub looked_up: u64,
    /// Whether there was too much to count it one by one.
    pub estimated: bool,
}

/// One limit that was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LimitHit {
    /// Its name in settings and flags.
    pub name: &'static str,
    /// Its value, in its unit (ms, bytes, or a count).
    pub value: u64,
    /// What it means and how to raise it.
    pub message: String,
}

impl ToolCalled {
    /// What stands in the list until the answer comes.
    pub(crate) fn unanswered(name: &str, line: Option<u64>, argument_bytes: u64) -> Self {
        let error = "no answer before the program ended or gave up; the call may have been carried out";
        Self {
            name: name.to_owned(),
            line,
            ok: false,
            sent: true,
            time_ms: 0.0,
            error: Some(error.to_owned()),
            kept_error: Some(error.to_owned()),
            argument_bytes,
            answer_bytes: 0,
            argument_tokens: None,
            answer_tokens: None,
        }
    }
}

impl LimitHit {
    /// `name`, as it stands in `limits`.
    pub fn new(name: LimitName, limits: &Limits) -> Self {
        Self { name: name.as_str(), value: limits.get(name), message: limits.hit_message(name) }
    }
}

impl Report {
    /// Nothing ran.
    pub(crate) fn refused(code: Code, message: String, hint: Option<String>, took: Duration) -> Self {
        Self {
            success: false,
            result: None,
            large_result: None,
            stdout: String::new(),
            stderr: String::new(),
            error: Some(ErrorReport {
                code,
                kind: kind_of(code).to_owned(),
                message,
                line: None,
                traceback: None,
                hint,
            }),
            execution_time_ms: 0.0,
            total_time_ms: took.as_secs_f64() * 1000.0,
            tools_called: Vec::new(),
            limits_hit: Vec::new(),
            notes: Vec::new(),
            findings: Vec::new(),
            dry_run: None,
            plan: None,
            memory_peak_bytes: 0,
            cpu_time_ms: 0.0,
            variables: None,
            session: None,
            tokens: None,
            call_tokens: CallTokens::default(),
            timing: Timing::default(),
            is_recorded: false,
            broke: None,
            node: None,
            seen: Seen::default(),
        }
    }

    /// Where a person gets the whole of a result that is condensed here.
    pub fn large_result_note(&self) -> Option<String> {
        let LargeResult { handle, bytes, .. } = self.large_result.as_ref()?;
        let size = format_bytes(*bytes);
        Some(format!("the result is condensed; get all of it ({size}) with `gristmill results get {handle}`"))
    }

    pub(crate) fn failed_by_us(message: &str) -> Self {
        Self::refused(Code::WorkerLost, message.to_owned(), None, Duration::ZERO)
    }
}

/// At most so many characters, with a mark where it was cut.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    gristmill_domain::cut_chars_with(text, chars_max, " […]")
}

/// The word that goes with a code.
pub(crate) fn kind_of(code: Code) -> &'static str {
    match code {
        Code::Syntax => "syntax",
        Code::Exception => "exception",
        Code::MissingModule => "missing_module",
        Code::Tool => "tool",
        Code::UnawaitedCall => "unawaited_call",
        Code::Exit => "exit",
        Code::Recursion => "recursion",
        Code::WallTime
        | Code::CpuTime
        | Code::Memory
        | Code::OutputBytes
        | Code::ResultBytes
        | Code::ResultDepth
        | Code::ToolCalls
        | Code::CallBytes
        | Code::WorkspaceRoom => "limit",
        Code::EngineCrash => "crash",
        Code::UnknownTool | Code::BadCall => "tool",
        Code::Analysis => "analysis",
        Code::Configuration => "configuration",
        Code::ServerDown
        | Code::CallTimeout
        | Code::CallLost
        | Code::LoginNeeded
        | Code::ToolHeldBack
        | Code::CallRate
        | Code::BadAnswer => "upstream",
        Code::Guardrail => "guardrail",
        Code::PolicyDenied
        | Code::ApprovalNeeded
        | Code::PolicyBudget
        | Code::PlanDiffers
        | Code::PrivacyRefused
        | Code::OnlyReads
        | Code::HostNotAllowed => "policy",
        Code::Busy => "busy",
        Code::BadRequest | Code::EngineNotAllowed => "bad_request",
        Code::Cancelled => "cancelled",
        Code::Workspace => "workspace",
        Code::WorkerUnavailable => "worker_unavailable",
        Code::WorkerLost => "worker_lost",
        Code::WorkerMisbehaved => "worker_misbehaved",
        Code::NodeLost => "node_lost",
        Code::NoNode => "no_node",
        Code::NotShared => "not_shared",
    }
}
