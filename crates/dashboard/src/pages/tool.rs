//! One tool: how it is declared, how it does, and a form to try it.

use maud::{Markup, html};
use serde_json::Value;

use super::servers::{errors, time};
use crate::frame::{Head, Place, csrf_field, page};
use crate::number::{count, duration};
use crate::parts::{Tone, badge, block, card, cell, facts, listing, schema_form, table};
use crate::{Frame, Moment, Text, routes};

#[derive(Clone, Debug)]
pub struct Tool {
    pub server: Text,
    pub name: Text,
    pub description: Text,
    pub writes: bool,
    /// The declaration that programs see.
    pub stub: Text,
    /// What answers have taught about results, where the server doesn't declare them.
    pub learned: Vec<LearnedLine>,
    pub input_schema: Value,
    pub calls: u64,
    pub errors: u64,
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    /// What the form was sent with.
    pub filled: Vec<(Text, Text)>,
    pub tried: Option<TriedCall>,
}

/// What one owner's calls have taught.
#[derive(Clone, Debug)]
pub struct LearnedLine {
    pub owner: Text,
    /// Such as `{orders: [{id, total}]}`.
    pub result: Text,
    pub calls: u64,
    pub last_seen: Moment,
    /// When answers came to differ from many before, and how.
    pub drift: Option<(Moment, Text)>,
}

/// What a tried call came to.
#[derive(Clone, Debug)]
pub struct TriedCall {
    pub ok: bool,
    pub text: Text,
    pub time_ms: f64,
}

pub fn tool(frame: &Frame, view: &Tool) -> Markup {
    let head = Head {
        title: Some(&view.name),
        lead: html! {
            "A tool of " a href=(routes::fill(routes::SERVER, &[view.server.raw()])) { (view.server) }
            @if view.writes { " " (badge(Tone::Warn, "writes")) }
        },
        ..Head::of(Place::Servers)
    };
    let body = html! {
        @if let Some(tried) = &view.tried { (outcome(tried)) }
        div.columns-1-1 {
            div {
                (card("Description", &html! { p.prose { (view.description) } }))
                (card("Use", &facts(&[
                    ("Calls", html! { (count(view.calls)) }),
                    ("Errors", errors(view.errors, view.calls)),
                    ("p50", time(view.p50_ms)),
                    ("p95", time(view.p95_ms)),
                ])))
            }
            (card("Try a call", &html! {
                p.note { "The policy applies as for a program's call, and the audit records it." }
                form.fields method="post"
                    action=(routes::fill(routes::TOOL_TRY, &[view.server.raw(), view.name.raw()])) {
                    (csrf_field(frame))
                    (schema_form::form_fields(&view.input_schema, &view.filled))
                    button.primary type="submit" { "Call" }
                }
            }))
        }
        (card("Declaration", &listing(&view.stub, None)))
        @if !view.learned.is_empty() { (card("Learned from answers", &learned(frame, &view.learned))) }
    };
    page(frame, &head, &body)
}

fn learned(frame: &Frame, lines: &[LearnedLine]) -> Markup {
    let columns = [cell("Result"), cell("Seen in"), cell("Whose"), cell("Last")];
    let rows = lines.iter().map(|line| {
        let calls = if line.calls == 1 { "call" } else { "calls" };
        vec![
            html! {
                code { (line.result) }
                @if let Some((at, how)) = &line.drift {
                    br; span.small { "changed " (at.relative(frame.now)) ": " (how) }
                }
            },
            html! { (count(line.calls)) " " (calls) },
            html! { (line.owner) },
            line.last_seen.relative(frame.now),
        ]
    });
    html! {
        p.note { "The server doesn't declare what this tool returns. Each caller's programs see what its own calls taught." }
        (table("Learned from answers", &columns, rows))
    }
}

fn outcome(tried: &TriedCall) -> Markup {
    card(
        "Answer",
        &html! {
            p {
                @if tried.ok { (badge(Tone::Good, "ok")) } @else { (badge(Tone::Bad, "failed")) }
                " " (duration(tried.time_ms))
            }
            (block(&tried.text))
        },
    )
}
