//! One execution as it is kept: what has happened so far, and how to stop it.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime};

use gristmill_domain::Code;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::hidden::HiddenEvents;
use super::progress::{PendingQuestion, Progress, Status};
use super::{ExecutionId, Owner};
use crate::answer::Answer;
use crate::execute::{Event, Execution, Running};
use crate::ports::{Question, QuestionAnswer};
use crate::privacy::Veil;
use crate::report::{Refusal, Report};

/// What a follower sees of the output before the end: enough to tell how it goes.
const OUTPUT_TAIL_BYTES: usize = 2_000;

/// Words about what is being done, some of which come from servers.
const DOING_CHARS_MAX: usize = 200;

/// Rounds of questions that nobody has come back from. More than one is open where several clients follow one
/// program; past this the oldest is closed.
const ROUNDS_MAX: usize = 256;

pub(super) struct Entry {
    pub id: ExecutionId,
    pub owner: Owner,
    pub began: Instant,
    pub started: SystemTime,
    happened: Mutex<Happened>,
    changes: watch::Sender<u64>,
    cancel: CancellationToken,
    /// What hides what is personal in all that is said of it.
    veil: OnceLock<Arc<Veil>>,
}

#[derive(Default)]
struct Happened {
    has_begun: bool,
    calls_begun: usize,
    calls_answered: usize,
    doing: String,
    tail: Vec<u8>,
    questions: Vec<OpenQuestion>,
    next_question: u64,
    rounds: VecDeque<u64>,
    next_round: u64,
    ended: Option<Ended>,
}

/// How it ended, what is said about it, when, and how much that weighs.
struct Ended {
    report: Arc<Report>,
    answer: Option<Arc<Answer>>,
    at: Instant,
    weight: usize,
}

struct OpenQuestion {
    pending: PendingQuestion,
    answer: oneshot::Sender<QuestionAnswer>,
}

impl Entry {
    pub fn new(owner: Owner) -> Result<Self, Refusal> {
        let id = ExecutionId::new().map_err(|error| {
            Refusal::new(
                Code::WorkerUnavailable,
                format!("the system random source failed: {error}"),
                "try again; right after boot it may need a moment",
            )
        })?;
        Ok(Self {
            id,
            owner,
            began: Instant::now(),
            started: SystemTime::now(),
            happened: Mutex::default(),
            changes: watch::Sender::new(0),
            cancel: CancellationToken::new(),
            veil: OnceLock::new(),
        })
    }

    /// Once it is known whose it is.
    pub fn shown_through(&self, veil: Option<Arc<Veil>>) {
        if let Some(veil) = veil {
            let _ = self.veil.set(veil);
        }
    }

    pub fn veil(&self) -> Option<Arc<Veil>> {
        self.veil.get().cloned()
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Cancels it when this is dropped.
    pub fn cancel_on_drop(&self) -> DropGuard {
        self.cancel.clone().drop_guard()
    }

    /// Waits until somebody wants it to stop.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// It runs, and that was noted.
    pub fn begins(&self) {
        self.happened().has_begun = true;
        self.tell();
    }

    pub fn has_begun(&self) -> bool {
        self.happened().has_begun
    }

    pub fn has_ended(&self) -> bool {
        self.happened().ended.is_some()
    }

    /// When it ended, and how much its report and its answer weigh.
    pub fn ended_with(&self) -> Option<(Instant, usize)> {
        let happened = self.happened();
        let ended = happened.ended.as_ref()?;
        Some((ended.at, ended.weight))
    }

    pub fn progress(&self) -> Progress {
        let happened = self.happened();
        let status = match (&happened.ended, happened.questions.is_empty()) {
            (Some(_), _) => Status::Ended,
            (None, true) => Status::Running,
            (None, false) => Status::Asking,
        };
        let until = happened.ended.as_ref().map_or_else(Instant::now, |ended| ended.at);
        Progress {
            status,
            elapsed: until.saturating_duration_since(self.began),
            calls_begun: happened.calls_begun,
            calls_answered: happened.calls_answered,
            doing: happened.doing.clone(),
            output_tail: String::from_utf8_lossy(&happened.tail).into_owned(),
            questions: happened.questions.iter().map(|asked| asked.pending.clone()).collect(),
            report: happened.ended.as_ref().map(|ended| Arc::clone(&ended.report)),
            answer: happened.ended.as_ref().and_then(|ended| ended.answer.clone()),
        }
    }

    /// Puts a question where followers see it.
    pub fn ask(&self, question: Question) -> (u64, oneshot::Receiver<QuestionAnswer>) {
        let (answer, answered) = oneshot::channel();
        let mut happened = self.happened();
        let number = happened.next_question;
        happened.next_question += 1;
        happened.questions.push(OpenQuestion { pending: PendingQuestion { number, question }, answer });
        drop(happened);
        self.tell();
        (number, answered)
    }

    /// Nobody waits for the answer any more.
    pub fn take_back(&self, number: u64) {
        self.happened().questions.retain(|asked| asked.pending.number != number);
        self.tell();
    }

    /// Answers a question; `false` if it is not asked any more.
    pub fn answer(&self, number: u64, answer: QuestionAnswer) -> bool {
        let mut happened = self.happened();
        let at = happened.questions.iter().position(|asked| asked.pending.number == number);
        let asked = at.map(|at| happened.questions.remove(at));
        drop(happened);
        self.tell();
        asked.is_some_and(|asked| asked.answer.send(answer).is_ok())
    }

    /// A new round, see [`Entry::end_round`].
    pub fn begin_round(&self) -> u64 {
        let mut happened = self.happened();
        let round = happened.next_round;
        happened.next_round += 1;
        if happened.rounds.len() == ROUNDS_MAX {
            happened.rounds.pop_front();
        }
        happened.rounds.push_back(round);
        round
    }

    /// Whether this round was open. It is closed from now on.
    pub fn end_round(&self, round: u64) -> bool {
        let mut happened = self.happened();
        let at = happened.rounds.iter().position(|open| *open == round);
        at.and_then(|at| happened.rounds.remove(at)).is_some()
    }

    pub fn end(&self, report: Report, answer: Option<Answer>) -> Arc<Report> {
        let weight = weight(&report) + answer.as_ref().map_or(0, Answer::weight);
        let (report, answer) = (Arc::new(report), answer.map(Arc::new));
        let mut happened = self.happened();
        happened.ended = Some(Ended { report: Arc::clone(&report), answer, at: Instant::now(), weight });
        happened.questions.clear();
        happened.tail = Vec::new();
        drop(happened);
        self.tell();
        report
    }

    fn note(&self, event: Event) {
        let mut happened = self.happened();
        match event {
            Event::Output { bytes, .. } => {
                happened.tail.extend_from_slice(&bytes);
                let surplus = happened.tail.len().saturating_sub(OUTPUT_TAIL_BYTES);
                happened.tail.drain(..surplus);
                drop(happened);
                // Too many to wake anybody for.
                return;
            }
            Event::ToolStarted { name } => {
                happened.calls_begun += 1;
                happened.doing = bounded(&format!("calling {name}"));
            }
            Event::ToolProgress { name, progress } => {
                let total = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
                let message = progress.message.map(|text| format!(" {text}")).unwrap_or_default();
                happened.doing = bounded(&format!("{name}: {}{total}{message}", progress.progress));
            }
            Event::RunsAgain => {
                happened.tail.clear();
                (happened.calls_begun, happened.calls_answered) = (0, 0);
                happened.doing = "running again on another node".to_owned();
            }
            Event::ServerStarting { server } => happened.doing = bounded(&format!("starting {server}")),
            Event::ToolFinished(called) => {
                happened.calls_answered += 1;
                let how = if called.ok { "answered" } else { "failed" };
                happened.doing = bounded(&format!("{} {how}", called.name));
            }
        }
        drop(happened);
        self.tell();
    }

    fn tell(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn happened(&self) -> MutexGuard<'_, Happened> {
        self.happened.lock()
    }
}

/// Takes note of everything until the end.
pub(super) async fn follow(
    entry: &Entry,
    mut execution: Execution,
    mut hidden: Option<HiddenEvents>,
) -> Report {
    loop {
        tokio::select! {
            event = execution.next_event() => match (event, &mut hidden) {
                (Some(event), Some(hidden)) => entry.note(hidden.event(event).await),
                (Some(event), None) => entry.note(event),
                (None, _) => break,
            },
            () = entry.cancel.cancelled() => {
                execution.cancel();
                break;
            }
        }
    }
    execution.finish().await
}

/// Waits for the end of one whose events go to somebody else.
pub(super) async fn wait_for(entry: &Entry, mut running: Running) -> Report {
    tokio::select! {
        report = running.report() => return report,
        () = entry.cancel.cancelled() => running.cancel(),
    }
    running.report().await
}

fn bounded(text: &str) -> String {
    gristmill_domain::one_line(text, DOING_CHARS_MAX)
}

/// Bytes that a report holds, roughly.
fn weight(report: &Report) -> usize {
    let result = report.result.as_ref().map_or(0, value_weight);
    let calls = report.tools_called.len() * 160;
    let error = report.error.as_ref().map_or(0, |error| {
        error.message.len()
            + error.traceback.as_ref().map_or(0, String::len)
            + error.hint.as_ref().map_or(0, String::len)
    });
    1_000 + result + report.stdout.len() + report.stderr.len() + calls + error
}

/// The result's nesting is bounded by its limit.
fn value_weight(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    match value {
        Value::Null | Value::Bool(_) => 32,
        // Numbers keep all their digits.
        Value::Number(number) => 48 + number.to_string().len(),
        Value::String(text) => 48 + text.len(),
        Value::Array(items) => 48 + items.iter().map(value_weight).sum::<usize>(),
        Value::Object(members) => {
            48 + members.iter().map(|(name, value)| 64 + name.len() + value_weight(value)).sum::<usize>()
        }
    }
}
