//! Approvals: calls that wait for a person.

use maud::{Markup, html};

use crate::frame::{Head, Place, csrf_field, page};
use crate::number::counted;
use crate::parts::{Tone, badge, block, card, cell, empty, table};
use crate::{Frame, Moment, Text, routes};

#[derive(Clone, Debug)]
pub struct Approvals {
    pub waiting: Vec<Approval>,
    /// The latest first.
    pub answered: Vec<AnsweredApproval>,
}

/// A call that waits.
#[derive(Clone, Debug)]
pub struct Approval {
    pub id: Text,
    pub server: Text,
    pub tool: Text,
    pub rule: Text,
    pub why: Text,
    /// Who asks, in words.
    pub caller: Text,
    pub asked: Moment,
    /// When the call gives up.
    pub until: Option<Moment>,
    /// How far a yes for the session reaches, in words.
    pub scope: Text,
    /// Such as `destructive` or `sends data out`.
    pub marks: Vec<Text>,
    pub arguments: Vec<Argument>,
    pub execution: Option<Text>,
    /// Whether the rule can be answered for good.
    pub can_always: bool,
}

/// One argument of it, as far as a person can read.
#[derive(Clone, Debug)]
pub struct Argument {
    pub name: Text,
    pub value: Text,
}

#[derive(Clone, Debug)]
pub struct AnsweredApproval {
    pub server: Text,
    pub tool: Text,
    pub verdict: ApprovalVerdict,
    /// Why it was denied, in the words of whoever did.
    pub reason: Text,
    pub why: Text,
    pub caller: Text,
    pub asked: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalVerdict {
    Once,
    Session,
    Always,
    Denied,
    /// Nobody answered in time.
    Over,
}

impl ApprovalVerdict {
    fn badge(self) -> Markup {
        match self {
            ApprovalVerdict::Once => badge(Tone::Good, "approved once"),
            ApprovalVerdict::Session => badge(Tone::Good, "for the session"),
            ApprovalVerdict::Always => badge(Tone::Good, "always"),
            ApprovalVerdict::Denied => badge(Tone::Bad, "denied"),
            ApprovalVerdict::Over => badge(Tone::Quiet, "not answered"),
        }
    }
}

pub fn approvals(frame: &Frame, view: &Approvals) -> Markup {
    let head = Head {
        lead: html! { "Calls that a rule wants you to look at. While this page is open, programs wait here for your answer." },
        ..Head::of(Place::Approvals)
    };
    let body = html! {
        // While it is open somebody can be asked: it stays connected in the background, too.
        div data-live=(routes::LIVE_APPROVALS) data-live-hidden { (approvals_live(frame, &view.waiting)) }
        @if !view.answered.is_empty() {
            (card("Answered", &answered(frame, &view.answered)))
        }
    };
    page(frame, &head, &body)
}

/// The calls that wait, as the stream sends them.
pub fn approvals_live(frame: &Frame, waiting: &[Approval]) -> Markup {
    html! {
        @if waiting.is_empty() {
            (empty(
                "Nothing waits for you",
                &html! { "Calls show up here when a rule says " code { "ask" } ". See the "
                    a href=(routes::POLICY) { "policy" } "." },
            ))
        }
        @else {
            p.unseen role="status" data-waiting=(waiting.len()) { (counted(waiting.len() as u64, "call")) " waiting for you" }
        }
        @for approval in waiting { (question(frame, approval)) }
    }
}

fn question(frame: &Frame, approval: &Approval) -> Markup {
    html! {
        article.card.question id=(anchor(&approval.id)) {
            h2 {
                a href=(routes::fill(routes::TOOL, &[approval.server.raw(), approval.tool.raw()])) {
                    (approval.server) "." (approval.tool)
                }
                @for mark in &approval.marks { " " (badge(Tone::Warn, mark)) }
            }
            p.why { (approval.why) }
            p.note {
                "Rule " code { (approval.rule) } " · " (approval.caller) " · asked " (approval.asked.relative(frame.now))
                @if let Some(until) = approval.until { " · gives up " (until.relative(frame.now)) }
                @if let Some(execution) = &approval.execution {
                    " · " a href=(routes::fill(routes::EXECUTION, &[execution.raw()])) { "the program" }
                }
            }
            (arguments(&approval.arguments))
            (answers(frame, approval))
        }
    }
}

/// Names an approval within its page.
pub(crate) fn anchor(id: &Text) -> String {
    let kept = id.raw().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_');
    format!("approval-{}", kept.collect::<String>())
}

fn arguments(arguments: &[Argument]) -> Markup {
    html! {
        @if arguments.is_empty() {
            p.note { "No arguments." }
        } @else {
            dl.arguments {
                @for argument in arguments {
                    dt { (argument.name) }
                    dd { (block(&argument.value)) }
                }
            }
        }
    }
}

fn answers(frame: &Frame, approval: &Approval) -> Markup {
    let address = routes::fill(routes::APPROVAL_ANSWER, &[approval.id.raw()]);
    html! {
        form.answers method="post" action=(address) {
            (csrf_field(frame))
            div.buttons {
                button.primary name="answer" value="once" type="submit" { "Approve once" }
                button name="answer" value="session" type="submit" title=(approval.scope) { "For this session" }
                @if approval.can_always { button name="answer" value="always" type="submit" { "Always" } }
            }
            p.note { "For this session: " (approval.scope) "." }
        }
        // A form of its own: Enter in the reason says no.
        form.deny method="post" action=(address) {
            (csrf_field(frame))
            input type="hidden" name="answer" value="deny";
            label {
                span { "Reason for a no, which the program is told" }
                input type="text" name="reason" maxlength="200" autocomplete="off" placeholder="Optional";
            }
            button.danger type="submit" { "Deny" }
        }
    }
}

fn answered(frame: &Frame, answered: &[AnsweredApproval]) -> Markup {
    let columns = [cell("Answer"), cell("Call"), cell("Asked because"), cell("Asked by"), cell("Asked")];
    let rows = answered.iter().map(|approval| {
        vec![
            html! {
                (approval.verdict.badge())
                @if !approval.reason.is_empty() { p.small { "“" (approval.reason) "”" } }
            },
            html! { (approval.server) "." (approval.tool) },
            html! { (approval.why) },
            html! { (approval.caller) },
            approval.asked.relative(frame.now),
        ]
    });
    table("Answered approvals", &columns, rows)
}
