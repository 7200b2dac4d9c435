//! Audit: whether the chain holds, and what it says.

use maud::{Markup, html};

use crate::frame::{Head, Place, csrf_field, page};
use crate::number::count;
use crate::parts::{Choice, Tone, badge, cell, empty, filter_field, filter_select, number, stat, table};
use crate::{Frame, Moment, Text, routes};

#[derive(Clone, Debug)]
pub struct Audit {
    pub chain: ChainState,
    pub events: u64,
    /// The last signed checkpoint.
    pub checkpoint: Option<Moment>,
    pub filter: AuditFilter,
    pub lines: Vec<AuditLine>,
}

#[derive(Clone, Debug)]
pub enum ChainState {
    /// Checked up to its end.
    Intact {
        checked: Moment,
    },
    /// Somebody changed, moved or cut something.
    Broken {
        event: u64,
        why: Text,
    },
    NotChecked,
}

/// As the query has it; empty means any.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// `q`
    pub text: Text,
    /// `kind`: such as `call`.
    pub kind: Text,
    pub caller: Text,
    /// `since`: such as `24h`.
    pub since: Text,
}

#[derive(Clone, Debug)]
pub struct AuditLine {
    pub number: u64,
    pub at: Moment,
    pub kind: Text,
    pub who: Text,
    pub what: Text,
    pub tone: Tone,
    pub outcome: Text,
    pub execution: Option<Text>,
}

pub fn audit(frame: &Frame, view: &Audit) -> Markup {
    let head = Head {
        lead: html! { "Who did what, in a chain that shows when it was changed." },
        actions: html! {
            form method="post" action=(routes::AUDIT_VERIFY) {
                (csrf_field(frame))
                button type="submit" { "Check the whole chain" }
            }
        },
        ..Head::of(Place::Audit)
    };
    let filter = &view.filter;
    let body = html! {
        (chain(frame, view))
        (query_form(filter))
        @if view.lines.is_empty() {
            (empty("No event matches", &html! { "Loosen the filter, or " a href=(routes::AUDIT) { "show all events" } "." }))
        } @else {
            section.card { (lines(frame, &view.lines)) }
        }
    };
    page(frame, &head, &body)
}

fn chain(frame: &Frame, view: &Audit) -> Markup {
    let (state, note) = match &view.chain {
        ChainState::Intact { checked } => {
            (badge(Tone::Good, "intact"), html! { "checked " (checked.relative(frame.now)) })
        }
        ChainState::Broken { event, why } => {
            (badge(Tone::Bad, "broken"), html! { "at event " (count(*event)) ": " (why) })
        }
        ChainState::NotChecked => (badge(Tone::Quiet, "not checked"), html! { "since the gateway started" }),
    };
    html! {
        div.stats {
            (stat("Chain", state, note))
            (stat("Events", count(view.events), "kept"))
            (stat(
                "Last checkpoint",
                html! { @if let Some(at) = view.checkpoint { (at.relative(frame.now)) } @else { "none" } },
                "signed",
            ))
        }
    }
}

const KINDS: [Choice<'static>; 13] = [
    Choice { value: "", label: "Any kind" },
    Choice { value: "execution.begun", label: "Execution begun" },
    Choice { value: "execution.ended", label: "Execution ended" },
    Choice { value: "execution.refused", label: "Execution refused" },
    Choice { value: "call", label: "Call" },
    Choice { value: "finding", label: "Finding" },
    Choice { value: "violation", label: "Violation" },
    Choice { value: "approval", label: "Approval" },
    Choice { value: "token.refused", label: "Token refused" },
    Choice { value: "config", label: "Configuration" },
    Choice { value: "tools.approved", label: "Tools approved" },
    Choice { value: "skill.changed", label: "Skill changed" },
    Choice { value: "privacy.restored", label: "Personal data restored" },
];
const TIMES: [Choice<'static>; 4] = [
    Choice { value: "", label: "Any time" },
    Choice { value: "24h", label: "Last 24 hours" },
    Choice { value: "7d", label: "Last 7 days" },
    Choice { value: "30d", label: "Last 30 days" },
];

fn query_form(filter: &AuditFilter) -> Markup {
    html! {
        form.filter method="get" action=(routes::AUDIT) role="search" {
            (filter_field("Search", "q", &filter.text, "Tool, id, rule"))
            (filter_select("Kind", "kind", filter.kind.raw(), &KINDS))
            (filter_field("Caller", "caller", &filter.caller, "Owner or client"))
            (filter_select("When", "since", filter.since.raw(), &TIMES))
            div.buttons { button.primary type="submit" { "Filter" } }
        }
    }
}

fn lines(frame: &Frame, lines: &[AuditLine]) -> Markup {
    let columns = [number("No."), cell("When"), cell("Kind"), cell("Who"), cell("What"), cell("Outcome")];
    let rows = lines.iter().map(|line| {
        vec![
            html! { (count(line.number)) },
            line.at.relative(frame.now),
            html! { (line.kind) },
            html! { (line.who) },
            html! {
                (line.what)
                @if let Some(id) = &line.execution {
                    " · " a href=(routes::fill(routes::EXECUTION, &[id.raw()])) { "execution" }
                }
            },
            badge(line.tone, &line.outcome),
        ]
    });
    table("Audit events", &columns, rows)
}
