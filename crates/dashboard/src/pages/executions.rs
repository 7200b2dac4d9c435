//! Executions: a list that can be searched, and follows what runs.

use maud::{Markup, html};

use super::execution_lines::{ExecutionLine, execution_table};
use crate::frame::{Head, Place, page};
use crate::parts::{Choice, Pager, empty, filter_field, filter_select, pager};
use crate::{Frame, Text, routes};

#[derive(Clone, Debug)]
pub struct Executions {
    pub filter: ExecutionFilter,
    pub lines: Vec<ExecutionLine>,
    pub pager: Pager,
    /// To choose from, if there are several: id and name.
    pub gateways: Vec<(Text, Text)>,
}

/// As the query has it; empty means any.
#[derive(Clone, Debug, Default)]
pub struct ExecutionFilter {
    /// `q`: in the program, its errors and ids.
    pub text: Text,
    /// `outcome`: such as `failed`.
    pub outcome: Text,
    pub session: Text,
    pub tool: Text,
    /// `gateway`: the id of one.
    pub gateway: Text,
    /// `since`: `1h`, `24h`, `7d` or `30d`.
    pub since: Text,
}

impl ExecutionFilter {
    fn pairs(&self) -> [(&'static str, &str); 6] {
        [
            ("q", self.text.raw()),
            ("outcome", self.outcome.raw()),
            ("session", self.session.raw()),
            ("tool", self.tool.raw()),
            ("gateway", self.gateway.raw()),
            ("since", self.since.raw()),
        ]
    }

    fn is_empty(&self) -> bool {
        self.pairs().iter().all(|(_, value)| value.is_empty())
    }
}

pub fn executions(frame: &Frame, view: &Executions) -> Markup {
    let head =
        Head { lead: html! { "Every program that ran, and what it did." }, ..Head::of(Place::Executions) };
    let pairs = view.filter.pairs();
    let body = html! {
        (filter(&view.filter, &view.gateways))
        @if view.lines.is_empty() {
            (nothing(&view.filter))
        } @else {
            section.card data-live=(routes::query(routes::LIVE_EXECUTIONS, &pairs)) {
                (executions_live(frame, &view.lines))
            }
        }
        (pager(&view.pager, routes::EXECUTIONS, &pairs))
    };
    page(frame, &head, &body)
}

/// The list, as the stream sends it.
pub fn executions_live(frame: &Frame, lines: &[ExecutionLine]) -> Markup {
    execution_table(frame, "Executions", lines)
}

const OUTCOMES: [Choice<'static>; 6] = [
    Choice { value: "", label: "Any outcome" },
    Choice { value: "running", label: "Running" },
    Choice { value: "ok", label: "Ok" },
    Choice { value: "failed", label: "Failed" },
    Choice { value: "cancelled", label: "Canceled" },
    Choice { value: "lost", label: "Lost" },
];
const TIMES: [Choice<'static>; 5] = [
    Choice { value: "", label: "Any time" },
    Choice { value: "1h", label: "Last hour" },
    Choice { value: "24h", label: "Last 24 hours" },
    Choice { value: "7d", label: "Last 7 days" },
    Choice { value: "30d", label: "Last 30 days" },
];

fn filter(filter: &ExecutionFilter, gateways: &[(Text, Text)]) -> Markup {
    let any = Choice { value: "", label: "Any gateway" };
    let named = gateways.iter().map(|(id, name)| Choice { value: id.raw(), label: name.raw() });
    let mut choices: Vec<Choice<'_>> = std::iter::once(any).chain(named).collect();
    if !choices.iter().any(|choice| choice.value == filter.gateway.raw()) {
        choices.push(Choice { value: filter.gateway.raw(), label: filter.gateway.raw() });
    }
    html! {
        form.filter method="get" action=(routes::EXECUTIONS) role="search" {
            (filter_field("Search", "q", &filter.text, "Code, error, id"))
            (filter_select("Outcome", "outcome", filter.outcome.raw(), &OUTCOMES))
            (filter_field("Session", "session", &filter.session, "Name or handle"))
            (filter_field("Tool", "tool", &filter.tool, "server.tool"))
            @if choices.len() > 2 || !filter.gateway.is_empty() {
                (filter_select("Gateway", "gateway", filter.gateway.raw(), &choices))
            }
            (filter_select("Started", "since", filter.since.raw(), &TIMES))
            div.buttons {
                button.primary type="submit" { "Filter" }
                @if !filter.is_empty() { a.button href=(routes::EXECUTIONS) { "Clear" } }
            }
        }
    }
}

fn nothing(filter: &ExecutionFilter) -> Markup {
    if filter.is_empty() {
        return empty(
            "No program has run yet",
            &html! {
                "Connect an agent with " code { "gristmill connect" } ", or run one in the "
                a href=(routes::PLAYGROUND) { "playground" } "."
            },
        );
    }
    empty(
        "No execution matches",
        &html! { "Loosen the filter, or " a href=(routes::EXECUTIONS) { "show all executions" } "." },
    )
}
