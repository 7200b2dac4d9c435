//! Where the time of an execution went.

use maud::{Markup, html};

use crate::number::{counted, duration, place};
use crate::{Text, routes};

/// A program with more calls than this is summed up.
const ROWS_MAX: usize = 200;
/// Narrower bars can't be seen.
const SHARE_MIN: f64 = 0.4;

/// A stretch of time.
#[derive(Clone, Debug)]
pub struct Span {
    pub kind: SpanKind,
    pub label: Text,
    /// Since the request.
    pub start_ms: f64,
    pub duration_ms: f64,
    pub ok: bool,
    /// What it was worth, or what went wrong.
    pub note: Text,
}

/// What took the time.
#[derive(Clone, Debug)]
pub enum SpanKind {
    /// A stage of the execution.
    Stage,
    /// A call of a tool, inside the stage before it.
    Call {
        server: Text,
        tool: Text,
        /// The program's line.
        line: Option<u64>,
    },
}

/// `total_ms` is the whole width.
pub(crate) fn waterfall(spans: &[Span], total_ms: f64) -> Markup {
    let ends = spans.iter().map(|span| span.start_ms + span.duration_ms).filter(|end| end.is_finite());
    let total = ends.fold(total_ms, f64::max).max(0.001);
    html! {
        ol.waterfall {
            li.axis aria-hidden="true" {
                span {}
                span.ticks { @for share in [0.0, 0.25, 0.5, 0.75, 1.0] { span { (duration(total * share)) } } }
                span {}
            }
            @for span in spans.iter().take(ROWS_MAX) { (row(span, total)) }
            @if spans.len() > ROWS_MAX {
                li.rest { "and " (counted((spans.len() - ROWS_MAX) as u64, "more span")) }
            }
        }
    }
}

fn row(span: &Span, total: f64) -> Markup {
    let start = (100.0 * span.start_ms / total).clamp(0.0, 100.0 - SHARE_MIN);
    let width = (100.0 * span.duration_ms / total).clamp(SHARE_MIN, 100.0 - start);
    let (class, tone) = match span.kind {
        _ if !span.ok => ("call", "bad"),
        SpanKind::Stage => ("stage", "stage"),
        SpanKind::Call { .. } => ("call", "call"),
    };
    html! {
        li.(class) {
            span.label { (label(span)) @if !span.ok { span.failed { " failed" } } }
            svg.meter role="img" aria-label={ "starts at " (duration(span.start_ms)) } {
                rect.(tone) x={ (place(start)) "%" } width={ (place(width)) "%" } y="15%" height="70%" rx="3" {
                    title { (span.label) ": " (duration(span.duration_ms)) " from " (duration(span.start_ms)) }
                }
            }
            span.amount { (duration(span.duration_ms)) }
            @if !span.note.is_empty() { span.note { (span.note) } }
        }
    }
}

fn label(span: &Span) -> Markup {
    html! {
        @match &span.kind {
            SpanKind::Stage => (span.label),
            SpanKind::Call { server, tool, line } => {
                a href=(routes::fill(routes::TOOL, &[server.raw(), tool.raw()])) { (span.label) }
                @if let Some(line) = line { " " a.line-link href={ "#line-" (line) } { "line " (line) } }
            }
        }
    }
}
