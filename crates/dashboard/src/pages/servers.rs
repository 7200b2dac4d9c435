//! Servers: how each one is, at a glance.

use maud::{Markup, html};

use crate::frame::{Head, Place, page};
use crate::number::{count, duration, float, percent};
use crate::parts::{Tone, badge, cell, empty, number, table};
use crate::plots::spark;
use crate::{Frame, Moment, Text, routes};

#[derive(Clone, Debug)]
pub struct Servers {
    pub servers: Vec<ServerLine>,
}

#[derive(Clone, Debug)]
pub struct ServerLine {
    pub name: Text,
    /// Such as `stdio` or `HTTP`.
    pub transport: Text,
    pub status: ServerStatus,
    /// Why it is so, or what to do.
    pub detail: Text,
    pub tools: u64,
    /// Changes that wait for a review.
    pub changes: u64,
    pub calls: u64,
    pub errors: u64,
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    /// p50 over time, for a small curve.
    pub latency: Vec<f64>,
    /// Such as `untrusted`.
    pub marks: Vec<Text>,
    pub last_used: Option<Moment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerStatus {
    Up,
    Starting,
    /// Started when it is needed.
    Idle,
    Down,
    NeedsLogin,
    Disabled,
}

impl ServerStatus {
    pub(crate) fn badge(self) -> Markup {
        match self {
            ServerStatus::Up => badge(Tone::Good, "up"),
            ServerStatus::Starting => badge(Tone::Info, "starting"),
            ServerStatus::Idle => badge(Tone::Quiet, "idle"),
            ServerStatus::Down => badge(Tone::Bad, "down"),
            ServerStatus::NeedsLogin => badge(Tone::Warn, "needs login"),
            ServerStatus::Disabled => badge(Tone::Quiet, "disabled"),
        }
    }
}

pub fn servers(frame: &Frame, view: &Servers) -> Markup {
    let head = Head { lead: html! { "MCP servers that programs can call." }, ..Head::of(Place::Servers) };
    let columns = [
        cell("Server"),
        cell("Status"),
        number("Tools"),
        number("Calls"),
        number("Errors"),
        number("p50"),
        number("p95"),
        cell("Latency"),
        cell("Last used"),
    ];
    let body = html! {
        @if view.servers.is_empty() {
            (empty(
                "No servers yet",
                &html! { "Import those of your MCP clients with " code { "gristmill import" } ", or add one with "
                    code { "gristmill add" } "." },
            ))
        } @else {
            section.card { (table("Servers", &columns, view.servers.iter().map(|line| row(frame, line)))) }
        }
    };
    page(frame, &head, &body)
}

fn row(frame: &Frame, line: &ServerLine) -> Vec<Markup> {
    vec![
        html! {
            a.strong href=(routes::fill(routes::SERVER, &[line.name.raw()])) { (line.name) }
            " " span.small { (line.transport) }
            @for mark in &line.marks { " " (badge(Tone::Quiet, mark)) }
            @if line.changes > 0 { " " (badge(Tone::Warn, html! { (count(line.changes)) " to review" })) }
        },
        html! {
            (line.status.badge())
            @if !line.detail.is_empty() { br; span.small { (line.detail) } }
        },
        html! { (count(line.tools)) },
        html! { (count(line.calls)) },
        errors(line.errors, line.calls),
        time(line.p50_ms),
        time(line.p95_ms),
        spark("Latency over time", &line.latency),
        html! { @if let Some(used) = line.last_used { (used.relative(frame.now)) } @else { "never" } },
    ]
}

pub(crate) fn time(ms: Option<f64>) -> Markup {
    html! { @if let Some(ms) = ms { (duration(ms)) } @else { "–" } }
}

pub(crate) fn errors(errors: u64, calls: u64) -> Markup {
    html! {
        @if errors == 0 {
            "0"
        } @else {
            span.bad-ink { (count(errors)) } " " span.small { (percent(float(errors) / float(calls.max(1)))) }
        }
    }
}
