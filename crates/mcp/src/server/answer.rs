//! What a caller reads about an execution: as text, and as the structured content that some clients
//! show a model in its place. Both say the same, in few tokens.

use std::collections::HashMap;
use std::fmt::Write;

use gristmill_gateway::domain::Code;
use gristmill_gateway::executions::{ExecutionId, Progress};
use gristmill_gateway::{ErrorReport, Report, ToolCalled, VariablesReport};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use super::fit;

/// What an answer may take of a model's context if nothing else is said.
pub(super) const TOKENS_DEFAULT: usize = 8_000;
/// More than any client takes.
pub(super) const TOKENS_MAX: usize = 100_000;
/// Below this nothing can be said.
pub(super) const TOKENS_MIN: usize = 50;

/// Calls are named one by one up to this many; beyond it they are counted by name.
const CALLS_NAMED_MAX: usize = 12;
/// Different names among the counted ones.
const CALL_NAMES_MAX: usize = 30;
/// A traceback is cut in its middle.
const TRACEBACK_TOKENS_MAX: usize = 800;
const MESSAGE_TOKENS_MAX: usize = 800;
const NOTES_MAX: usize = 10;

/// An answer on its way.
pub(super) struct Answer {
    pub text: String,
    pub structured: Value,
    pub is_error: bool,
}

impl Answer {
    /// Something that was asked for wrongly, in words that say what to do.
    pub fn refused(code: Code, message: &str, hint: Option<&str>) -> Self {
        let error = ErrorReport {
            code,
            kind: String::new(),
            message: message.to_owned(),
            line: None,
            traceback: None,
            hint: hint.map(str::to_owned),
        };
        let mut text = String::new();
        write_error(&mut text, &error, None);
        Self {
            text,
            structured: json!({"status": "failed", "error": error_value(&error, None)}),
            is_error: true,
        }
    }

    pub fn into_result(self) -> CallToolResult {
        let content = vec![ContentBlock::text(self.text.trim_end())];
        let mut result = match self.is_error {
            true => CallToolResult::error(content),
            false => CallToolResult::success(content),
        };
        result.structured_content = Some(self.structured);
        result
    }
}

/// How a program ended, in one word.
pub(super) fn status_of(report: &Report) -> &'static str {
    match &report.error {
        None => "ok",
        Some(error) if error.code == Code::Cancelled => "cancelled",
        Some(_) => "failed",
    }
}

/// How a program ended, within a budget of tokens. `id` is named where asking again makes sense.
pub(super) fn of_report(report: &Report, budget: usize, id: Option<&ExecutionId>) -> Answer {
    let mut text = String::new();
    let mut structured = Map::new();
    structured.insert("status".to_owned(), json!(status_of(report)));
    let mut notes: Vec<String> = Vec::new();
    let mut left = budget;

    // The error first: it is what must not be cut away.
    let traceback = report.error.as_ref().and_then(|error| error.traceback.as_deref());
    let traceback = traceback.filter(|text| !text.trim().is_empty());
    let traceback = traceback.map(|text| fit::ends(text.trim_end(), TRACEBACK_TOKENS_MAX.min(budget / 3)));
    if let Some(error) = &report.error {
        let shown = traceback.as_ref().map(|fitted| fitted.text.as_str());
        write_error(&mut text, error, shown);
        structured.insert("error".to_owned(), error_value(error, shown));
        left = left.saturating_sub(gristmill_gateway::tokens::count(&text));
        let called = calls(&report.tools_called, shown);
        if !called.is_empty() {
            let _ = writeln!(text, "Already called, do not repeat blindly:");
            for line in &called {
                let _ = writeln!(text, "- {line}");
            }
            structured.insert("tools_called".to_owned(), json!(called));
        }
    }
    if let Some(result) = &report.result {
        // The larger part of what is left is the result's: it is what was asked for.
        let (value, fitted) = result_within(result, left * 3 / 4);
        left = left.saturating_sub(fitted.tokens);
        if fitted.cut {
            notes.push(format!(
                "the result is {} bytes of JSON, cut to fit max_output_tokens: {budget}; return less, or keep it in a file of a session",
                result.to_string().len()
            ));
        }
        let _ =
            writeln!(text, "{}{}", if report.error.is_some() { "Result so far: " } else { "" }, fitted.text);
        structured.insert("result".to_owned(), value);
    }
    let output = output_of(report);
    if !output.is_empty() {
        let fitted = fit::ends(&output, left);
        if fitted.cut {
            notes.push(format!(
                "the output is {} bytes, cut to fit max_output_tokens: {budget}",
                output.len()
            ));
        }
        text = match report.error.is_some() {
            true => format!("{text}Output:\n{}\n", fitted.text.trim_end()),
            // As in a terminal: what was printed, then the value.
            false => format!("{}\n{text}", fitted.text.trim_end()),
        };
        structured.insert("output".to_owned(), json!(fitted.text));
    }
    let hits = report.limits_hit.iter().filter(|_| report.error.is_none());
    notes.extend(hits.map(|hit| format!("a limit was reached and the program went on: {}", hit.message)));
    notes.extend(report.variables.as_ref().and_then(VariablesReport::note));
    notes.extend(report.notes.iter().cloned());
    if report.error.is_none() && report.result.is_none() && output.is_empty() {
        notes.push("the program printed nothing and set no `result`".to_owned());
    }
    let made = report.session.as_ref().filter(|session| session.is_new);
    // A name may be misspelt.
    let named = made.and_then(|session| session.name.as_ref());
    notes.extend(named.map(|name| format!("new session `{name}`")));
    notes.truncate(NOTES_MAX);
    if !notes.is_empty() {
        for note in &notes {
            let _ = writeln!(text, "Note: {note}");
        }
        structured.insert("notes".to_owned(), json!(notes));
    }
    // A session that was named is known; one that came into being must be told.
    if let Some(session) = made.filter(|session| session.name.is_none()) {
        let _ = writeln!(text, "Session: {}", session.id);
        structured.insert("session".to_owned(), json!(session.id));
    }
    if let Some(id) = id {
        structured.insert("id".to_owned(), json!(id.as_str()));
    }
    Answer { text, structured: Value::Object(structured), is_error: report.error.is_some() }
}

/// A program that was started and is not waited for.
pub(super) fn started(id: &ExecutionId) -> Answer {
    let text = format!("Started. {}", follow_up(id));
    let structured = json!({"status": "running", "id": id.as_str(), "notes": [text]});
    Answer { text, structured, is_error: false }
}

fn follow_up(id: &ExecutionId) -> String {
    format!("Call get_execution with id \"{id}\" to wait for it, or with cancel to stop it.")
}

/// A program that still runs.
pub(super) fn of_progress(id: &ExecutionId, progress: &Progress) -> Answer {
    let seconds = progress.elapsed.as_secs_f64();
    let mut text = format!(
        "Still running after {seconds:.1} s, {} of {} tool calls answered{}.\n",
        progress.calls_answered,
        progress.calls_begun,
        if progress.doing.is_empty() { String::new() } else { format!(", last: {}", progress.doing) }
    );
    let mut notes = vec![text.trim_end().to_owned()];
    for pending in &progress.questions {
        let asked = format!(
            "The server {} asks the user: {}",
            pending.question.server,
            fit::beginning(&pending.question.message, 200).text
        );
        let _ = writeln!(text, "{asked}");
        notes.push(asked);
    }
    let next = follow_up(id);
    let _ = writeln!(text, "{next}");
    notes.push(next);
    let mut structured = json!({"status": progress.status.as_str(), "id": id.as_str(), "notes": notes});
    if !progress.output_tail.is_empty() {
        let _ = writeln!(text, "Printed last:\n{}", progress.output_tail.trim_end());
        structured["output"] = json!(progress.output_tail);
    }
    Answer { text, structured, is_error: false }
}

/// The result as a value and as text; as a cut text in both places if it is too large.
fn result_within(result: &Value, budget: usize) -> (Value, fit::Fitted) {
    let text = match result {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let fitted = fit::beginning(&text, budget);
    let value = if fitted.cut { json!(format!("{} …", fitted.text)) } else { result.clone() };
    (value, fitted)
}

fn output_of(report: &Report) -> String {
    match (report.stdout.is_empty(), report.stderr.trim().is_empty()) {
        (_, true) => report.stdout.clone(),
        (true, false) => report.stderr.clone(),
        (false, false) => format!("{}\n[stderr]\n{}", report.stdout.trim_end(), report.stderr),
    }
}

/// What to do next, with the names that a caller knows: what the gateway calls two limits is one
/// argument here.
fn hint_of(error: &ErrorReport) -> Option<String> {
    let hint = error.hint.as_ref()?;
    if matches!(error.code, Code::WallTime | Code::CpuTime) {
        return Some(hint.replace("`wall_time`", "`timeout_s`").replace("`cpu_time`", "`timeout_s`"));
    }
    // A caller cannot raise the other limits: that is for whoever runs the gateway.
    match hint.split_once(", or raise `") {
        Some((what_to_do, _)) => Some(what_to_do.to_owned()),
        None => Some(hint.clone()),
    }
}

fn error_value(error: &ErrorReport, traceback: Option<&str>) -> Value {
    let mut value = Map::new();
    value.insert("code".to_owned(), json!(error.code.as_str()));
    value.insert("message".to_owned(), json!(message_of(error)));
    if let Some(line) = error.line {
        value.insert("line".to_owned(), json!(line));
    }
    if let Some(traceback) = traceback {
        value.insert("traceback".to_owned(), json!(traceback));
    }
    if let Some(hint) = hint_of(error) {
        value.insert("hint".to_owned(), json!(hint));
    }
    Value::Object(value)
}

fn write_error(text: &mut String, error: &ErrorReport, traceback: Option<&str>) {
    if let Some(traceback) = traceback {
        let _ = writeln!(text, "{traceback}");
    }
    let line = error.line.map(|line| format!(", line {line}")).unwrap_or_default();
    let message = message_of(error);
    // A traceback ends with the message; once is enough.
    let message = match traceback.is_some_and(|traceback| traceback.contains(message.trim())) {
        true => String::new(),
        false => format!(": {message}"),
    };
    let _ = writeln!(text, "error[{}]{line}{message}", error.code);
    if let Some(hint) = hint_of(error) {
        let _ = writeln!(text, "hint: {hint}");
    }
}

/// The message, which may quote what a server or a program wrote.
fn message_of(error: &ErrorReport) -> String {
    fit::ends(&error.message, MESSAGE_TOKENS_MAX).text
}

/// What was called, so that nothing is done twice.
fn calls(called: &[ToolCalled], traceback: Option<&str>) -> Vec<String> {
    let is_told = |why: &str| traceback.is_some_and(|traceback| traceback.contains(why.trim()));
    let outcome = |call: &ToolCalled| match (&call.error, call.ok) {
        (_, true) => "ok".to_owned(),
        (Some(why), false) if is_told(why) => "failed".to_owned(),
        (Some(why), false) => format!("failed: {}", gristmill_gateway::domain::one_line(why, 160)),
        (None, false) => "failed".to_owned(),
    };
    // What was refused before it left us has done nothing.
    let called: Vec<&ToolCalled> = called.iter().filter(|call| call.sent).collect();
    if called.len() <= CALLS_NAMED_MAX {
        return called
            .iter()
            .map(|call| {
                let line = call.line.map(|line| format!(" (line {line})")).unwrap_or_default();
                format!("{}{line}: {}", call.name, outcome(call))
            })
            .collect();
    }
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut counted: Vec<(&str, usize, usize)> = Vec::new();
    for call in called {
        let at = *places.entry(&call.name).or_insert_with(|| {
            counted.push((&call.name, 0, 0));
            counted.len() - 1
        });
        if call.ok { counted[at].1 += 1 } else { counted[at].2 += 1 }
    }
    let more = counted.len().saturating_sub(CALL_NAMES_MAX);
    let mut lines: Vec<String> = counted
        .iter()
        .take(CALL_NAMES_MAX)
        .map(|(name, ok, failed)| match failed {
            0 => format!("{name}: {ok} ok"),
            failed => format!("{name}: {ok} ok, {failed} failed"),
        })
        .collect();
    if more > 0 {
        lines.push(format!("and {more} more tools"));
    }
    lines
}
