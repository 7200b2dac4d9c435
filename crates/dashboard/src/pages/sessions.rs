//! Sessions, their files and their state.

use maud::{Markup, html};

use super::execution_lines::{ExecutionLine, execution_table};
use crate::frame::{Head, Place, csrf_field, page};
use crate::number::{bytes, count};
use crate::parts::{Tone, badge, block, card, cell, empty, facts, number, table};
use crate::{Frame, Moment, Text, routes};

#[derive(Clone, Debug)]
pub struct Sessions {
    pub sessions: Vec<SessionLine>,
}

#[derive(Clone, Debug)]
pub struct SessionLine {
    pub handle: Text,
    pub name: Option<Text>,
    pub owner: Text,
    pub level: Text,
    pub created: Moment,
    pub last_used: Moment,
    pub expires: Option<Moment>,
    pub executions: u64,
    pub files: u64,
    pub file_bytes: u64,
    /// Which marked data it has read.
    pub marks: Vec<Text>,
}

/// One session.
#[derive(Clone, Debug)]
pub struct Session {
    pub line: SessionLine,
    pub files: Vec<FileLine>,
    pub open: Option<OpenFile>,
    pub state: Vec<StateLine>,
    pub executions: Vec<ExecutionLine>,
}

#[derive(Clone, Debug)]
pub struct FileLine {
    pub path: Text,
    pub bytes: u64,
    pub changed: Moment,
}

/// A file that is shown.
#[derive(Clone, Debug)]
pub struct OpenFile {
    pub path: Text,
    pub bytes: u64,
    /// Its beginning; absent if it isn't text.
    pub text: Option<Text>,
}

#[derive(Clone, Debug)]
pub struct StateLine {
    pub key: Text,
}

pub fn sessions(frame: &Frame, view: &Sessions) -> Markup {
    let head = Head {
        lead: html! { "What programs of one agent share: a workspace and values under keys." },
        ..Head::of(Place::Sessions)
    };
    let columns = [
        cell("Session"),
        cell("Owner"),
        cell("Level"),
        number("Executions"),
        number("Files"),
        cell("Last used"),
        cell("Expires"),
    ];
    let body = html! {
        @if view.sessions.is_empty() {
            (empty("No sessions", &html! { "Agents open them as they need them. Open one yourself with "
                code { "gristmill sessions create" } "." }))
        } @else {
            section.card { (table("Sessions", &columns, view.sessions.iter().map(|line| row(frame, line)))) }
        }
    };
    page(frame, &head, &body)
}

fn row(frame: &Frame, line: &SessionLine) -> Vec<Markup> {
    vec![
        html! {
            a.strong href=(routes::fill(routes::SESSION, &[line.handle.raw()])) {
                (line.name.as_ref().unwrap_or(&line.handle))
            }
            @for mark in &line.marks { " " (badge(Tone::Warn, mark)) }
        },
        html! { (line.owner) },
        html! { (line.level) },
        html! { (count(line.executions)) },
        html! { (count(line.files)) br; span.small { (bytes(line.file_bytes)) } },
        line.last_used.relative(frame.now),
        html! { @if let Some(expires) = line.expires { (expires.relative(frame.now)) } @else { "never" } },
    ]
}

pub fn session(frame: &Frame, view: &Session) -> Markup {
    let line = &view.line;
    let head = Head {
        title: Some(line.name.as_ref().unwrap_or(&line.handle)),
        lead: html! {
            (line.owner) " · created " (line.created.relative(frame.now)) " · used " (line.last_used.relative(frame.now))
        },
        actions: html! {
            details.confirm {
                summary.button { "Delete" }
                form method="post" action=(routes::fill(routes::SESSION_DELETE, &[line.handle.raw()])) {
                    (csrf_field(frame))
                    p { "Its files and state are gone for good." }
                    button.danger type="submit" { "Delete the session" }
                }
            }
        },
        ..Head::of(Place::Sessions)
    };
    let body = html! {
        div.columns-1-1 {
            (card("Files", &files(frame, view)))
            (card("State", &state(view)))
        }
        @if let Some(open) = &view.open { (card("File", &open_file(open))) }
        @if !view.executions.is_empty() {
            (card("Executions", &execution_table(frame, "Executions of this session", &view.executions)))
        }
        (card("Details", &facts(&[
            ("Handle", html! { code.select-all { (line.handle) } }),
            ("Level", html! { (line.level) }),
            ("Has read", html! { @for mark in &line.marks { (badge(Tone::Warn, mark)) " " }
                @if line.marks.is_empty() { "no marked data" } }),
            ("Expires", html! {
                @if let Some(expires) = line.expires { (expires.relative(frame.now)) } @else { "never" }
            }),
        ])))
    };
    page(frame, &head, &body)
}

fn files(frame: &Frame, view: &Session) -> Markup {
    if view.files.is_empty() {
        return empty("The workspace is empty", &html! { "Programs write to " code { "/workspace" } "." });
    }
    let address = routes::fill(routes::SESSION, &[view.line.handle.raw()]);
    let columns = [cell("Path"), number("Size"), cell("Changed")];
    let rows = view.files.iter().map(|file| {
        vec![
            html! { a href=(routes::query(&address, &[("file", file.path.raw())])) { (file.path) } },
            html! { (bytes(file.bytes)) },
            file.changed.relative(frame.now),
        ]
    });
    table("Files", &columns, rows)
}

fn open_file(open: &OpenFile) -> Markup {
    html! {
        p { code { (open.path) } " " span.small { (bytes(open.bytes)) } }
        @if let Some(text) = &open.text {
            (block(text))
            @if open.bytes > text.raw().len() as u64 { p.note { "The first " (bytes(text.raw().len() as u64)) } }
        } @else {
            p.note { "Not text." }
        }
    }
}

fn state(view: &Session) -> Markup {
    if view.state.is_empty() {
        return empty(
            "No values",
            &html! { "Programs keep values with " code { "state[\"key\"] = value" } "." },
        );
    }
    let rows = view.state.iter().map(|line| vec![html! { code { (line.key) } }]);
    table("State", &[cell("Key")], rows)
}
