//! The parts of an answer, put together as text and as structured content, and made smaller until
//! both fit.

use std::fmt::Write;

use gristmill_domain::shape::Shaped;
use serde_json::{Map, Value, json};

use super::dry_run::DryRun;
use super::failure::Failure;
use super::whole::Whole;
use super::{Answer, AnswerPart, fit};
use crate::tokens;

/// What a line of a list takes beside its words: a mark in the text, quotes and a comma in JSON.
const LINE_TOKENS: usize = 3;
/// What is cut to less than this is not shown at all.
const SHOWN_TOKENS_MIN: usize = 4;

pub(super) struct Draft {
    status: &'static str,
    pub failure: Option<Failure>,
    pub result: Option<Shaped>,
    pub result_whole: Option<Whole>,
    pub output: Option<Shaped>,
    pub output_whole: Option<Whole>,
    pub dry_run: Option<DryRun>,
    pub called: Vec<String>,
    pub notes: Vec<String>,
    pub session: Option<String>,
    pub id: Option<String>,
}

impl Draft {
    pub fn new(status: &'static str) -> Self {
        Self {
            status,
            failure: None,
            result: None,
            result_whole: None,
            output: None,
            output_whole: None,
            dry_run: None,
            called: Vec::new(),
            notes: Vec::new(),
            session: None,
            id: None,
        }
    }

    /// What it takes as text or as structured content, whichever is more.
    pub fn tokens(&self) -> usize {
        tokens::count(&self.text()).max(tokens::count(&self.structured().to_string()))
    }

    /// The answer, with at most so many tokens. Ends for every draft: each round leaves something away,
    /// and what cannot be left away fits the smallest budget.
    pub fn finish(mut self, tokens_max: usize, files: Vec<AnswerPart>) -> Answer {
        loop {
            let (text, structured) = (self.text(), self.structured());
            let tokens = tokens::count(&text).max(tokens::count(&structured.to_string()));
            let over = tokens.saturating_sub(tokens_max);
            if over == 0 || !self.say_less(over) {
                let is_error = self.failure.is_some();
                return Answer { text, structured, is_error, tokens: tokens as u64, files };
            }
        }
    }

    /// Leaves away about so many tokens of what matters least.
    fn say_less(&mut self, over: usize) -> bool {
        if self.notes.pop().is_some() || self.called.pop().is_some() {
            return true;
        }
        let wholes = [&mut self.output_whole, &mut self.result_whole];
        if wholes.into_iter().flatten().any(Whole::say_less) {
            return true;
        }
        if cut(&mut self.output, over) || cut(&mut self.result, over) {
            return true;
        }
        if self.dry_run.as_mut().is_some_and(DryRun::say_less) {
            return true;
        }
        if self.failure.as_mut().is_some_and(|failure| failure.say_less(over)) {
            return true;
        }
        // Without its handle a whole value is lost; a few words less of a message are not.
        if self.output_whole.take().is_some() || self.result_whole.take().is_some() {
            return true;
        }
        if self.failure.as_mut().is_some_and(|failure| failure.say_least(over)) {
            return true;
        }
        self.session.take().is_some() || self.dry_run.take().is_some() || self.id.take().is_some()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let output = self.output.as_ref().map(|output| output.text.trim_end());
        match &self.failure {
            Some(failure) => {
                failure.write(&mut text);
                if !self.called.is_empty() {
                    let _ = writeln!(text, "Already called; don't repeat blindly:");
                }
                for line in &self.called {
                    let _ = writeln!(text, "- {line}");
                }
                if let Some(result) = &self.result {
                    let _ = writeln!(text, "Result so far: {}", result.text);
                }
                if let Some(output) = output {
                    let _ = writeln!(text, "Output:\n{output}");
                }
            }
            // As in a terminal: what was printed, then the value.
            None => {
                let result = self.result.as_ref().map(|result| result.text.as_str());
                for part in [output, result].into_iter().flatten() {
                    let _ = writeln!(text, "{part}");
                }
            }
        }
        for whole in [&self.result_whole, &self.output_whole].into_iter().flatten() {
            let _ = writeln!(text, "{}", whole.words());
        }
        if let Some(dry_run) = &self.dry_run {
            dry_run.write(&mut text);
        }
        for note in &self.notes {
            let _ = writeln!(text, "Note: {note}");
        }
        if let Some(session) = &self.session {
            let _ = writeln!(text, "Session: {session}");
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn structured(&self) -> Value {
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| {
            members.insert(name.to_owned(), value);
        };
        put("status", json!(self.status));
        if let Some(failure) = &self.failure {
            put("error", failure.value());
        }
        if !self.called.is_empty() {
            put("tools_called", json!(self.called));
        }
        if let Some(result) = &self.result {
            put("result", result.value.clone());
        }
        if let Some(output) = &self.output {
            put("output", output.value.clone());
        }
        let wholes = [("result_handle", &self.result_whole), ("output_handle", &self.output_whole)];
        for (name, whole) in wholes {
            if let Some(handle) = whole.as_ref().and_then(Whole::handle) {
                put(name, json!(handle));
            }
        }
        let wholes = wholes.into_iter().filter_map(|(_, whole)| whole.as_ref()?.note());
        let notes: Vec<String> = wholes.chain(self.notes.iter().cloned()).collect();
        if !notes.is_empty() {
            put("notes", json!(notes));
        }
        if let Some(dry_run) = &self.dry_run {
            put("dry_run", dry_run.value());
        }
        if let Some(session) = &self.session {
            put("session", json!(session));
        }
        if let Some(id) = &self.id {
            put("id", json!(id));
        }
        Value::Object(members)
    }
}

/// What lines take in an answer.
pub(super) fn lines_tokens(lines: &[String]) -> usize {
    lines.iter().map(|line| line_tokens(line)).sum()
}

fn line_tokens(line: &str) -> usize {
    // Quotes and hidden characters of foreign words are escaped in JSON.
    LINE_TOKENS + tokens::count(line).max(tokens::count(&json!(line).to_string()))
}

/// The first lines for which there is room; the last one counts those that are missing.
pub(super) fn lines_within(mut lines: Vec<String>, what: &str, room: usize) -> Vec<String> {
    let all = lines.len();
    while !lines.is_empty() {
        let missing = all - lines.len();
        let last = (missing > 0).then(|| format!("and {missing} more {what}"));
        let taken = lines_tokens(&lines) + last.as_deref().map_or(0, line_tokens);
        if taken <= room {
            lines.extend(last);
            return lines;
        }
        lines.pop();
    }
    lines
}

/// Cuts a part that was shaped, as text; drops it if nothing telling is left. `false` if there was none.
fn cut(part: &mut Option<Shaped>, over: usize) -> bool {
    let Some(shaped) = part.take() else { return false };
    let room = shaped.tokens.saturating_sub(over + 1);
    let text = fit::quoted_beginning(&shaped.text, room);
    let tokens = fit::quoted(&text);
    if room >= SHOWN_TOKENS_MIN && !text.is_empty() && tokens < shaped.tokens {
        let value = Value::String(text.clone());
        *part = Some(Shaped { value, text, tokens, is_whole: false, left_out: shaped.left_out });
    }
    true
}
