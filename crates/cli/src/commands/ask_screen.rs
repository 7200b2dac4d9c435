//! What `gristmill ask` shows: the steps on stderr, what the program prints and its value on stdout.

use std::io::{self, IsTerminal, Write};

use gristmill_gateway::answer::without_bytes;
use gristmill_gateway::ask::{
    AskEnding, AskEvent, Asked, AskedProgram, PickedTool, Preview, PreviewedTool, Spent, question_words,
};
use gristmill_gateway::checks::Finding;
use gristmill_gateway::domain::policy::Decision;
use gristmill_gateway::domain::{counted, grouped};
use gristmill_gateway::ports::{Prompt, Speaker};
use gristmill_gateway::{Report, Stream};
use serde_json::Value;

use super::run_questions;
use crate::terminal::{Printable, eprint_lines, one_line, print_json, set_in};

/// Findings that are shown.
const FINDINGS_MAX: usize = 20;

/// Tools that are named of those that were found.
const TOOLS_MAX: usize = 5;

pub struct AskScreen {
    is_json: bool,
    shows_prompt: bool,
    /// Whether an answer is shown as it is written.
    shows_writing: bool,
    /// Whether a part of one stands there, without an end of its line.
    has_written: bool,
    /// Whether a model can be asked.
    asks_model: bool,
    /// Why somebody failed, which is told as soon as somebody else goes on.
    failures: Vec<String>,
    stdout: Printable,
    stderr: Printable,
}

/// Before each line of what a model writes.
const WRITTEN_MARK: &str = "  | ";

impl AskScreen {
    pub fn new(is_json: bool, shows_prompt: bool, asks_model: bool) -> Self {
        Self {
            is_json,
            shows_prompt,
            shows_writing: !is_json && io::stderr().is_terminal(),
            has_written: false,
            asks_model,
            failures: Vec::new(),
            stdout: Printable::default(),
            stderr: Printable::default(),
        }
    }

    /// One thing that happened. Fails if nobody reads our output any more.
    pub fn show(&mut self, event: &AskEvent) -> io::Result<()> {
        if let AskEvent::Prompted { prompt, .. } = event
            && self.shows_prompt
        {
            eprint_lines(&prompt_text(prompt));
        }
        if self.is_json {
            return Ok(());
        }
        if !matches!(event, AskEvent::Writing { .. }) && std::mem::take(&mut self.has_written) {
            eprintln!();
        }
        if !matches!(event, AskEvent::Failed { .. } | AskEvent::Fallback { .. }) {
            self.tell_failures();
        }
        match event {
            AskEvent::Searched { tools, left_out, prompt_tokens } => {
                let prompt = match self.asks_model {
                    true => format!("; a prompt of {} tokens", grouped(*prompt_tokens as u64)),
                    false => String::new(),
                };
                eprint_lines(&format!("tools: {}{prompt}", tools_text(tools, *left_out)));
            }
            AskEvent::Prompted { author, .. } => eprint_lines(&format!("writing: {author}")),
            AskEvent::Writing { text } if self.shows_writing => {
                // Behind a mark on every line, so that it can't look like a question of ours.
                let start = if self.has_written { "" } else { WRITTEN_MARK };
                let marked = Printable::all(text).to_string().replace('\n', &format!("\n{WRITTEN_MARK}"));
                eprint!("{start}{marked}");
                self.has_written = true;
            }
            AskEvent::Writing { .. } => {}
            AskEvent::WritingAgain { reason } => eprint_lines(&format!("note: {reason}")),
            AskEvent::Program(program) => eprint_lines(&program_text(program)),
            AskEvent::Checked { findings, more, .. } => show_findings(findings, *more),
            AskEvent::Preview(preview) => eprint_lines(&preview_text(preview)),
            AskEvent::AwaitingConsent { writes, made } => show_question(writes, made),
            AskEvent::Running { only_reads, .. } => eprint_lines(match only_reads {
                true => "running, and it can only read",
                false => "running",
            }),
            AskEvent::Output { stream, bytes } => self.output(*stream, bytes)?,
            AskEvent::Failed { attempt, text } => {
                self.failures.push(format!("note: program {attempt} failed: {}", one_line(text)));
            }
            AskEvent::Fallback { from: Some(from), reason } => {
                self.failures.push(format!("note: {from}: {}", one_line(reason)));
            }
            AskEvent::Fallback { from: None, reason } => eprint_lines(&set_in(&format!("note: {reason}"))),
            AskEvent::Finished { .. } => {}
        }
        Ok(())
    }

    /// What came of it.
    pub fn end(&mut self, asked: &Asked) -> io::Result<()> {
        if self.is_json {
            print_json(&asked.as_json());
            return io::stdout().flush();
        }
        if !matches!(asked.ending, AskEnding::Failed | AskEnding::NotWritten) {
            self.tell_failures();
        }
        if let (AskEnding::Finished, Some(report)) = (asked.ending, &asked.report) {
            if !report.stdout.is_empty() && !report.stdout.ends_with('\n') {
                println!();
            }
            if let Some(value) = &report.result {
                print_value(value)?;
            }
        }
        let made = asked.made.iter().map(|one| format!("\n  {}", one_line(one))).collect::<String>();
        if !made.is_empty() {
            eprint_lines(&format!("written at servers:{made}"));
        }
        if asked.attempts > 1 {
            let programs = counted(u64::from(asked.attempts), "program");
            eprint_lines(&format!("{programs}{}", spent_text(&asked.spent)));
        }
        for note in asked.report.iter().flat_map(|report| notes_of(report)) {
            eprint_lines(&set_in(&format!("note: {note}")));
        }
        for line in self.ending_lines(asked) {
            eprint_lines(&line);
        }
        Ok(())
    }

    fn tell_failures(&mut self) {
        for failure in self.failures.drain(..) {
            eprint_lines(&failure);
        }
    }

    /// What follows from how it ended.
    fn ending_lines(&self, asked: &Asked) -> Vec<String> {
        let why = asked.failure.as_deref().map(|why| format!(": {}", one_line(why))).unwrap_or_default();
        match asked.ending {
            AskEnding::Finished => Vec::new(),
            AskEnding::Written => vec!["note: it didn't run".to_owned()],
            // Whoever was asked knows why.
            AskEnding::NoConsent if run_questions::answers().approvals => {
                vec![if asked.execution.is_some() { "nothing was sent" } else { "nothing ran" }.to_owned()]
            }
            AskEnding::NoConsent => vec![
                "error: it needs your yes, and there is no terminal to ask on; nothing ran".to_owned(),
                "hint: look at the program, then add `--yes`".to_owned(),
            ],
            AskEnding::Failed => vec![format!("error: the program failed{why}")],
            AskEnding::NotWritten => {
                let nearest: Vec<String> = asked.nearest.iter().map(|name| one_line(name)).collect();
                let model = match self.asks_model {
                    true => "",
                    false => ", or set up a model (`gristmill help models`)",
                };
                vec![
                    format!("error: no program was written{why}"),
                    format!("hint: rephrase the task with the tool's own words{model}"),
                    match nearest.is_empty() {
                        true => "hint: `gristmill list` shows your servers".to_owned(),
                        false => format!("hint: the nearest tools are {}", nearest.join(", ")),
                    },
                ]
            }
            AskEnding::Cancelled => vec!["error: cancelled".to_owned()],
        }
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        // A program must not drive the terminal of the person who looks at it.
        let (printable, is_terminal) = match stream {
            Stream::Stdout => (&mut self.stdout, io::stdout().is_terminal()),
            Stream::Stderr => (&mut self.stderr, io::stderr().is_terminal()),
        };
        let shown = is_terminal.then(|| printable.take(bytes));
        let bytes = shown.as_ref().map_or(bytes, |shown| shown.as_bytes());
        match stream {
            Stream::Stdout => {
                io::stdout().write_all(bytes)?;
                io::stdout().flush()
            }
            Stream::Stderr => io::stderr().write_all(bytes),
        }
    }
}

fn print_value(value: &Value) -> io::Result<()> {
    let text = match value {
        Value::String(text) => text.clone(),
        // Bytes are for --json; here it is enough to know of them.
        value => serde_json::to_string_pretty(&*without_bytes(value))?,
    };
    let text = if io::stdout().is_terminal() { Printable::all(&text) } else { text };
    writeln!(io::stdout(), "{text}")
}

fn prompt_text(prompt: &Prompt) -> String {
    let mut text = format!("--- system\n{}\n", prompt.system.trim_end());
    for turn in &prompt.turns {
        let who = match turn.speaker {
            Speaker::Us => "user",
            Speaker::Model => "model",
        };
        text.push_str(&format!("--- {who}\n{}\n", turn.text.trim_end()));
    }
    text.push_str("---");
    text
}

fn program_text(program: &AskedProgram) -> String {
    let AskedProgram { attempt, author, engine, code, assumptions, tokens, price } = program;
    let spent = spent_text(&Spent { tokens: *tokens, price: *price });
    let mut text = format!("program {attempt}, {}, by {author}{spent}:\n", engine.language());
    for line in code.lines() {
        text.push_str(&format!("  {line}\n"));
    }
    for assumption in assumptions {
        text.push_str(&format!("note: assumed: {}\n", one_line(assumption)));
    }
    text
}

/// `, 1,200 tokens in, 300 out, $0.0042`; nothing where no model was asked.
fn spent_text(spent: &Spent) -> String {
    let (input, output) = (spent.tokens.input, spent.tokens.output);
    if input + output == 0 {
        return String::new();
    }
    let price = spent.price.map(|price| format!(", ${price:.4}")).unwrap_or_default();
    format!(", {} tokens in, {} out{price}", grouped(input), grouped(output))
}

fn show_findings(findings: &[Finding], more: usize) {
    for Finding { line, rule, severity, message, .. } in findings.iter().take(FINDINGS_MAX) {
        eprint_lines(&format!("  line {line}: {rule} {severity}: {}", one_line(message)));
    }
    let more = more + findings.len().saturating_sub(FINDINGS_MAX);
    if more > 0 {
        eprint_lines(&format!("  and {}", counted(more, "more finding")));
    }
}

/// The first of them, and how many more there are.
fn tools_text(tools: &[PickedTool], left_out: usize) -> String {
    let names: Vec<String> = tools.iter().take(TOOLS_MAX).map(|tool| one_line(&tool.name)).collect();
    match tools.len().saturating_sub(TOOLS_MAX) + left_out {
        _ if names.is_empty() => "none".to_owned(),
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// What `gristmill run` would note of it, too. The task is known here.
fn notes_of(report: &Report) -> impl Iterator<Item = String> {
    let notes = report.notes.iter().filter(|note| !note.starts_with("written for: ")).cloned();
    notes.chain(report.large_result_note())
}

fn preview_text(preview: &Preview) -> String {
    let told = |tool: &PreviewedTool| {
        let policy = match tool.decision {
            Some(Decision::Allow) => "allowed",
            Some(Decision::Ask) => "your policy asks",
            Some(Decision::Deny) => "your policy denies it",
            None => "unknown",
        };
        format!("{} ({}, {policy})", one_line(&tool.name), one_line(&tool.does()))
    };
    let mut tools: Vec<String> = preview.tools.iter().map(told).collect();
    if preview.may_call_others {
        tools.push("others that can't be told from its text".to_owned());
    }
    if tools.is_empty() { "calls: nothing".to_owned() } else { format!("calls: {}", tools.join(", ")) }
}

fn show_question(writes: &[String], made: &[String]) {
    let shown: Vec<String> = writes.iter().map(|name| one_line(name)).collect();
    eprint_lines(&question_words(&shown));
    for one in made {
        eprint_lines(&format!("  an earlier attempt has done already: {}", one_line(one)));
    }
}
