//! Why a program failed, in as many words as there is room for.

use std::fmt::Write;

use gristmill_domain::Code;
use serde_json::{Map, Value, json};

use super::fit;
use crate::report::ErrorReport;
use crate::tokens;

/// A traceback is cut in its middle.
const TRACEBACK_TOKENS_MAX: usize = 800;
/// The message may quote what a server or a program wrote.
const MESSAGE_TOKENS_MAX: usize = 800;
/// A traceback that is cut to less than this tells nothing.
const TRACEBACK_TOKENS_MIN: usize = 24;
/// What stays of the message while there is something else to leave away.
const MESSAGE_TOKENS_MIN: usize = 8;

pub(super) struct Failure {
    code: Code,
    message: String,
    /// All of the message: each cut is made anew, so that none goes through the mark of another.
    message_whole: String,
    line: Option<u64>,
    traceback: Option<String>,
    traceback_whole: String,
    hint: Option<String>,
}

impl Failure {
    /// The traceback goes first where there is no room for all, then the hint; of the message the
    /// beginning stays.
    pub fn within(error: &ErrorReport, room: usize) -> Self {
        let (message_whole, message) = ends(&error.message, MESSAGE_TOKENS_MAX.min(room));
        let traceback = error.traceback.as_deref().map(str::trim_end).filter(|text| !text.is_empty());
        let traceback_room = TRACEBACK_TOKENS_MAX.min(room / 2);
        let traceback = traceback.filter(|_| traceback_room >= TRACEBACK_TOKENS_MIN);
        let (traceback_whole, traceback) = traceback.map(|text| ends(text, traceback_room)).unzip();
        let mut failure = Self {
            code: error.code,
            message,
            message_whole,
            line: error.line,
            traceback,
            traceback_whole: traceback_whole.unwrap_or_default(),
            hint: hint_of(error),
        };
        loop {
            let over = failure.tokens().saturating_sub(room);
            if over == 0 || !failure.say_less(over) {
                return failure;
            }
        }
    }

    pub fn traceback(&self) -> Option<&str> {
        self.traceback.as_deref()
    }

    /// Leaves away about so many tokens of the least telling part; `false` if only the first words of
    /// the message are left. Each time the whole becomes shorter.
    pub fn say_less(&mut self, over: usize) -> bool {
        if let Some(traceback) = self.traceback.take() {
            let room = fit::quoted(&traceback).saturating_sub(over + 1);
            if room >= TRACEBACK_TOKENS_MIN {
                let cut = fit::quoted_ends(&self.traceback_whole, room);
                self.traceback = (cut.len() < traceback.len()).then_some(cut);
            }
            return true;
        }
        self.hint.take().is_some() || self.shorten_message(over, MESSAGE_TOKENS_MIN)
    }

    /// Leaves away about so many tokens of what [`Failure::say_less`] has left; `false` if that is only
    /// the code.
    pub fn say_least(&mut self, over: usize) -> bool {
        self.shorten_message(over, 0)
    }

    fn shorten_message(&mut self, over: usize, tokens_min: usize) -> bool {
        let taken = fit::quoted(&self.message);
        if self.message.is_empty() || taken <= tokens_min {
            return false;
        }
        let room = taken.saturating_sub(over + 1).max(tokens_min);
        let cut = fit::quoted_beginning(&self.message_whole, room);
        // Fewer characters are seldom more tokens; then it ends here all the same.
        self.message = if fit::quoted(&cut) < taken { cut } else { String::new() };
        true
    }

    pub fn write(&self, text: &mut String) {
        if let Some(traceback) = &self.traceback {
            let _ = writeln!(text, "{traceback}");
        }
        let line = self.line.map(|line| format!(", line {line}")).unwrap_or_default();
        // A traceback ends with the message; once is enough.
        let is_told =
            self.traceback.as_ref().is_some_and(|traceback| traceback.contains(self.message.trim()));
        let message = match is_told || self.message.is_empty() {
            true => String::new(),
            false => format!(": {}", self.message),
        };
        let _ = writeln!(text, "error[{}]{line}{message}", self.code);
        // The engine of analyses says it in its message as well.
        let is_said = |hint: &&String| self.message.contains(hint.as_str());
        if let Some(hint) = self.hint.as_ref().filter(|hint| !is_said(hint)) {
            let _ = writeln!(text, "hint: {hint}");
        }
    }

    pub fn value(&self) -> Value {
        let mut value = Map::new();
        value.insert("code".to_owned(), json!(self.code.as_str()));
        value.insert("message".to_owned(), json!(self.message));
        if let Some(line) = self.line {
            value.insert("line".to_owned(), json!(line));
        }
        if let Some(traceback) = &self.traceback {
            value.insert("traceback".to_owned(), json!(traceback));
        }
        if let Some(hint) = &self.hint {
            value.insert("hint".to_owned(), json!(hint));
        }
        Value::Object(value)
    }

    /// What it takes as text or as a value, whichever is more.
    fn tokens(&self) -> usize {
        let mut text = String::new();
        self.write(&mut text);
        tokens::count(&text).max(tokens::count(&self.value().to_string()))
    }
}

/// A text as it can be cut, and what is shown of it. One that fits stays as it is.
fn ends(text: &str, room: usize) -> (String, String) {
    let whole = fit::without_runs(text.trim()).into_owned();
    let shown = fit::quoted_ends(text, room);
    let shown = if shown == text { shown } else { fit::quoted_ends(&whole, room) };
    (whole, shown)
}

/// What to do next, with the names that a caller knows: what the gateway calls two limits is one
/// argument here.
fn hint_of(error: &ErrorReport) -> Option<String> {
    let hint = error.hint.as_ref()?;
    let is_share = hint.contains("`cpu_percent`");
    if matches!(error.code, Code::WallTime | Code::CpuTime) && !is_share {
        return Some(hint.replace("`wall_time`", "`timeout_s`").replace("`cpu_time`", "`timeout_s`"));
    }
    // A caller cannot raise the other limits: that is for whoever runs the gateway.
    match hint.split_once(", or raise `") {
        Some((what_to_do, _)) => Some(what_to_do.to_owned()),
        None => Some(hint.clone()),
    }
}
