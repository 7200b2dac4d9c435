//! Privacy: how much was hidden, by kind. Never a value.

use maud::{Markup, html};

use crate::frame::{Head, Place, page};
use crate::number::counted;
use crate::parts::{Tone, badge, card, cell, empty, number, table};
use crate::plots::{Bar, bars};
use crate::{Frame, Moment, Text};

#[derive(Clone, Debug)]
pub struct Privacy {
    /// `off`, `output` or `boundary`.
    pub mode: Text,
    pub kinds: Vec<KindCount>,
    pub servers: Vec<ServerPrivacy>,
    pub vault: Vec<VaultLine>,
}

#[derive(Clone, Debug)]
pub struct KindCount {
    pub kind: Text,
    /// Values that have a token now.
    pub hidden: u64,
}

/// A server with a mode of its own.
#[derive(Clone, Debug)]
pub struct ServerPrivacy {
    pub server: Text,
    pub mode: Text,
}

#[derive(Clone, Debug)]
pub struct VaultLine {
    pub scope: Text,
    pub tokens: u64,
    pub last_used: Moment,
}

pub fn privacy(frame: &Frame, view: &Privacy) -> Markup {
    let tone = if view.mode.raw() == "off" { Tone::Warn } else { Tone::Good };
    let head = Head {
        lead: html! { "Personal data that models and records don't see. Mode: " (badge(tone, &view.mode)) },
        ..Head::of(Place::Privacy)
    };
    let body = html! {
        @if view.kinds.is_empty() {
            (nothing(view))
        } @else {
            (card("Hidden by kind", &bars(&hidden(view), "values")))
        }
        div.columns-1-1 {
            @if !view.vault.is_empty() { (card("Vault", &vault(frame, &view.vault))) }
            @if !view.servers.is_empty() { (card("Servers with a mode of their own", &servers(&view.servers))) }
        }
    };
    page(frame, &head, &body)
}

fn nothing(view: &Privacy) -> Markup {
    if view.mode.raw() == "off" {
        return empty(
            "Nothing is hidden: the mode is off",
            &html! { "Set " code { "privacy.mode = \"output\"" } " in the configuration to hide personal data from models." },
        );
    }
    empty("Nothing was hidden yet", &html! { "Counts show up here as soon as personal data goes by." })
}

fn hidden(view: &Privacy) -> Vec<Bar> {
    let bar = |kind: &KindCount| Bar { label: kind.kind.clone(), value: kind.hidden, tone: Tone::Info };
    view.kinds.iter().map(bar).collect()
}

fn vault(frame: &Frame, lines: &[VaultLine]) -> Markup {
    let rows = lines.iter().map(|line| {
        vec![
            html! { (line.scope) },
            html! { (counted(line.tokens, "token")) },
            line.last_used.relative(frame.now),
        ]
    });
    table("Vault", &[cell("Scope"), number("Holds"), cell("Last used")], rows)
}

fn servers(servers: &[ServerPrivacy]) -> Markup {
    let rows = servers.iter().map(|server| vec![html! { (server.server) }, html! { (server.mode) }]);
    table("Servers with a mode of their own", &[cell("Server"), cell("Mode")], rows)
}
