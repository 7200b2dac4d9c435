//! From how an analysis ended to what its caller reads.

use std::io::Seek;
use std::time::Duration;

use gristmill_domain::{Code, CpuShare, LimitName, Limits, format_bytes};
use gristmill_protocol::{ChildExit, JSON_DEPTH_MAX, JsonCaps, Outcome, RunStats, WorkerLimit};
use rustix::process::Signal;
use serde::Deserialize;

use super::drive::Ending;
use super::job::{Job, OUTPUT_BYTES_MAX};
use super::{AnalysisFailure, AnalysisOutcome};
use crate::report::cut;

/// What a worker may tell beside the output: names of columns, and a few sentences.
const TOLD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// More columns than any table has that is looked at.
const COLUMNS_MAX: usize = 10_000;
const COLUMN_CHARS_MAX: usize = 1_000;
const NOTES_MAX: usize = 50;
const NOTE_CHARS_MAX: usize = 500;
const MESSAGE_CHARS_MAX: usize = 4 * 1024;

/// What the worker tells.
#[derive(Deserialize)]
enum OutcomePayload {
    Ok(AnalyzedPayload),
    Err(ProblemPayload),
}

#[derive(Deserialize)]
struct AnalyzedPayload {
    #[serde(default)]
    rows: Option<u64>,
    #[serde(default)]
    columns: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Deserialize)]
struct ProblemPayload {
    #[serde(default)]
    step: Option<usize>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    hint: Option<String>,
}

/// What becomes of it.
pub(super) fn settle(
    ending: Ending,
    job: Job,
    ran_for: Duration,
) -> Result<AnalysisOutcome, AnalysisFailure> {
    match ending {
        Ending::Done(Outcome::Returned(told), stats) => match read(&told)? {
            OutcomePayload::Ok(analyzed) => finish(analyzed, &stats, job, ran_for),
            // The engine only sees that it cannot write on.
            OutcomePayload::Err(_) if stats.limits_hit.contains(&WorkerLimit::FileBytes) => Err(too_large()),
            OutcomePayload::Err(problem) => Err(AnalysisFailure {
                code: Code::Analysis,
                message: cut(&problem.message, MESSAGE_CHARS_MAX),
                hint: problem.hint.map(|hint| cut(&hint, MESSAGE_CHARS_MAX)),
                step: problem.step,
            }),
        },
        Ending::Done(Outcome::Trapped(trap), _) => Err(AnalysisFailure::new(
            Code::EngineCrash,
            format!(
                "the analysis failed on this data or these steps: {}",
                cut(&trap.message, MESSAGE_CHARS_MAX)
            ),
            "try the steps one by one to find the one that fails; if there's nothing unusual about the data, please report this",
        )),
        Ending::Done(Outcome::Refused(why), _) => Err(AnalysisFailure::new(
            Code::WorkerUnavailable,
            format!("the worker refused to start: {}; nothing ran", cut(&why, MESSAGE_CHARS_MAX)),
            "run `gristmill doctor` to see what's missing",
        )),
        Ending::WallTime => Err(stopped(LimitName::WallTime, &job.limits)),
        Ending::Lost(exit) => Err(of_exit(exit, &job.limits)),
        Ending::Misbehaved(how) => Err(misbehaved(&how)),
    }
}

fn finish(
    told: AnalyzedPayload,
    stats: &RunStats,
    job: Job,
    ran_for: Duration,
) -> Result<AnalysisOutcome, AnalysisFailure> {
    let mut output = job.output;
    let measured = output.metadata().and_then(|metadata| output.rewind().map(|()| metadata.len()));
    let output_bytes = measured.map_err(|error| {
        AnalysisFailure::new(
            Code::Workspace,
            format!("can't read the output back: {error}"),
            "check that the disk isn't full, and try again",
        )
    })?;
    match output_bytes {
        0 => Err(misbehaved("no output")),
        1..=OUTPUT_BYTES_MAX => Ok(AnalysisOutcome {
            rows: told.rows,
            columns: told.columns.iter().take(COLUMNS_MAX).map(|name| cut(name, COLUMN_CHARS_MAX)).collect(),
            notes: told.notes.iter().take(NOTES_MAX).map(|note| cut(note, NOTE_CHARS_MAX)).collect(),
            output,
            output_bytes,
            time_ms: ran_for.as_micros() as f64 / 1000.0,
            memory_peak_bytes: stats.memory_peak_bytes,
        }),
        _ => Err(too_large()),
    }
}

fn read(told: &str) -> Result<OutcomePayload, AnalysisFailure> {
    let caps =
        JsonCaps { bytes_max: TOLD_BYTES_MAX, depth_max: JSON_DEPTH_MAX, values_max: TOLD_BYTES_MAX / 4 };
    let unreadable =
        |error: &dyn std::fmt::Display| misbehaved(&format!("words that cannot be read: {error}"));
    caps.check(told.as_bytes()).map_err(|error| unreadable(&error))?;
    serde_json::from_str(told).map_err(|error| unreadable(&error))
}

fn misbehaved(how: &str) -> AnalysisFailure {
    AnalysisFailure::new(
        Code::WorkerMisbehaved,
        format!("the worker was killed for breaking the protocol: {how}"),
        "if there's nothing unusual about the data, please report this",
    )
}

fn too_large() -> AnalysisFailure {
    AnalysisFailure::new(
        Code::ResultBytes,
        format!("the output is larger than {}, the most it can be", format_bytes(OUTPUT_BYTES_MAX)),
        "filter, select columns, aggregate, or end with a limit",
    )
}

/// The words for a limit that ended it.
fn stopped(name: LimitName, limits: &Limits) -> AnalysisFailure {
    let code = name.code().unwrap_or(Code::WallTime);
    let message = format!(
        "the analysis was stopped: {} is limited to {} (`{}`)",
        name.subject(),
        name.format(limits.get(name)),
        name.as_str()
    );
    AnalysisFailure::new(code, message, less(name, limits))
}

/// How to get by with less, or to more.
fn less(name: LimitName, limits: &Limits) -> String {
    let most = name.format(limits.range(name).1);
    format!(
        "filter rows and select columns in the first steps, before a join; or raise `{}` (up to {most} at level {})",
        name.as_str(),
        limits.level()
    )
}

fn of_exit(exit: Option<ChildExit>, limits: &Limits) -> AnalysisFailure {
    let lost = |message: String, hint: &str| AnalysisFailure::new(Code::WorkerLost, message, hint);
    match exit {
        Some(ChildExit::Signal(signal)) if signal == SIGPROF || signal == SIGXCPU => {
            stopped(limits.cpu_end(CpuShare::Counted).0, limits)
        }
        Some(ChildExit::Signal(signal)) if signal == SIGSYS => AnalysisFailure::new(
            Code::WorkerMisbehaved,
            "the kernel killed the worker for a system call that isn't on its list",
            "if there's nothing unusual about the data, please report this",
        ),
        // Native code that gets no memory gives up, and so does one whose stack is used up: from
        // outside the two look the same, and the first is by far the likelier.
        Some(ChildExit::Signal(signal)) if OF_A_CRASH.contains(&signal) => {
            let memory = LimitName::Memory.format(limits.get(LimitName::Memory));
            AnalysisFailure::new(
                Code::Memory,
                format!("the analysis ran out of memory (`memory` is {memory}), or failed on this data"),
                less(LimitName::Memory, limits),
            )
        }
        Some(ChildExit::Signal(signal)) => lost(
            format!("the worker was killed from outside (signal {signal})"),
            "if the machine ran out of memory, lower `memory`; you can run the analysis again",
        ),
        Some(ChildExit::Code(code)) => {
            lost(format!("the worker exited with code {code}"), "please report this")
        }
        None => lost(
            "the worker was lost along with its zygote".to_owned(),
            "try again; an analysis changes nothing",
        ),
    }
}

const SIGSYS: i32 = Signal::SYS.as_raw();
const SIGPROF: i32 = Signal::PROF.as_raw();
const SIGXCPU: i32 = Signal::XCPU.as_raw();

/// What a process dies of by its own fault.
const OF_A_CRASH: [i32; 5] = [
    Signal::ABORT.as_raw(),
    Signal::SEGV.as_raw(),
    Signal::BUS.as_raw(),
    Signal::ILL.as_raw(),
    Signal::TRAP.as_raw(),
];

#[cfg(test)]
mod tests {
    use std::io::Write;

    use gristmill_domain::Level;
    use gristmill_protocol::{Trap, TrapKind};

    use super::*;
    use crate::analysis::unlinked_file_in;

    fn settled(ending: Ending, written: &[u8]) -> Result<AnalysisOutcome, AnalysisFailure> {
        let folder = gristmill_testkit::TestFolder::new("outcome");
        let mut output = unlinked_file_in(folder.path()).unwrap();
        output.write_all(written).unwrap();
        let limits = Limits::of(Level::Production);
        let job = Job { frame: Vec::new(), files: Vec::new(), output, limits };
        settle(ending, job, Duration::from_millis(3))
    }

    fn told(words: &str) -> Ending {
        Ending::Done(Outcome::Returned(words.to_owned()), RunStats::default())
    }

    fn code(ending: Ending, written: &[u8]) -> Code {
        settled(ending, written).expect_err("a failure").code
    }

    #[test]
    fn an_outcome_comes_with_its_file_from_the_beginning() {
        let words = r#"{"Ok":{"rows":1,"columns":["a"],"notes":["cast"]}}"#;
        let outcome = settled(told(words), b"[{\"a\":1}]").unwrap();
        assert_eq!((outcome.rows, outcome.output_bytes), (Some(1), 9));
        assert_eq!((outcome.columns, outcome.notes), (vec!["a".to_owned()], vec!["cast".to_owned()]));
        assert_eq!(std::io::read_to_string(outcome.output).unwrap(), r#"[{"a":1}]"#);
    }

    #[test]
    fn a_problem_of_the_engine_names_its_step() {
        let words = r#"{"Err":{"step":2,"message":"no field `x`","hint":"did you mean `y`?","field":"x"}}"#;
        let failure = settled(told(words), b"").unwrap_err();
        assert_eq!((failure.code, failure.step), (Code::Analysis, Some(2)));
        assert_eq!(failure.hint.as_deref(), Some("did you mean `y`?"));
    }

    #[test]
    fn whatever_a_worker_says_ends_in_a_code() {
        assert_eq!(code(told("no json"), b"[]"), Code::WorkerMisbehaved);
        assert_eq!(code(told(&"[".repeat(1000)), b"[]"), Code::WorkerMisbehaved);
        assert_eq!(code(told(r#"{"Ok":{}}"#), b""), Code::WorkerMisbehaved);
        let trap = Trap { kind: TrapKind::Crash, message: "x".repeat(100_000) };
        let failure = settled(Ending::Done(Outcome::Trapped(trap), RunStats::default()), b"").unwrap_err();
        assert_eq!(failure.code, Code::EngineCrash);
        assert!(failure.message.len() < 5_000, "foreign words are cut");
        let full = RunStats { limits_hit: vec![WorkerLimit::FileBytes], ..RunStats::default() };
        let problem = r#"{"Err":{"message":"file too large"}}"#.to_owned();
        assert_eq!(code(Ending::Done(Outcome::Returned(problem), full), b"["), Code::ResultBytes);
    }

    #[test]
    fn every_end_of_a_process_has_its_words() {
        let signal = |signal: Signal| Ending::Lost(Some(ChildExit::Signal(signal.as_raw())));
        assert_eq!(code(Ending::WallTime, b""), Code::WallTime);
        assert_eq!(code(signal(Signal::PROF), b""), Code::CpuTime);
        assert_eq!(code(signal(Signal::ABORT), b""), Code::Memory);
        assert_eq!(code(signal(Signal::SEGV), b""), Code::Memory);
        assert_eq!(code(signal(Signal::SYS), b""), Code::WorkerMisbehaved);
        assert_eq!(code(signal(Signal::KILL), b""), Code::WorkerLost);
        assert_eq!(code(Ending::Lost(None), b""), Code::WorkerLost);
    }
}
