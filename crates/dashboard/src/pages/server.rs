//! One server: its tools, and what changed since you approved it.

use maud::{Markup, html};

use super::servers::{ServerLine, errors, time};
use crate::frame::{Head, Place, csrf_field, page};
use crate::number::count;
use crate::parts::{Diff, Tone, badge, block, card, cell, diff, empty, facts, number, table};
use crate::{Frame, Moment, Text, routes};

#[derive(Clone, Debug)]
pub struct Server {
    pub line: ServerLine,
    /// The command line or address, without secrets.
    pub reached_by: Text,
    /// What it says about itself.
    pub instructions: Text,
    pub tools: Vec<ToolLine>,
    pub changes: Vec<Change>,
    /// The end of what it printed as errors.
    pub log: Text,
}

#[derive(Clone, Debug)]
pub struct ToolLine {
    pub name: Text,
    pub summary: Text,
    /// Whether it may change something.
    pub writes: bool,
    pub calls: u64,
    pub errors: u64,
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    /// Why it can't be called now.
    pub held_back: Option<Text>,
}

/// Something that differs from what you approved.
#[derive(Clone, Debug)]
pub struct Change {
    pub id: Text,
    /// Such as `tool send_mail: description, schema`.
    pub what: Text,
    /// If that was noted.
    pub seen: Option<Moment>,
    /// What looks suspicious about it.
    pub findings: Vec<Text>,
    pub diff: Diff,
}

pub fn server(frame: &Frame, view: &Server) -> Markup {
    let head = Head {
        title: Some(&view.line.name),
        lead: html! { (view.line.status.badge()) " " (view.line.transport)
        @if !view.line.detail.raw().is_empty() { " · " (view.line.detail) } },
        ..Head::of(Place::Servers)
    };
    let body = html! {
        @for change in &view.changes { (review(frame, &view.line.name, change)) }
        (card("Tools", &tools(view)))
        (card("About", &facts(&[
            ("Reached by", html! { code { (view.reached_by) } }),
            ("Marks", html! { @for mark in &view.line.marks { (badge(Tone::Quiet, mark)) " " }
                @if view.line.marks.is_empty() { "none" } }),
            ("Last used", html! {
                @if let Some(used) = view.line.last_used { (used.relative(frame.now)) } @else { "never" }
            }),
            ("It says", html! { @if view.instructions.is_empty() { "nothing about itself" } @else { (view.instructions) } }),
        ])))
        @if !view.log.is_empty() { (card("Log", &block(&view.log))) }
    };
    page(frame, &head, &body)
}

fn review(frame: &Frame, server: &Text, change: &Change) -> Markup {
    html! {
        section.card.question {
            h2 { "Changed: " (change.what) }
            p.note {
                @if let Some(seen) = change.seen { "Seen " (seen.relative(frame.now)) ". " }
                "It isn't used until you approve it."
            }
            @for finding in &change.findings { p { (badge(Tone::Bad, "suspicious")) " " (finding) } }
            (diff(&change.diff))
            form.buttons method="post"
                action=(routes::fill(routes::SERVER_REVIEW, &[server.raw(), change.id.raw()])) {
                (csrf_field(frame))
                button.primary name="decision" value="approve" type="submit" { "Approve the change" }
            }
        }
    }
}

fn tools(view: &Server) -> Markup {
    if view.tools.is_empty() {
        return empty(
            "It offers no tools",
            &html! { "Run " code { "gristmill doctor" } " to see whether it starts and answers." },
        );
    }
    let columns =
        [cell("Tool"), cell("What it does"), number("Calls"), number("Errors"), number("p50"), number("p95")];
    let rows = view.tools.iter().map(|tool| {
        vec![
            html! {
                a.strong href=(routes::fill(routes::TOOL, &[view.line.name.raw(), tool.name.raw()])) { (tool.name) }
                @if tool.writes { " " (badge(Tone::Quiet, "writes")) }
                @if let Some(why) = &tool.held_back { " " (badge(Tone::Warn, why)) }
            },
            html! { (tool.summary) },
            html! { (count(tool.calls)) },
            errors(tool.errors, tool.calls),
            time(tool.p50_ms),
            time(tool.p95_ms),
        ]
    });
    table("Tools", &columns, rows)
}
