//! `gristmill show`: everything recorded about one execution.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use gristmill_gateway::domain::shape::{Strategy, shape_json};
use gristmill_gateway::domain::{format_bytes, grouped};
use gristmill_gateway::history::{ExecutionRecord, Found, History, KeptText, RecordedCall, TokenAccount};
use gristmill_gateway::tokens;

use super::history::{as_far_as_known, time};
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::data_store::{self, DataPlace};
use crate::hints::hint;
use crate::id_prefix;
use crate::local_time::{TimeArguments, from_unix_ms};
use crate::terminal::{Printable, eprint_lines, one_line, print_json};

/// What is shown of a result, and of variables: they are one line each, however long.
const VALUE_TOKENS_MAX: usize = 2_000;

#[derive(Args)]
pub struct ShowArguments {
    /// Execution id; the first characters are enough
    pub execution: String,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub async fn show(arguments: ShowArguments) -> Outcome {
    let history = DataPlace::of(None, &arguments.config)?.open_history().await?;
    let record = find(&history, &arguments.execution).await?;
    if arguments.json {
        let value = serde_json::to_value(&record).map_err(|error| Failure::Internal(error.into()))?;
        print_json(&as_far_as_known(value, &record.summary));
        return Ok(ExitCode::SUCCESS);
    }
    let (context, result) = (
        record.context.as_deref().map(ShownValue::of),
        record.result.as_ref().and_then(|result| result.text.as_deref()).map(ShownValue::of),
    );
    let is_whole = [&context, &result].into_iter().flatten().all(|value| value.is_whole);
    let text = as_text(&record, context.as_ref(), result.as_ref(), arguments.times);
    // A program must not drive the terminal of the person who looks at it.
    let text = if std::io::stdout().is_terminal() { Printable::all(&text) } else { text };
    print!("{text}");
    if !is_whole {
        eprint_lines(&format!(
            "note: not everything is shown; `gristmill show {} --json` has all that was recorded, `gristmill results list` full results",
            record.summary.id
        ));
    }
    if record.summary.code.is_some() {
        hint(&format!("`gristmill rerun {}` runs it again", record.summary.id));
    }
    Ok(ExitCode::SUCCESS)
}

/// The one that is meant, or what to write instead.
pub async fn find(history: &History, beginning: &str) -> Result<ExecutionRecord, Failure> {
    id_prefix::EXECUTION.check_length(beginning)?;
    match history.find(beginning, None).await.map_err(data_store::failure)? {
        Found::One(record) => Ok(*record),
        Found::Nothing => Err(id_prefix::EXECUTION.missing(beginning)),
        Found::Several(names) => Err(id_prefix::EXECUTION.ambiguous(beginning, &names)),
    }
}

/// A value as JSON, in as many tokens as can be looked at.
struct ShownValue {
    text: String,
    is_whole: bool,
}

impl ShownValue {
    fn of(json: &str) -> Self {
        let shaped = shape_json(json, Strategy::Auto, VALUE_TOKENS_MAX, &tokens::count);
        match shaped.is_whole {
            true => Self { text: json.to_owned(), is_whole: true },
            false => Self { text: shaped.text, is_whole: false },
        }
    }
}

fn as_text(
    record: &ExecutionRecord,
    context: Option<&ShownValue>,
    result: Option<&ShownValue>,
    times: TimeArguments,
) -> String {
    let summary = &record.summary;
    let mut text = String::new();
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<10}{value}\n"));
    line("execution", summary.id.clone());
    let error = record.error.as_ref().map(|error| {
        let at = error.line.map(|line| format!(", line {line}")).unwrap_or_default();
        format!(" {}{at}", error.code)
    });
    line("outcome", format!("{}{}", summary.outcome.as_str(), error.unwrap_or_default()));
    let took = match summary.outcome.is_known() {
        true => format!(", took {}", time(summary.duration_ms)),
        false => String::new(),
    };
    line("started", format!("{}{took}", times.second(from_unix_ms(summary.started_ms))));
    if summary.outcome.is_known() {
        let memory = format_bytes(summary.memory_peak_bytes);
        line("used", format!("{} CPU, {memory} memory", time(summary.cpu_time_ms)));
    }
    line("owner", summary.owner.clone());
    if !summary.session.is_empty() {
        line("session", summary.session.clone());
    }
    line("level", format!("{}, {}", record.level, record.language));
    if summary.outcome.is_known() {
        line("tokens", account(&summary.tokens));
    }
    if !summary.limits_hit.is_empty() {
        line("limits", summary.limits_hit.join(", "));
    }
    if !summary.findings.is_empty() {
        line("findings", summary.findings.join(", "));
    }
    section(&mut text, "program", summary.code.as_deref().unwrap_or("(not recorded)"));
    match (context, record.context_bytes) {
        (_, 0) => {}
        (Some(context), _) => section(&mut text, "context", &context.text),
        (None, bytes) => section(&mut text, "context", &format!("({}, not recorded)", format_bytes(bytes))),
    }
    calls(&mut text, record);
    kept(&mut text, "output", &record.stdout);
    kept(&mut text, "stderr", &record.stderr);
    if let Some(recorded) = &record.result {
        let shown = result.map(|result| result.text.as_str());
        kept_as(&mut text, "result", recorded, shown, result.is_none_or(|result| result.is_whole));
    }
    if let Some(error) = &record.error {
        let traceback = error.traceback.as_deref().filter(|text| !text.trim().is_empty());
        // A traceback ends with the message.
        let message = error.message.as_deref();
        let message = message.filter(|message| traceback.is_none_or(|text| !text.contains(message.trim())));
        let words = [traceback, message].into_iter().flatten();
        let hint = error.hint.as_ref().map(|hint| format!("hint: {hint}"));
        let words: Vec<&str> = words.map(str::trim_end).chain(hint.as_deref()).collect();
        section(&mut text, &format!("error[{}]", error.code), &words.join("\n"));
    }
    if !record.notes.is_empty() {
        section(&mut text, "notes", &record.notes.join("\n"));
    }
    text
}

fn account(account: &TokenAccount) -> String {
    let TokenAccount { program, returned, own_definition, inside, definitions, looked_up, estimated } =
        *account;
    let about = if estimated { "about " } else { "" };
    let mut parts = vec![format!("program {}", grouped(program)), format!("returned {}", grouped(returned))];
    let own = own_definition.filter(|tokens| *tokens > 0);
    parts.extend(own.map(|tokens| format!("Gristmill's tool definition {}", grouped(tokens))));
    parts.push(format!("its calls {about}{}", grouped(inside)));
    parts.extend(definitions.map(|tokens| format!("tool definitions {about}{}", grouped(tokens))));
    let looked_up = looked_up.filter(|tokens| *tokens > 0);
    parts.extend(looked_up.map(|tokens| format!("looked up {about}{}", grouped(tokens))));
    format!("{}: {}", parts.join(", "), account.words())
}

/// A heading, and what stands below it, set in.
fn section(text: &mut String, heading: &str, words: &str) {
    text.push_str(&format!("\n{heading}:\n"));
    for line in words.lines() {
        text.push_str(format!("  {line}").trim_end());
        text.push('\n');
    }
}

fn kept(text: &mut String, heading: &str, words: &KeptText) {
    kept_as(text, heading, words, words.text.as_deref(), true);
}

/// `shown` is all that is shown of it, and `is_whole` whether that is all that was kept.
fn kept_as(text: &mut String, heading: &str, words: &KeptText, shown: Option<&str>, is_whole: bool) {
    match shown {
        _ if words.bytes == 0 => {}
        Some(kept) if words.is_cut() || !is_whole => {
            section(text, &format!("{heading} (part of {})", format_bytes(words.bytes)), kept);
        }
        Some(kept) => section(text, heading, kept),
        None => section(text, heading, &format!("({}, not recorded)", format_bytes(words.bytes))),
    }
}

fn calls(text: &mut String, record: &ExecutionRecord) {
    let (all, named) = (record.summary.calls, &record.tools_called);
    if all == 0 {
        return;
    }
    let mut lines: Vec<String> = named.iter().map(call).collect();
    if all > named.len() as u64 {
        lines.push(format!("… and {} more", grouped(all - named.len() as u64)));
    }
    section(
        text,
        &format!("tool calls ({}, {} failed)", grouped(all), grouped(record.summary.calls_failed)),
        &lines.join("\n"),
    );
}

fn call(call: &RecordedCall) -> String {
    let line = call.line.map(|line| format!(" (line {line})")).unwrap_or_default();
    let outcome = match (&call.error, call.ok) {
        (_, true) => "ok".to_owned(),
        (Some(error), false) => format!("failed: {}", one_line(error)),
        (None, false) => "failed".to_owned(),
    };
    format!(
        "{}{line}: {}, {} tokens sent, {} received, {outcome}",
        one_line(&call.name),
        time(call.time_ms),
        grouped(call.argument_tokens),
        grouped(call.answer_tokens)
    )
}
