//! Executions as lines of a table; several pages have one.

use maud::{Markup, html};

use crate::number::{count, duration, signed};
use crate::parts::{Tone, badge, cell, number, table};
use crate::{Frame, Moment, Text, routes};

/// One execution in a list.
#[derive(Clone, Debug)]
pub struct ExecutionLine {
    pub id: Text,
    pub started: Moment,
    pub outcome: Outcome,
    pub error_code: Option<Text>,
    /// How its program begins, or what it is called.
    pub summary: Text,
    pub session: Option<SessionRef>,
    pub caller: Text,
    pub calls: u64,
    pub calls_failed: u64,
    /// So far, if it still runs.
    pub duration_ms: f64,
    /// Against direct calls; below zero if it cost more.
    pub tokens_saved: i64,
}

/// A session, as lists name it.
#[derive(Clone, Debug)]
pub struct SessionRef {
    pub handle: Text,
    /// Absent if it has none, or is gone.
    pub name: Option<Text>,
}

impl SessionRef {
    pub(crate) fn link(&self) -> Markup {
        html! {
            a href=(routes::fill(routes::SESSION, &[self.handle.raw()])) title=(self.handle) {
                (self.name.as_ref().unwrap_or(&self.handle))
            }
        }
    }
}

/// How an execution ended, if it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Running,
    Ok,
    Failed,
    Canceled,
    Lost,
}

impl Outcome {
    pub(crate) fn badge(self) -> Markup {
        match self {
            Outcome::Running => badge(Tone::Info, "running"),
            Outcome::Ok => badge(Tone::Good, "ok"),
            Outcome::Failed => badge(Tone::Bad, "failed"),
            Outcome::Canceled => badge(Tone::Quiet, "canceled"),
            Outcome::Lost => badge(Tone::Warn, "lost"),
        }
    }
}

pub(crate) fn execution_table(frame: &Frame, caption: &str, lines: &[ExecutionLine]) -> Markup {
    let columns = [
        cell("Outcome"),
        cell("Program"),
        cell("Caller"),
        number("Calls"),
        number("Time"),
        number("Tokens saved"),
        cell("Started"),
    ];
    table(caption, &columns, lines.iter().map(|line| row(frame, line)))
}

fn row(frame: &Frame, line: &ExecutionLine) -> Vec<Markup> {
    vec![
        html! {
            (line.outcome.badge())
            @if let Some(code) = &line.error_code { br; span.error-code { (code) } }
        },
        html! {
            a.program href=(routes::fill(routes::EXECUTION, &[line.id.raw()])) { (line.summary) }
        },
        html! {
            div.caller { (line.caller) }
            @if let Some(session) = &line.session { span.small { (session.link()) } }
        },
        html! {
            (count(line.calls))
            @if line.calls_failed > 0 { br; span.small.bad-ink { (count(line.calls_failed)) " failed" } }
        },
        html! { (duration(line.duration_ms)) },
        html! { span.bad-ink[line.tokens_saved < 0] { (signed(line.tokens_saved)) } },
        line.started.relative(frame.now),
    ]
}
