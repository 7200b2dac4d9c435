//! Recorded executions as pages show them.

use gristmill_dashboard::pages::{
    Decision, Execution, ExecutionError, ExecutionLine, Kept, Outcome, SessionRef, Stored, TokenAccount,
};
use gristmill_dashboard::plots::{Span, SpanKind};
use gristmill_dashboard::{Moment, Text};
use gristmill_gateway::history::{
    ExecutionRecord, ExecutionSummary, KeptText, LeftResult, RecordedCall, RecordedError, RecordedOutcome,
    RecordedStage,
};
use gristmill_gateway::service::Progress;

use super::as_test::as_test;
use super::visit::owner_in_words;

/// How a program begins, in a list.
const SUMMARY_CHARS: usize = 120;

pub(super) fn line(summary: &ExecutionSummary, now: Moment) -> ExecutionLine {
    let outcome = outcome(summary.outcome);
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let so_far = now.0.saturating_sub(summary.started_ms).max(0) as f64;
    ExecutionLine {
        id: summary.id.as_str().into(),
        started: Moment(summary.started_ms),
        outcome,
        error_code: summary.error_code.as_deref().map(Into::into),
        summary: beginning(summary.code.as_deref()),
        session: (!summary.session.is_empty()).then(|| SessionRef {
            handle: summary.session.as_str().into(),
            name: summary.session_name.as_deref().map(Into::into),
        }),
        caller: owner_in_words(&summary.owner),
        calls: summary.calls,
        calls_failed: summary.calls_failed,
        duration_ms: if outcome == Outcome::Running { so_far } else { summary.duration_ms },
        tokens_saved: summary.tokens.saved(),
    }
}

pub(super) fn lines(summaries: &[ExecutionSummary], now: Moment) -> Vec<ExecutionLine> {
    summaries.iter().map(|summary| line(summary, now)).collect()
}

fn outcome(recorded: RecordedOutcome) -> Outcome {
    match recorded {
        RecordedOutcome::Running => Outcome::Running,
        RecordedOutcome::Ok => Outcome::Ok,
        RecordedOutcome::Failed => Outcome::Failed,
        RecordedOutcome::Cancelled => Outcome::Canceled,
        RecordedOutcome::Lost => Outcome::Lost,
    }
}

/// Its first line that says something.
fn beginning(code: Option<&str>) -> Text {
    let Some(code) = code else { return "(its program isn't kept)".into() };
    let line = code.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let line = line.or_else(|| code.lines().next()).unwrap_or("(empty)");
    match line.char_indices().nth(SUMMARY_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]).into(),
        None => line.into(),
    }
}

/// What is known of an execution beside its record.
#[derive(Default)]
pub(super) struct Beside {
    /// While it runs.
    pub(super) progress: Option<Progress>,
    pub(super) stored: Vec<LeftResult>,
    pub(super) decisions: Vec<Decision>,
    pub(super) gateway: Option<Text>,
}

/// One execution, with all that is known of it.
pub(super) fn whole(record: &ExecutionRecord, beside: Beside, now: Moment) -> Execution {
    let summary = &record.summary;
    let mut line = line(summary, now);
    let mut stdout = kept(&record.stdout);
    if let Some(progress) = beside.progress.filter(|_| line.outcome == Outcome::Running) {
        line.calls = progress.calls_begun as u64;
        let bytes = progress.output_tail.len() as u64;
        stdout = Kept { text: Some(progress.output_tail.as_str().into()), bytes };
    }
    Execution {
        language: record.language.as_str().into(),
        level: record.level.as_str().into(),
        code: summary.code.as_deref().map(Into::into),
        error: record.error.as_ref().map(error),
        findings: texts(&summary.findings),
        notes: texts(&record.notes),
        limits_hit: texts(&summary.limits_hit),
        stdout,
        stderr: kept(&record.stderr),
        result: record.result.as_ref().map(kept),
        stored: beside.stored.iter().map(stored).collect(),
        spans_are_placed: !record.stages.is_empty(),
        spans: spans(record),
        tokens: TokenAccount {
            used: summary.tokens.through_us(),
            inside: summary.tokens.inside,
            direct: summary.tokens.direct(),
        },
        decisions: beside.decisions,
        trace_id: record.trace_id.as_deref().map(Into::into),
        gateway: beside.gateway,
        as_test: as_test(record).map(Into::into),
        cpu_ms: summary.cpu_time_ms,
        memory_peak_bytes: summary.memory_peak_bytes,
        line,
    }
}

fn texts(texts: &[String]) -> Vec<Text> {
    texts.iter().map(|text| text.as_str().into()).collect()
}

fn kept(kept: &KeptText) -> Kept {
    Kept { text: kept.text.as_deref().map(Into::into), bytes: kept.bytes }
}

fn error(error: &RecordedError) -> ExecutionError {
    ExecutionError {
        code: error.code.as_str().into(),
        line: error.line,
        message: error.message.as_deref().unwrap_or("(its words aren't kept)").into(),
        hint: error.hint.as_deref().map(Into::into),
        traceback: error.traceback.as_deref().map(Into::into),
    }
}

fn stored(left: &LeftResult) -> Stored {
    Stored { handle: left.handle.as_str().into(), kind: left.kind.as_str().into(), bytes: left.bytes }
}

/// Stages in their order, and after each the calls that began in it.
fn spans(record: &ExecutionRecord) -> Vec<Span> {
    let mut spans: Vec<Span> =
        record.stages.iter().map(stage).chain(record.tools_called.iter().map(span)).collect();
    // A stage and a call can't begin at the same moment; whatever has no moment stays in its order.
    spans.sort_by(|one, other| one.start_ms.total_cmp(&other.start_ms));
    spans
}

fn stage(stage: &RecordedStage) -> Span {
    Span {
        kind: SpanKind::Stage,
        label: stage.name.as_str().into(),
        start_ms: stage.began_ms,
        duration_ms: stage.time_ms,
        ok: true,
        note: Text::default(),
    }
}

fn span(call: &RecordedCall) -> Span {
    let (server, tool) = call.name.split_once('.').unwrap_or(("", call.name.as_str()));
    let kind = match server {
        "" => SpanKind::Stage,
        _ => SpanKind::Call { server: server.into(), tool: tool.into(), line: call.line },
    };
    Span {
        kind,
        label: call.name.as_str().into(),
        start_ms: call.began_ms.unwrap_or_default(),
        duration_ms: call.time_ms,
        ok: call.ok,
        note: call.error.as_deref().unwrap_or_default().into(),
    }
}
