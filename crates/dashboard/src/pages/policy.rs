//! Policy: the rules in their order, and what they would say.

use maud::{Markup, html};

use crate::frame::{Head, Place, csrf_field, page};
use crate::parts::{Choice, Tone, badge, card, cell, empty, filter_field, filter_select, table};
use crate::{Frame, Text, routes};

#[derive(Clone, Debug)]
pub struct Policy {
    pub rules: Vec<Rule>,
    pub always: Vec<AlwaysLine>,
    pub what_if: WhatIf,
    pub explained: Option<Explained>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}

impl Verdict {
    pub(crate) fn badge(self) -> Markup {
        match self {
            Verdict::Allow => badge(Tone::Good, "allow"),
            Verdict::Ask => badge(Tone::Warn, "ask"),
            Verdict::Deny => badge(Tone::Bad, "deny"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub name: Text,
    /// Absent if it only counts.
    pub verdict: Option<Verdict>,
    /// What it matches, in words.
    pub matches: Text,
    /// The file it is in.
    pub source: Text,
    /// How many calls it lets through, in words.
    pub budget: Text,
}

/// A yes for good.
#[derive(Clone, Debug)]
pub struct AlwaysLine {
    pub id: Text,
    pub server: Text,
    pub tool: Text,
    /// The rule that would ask.
    pub rule: Text,
}

/// A call that is asked about; nothing is sent.
#[derive(Clone, Debug, Default)]
pub struct WhatIf {
    /// `tool`: such as `mail.send`.
    pub tool: Text,
    /// `arguments`: a JSON object.
    pub arguments: Text,
    /// `level`: such as `hardened`.
    pub level: Text,
    /// `read_both`: as if the session had read untrusted and private data.
    pub read_both: bool,
}

#[derive(Clone, Debug)]
pub struct Explained {
    pub verdict: Verdict,
    pub rule: Text,
    /// How it came to that.
    pub steps: Vec<Text>,
}

pub fn policy(frame: &Frame, view: &Policy) -> Markup {
    let head = Head {
        lead: html! { "What programs may call. The first rule that fits decides." },
        ..Head::of(Place::Policy)
    };
    let body = html! {
        div.columns-2-1 {
            div {
                (card("Rules", &rules(view)))
                @if !view.always.is_empty() { (card("Always approved", &always(frame, &view.always))) }
            }
            div {
                (card("What if", &what_if(view)))
            }
        }
    };
    page(frame, &head, &body)
}

fn rules(view: &Policy) -> Markup {
    let columns = [cell("Verdict"), cell("Rule"), cell("Matches"), cell("At most")];
    let rows = view.rules.iter().map(|rule| {
        vec![
            html! { @if let Some(verdict) = rule.verdict { (verdict.badge()) } @else { "counts" } },
            html! { strong { (rule.name) } br; span.small { (rule.source) } },
            html! { (rule.matches) },
            html! { (rule.budget) },
        ]
    });
    html! {
        @if view.rules.is_empty() {
            (empty("No rules of your own", &html! { "Add one with " code { "gristmill policy deny TOOL" } " or " code { "policy allow" } "." }))
        } @else {
            (table("Rules", &columns, rows))
        }
    }
}

const LEVELS: [Choice<'static>; 4] = [
    Choice { value: "", label: "The gateway's" },
    Choice { value: "development", label: "development" },
    Choice { value: "production", label: "production" },
    Choice { value: "hardened", label: "hardened" },
];

fn what_if(view: &Policy) -> Markup {
    let asked = &view.what_if;
    html! {
        @if let Some(explained) = &view.explained {
            div.verdict role="status" {
                p { (explained.verdict.badge()) " by " code { (explained.rule) } }
                ol { @for step in &explained.steps { li { (step) } } }
            }
        }
        form.fields method="get" action=(routes::POLICY) {
            (filter_field("Tool", "tool", &asked.tool, "server.tool"))
            label {
                span { "Arguments" }
                textarea name="arguments" rows="4" spellcheck="false" placeholder="{ }" { "\n" (asked.arguments.raw()) }
            }
            (filter_select("Level", "level", asked.level.raw(), &LEVELS))
            label.check {
                input type="checkbox" name="read_both" value="1" checked[asked.read_both];
                span { "The session has read untrusted and private data" }
            }
            button.primary type="submit" { "What would happen?" }
            p.note { "Nothing is sent." }
        }
    }
}

fn always(frame: &Frame, lines: &[AlwaysLine]) -> Markup {
    let rows = lines.iter().map(|line| {
        vec![
            html! { (line.server) "." (line.tool) },
            html! { code { (line.rule) } },
            html! {
                form method="post" action=(routes::fill(routes::POLICY_REVOKE, &[line.id.raw()])) {
                    (csrf_field(frame))
                    button.quiet type="submit" { "Take back" }
                }
            },
        ]
    });
    table("Always approved", &[cell("Tool"), cell("Rule"), cell("Change")], rows)
}
