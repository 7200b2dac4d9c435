//! What a type checker says about a program, as findings: what concerns tools, what their answers have, and names
//! that look misspelled. Everything else a type checker is strict about runs well enough.

use gristmill_domain::one_line;
use ruff_text_size::TextRange;

use super::parse::range;
use super::type_words::{Mismatch, Source, declaring_tool, plain, quoted, suggestion};
use crate::finding::Findings;
use crate::lines::Lines;
use crate::rules::{Rule, Severity};
use crate::tool_judge::Reached;

/// What is shown of a type or a name.
const SHOWN_CHARS_MAX: usize = 120;

/// One error of a type checker, at its place in the text that it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    /// From 0.
    pub line: usize,
    /// In UTF-16 units, from 0.
    pub column: usize,
    /// Where it ends; on another line if that differs.
    pub end_line: usize,
    pub end_column: usize,
    /// TypeScript's own number.
    pub code: u32,
    pub message: String,
}

/// What a type checker found in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeReport {
    /// What it was given, as [`super::type_text`] made it.
    pub text: String,
    pub errors: Vec<TypeError>,
}

/// A call of a tool, and where its arguments stand.
#[derive(Clone, Debug)]
pub(super) struct SeenCall {
    pub name: String,
    pub reached: Reached,
    /// Where an argument, a name in it or an element begins, and what it is called: `filter.field`.
    pub places: Vec<(u32, String)>,
}

pub(super) fn judge(
    report: &TypeReport,
    calls: &[SeenCall],
    program: &Lines<'_>,
    findings: &mut Findings<'_>,
) {
    let sent = Lines::of(&report.text);
    for error in &report.errors {
        let Some(range) = place_of(error, &sent, program) else { continue };
        match error.code {
            2322 | 2345 | 2559 | 2739 | 2740 | 2741 => argument(error, range, calls, findings),
            2554 => too_many(range, calls, findings),
            2339 | 2551 => property(error, range, findings),
            2552 => name(error, range, findings),
            _ => {}
        }
    }
}

/// The same place in the program: both texts have the same characters in every line, as far as counting goes.
fn place_of(error: &TypeError, sent: &Lines<'_>, program: &Lines<'_>) -> Option<TextRange> {
    let at = |line: usize, column: usize| {
        let chars = chars_before(sent.text(line + 1), column);
        let text = program.text(line + 1);
        let inside = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
        Some(program.start(line + 1)? + inside)
    };
    let from = at(error.line, error.column)?;
    let to = at(error.end_line, error.end_column)?;
    Some(range(from, to.max(from)))
}

fn chars_before(line: &str, units: usize) -> usize {
    let mut left = units;
    line.chars()
        .take_while(|c| {
            let takes = c.len_utf16();
            let fits = left >= takes;
            left = left.saturating_sub(takes);
            fits
        })
        .count()
}

/// The call that this place is an argument of; the one that is certain to be made, if it is seen twice.
fn call_at(at: TextRange, calls: &[SeenCall]) -> Option<(&SeenCall, &str)> {
    let start = at.start().to_u32();
    let here = calls.iter().filter_map(|call| {
        let (_, path) = call.places.iter().find(|(place, _)| *place == start)?;
        Some((call, path.as_str()))
    });
    here.max_by_key(|(call, _)| call.reached == Reached::Certainly)
}

fn argument(error: &TypeError, at: TextRange, calls: &[SeenCall], findings: &mut Findings<'_>) {
    let Some((call, path)) = call_at(at, calls) else { return };
    let Some(mismatch) = Mismatch::of(&error.message) else { return };
    // What is written out was held against the schema itself.
    if findings.has_around(Rule::BadArguments, at) {
        return;
    }
    let is_certain = mismatch.is_certain() && call.reached == Reached::Certainly;
    let path =
        [path].into_iter().filter(|path| !path.is_empty()).chain(mismatch.path.iter().map(String::as_str));
    let path = path.collect::<Vec<_>>().join(".");
    let given = match mismatch.source() {
        Source::Promise => "a promise".to_owned(),
        _ => format!("`{}`", shown(&mismatch.given)),
    };
    let tool = one_line(&call.name, SHOWN_CHARS_MAX);
    let message = match path.is_empty() {
        true => format!("`{tool}` takes one object with its arguments by name, and this is {given}"),
        false => format!("`{tool}` takes `{path}: {}`, and this is {given}", shown(&mismatch.wanted)),
    };
    let hint = match (mismatch.source(), path.is_empty()) {
        (Source::Promise, _) => "write `await` before it",
        (_, true) => "write `{name: value}`",
        (_, false) => "fix the argument",
    };
    let severity = if is_certain { Severity::Error } else { Severity::Medium };
    findings.add_as(Rule::WrongType, severity, at, message, Some(hint.to_owned()));
}

/// Only more than one is told here: what is missing is told by name.
fn too_many(at: TextRange, calls: &[SeenCall], findings: &mut Findings<'_>) {
    let Some((call, _)) = call_at(at, calls) else { return };
    let severity = if call.reached == Reached::Certainly { Severity::Error } else { Severity::Medium };
    let tool = one_line(&call.name, SHOWN_CHARS_MAX);
    let message = format!("`{tool}` takes one object with its arguments by name, and nothing after it");
    findings.add_as(Rule::WrongType, severity, at, message, Some("write `{name: value}`".to_owned()));
}

fn property(error: &TypeError, at: TextRange, findings: &mut Findings<'_>) {
    let [name, owner, ..] = quoted(&error.message)[..] else { return };
    let name = one_line(name, SHOWN_CHARS_MAX);
    let suggested = suggestion(&error.message).map(|near| format!("did you mean `{}`?", shown(near)));
    let (message, hint) = match (Source::of(owner), declaring_tool(owner)) {
        (Source::Promise, _) => (
            format!("this is a promise, which has no `{name}`"),
            Some("write `await` before the call that gives it".to_owned()),
        ),
        (_, Some(tool)) => (format!("`{name}` isn't declared in what `{tool}` returns"), suggested),
        (Source::Text | Source::Number | Source::Truth | Source::List, None) => {
            (format!("`{}` has no `{name}`", shown(owner)), suggested)
        }
        // An object of the program's own may get any property.
        (Source::Other, None) => return,
    };
    findings.add(Rule::UndeclaredProperty, at, message, hint);
}

fn name(error: &TypeError, at: TextRange, findings: &mut Findings<'_>) {
    let [name, ..] = quoted(&error.message)[..] else { return };
    let Some(near) = suggestion(&error.message) else { return };
    let message = format!("there is no `{}` here", one_line(name, SHOWN_CHARS_MAX));
    findings.add(Rule::UnknownName, at, message, Some(format!("did you mean `{}`?", shown(near))));
}

fn shown(text: &str) -> String {
    one_line(&plain(text), SHOWN_CHARS_MAX)
}
