//! One execution on its way into the history: noted when it begins, completed when it ends.

use std::sync::Arc;
use std::time::SystemTime;

use gristmill_domain::{Code, Level};
use gristmill_protocol::CODE_BYTES_MAX;
use serde_json::Value;

use super::History;
use super::kept_errors::KeptErrors;
use crate::clock::unix_ms;
use crate::context_text::ContextText;
use crate::ids::{ExecutionId, Owner, TraceContext};
use crate::privacy::{Source, Veil};
use crate::report::{CountedOutside, ErrorReport, Report, TokenAccount, ToolCalled, milliseconds};
use crate::request::ExecuteRequest;
use crate::store::{
    BegunRow, EndedRow, KeptText, RecordedCall, RecordedError, RecordedOutcome, RecordedStage,
};
use crate::tokens;

/// What is kept of an output or a result. More belongs into a file.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 10;

/// What is kept of the variables. Without them a program cannot be run again, so it is more.
const CONTEXT_BYTES_MAX: usize = 256 << 10;

/// Calls that are kept one by one; beyond this they are only counted.
const CALLS_MAX: usize = 1_000;

/// What a row takes beside its texts, and what a call does, with their indexes.
const ROW_BYTES: usize = 600;
const CALL_BYTES: usize = 160;
const STAGE_BYTES: usize = 40;

/// Of a text: below this a count takes less time than handing it to another thread.
const AT_ONCE_BYTES_MAX: usize = 2_048;

/// What a program is about to do. Taken before it starts, noted beside it.
pub struct Beginning {
    history: History,
    id: ExecutionId,
    owner: Owner,
    level: Level,
    language: &'static str,
    code: String,
    context: ContextText,
    at: SystemTime,
    session: String,
    own_definition_tokens: u64,
    trace_id: Option<String>,
    /// The program and its context as they are kept, where that is not as they are.
    kept: Option<(String, String)>,
}

/// An execution that runs and is noted as running.
pub struct Recording {
    history: History,
    begun: Arc<BegunRow>,
    /// Of the program and its context.
    program: Counting,
    own_definition_tokens: u64,
}

impl Beginning {
    /// Of a request, whose calls are counted from here on.
    pub(super) fn of(
        history: &History,
        id: &ExecutionId,
        owner: &Owner,
        request: &mut ExecuteRequest,
        level: Level,
    ) -> Self {
        request.capabilities.count_tokens = true;
        Self {
            history: history.clone(),
            id: id.clone(),
            owner: owner.clone(),
            level,
            language: request.engine.name(),
            code: request.code.clone(),
            context: request.context.clone(),
            at: history.inner.store.now(),
            session: String::new(),
            own_definition_tokens: request.own_definition_tokens,
            trace_id: request.capabilities.caller.trace.as_ref().map(TraceContext::trace_id),
            kept: None,
        }
    }

    /// Kept without what is personal in it.
    pub async fn hidden_by(mut self, veil: &Veil) -> Self {
        let (mut code, mut context) = (self.code.clone(), self.context.as_str().to_owned());
        veil.text(&mut code).await;
        veil.json(&mut context, Source::default()).await;
        self.kept = Some((code, context));
        self
    }

    /// Under which it is recorded.
    pub fn id(&self) -> &ExecutionId {
        &self.id
    }

    /// The session that it works in, where that is known before it runs.
    pub fn in_session(mut self, session: Option<&str>) -> Self {
        self.session = session.unwrap_or_default().to_owned();
        self
    }

    /// Notes that it runs. Nobody waits for that; if it fails, the end is noted all the same.
    pub fn begin(self) -> Recording {
        let Self {
            history,
            id,
            owner,
            level,
            language,
            code,
            context,
            at,
            session,
            own_definition_tokens,
            trace_id,
            kept,
        } = self;
        let keeps = history.settings().content;
        let is_empty = context.is_empty();
        let context = if is_empty { String::new() } else { context.as_str().to_owned() };
        let (shown_code, shown_context) = match kept {
            Some((code, context)) => (code, if is_empty { String::new() } else { context }),
            None => (code.clone(), context.clone()),
        };
        let program = blake3::hash(shown_code.as_bytes()).to_hex().to_string();
        let kept_code = (keeps && code.len() <= CODE_BYTES_MAX).then_some(shown_code);
        let context_bytes = context.len();
        let kept_context = (keeps && context_bytes <= CONTEXT_BYTES_MAX).then_some(shown_context);
        let weight = ROW_BYTES
            + kept_code.as_ref().map_or(0, String::len)
            + kept_context.as_ref().map_or(0, String::len);
        let begun = Arc::new(BegunRow {
            id: id.as_str().to_owned(),
            gateway: history.gateway().to_owned(),
            owner: owner.0,
            session,
            language: language.into(),
            level: level.as_str().into(),
            program,
            code: kept_code,
            context: kept_context,
            context_bytes: context_bytes as u64,
            started_ms: unix_ms(at),
            trace_id,
            weight,
        });
        history.note(Arc::clone(&begun));
        let program = Counting::of(vec![code, context]);
        Recording { history, begun, program, own_definition_tokens }
    }
}

impl Recording {
    /// Completes it, in `session` if it worked in one. Afterwards it is on the disk; if that cannot
    /// be, the report says so, and what it reports is as good as ever. `returned` is what the answer
    /// about it took; without one, all that it reports has gone back.
    pub async fn end(self, report: &mut Report, session: &str, returned: Option<u64>) {
        let Self { history, begun, program, own_definition_tokens } = self;
        let mut weight = begun.weight;
        let keeps = history.settings().content;
        let result = report.result.as_ref().map(Value::to_string);
        let (program, estimated) = program.counted().await;
        let returned = match returned {
            Some(returned) => returned,
            None => returned_tokens(report, result.as_deref()).await,
        };
        let outside = CountedOutside {
            program: program as u64,
            returned,
            own_definition: own_definition_tokens,
            estimated,
        };
        let account = TokenAccount::of(report, &outside);
        report.tokens = Some(account);
        let kept =
            |text: &str| KeptText { text: keeps.then(|| middle_left_out(text)), bytes: text.len() as u64 };
        let result = result
            .map(|text| KeptText { text: keeps.then(|| end_left_out(&text)), bytes: text.len() as u64 });
        let (stdout, stderr) = (kept(&report.stdout), kept(&report.stderr));
        let calls = report.tools_called.iter().take(CALLS_MAX).enumerate();
        let calls: Vec<RecordedCall> = calls
            .map(|(place, call)| recorded_call(call, report.timing.call_began_ms(place), keeps))
            .collect();
        let stages = recorded_stages(report);
        let errors = KeptErrors::of(&report.tools_called);
        let error = report.error.as_ref().map(|error| recorded_error(error, &errors, keeps));
        let notes =
            (keeps && !report.notes.is_empty()).then(|| Value::from(report.notes.clone()).to_string());
        weight += [&stdout.text, &stderr.text, &notes].into_iter().flatten().map(String::len).sum::<usize>();
        weight += result.as_ref().and_then(|result| result.text.as_ref()).map_or(0, String::len);
        weight += error.as_ref().map_or(0, error_bytes) + stages.len() * STAGE_BYTES;
        weight +=
            calls.iter().map(|call| CALL_BYTES + call.error.as_ref().map_or(0, String::len)).sum::<usize>();
        let row = EndedRow {
            begun,
            session: session.to_owned(),
            outcome: outcome_of(report),
            duration_ms: report.total_time_ms,
            cpu_ms: report.cpu_time_ms,
            memory_peak_bytes: report.memory_peak_bytes,
            calls: report.tools_called.len() as u64,
            calls_failed: report.tools_called.iter().filter(|call| !call.ok).count() as u64,
            tokens: account,
            weight,
            limits_hit: report.limits_hit.iter().map(|hit| hit.name).collect::<Vec<_>>().join(" "),
            findings: findings_of(report),
            error,
            notes,
            stdout,
            stderr,
            result,
            tools_called: calls,
            stages,
        };
        match history.complete(row).await {
            Ok(()) => report.is_recorded = true,
            Err(error) => report.notes.push(format!("this execution isn't in the history: {error}")),
        }
    }
}

/// No words: what is found is kept even where contents are not.
fn findings_of(report: &Report) -> String {
    let found = report.findings.iter().map(|finding| format!("{}:{}", finding.rule, finding.line));
    found.collect::<Vec<_>>().join(" ")
}

fn outcome_of(report: &Report) -> RecordedOutcome {
    match &report.error {
        None => RecordedOutcome::Ok,
        Some(error) if error.code == Code::Cancelled => RecordedOutcome::Cancelled,
        Some(_) => RecordedOutcome::Failed,
    }
}

/// What a caller reads about it.
async fn returned_tokens(report: &Report, result: Option<&str>) -> u64 {
    let error = report.error.as_ref().map(|error| error.traceback.as_deref().unwrap_or(&error.message));
    let texts = [result, Some(report.stdout.as_str()), Some(report.stderr.as_str()), error];
    let texts = texts.into_iter().flatten().filter(|text| !text.is_empty()).map(str::to_owned);
    let (tokens, _) = Counting::of(texts.collect()).counted().await;
    tokens as u64
}

fn recorded_stages(report: &Report) -> Vec<RecordedStage> {
    let Some(zero) = report.timing.zero() else { return Vec::new() };
    let stages = report.timing.stages().iter().map(|stage| RecordedStage {
        name: stage.name.to_owned(),
        began_ms: milliseconds(stage.began.saturating_duration_since(zero)),
        time_ms: milliseconds(stage.took),
    });
    stages.collect()
}

fn recorded_call(call: &ToolCalled, began_ms: Option<f64>, keeps: bool) -> RecordedCall {
    RecordedCall {
        began_ms,
        name: call.name.clone(),
        line: call.line,
        ok: call.ok,
        sent: call.sent,
        time_ms: call.time_ms,
        argument_bytes: call.argument_bytes,
        argument_tokens: call.argument_tokens.unwrap_or_default(),
        answer_bytes: call.answer_bytes,
        answer_tokens: call.answer_tokens.unwrap_or_default(),
        error: call.kept_error.clone().filter(|_| keeps),
    }
}

fn recorded_error(error: &ErrorReport, errors: &KeptErrors<'_>, keeps: bool) -> RecordedError {
    let kept = |text: &str| errors.in_place_of_words(text);
    RecordedError {
        code: error.code.as_str().to_owned(),
        line: error.line,
        message: keeps.then(|| kept(&error.message)),
        hint: error.hint.as_deref().filter(|_| keeps).map(kept),
        traceback: error.traceback.as_deref().filter(|_| keeps).map(kept),
    }
}

fn error_bytes(error: &RecordedError) -> usize {
    [&error.message, &error.hint, &error.traceback].into_iter().flatten().map(String::len).sum()
}

enum Counting {
    Done(usize, bool),
    UnderWay(tokio::task::JoinHandle<(usize, bool)>),
}

impl Counting {
    /// Needs a tokio runtime.
    fn of(texts: Vec<String>) -> Self {
        let bytes: usize = texts.iter().map(String::len).sum();
        let count = move || {
            let counts = texts.iter().map(|text| tokens::count_bounded(text));
            counts.fold((0, false), |(sum, any), (tokens, is_estimate)| (sum + tokens, any | is_estimate))
        };
        match bytes <= AT_ONCE_BYTES_MAX {
            true => {
                let (tokens, is_estimate) = count();
                Counting::Done(tokens, is_estimate)
            }
            false => Counting::UnderWay(tokio::task::spawn_blocking(count)),
        }
    }

    async fn counted(self) -> (usize, bool) {
        match self {
            Counting::Done(tokens, is_estimate) => (tokens, is_estimate),
            Counting::UnderWay(task) => task.await.unwrap_or_default(),
        }
    }
}

/// An output, whose end tells as much as its beginning.
fn middle_left_out(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    // The mark has room beside both.
    const END_BYTES: usize = TEXT_BYTES_MAX / 4;
    const BEGINNING_BYTES: usize = TEXT_BYTES_MAX - END_BYTES - 100;
    let beginning = &text[..text.floor_char_boundary(BEGINNING_BYTES)];
    let end = &text[text.ceil_char_boundary(text.len() - END_BYTES)..];
    let left_out = text.len() - beginning.len() - end.len();
    format!("{beginning}\n[… {left_out} bytes left out …]\n{end}")
}

/// A result, which begins with what it is.
fn end_left_out(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(TEXT_BYTES_MAX - 100)];
    format!("{kept} [… {} bytes left out]", text.len() - kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters_and_marked() {
        let long = "€".repeat(TEXT_BYTES_MAX);
        for cut in [middle_left_out(&long), end_left_out(&long)] {
            assert!(cut.len() <= TEXT_BYTES_MAX && cut.len() > TEXT_BYTES_MAX - 200, "{}", cut.len());
            assert!(cut.contains(" bytes left out"), "{}", &cut[cut.len() - 100..]);
            let kept = KeptText { text: Some(cut), bytes: long.len() as u64 };
            assert!(kept.is_cut());
        }
        let short = "x".repeat(TEXT_BYTES_MAX);
        assert_eq!((middle_left_out(&short), end_left_out(&short)), (short.clone(), short.clone()));
    }
}
