//! What a caller reads about an execution: as text, and as the structured content that some clients
//! show a model in its place. Both say the same, and each fits a budget of tokens.
//!
//! The budget is spent in this order: the error, the writes of a dry run, the result, the output, what was called, notes. A
//! result or an output that is too large is shaped, and the whole of it is kept under a handle that
//! the answer names. Bytes that are no text become files of their own; images go along as content.
//!
//! Walls: whatever a report holds, no answer is larger than its budget (`draft.rs`), by the exact
//! count of the finished text. The report itself is never changed.

mod binaries;
mod called;
mod draft;
mod dry_run;
mod failure;
pub mod fit;
mod whole;

use std::sync::Arc;

use gristmill_domain::Code;
use gristmill_domain::shape::Strategy;
use serde_json::Value;

use crate::ids::{ExecutionId, Owner};
use crate::privacy::Veil;
use crate::report::{ErrorReport, PlanReport, Report, VariablesReport};
use crate::results::{Origin, ResultKind, Results};
use binaries::Binaries;
use draft::Draft;
use dry_run::DryRun;
use failure::Failure;
use whole::{Shown, Text};

pub use binaries::without_bytes;

/// What an answer may take of a model's context if nothing else is said.
pub const TOKENS_DEFAULT: usize = 1_000;
/// More than any client takes.
pub const TOKENS_MAX: usize = 100_000;
/// Below this nothing can be said.
pub const TOKENS_MIN: usize = 50;

/// The program's own notes, and ours about it.
const NOTES_MAX: usize = 10;
/// What the names of members and the words between parts take, with room to spare.
const LABEL_TOKENS: usize = 8;

/// How much an answer may take, and how what is too large is shaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerBudget {
    /// The most that the text, and the structured content as compact JSON, each take.
    pub tokens_max: usize,
    /// How a result or an output is shaped that is too large.
    pub strategy: Strategy,
}

impl Default for AnswerBudget {
    fn default() -> Self {
        Self { tokens_max: TOKENS_DEFAULT, strategy: Strategy::Auto }
    }
}

/// Where what has no room in an answer is kept.
#[derive(Clone)]
pub struct Keeping {
    pub results: Results,
    pub owner: Owner,
    /// What it came from.
    pub origin: Origin,
    /// What hides what is personal in a value that is read again from there.
    pub veil: Option<Arc<Veil>>,
}

/// An answer on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub text: String,
    /// The same as structured content.
    pub structured: Value,
    /// Whether something went wrong.
    pub is_error: bool,
    /// What the text or the structured content takes, whichever is more.
    pub tokens: u64,
    /// Images that go along beside both.
    pub files: Vec<AnswerPart>,
}

impl Answer {
    /// Bytes that it holds, roughly.
    pub(crate) fn weight(&self) -> usize {
        // The structured content says the same as the text.
        2 * self.text.len() + self.files.iter().map(|file| file.base64.len()).sum::<usize>()
    }
}

/// An image that goes along with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerPart {
    /// What it is, told by its bytes.
    pub media_type: &'static str,
    /// Its bytes, as the protocol carries them.
    pub base64: String,
}

/// How a program ended, in one word.
pub fn status_of(report: &Report) -> &'static str {
    match &report.error {
        None => "ok",
        Some(error) if error.code == Code::Cancelled => "cancelled",
        Some(_) => "failed",
    }
}

/// Something that was asked for wrongly, in words that say what to do.
pub fn refused(code: Code, message: &str, hint: Option<&str>) -> Answer {
    let error = ErrorReport {
        code,
        kind: String::new(),
        message: message.to_owned(),
        line: None,
        traceback: None,
        hint: hint.map(str::to_owned),
    };
    let mut draft = Draft::new("failed");
    draft.failure = Some(Failure::within(&error, TOKENS_MAX));
    draft.finish(TOKENS_MAX, Vec::new())
}

/// How a program ended, within a budget. What has no room goes where `keep` says; `id` is named where
/// asking again makes sense.
pub async fn of_report(
    report: &Report,
    budget: &AnswerBudget,
    keep: Option<&Keeping>,
    id: Option<&ExecutionId>,
) -> Answer {
    let tokens_max = budget.tokens_max.clamp(TOKENS_MIN, TOKENS_MAX);
    let mut draft = Draft::new(status_of(report));
    draft.id = id.map(|id| id.as_str().to_owned());
    // A session that was named is known; one that came into being must be told.
    let made = report.session.as_ref().filter(|session| session.is_new && session.name.is_none());
    draft.session = made.map(|session| session.id.clone());
    // The error first: it is what must not be cut away.
    draft.failure = report.error.as_ref().map(|error| Failure::within(error, tokens_max * 3 / 4));

    draft.dry_run = report.dry_run.as_ref().map(DryRun::of);
    // The writes are what a dry run is for, but its result is read, too.
    while draft.tokens() > tokens_max * 3 / 4 && draft.dry_run.as_mut().is_some_and(DryRun::say_less) {}

    let large = report.large_result.as_ref().zip(keep);
    let binaries = match &report.result {
        Some(result) if large.is_none() => Some(Binaries::of(result, keep).await),
        Some(_) | None => None,
    };
    let output = output_of(report);
    let traceback = draft.failure.as_ref().and_then(Failure::traceback);
    let called = report.error.as_ref().map(|_| called::lines(&report.tools_called, traceback));
    let called = called.unwrap_or_default();
    let notes = notes_of(report, output.is_empty());
    // A large result must not push out all that was noted.
    let minor = draft::lines_tokens(&called) + draft::lines_tokens(&notes);
    let minor = minor.min(tokens_max / 4);
    let left = |draft: &Draft| tokens_max.saturating_sub(draft.tokens() + minor + LABEL_TOKENS);

    let mut files = Vec::new();
    if let Some(Binaries { value, original, images }) = binaries {
        files = images;
        // The larger part is the result's: it is what was asked for.
        let share = if output.is_empty() { left(&draft) } else { left(&draft) * 3 / 4 };
        let text = Text::of_result(&value, original);
        let Shown { shaped, whole } = whole::shown("result", text, share, budget.strategy, keep).await;
        (draft.result, draft.result_whole) = (shaped, whole);
    }
    if let Some((large, keep)) = large {
        let share = if output.is_empty() { left(&draft) } else { left(&draft) * 3 / 4 };
        let Shown { shaped, whole } = whole::shown_large(large, share, budget.strategy, keep).await;
        (draft.result, draft.result_whole) = (shaped, whole);
    }
    if !output.is_empty() {
        let text = Text { shown: Arc::new(output), stored: None, kind: ResultKind::Text };
        let share = left(&draft);
        let Shown { shaped, whole } = whole::shown("output", text, share, budget.strategy, keep).await;
        (draft.output, draft.output_whole) = (shaped, whole);
    }
    draft.called = draft::lines_within(called, "calls", tokens_max.saturating_sub(draft.tokens()));
    draft.notes = draft::lines_within(notes, "notes", tokens_max.saturating_sub(draft.tokens()));
    draft.finish(tokens_max, files)
}

/// What was printed, standard error behind a mark.
fn output_of(report: &Report) -> String {
    match (report.stdout.is_empty(), report.stderr.trim().is_empty()) {
        (_, true) => report.stdout.clone(),
        (true, false) => report.stderr.clone(),
        (false, false) => format!("{}\n[stderr]\n{}", report.stdout.trim_end(), report.stderr),
    }
}

/// What is worth knowing beside the result.
fn notes_of(report: &Report, is_silent: bool) -> Vec<String> {
    let hits = report.limits_hit.iter().filter(|_| report.error.is_none());
    let hits = hits.map(|hit| format!("the program hit a limit and went on: {}", hit.message));
    let mut notes: Vec<String> = report.plan.iter().map(PlanReport::note).chain(hits).collect();
    notes.extend(report.variables.as_ref().and_then(VariablesReport::note));
    notes.extend(report.notes.iter().cloned());
    if report.error.is_none() && report.result.is_none() && is_silent {
        notes.push("the program printed nothing and set no `result`".to_owned());
    }
    // A name may be misspelt.
    let made = report.session.as_ref().filter(|session| session.is_new);
    let named = made.and_then(|session| session.name.as_ref());
    notes.extend(named.map(|name| format!("new session `{name}`")));
    notes.truncate(NOTES_MAX);
    notes
}

#[cfg(test)]
mod tests;
