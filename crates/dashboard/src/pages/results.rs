//! Results: values that didn't fit in an answer, stored in full.

use maud::{Markup, html};

use crate::frame::{Head, Place, page};
use crate::number::bytes;
use crate::parts::{block, card, cell, empty, facts, number, table};
use crate::{Frame, Moment, Text, routes};

#[derive(Clone, Debug)]
pub struct Results {
    pub results: Vec<ResultLine>,
}

#[derive(Clone, Debug)]
pub struct ResultLine {
    pub handle: Text,
    /// Such as `list of 4,210 objects`.
    pub shape: Text,
    pub bytes: u64,
    pub stored: Moment,
    pub expires: Option<Moment>,
    pub execution: Option<Text>,
}

/// One result.
#[derive(Clone, Debug)]
pub struct StoredResult {
    pub line: ResultLine,
    /// Its beginning, as JSON.
    pub preview: Text,
}

pub fn results(frame: &Frame, view: &Results) -> Markup {
    let head =
        Head { lead: html! { "Full results that didn't fit in an answer." }, ..Head::of(Place::Results) };
    let columns = [cell("Handle"), cell("Shape"), number("Size"), cell("Stored"), cell("Expires")];
    let rows = view.results.iter().map(|line| {
        vec![
            html! { a href=(routes::fill(routes::RESULT, &[line.handle.raw()])) { code { (line.handle) } } },
            html! { (line.shape) },
            html! { (bytes(line.bytes)) },
            line.stored.relative(frame.now),
            expires(frame, line),
        ]
    });
    let body = html! {
        @if view.results.is_empty() {
            (empty("No stored results", &html! { "A result larger than the answer's token budget is kept here, and the "
                "agent gets a summary with a handle." }))
        } @else {
            section.card { (table("Results", &columns, rows)) }
        }
    };
    page(frame, &head, &body)
}

pub fn result(frame: &Frame, view: &StoredResult) -> Markup {
    let line = &view.line;
    let head = Head {
        title: Some(&line.handle),
        lead: html! { (line.shape) " · stored " (line.stored.relative(frame.now)) },
        ..Head::of(Place::Results)
    };
    let body = html! {
        (card("Value", &html! {
            (block(&view.preview))
            @if line.bytes > view.preview.raw().len() as u64 {
                p.note {
                    "The first " (bytes(view.preview.raw().len() as u64)) " of " (bytes(line.bytes)) ". For the rest: "
                    code { "gristmill results show " (line.handle) }
                }
            }
        }))
        (card("Details", &facts(&[
            ("Size", html! { (bytes(line.bytes)) }),
            ("From", html! {
                @if let Some(id) = &line.execution {
                    a href=(routes::fill(routes::EXECUTION, &[id.raw()])) { (id) }
                } @else { "an analysis" }
            }),
            ("Expires", expires(frame, line)),
        ])))
    };
    page(frame, &head, &body)
}

fn expires(frame: &Frame, line: &ResultLine) -> Markup {
    html! { @if let Some(expires) = line.expires { (expires.relative(frame.now)) } @else { "never" } }
}
