//! Every execution: what is known when it begins, and what its report says.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_domain::{Code, LimitName, Limits};
use gristmill_protocol::EngineId;
use gristmill_watch::{Executed, Outcome};

use super::Telemetry;
use super::metrics::ExecutionLabels;
use crate::ids::{Caller, ExecutionId, Owner, SessionId};
use crate::report::{Report, TokenAccount, Verdict};
use crate::request::ExecuteRequest;
use crate::store::WatchEvent;

/// What is longer is told from others by its length, its beginning and its end.
const HASHED_BYTES_MAX: usize = 64 << 10;

/// An execution that runs.
pub struct Measured {
    telemetry: Telemetry,
    caller: Caller,
    id: ExecutionId,
    program: u64,
    language: &'static str,
    duration_limit_ms: u64,
    memory_limit_bytes: u64,
}

impl Telemetry {
    /// A program begins. `context` is the JSON that it gets.
    pub fn begin(
        &self,
        caller: &Caller,
        id: &ExecutionId,
        request: &ExecuteRequest,
        limits: &Limits,
    ) -> Measured {
        Measured {
            telemetry: self.clone(),
            caller: caller.clone(),
            id: id.clone(),
            program: if self.is_watching() {
                program_hash(&request.code, request.context.as_str())
            } else {
                0
            },
            language: request.engine.name(),
            duration_limit_ms: limits.get(LimitName::WallTime),
            memory_limit_bytes: limits.get(LimitName::Memory),
        }
    }

    /// Nothing ran.
    pub(crate) fn refused(&self, caller: &Caller, id: Option<&ExecutionId>, report: &Report) {
        let labels = labels("refused", EngineId::Python.name(), caller);
        self.metrics().executed(&labels, report);
        if self.is_watching() {
            let id = id.map(ExecutionId::as_str).unwrap_or_default();
            // No two that were refused are one program again: which it was is not known here.
            let event = Executed { program: program_hash(id, ""), ..event(caller, id, report) };
            self.tell(WatchEvent::Executed(event));
        }
    }
}

impl Measured {
    /// It has ended, and `recorded` was spent to write that down.
    pub fn end(self, report: &Report, recorded: Duration) {
        let Self { telemetry, caller, id, program, language, duration_limit_ms, memory_limit_bytes } = self;
        let metrics = telemetry.metrics();
        metrics.executed(&labels(outcome_label(report), language, &caller), report);
        metrics.ran(report, recorded.as_secs_f64());
        if telemetry.is_watching() {
            let event = event(&caller, id.as_str(), report);
            let event = Executed { program, duration_limit_ms, memory_limit_bytes, ..event };
            telemetry.tell(WatchEvent::Executed(event));
        }
    }
}

/// `local`, or a token's name.
pub(super) fn caller_name(caller: &Caller) -> String {
    match &caller.token {
        Some(token) => token.name.clone(),
        None => caller.owner.0.clone(),
    }
}

pub(super) fn unix_now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn labels(outcome: &'static str, language: &'static str, caller: &Caller) -> ExecutionLabels {
    let caller = match &caller.token {
        Some(_) => "token",
        None if caller.owner.0 == Owner::LOCAL => "local",
        None => "other",
    };
    ExecutionLabels { outcome, language, caller }
}

fn event(caller: &Caller, id: &str, report: &Report) -> Executed {
    // One that was made of what this program left behind has no other yet.
    let made = report.session.as_ref().filter(|session| !session.is_new || session.name.is_some());
    let made = made.map(|session| session.name.clone().unwrap_or_else(|| session.id.clone()));
    let given = caller.session.as_ref().map(SessionId::as_str).map(str::to_owned);
    let printed = report.stdout.len().saturating_add(report.stderr.len()) as u64;
    let stored = report.large_result.as_ref().map_or(0, |large| large.bytes);
    Executed {
        id: id.to_owned(),
        caller: caller_name(caller),
        session: caller.session_name.clone().or(made).or(given),
        at_ms: unix_now_ms(),
        outcome: outcome(report),
        code: report.error.as_ref().map(|error| error.code.as_str().to_owned()),
        duration_ms: report.execution_time_ms as u64,
        duration_limit_ms: 0,
        memory_peak_bytes: report.memory_peak_bytes,
        memory_limit_bytes: 0,
        output_bytes: printed.saturating_add(stored),
        tokens_saved: report.tokens.as_ref().and_then(saved),
        program: 0,
        calls: u32::try_from(report.tools_called.len()).unwrap_or(u32::MAX),
    }
}

/// A program that calls nothing has nothing to save.
fn saved(account: &TokenAccount) -> Option<i64> {
    match account.verdict() {
        Verdict::Saved(_) | Verdict::Nothing { .. } => Some(account.saved()),
        Verdict::NoCall | Verdict::NotKnown => None,
    }
}

fn outcome_label(report: &Report) -> &'static str {
    match outcome(report) {
        Outcome::Succeeded => "ok",
        Outcome::ProgramFailed => "failed",
        Outcome::LimitReached => "limit",
        Outcome::SystemFailed => "system",
        Outcome::Canceled => "canceled",
    }
}

fn outcome(report: &Report) -> Outcome {
    let Some(error) = &report.error else {
        return if report.success { Outcome::Succeeded } else { Outcome::ProgramFailed };
    };
    match error.code {
        Code::Cancelled => Outcome::Canceled,
        Code::WallTime
        | Code::CpuTime
        | Code::Memory
        | Code::OutputBytes
        | Code::ResultBytes
        | Code::ResultDepth
        | Code::ToolCalls
        | Code::CallBytes
        | Code::WorkspaceRoom => Outcome::LimitReached,
        Code::EngineCrash
        | Code::Workspace
        | Code::WorkerUnavailable
        | Code::WorkerLost
        | Code::WorkerMisbehaved
        | Code::NodeLost
        | Code::NoNode
        | Code::NotShared => Outcome::SystemFailed,
        Code::Syntax
        | Code::Exception
        | Code::MissingModule
        | Code::Tool
        | Code::UnawaitedCall
        | Code::Exit
        | Code::Recursion
        | Code::UnknownTool
        | Code::BadCall
        | Code::Analysis
        | Code::Guardrail
        | Code::Busy
        | Code::BadRequest
        | Code::Configuration
        | Code::EngineNotAllowed
        | Code::ServerDown
        | Code::CallTimeout
        | Code::CallLost
        | Code::LoginNeeded
        | Code::ToolHeldBack
        | Code::CallRate
        | Code::BadAnswer
        | Code::PolicyDenied
        | Code::ApprovalNeeded
        | Code::PolicyBudget
        | Code::PlanDiffers
        | Code::PrivacyRefused
        | Code::OnlyReads
        | Code::HostNotAllowed => Outcome::ProgramFailed,
    }
}

/// The same in every process and version: the watch compares programs over restarts.
fn program_hash(code: &str, context: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for text in [code, context] {
        let bytes = text.as_bytes();
        hasher.update(&bytes.len().to_le_bytes());
        match bytes.len() <= HASHED_BYTES_MAX {
            true => hasher.update(bytes),
            false => hasher
                .update(&bytes[..HASHED_BYTES_MAX / 2])
                .update(&bytes[bytes.len() - HASHED_BYTES_MAX / 2..]),
        };
    }
    let mut number = [0; 8];
    number.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(number)
}
