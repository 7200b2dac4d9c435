//! Shape: from how a program ended to what its caller reads.

use gristmill_domain::policy::Seen;
use gristmill_domain::{Code, CpuShare, LimitName, Limits};
use gristmill_protocol::{
    ChildExit, EngineId, JSON_DEPTH_MAX, JsonCapError, JsonCaps, Outcome, RunStats, Trap, TrapKind,
    WorkerLimit,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::ending::{Ending, Finished};
use super::prepare::CpuRule;
use super::standing::Standing;
use crate::report::{Broke, ErrorReport, LimitHit, Report, Timing, cut, kind_of};

/// Above what any setting permits for the result, with room for the envelope.
const TOLD_BYTES_MAX: usize = 18 * 1024 * 1024;

/// Notes and words of the program that are kept. The guest keeps to the same, but it shares an
/// interpreter with the program.
const NOTES_MAX: usize = 20;
const NOTE_CHARS_MAX: usize = 300;
const MESSAGE_CHARS_MAX: usize = 4 * 1024;
const TRACEBACK_CHARS_MAX: usize = 16 * 1024;

/// For a result that is too large to be stored, too.
const LARGE_RESULT_ADVICE: &str = "write it to a file in /workspace, and return a summary";

/// Printed bytes cannot be had back from a text.
const NOT_TEXT_NOTE: &str =
    "printed bytes that aren't UTF-8 show as U+FFFD; write bytes to a file in /workspace";

/// Whoever reads the answer knows which walls it stood behind.
const NATIVE_NOTE: &str = "ran in the native engine";

/// Signals of a program that went wrong in machine code: a bad instruction, an abort, a bad address, a bad number.
const CRASHES: [i32; 5] = [4, 6, 7, 8, 11];

/// What the guest tells. It shares an interpreter with the program, so this is the program's word.
#[derive(Deserialize)]
struct OutcomePayload<'a> {
    ok: bool,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    has_result: bool,
    /// The result was handed over before: it is too large for here.
    #[serde(default)]
    stored_result: bool,
    #[serde(default, borrow)]
    notes: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<ErrorPayload>,
    #[serde(default)]
    damaged: bool,
}

#[derive(Deserialize)]
struct ErrorPayload {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    line: Option<u64>,
    #[serde(default)]
    traceback: Option<String>,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    limit: Option<LimitPayload>,
    /// The code of a call that failed, where the error is one.
    #[serde(default)]
    code: Option<String>,
}

#[derive(Deserialize)]
struct LimitPayload {
    name: String,
}

/// The end of a program in parts, before it is put together.
#[derive(Default)]
struct Verdict {
    result: Option<Value>,
    error: Option<ErrorReport>,
    /// The limit that ended it.
    fatal: Option<LimitName>,
    notes: Vec<String>,
    damaged: bool,
    has_large_result: bool,
}

/// A report, and what it does not say.
pub(super) struct Shaped {
    pub report: Report,
    /// Whether the interpreter is of no use to a further program.
    pub damaged: bool,
    /// Whether its result is what it handed over in parts.
    pub has_large_result: bool,
}

pub(super) fn shape(finished: Finished) -> Shaped {
    let Finished { limits, stdout, stderr, stats, tools_called, call_tokens, ran_for, took, .. } = finished;
    let broke = broke(&finished.ending).filter(|_| crashed(&finished.ending, finished.engine).is_none());
    let mut verdict = match crashed(&finished.ending, finished.engine) {
        Some(signal) => from_crash(signal),
        None => verdict_of(finished.ending, (&finished.standing, finished.cpu), &limits, &stats),
    };
    if finished.engine == EngineId::Native {
        verdict.notes.push(NATIVE_NOTE.to_owned());
    }
    verdict.notes.extend(finished.notes);
    let mut limits_hit: Vec<LimitHit> =
        verdict.fatal.map(|name| LimitHit::new(name, &limits)).into_iter().collect();
    for name in stats.limits_hit.iter().take(LimitName::ALL.len()).map(|limit| limit_name(*limit)) {
        if limits_hit.iter().all(|hit| hit.name != name.as_str()) {
            limits_hit.push(LimitHit::new(name, &limits));
        }
    }
    // A refused write shows inside as an OSError that cannot name the limit; here it can.
    if let (Some(error), [hit, ..]) = (&mut verdict.error, limits_hit.as_slice())
        && error.code == Code::Exception
        && error.hint.is_none()
    {
        error.hint = Some(hit.message.clone());
    }
    let Verdict { damaged, has_large_result, .. } = verdict;
    let ((stdout, is_stdout_text), (stderr, is_stderr_text)) = (text(stdout), text(stderr));
    if !is_stdout_text || !is_stderr_text {
        verdict.notes.push(NOT_TEXT_NOTE.to_owned());
    }
    let report = Report {
        success: verdict.error.is_none(),
        result: verdict.result,
        large_result: None,
        stdout,
        stderr,
        error: verdict.error,
        execution_time_ms: milliseconds(ran_for),
        total_time_ms: milliseconds(took),
        tools_called,
        limits_hit,
        notes: verdict.notes,
        findings: Vec::new(),
        dry_run: None,
        plan: None,
        memory_peak_bytes: stats.memory_peak_bytes,
        cpu_time_ms: stats.cpu_us as f64 / 1000.0,
        variables: None,
        session: None,
        tokens: None,
        call_tokens,
        timing: Timing::default(),
        is_recorded: false,
        broke,
        node: finished.node,
        seen: Seen::default(),
    };
    Shaped { report, damaged, has_large_result }
}

fn verdict_of(
    ending: Ending,
    (standing, cpu): (&Standing, CpuRule),
    limits: &Limits,
    stats: &RunStats,
) -> Verdict {
    match ending {
        Ending::Done(Outcome::Returned(told)) => from_told(&told, limits),
        // CPython gives up altogether when it cannot get memory in the wrong place.
        Ending::Done(Outcome::Trapped(Trap { kind: TrapKind::Crash, .. }))
            if stats.limits_hit.contains(&WorkerLimit::Memory) =>
        {
            from_limit(LimitName::Memory, limits)
        }
        Ending::Done(Outcome::Trapped(trap)) => from_trap(&trap),
        Ending::Done(Outcome::Refused(why)) => ours(
            Code::WorkerUnavailable,
            format!("the worker refused to start: {}; nothing ran", cut(&why, MESSAGE_CHARS_MAX)),
            "run `gristmill doctor` to see what's missing",
        ),
        Ending::Limit(LimitName::WallTime) => from_time_out(standing, limits),
        Ending::Limit(name) => from_limit(name, limits),
        Ending::Cancelled => failed(Code::Cancelled, "canceled before it finished".to_owned(), None),
        Ending::Lost(exit) => from_exit(exit, cpu, limits),
        Ending::Misbehaved(how) => ours(
            Code::WorkerMisbehaved,
            format!("the worker was killed for breaking the protocol: {how}"),
            "if the program did nothing unusual, please report this",
        ),
        Ending::NodeLost { node } => from_lost_node(&node),
    }
}

fn from_lost_node(node: &str) -> Verdict {
    failed(
        Code::NodeLost,
        format!(
            "the node {node}, where the program ran, was lost; what it wrote to files there is lost, too"
        ),
        Some("check the calls that were made before you run it again, so that nothing is done twice"),
    )
}

fn from_told(told: &str, limits: &Limits) -> Verdict {
    let caps =
        JsonCaps { bytes_max: TOLD_BYTES_MAX, depth_max: JSON_DEPTH_MAX, values_max: TOLD_BYTES_MAX / 2 };
    let measured = caps.check(told.as_bytes());
    if measured == Err(JsonCapError::ReservedKey) {
        let message = "the result or an error has a key that starts with `$serde_json::private::`";
        return failed(Code::Exception, message.to_owned(), Some("rename the key"));
    }
    let told: OutcomePayload<'_> = match measured
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str(told).map_err(|error| error.to_string()))
    {
        Ok(told) => told,
        Err(error) => {
            let message = format!("can't read what the interpreter reported: {error}");
            let hint = "the program seems to have damaged its interpreter";
            return damaged(failed(Code::EngineCrash, message, Some(hint)));
        }
    };
    let result =
        match told.result.filter(|_| told.has_result).map(|text| read_result(text, limits)).transpose() {
            Ok(result) => result,
            Err(name) => return from_limit(name, limits),
        };
    let error = match (told.ok, told.error) {
        (true, _) => None,
        (false, Some(error)) => Some(error),
        (false, None) => {
            let message = "the interpreter failed without saying why".to_owned();
            return damaged(failed(Code::EngineCrash, message, None));
        }
    };
    let fatal = error.as_ref().and_then(|error| match error.kind.as_str() {
        "memory" => Some(LimitName::Memory),
        "result_limit" => match error.limit.as_ref()?.name.as_str() {
            "result_depth" => Some(LimitName::ResultDepth),
            _ => Some(LimitName::ResultBytes),
        },
        _ => None,
    });
    let error = error.map(|told| {
        let code =
            fatal.and_then(LimitName::code).unwrap_or_else(|| code_of(&told.kind, told.code.as_deref()));
        let is_large = told.limit.as_ref().is_some_and(|limit| limit.name == "large_result_bytes");
        let hint = match fatal {
            Some(_) if is_large => Some(LARGE_RESULT_ADVICE.to_owned()),
            Some(name) => Some(limits.hit_message(name)),
            None => told.hint,
        };
        ErrorReport {
            code,
            kind: kind_of(code).to_owned(),
            message: cut(&told.message, MESSAGE_CHARS_MAX),
            line: told.line,
            traceback: told
                .traceback
                .filter(|text| !text.is_empty())
                .map(|text| cut(&text, TRACEBACK_CHARS_MAX)),
            hint: hint.map(|hint| cut(&hint, MESSAGE_CHARS_MAX)),
        }
    });
    let notes = told.notes.map(read_notes).unwrap_or_default();
    let has_large_result = told.stored_result && result.is_none();
    Verdict { result, error, fatal, notes, damaged: told.damaged, has_large_result }
}

/// The same, of an interpreter that no other program should get.
fn damaged(verdict: Verdict) -> Verdict {
    Verdict { damaged: true, ..verdict }
}

/// The result, held once more against its limits: that it keeps to them is the program's word.
fn read_result(text: &RawValue, limits: &Limits) -> Result<Value, LimitName> {
    let caps = JsonCaps {
        bytes_max: limits.get(LimitName::ResultBytes) as usize,
        depth_max: limits.get(LimitName::ResultDepth) as usize,
        values_max: usize::MAX,
    };
    match caps.check(text.get().as_bytes()) {
        Ok(_) => serde_json::from_str(text.get()).map_err(|_| LimitName::ResultDepth),
        Err(JsonCapError::Depth { .. }) => Err(LimitName::ResultDepth),
        Err(JsonCapError::Bytes { .. } | JsonCapError::Values { .. } | JsonCapError::ReservedKey) => {
            Err(LimitName::ResultBytes)
        }
    }
}

fn read_notes(text: &RawValue) -> Vec<String> {
    // Far more text than the notes that are kept: not worth reading.
    if text.get().len() > 1024 * 1024 {
        return vec!["the notes were too long to read".to_owned()];
    }
    let notes: Vec<String> = serde_json::from_str(text.get()).unwrap_or_default();
    notes.iter().take(NOTES_MAX).map(|note| cut(note, NOTE_CHARS_MAX)).collect()
}

fn from_trap(trap: &Trap) -> Verdict {
    let (message, hint) = match trap.kind {
        TrapKind::StackOverflow => (
            "the interpreter's stack overflowed: the program, or something it called, recursed too deep"
                .to_owned(),
            "use a loop or an explicit stack, and leave sys.setrecursionlimit alone",
        ),
        TrapKind::Exit => (
            "the program ended the interpreter (os._exit or abort), so there is no result".to_owned(),
            "end with sys.exit(), or by reaching the last line",
        ),
        TrapKind::Crash => (
            format!("the interpreter crashed: {}", cut(&trap.message, MESSAGE_CHARS_MAX)),
            "if the program did nothing unusual, please report this",
        ),
    };
    failed(Code::EngineCrash, message, Some(hint))
}

fn from_limit(name: LimitName, limits: &Limits) -> Verdict {
    let most = name.format(limits.get(name));
    let message = match name {
        LimitName::WallTime => format!("timed out after {most}"),
        LimitName::CpuTime => format!("stopped after {most} of CPU time"),
        LimitName::CpuPercent => {
            let (_, share_ms) = limits.cpu_end(CpuShare::Counted);
            let wall = LimitName::WallTime;
            format!(
                "stopped after {} of CPU time, {most} of its {} (`{}`)",
                wall.format(share_ms),
                wall.format(limits.get(wall)),
                name.as_str()
            )
        }
        LimitName::Memory
        | LimitName::OutputBytes
        | LimitName::ResultBytes
        | LimitName::ResultDepth
        | LimitName::OpenFiles
        | LimitName::FileBytes
        | LimitName::WorkspaceBytes
        | LimitName::WorkspaceFiles
        | LimitName::ToolCalls
        | LimitName::ParallelCalls => {
            format!("stopped: {} is limited to {most} (`{}`)", name.subject(), name.as_str())
        }
    };
    stopped_by(name, message, limits)
}

fn from_time_out(standing: &Standing, limits: &Limits) -> Verdict {
    let name = LimitName::WallTime;
    let message = format!("timed out after {}{standing}", name.format(limits.get(name)));
    let mut verdict = stopped_by(name, message, limits);
    if let Some(error) = &mut verdict.error {
        error.line = standing.line();
    }
    verdict
}

fn stopped_by(name: LimitName, message: String, limits: &Limits) -> Verdict {
    let code = name.code().unwrap_or(Code::WallTime);
    Verdict { fatal: Some(name), ..failed(code, message, Some(&limits.hit_message(name))) }
}

/// A large result that couldn't be stored.
pub(super) fn large_result_error(message: String) -> ErrorReport {
    let code = Code::ResultBytes;
    ErrorReport {
        code,
        kind: kind_of(code).to_owned(),
        message,
        line: None,
        traceback: None,
        hint: Some(LARGE_RESULT_ADVICE.to_owned()),
    }
}

/// The signal of a native program's own crash. In WebAssembly nothing that a program does ends its worker so.
fn crashed(ending: &Ending, engine: EngineId) -> Option<i32> {
    match ending {
        Ending::Lost(Some(ChildExit::Signal(signal))) if engine == EngineId::Native => {
            CRASHES.contains(signal).then_some(*signal)
        }
        Ending::Done(_)
        | Ending::Limit(_)
        | Ending::Cancelled
        | Ending::Lost(_)
        | Ending::Misbehaved(_)
        | Ending::NodeLost { .. } => None,
    }
}

fn from_crash(signal: i32) -> Verdict {
    failed(
        Code::EngineCrash,
        format!(
            "the interpreter crashed (signal {signal}): a package's compiled code, or memory that ran out in it"
        ),
        Some(
            "print before the steps that use compiled packages to find which one it is; use less data at once",
        ),
    )
}

fn from_exit(exit: Option<ChildExit>, cpu: CpuRule, limits: &Limits) -> Verdict {
    match exit {
        Some(ChildExit::Signal(signal)) if is_cpu_limit(signal) => from_limit(cpu.ended_by, limits),
        Some(ChildExit::Signal(signal)) if signal == SIGSYS => ours(
            Code::WorkerMisbehaved,
            "the kernel killed the worker for a system call that isn't on its list".to_owned(),
            "if the program did nothing unusual, please report this",
        ),
        Some(ChildExit::Signal(signal)) => ours(
            Code::WorkerLost,
            format!("the worker was killed from outside (signal {signal})"),
            "if the machine ran out of memory, lower `memory` or `concurrent_executions`; check the calls that were made before you run it again",
        ),
        Some(ChildExit::Code(code)) => ours(
            Code::WorkerLost,
            format!("the worker exited with code {code}"),
            "please report this; check the calls that were made before you run it again",
        ),
        None => ours(
            Code::WorkerLost,
            "the worker was lost along with its zygote".to_owned(),
            "run the program again; check the calls that were made first, so that nothing is done twice",
        ),
    }
}

/// What its process did that none does.
fn broke(ending: &Ending) -> Option<Broke> {
    match ending {
        Ending::Misbehaved(_) => Some(Broke::Protocol),
        Ending::Lost(Some(ChildExit::Signal(signal))) if is_cpu_limit(*signal) => None,
        Ending::Lost(Some(ChildExit::Signal(signal))) if *signal == SIGSYS => Some(Broke::SystemCalls),
        Ending::Lost(Some(ChildExit::Signal(signal))) => Some(Broke::Process(*signal)),
        Ending::Done(_)
        | Ending::Limit(_)
        | Ending::Cancelled
        | Ending::Lost(_)
        | Ending::NodeLost { .. } => None,
    }
}

/// Whether it is the kernel's word that the CPU time is used up.
pub(super) fn is_cpu_limit(signal: i32) -> bool {
    signal == SIGPROF || signal == SIGXCPU
}

const SIGSYS: i32 = rustix::process::Signal::SYS.as_raw();
const SIGPROF: i32 = rustix::process::Signal::PROF.as_raw();
const SIGXCPU: i32 = rustix::process::Signal::XCPU.as_raw();

fn failed(code: Code, message: String, hint: Option<&str>) -> Verdict {
    let error = ErrorReport {
        code,
        kind: kind_of(code).to_owned(),
        message,
        line: None,
        traceback: None,
        hint: hint.map(str::to_owned),
    };
    Verdict { error: Some(error), ..Verdict::default() }
}

fn ours(code: Code, message: String, hint: &str) -> Verdict {
    failed(code, message, Some(hint))
}

fn code_of(kind: &str, call: Option<&str>) -> Code {
    match kind {
        "tool" => call.and_then(code_of_a_call).unwrap_or(Code::Tool),
        "syntax" => Code::Syntax,
        "missing_module" => Code::MissingModule,
        "unawaited_call" => Code::UnawaitedCall,
        "exit" => Code::Exit,
        "recursion" => Code::Recursion,
        "context" => Code::BadRequest,
        _ => Code::Exception,
    }
}

/// The code that a call failed with, if it is one that a call can fail with. The program hands it
/// on, so it may be made up.
fn code_of_a_call(text: &str) -> Option<Code> {
    const OF_CALLS: [Code; 18] = [
        Code::Analysis,
        Code::UnknownTool,
        Code::BadCall,
        Code::CallBytes,
        Code::ServerDown,
        Code::CallTimeout,
        Code::CallLost,
        Code::LoginNeeded,
        Code::ToolHeldBack,
        Code::CallRate,
        Code::BadAnswer,
        Code::PolicyDenied,
        Code::ApprovalNeeded,
        Code::PolicyBudget,
        Code::PlanDiffers,
        Code::PrivacyRefused,
        Code::OnlyReads,
        Code::HostNotAllowed,
    ];
    OF_CALLS.into_iter().find(|code| code.as_str() == text)
}

/// The worker's limits under their names in settings.
fn limit_name(limit: WorkerLimit) -> LimitName {
    match limit {
        WorkerLimit::Memory => LimitName::Memory,
        WorkerLimit::OpenFiles => LimitName::OpenFiles,
        WorkerLimit::FileBytes => LimitName::FileBytes,
        WorkerLimit::WorkspaceBytes => LimitName::WorkspaceBytes,
        WorkerLimit::WorkspaceFiles => LimitName::WorkspaceFiles,
    }
}

fn milliseconds(time: std::time::Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

/// Programs may print any bytes; what is not UTF-8 shows as U+FFFD. Also whether all was text: a
/// character whose end is missing, where the output was cut, counts as such.
fn text(bytes: Vec<u8>) -> (String, bool) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, true),
        Err(error) => {
            let is_text = error.utf8_error().error_len().is_none();
            (String::from_utf8_lossy(error.as_bytes()).into_owned(), is_text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_noticed_and_a_cut_character_is_not() {
        assert_eq!(text("żółw".into()), ("żółw".to_owned(), true));
        assert_eq!(text(b"a\xffb".to_vec()), ("a\u{fffd}b".to_owned(), false));
        assert_eq!(text(b"a\xc5".to_vec()), ("a\u{fffd}".to_owned(), true));
    }
}
