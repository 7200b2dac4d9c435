//! Settings and doctor: what holds, where it comes from, what is wrong.

use maud::{Markup, html};

use crate::frame::{Head, Place, page};
use crate::number::count;
use crate::parts::{Tone, badge, card, cell, empty, number, table};
use crate::{Frame, Moment, Text, routes};

#[derive(Clone, Debug)]
pub struct Settings {
    pub checks: Vec<Check>,
    pub values: Vec<SettingLine>,
    pub gateways: Vec<GatewayLine>,
}

/// One check of the doctor.
#[derive(Clone, Debug)]
pub struct Check {
    pub tone: Tone,
    pub title: Text,
    pub detail: Text,
    /// What to do: a command.
    pub fix: Option<Text>,
}

#[derive(Clone, Debug)]
pub struct SettingLine {
    pub name: Text,
    pub value: Text,
    /// Such as a file, a variable or `default`.
    pub source: Text,
}

/// A process on this data folder.
#[derive(Clone, Debug)]
pub struct GatewayLine {
    pub id: Text,
    pub pid: u64,
    /// Where it serves, or what else it does.
    pub role: Text,
    pub version: Text,
    pub started: Moment,
    pub is_this: bool,
}

pub fn settings(frame: &Frame, view: &Settings) -> Markup {
    let head = Head {
        lead: html! { "Read-only: change settings in the configuration or with " code { "gristmill config edit" } "." },
        ..Head::of(Place::Settings)
    };
    let columns = [cell("Setting"), cell("Value"), cell("From")];
    let rows = view.values.iter().map(|line| {
        vec![html! { code { (line.name) } }, html! { code.preview { (line.value) } }, html! { (line.source) }]
    });
    let body = html! {
        (card("Doctor", &doctor(&view.checks)))
        @if !view.gateways.is_empty() { (card("Gateways on this data folder", &gateways(frame, &view.gateways))) }
        @if view.values.is_empty() {
            (empty("Everything is at its default", &html! { "See docs/configuration.md for what can be set." }))
        } @else {
            (card("Settings", &table("Settings", &columns, rows)))
        }
    };
    page(frame, &head, &body)
}

fn doctor(checks: &[Check]) -> Markup {
    let failed = checks.iter().filter(|check| check.tone == Tone::Bad).count() as u64;
    html! {
        p {
            @if checks.is_empty() { "Run " code { "gristmill doctor" } " to check this machine." }
            @else if failed == 0 { (badge(Tone::Good, "healthy")) " nothing needs you" }
            @else { (badge(Tone::Bad, html! { (count(failed)) " to fix" })) }
        }
        ul.checks {
            @for check in checks {
                li.(check.tone.class()) {
                    span.mark aria-hidden="true" { (sign(check.tone)) }
                    div {
                        strong { (check.title) } span.unseen { ": " (word(check.tone)) }
                        p.note { (check.detail) }
                        @if let Some(fix) = &check.fix { p { "Fix: " code.select-all { (fix) } } }
                    }
                }
            }
        }
    }
}

fn sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "✓",
        Tone::Bad => "✕",
        Tone::Warn => "!",
        Tone::Info | Tone::Quiet => "·",
    }
}

fn word(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "ok",
        Tone::Bad => "failed",
        Tone::Warn => "warning",
        Tone::Info | Tone::Quiet => "note",
    }
}

fn gateways(frame: &Frame, lines: &[GatewayLine]) -> Markup {
    let columns = [cell("Gateway"), number("Process"), cell("Version"), cell("Started"), cell("")];
    let rows = lines.iter().map(|line| {
        vec![
            html! { (line.role) @if line.is_this { " " (badge(Tone::Quiet, "this one")) } },
            html! { (line.pid) },
            html! { (line.version) },
            line.started.relative(frame.now),
            html! { a href=(routes::query(routes::EXECUTIONS, &[("gateway", line.id.raw())])) { "Its executions" } },
        ]
    });
    table("Gateways", &columns, rows)
}
