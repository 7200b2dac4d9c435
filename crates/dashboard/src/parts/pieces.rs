//! Small pieces: badges, cards, figures, filters.

use maud::{Markup, Render, html};

use crate::{Text, routes};

/// What something means, apart from what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Warn,
    Info,
    Quiet,
}

impl Tone {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Warn => "warn",
            Tone::Info => "info",
            Tone::Quiet => "quiet-tone",
        }
    }
}

/// Where a long list goes on.
#[derive(Clone, Debug, Default)]
pub struct Pager {
    /// The value of `before` for older lines.
    pub older: Option<Text>,
    /// The value of `after` for newer ones.
    pub newer: Option<Text>,
}

pub(crate) fn badge(tone: Tone, text: impl Render) -> Markup {
    html! { span.badge.(tone.class()) { (text) } }
}

pub(crate) fn card(title: &str, body: &Markup) -> Markup {
    html! {
        section.card {
            h2 { (title) }
            (body)
        }
    }
}

/// One figure with its name, and what puts it in proportion.
pub(crate) fn stat(name: &str, value: impl Render, note: impl Render) -> Markup {
    html! {
        div.stat {
            p.name { (name) }
            p.value { (value) }
            p.note { (note) }
        }
    }
}

/// Nothing to show: why, and what to do next.
pub(crate) fn empty(title: &str, next: &Markup) -> Markup {
    html! {
        div.empty {
            svg viewBox="0 0 48 48" width="40" height="40" aria-hidden="true" {
                circle cx="24" cy="24" r="19" class="empty-ring" {}
                path d="M24 15v18M15 24h18" class="empty-cross" {}
            }
            p.title { (title) }
            p { (next) }
        }
    }
}

/// Names and values, one below the other.
pub(crate) fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

pub(crate) fn filter_field(label: &str, name: &str, value: &Text, placeholder: &str) -> Markup {
    html! {
        label {
            span { (label) }
            input type="search" name=(name) value=(value.raw()) placeholder=(placeholder) autocomplete="off";
        }
    }
}

/// One of the values of a list.
pub(crate) struct Choice<'a> {
    pub value: &'a str,
    pub label: &'a str,
}

pub(crate) fn filter_select(label: &str, name: &str, chosen: &str, choices: &[Choice<'_>]) -> Markup {
    html! {
        label {
            span { (label) }
            select name=(name) {
                @for choice in choices {
                    option value=(choice.value) selected[choice.value == chosen] { (Text::from(choice.label)) }
                }
            }
        }
    }
}

/// Links to the lines before and after; the filter stays.
pub(crate) fn pager(pager: &Pager, address: &str, filter: &[(&str, &str)]) -> Markup {
    let link = |name, cursor: &Text| {
        let mut pairs = filter.to_vec();
        pairs.push((name, cursor.raw()));
        routes::query(address, &pairs)
    };
    html! {
        @if pager.older.is_some() || pager.newer.is_some() {
            nav.pager aria-label="Pages" {
                @if let Some(newer) = &pager.newer { a.button href=(link("after", newer)) rel="prev" { "Newer" } }
                @if let Some(older) = &pager.older { a.button href=(link("before", older)) rel="next" { "Older" } }
            }
        }
    }
}
