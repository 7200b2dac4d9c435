//! What `gristmill run` shows: output as it comes, then the result, the error and the notes.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use anyhow::anyhow;
use gristmill_gateway::answer::{self, Answer};
use gristmill_gateway::domain::{counted, format_bytes, visible, visible_json};
use gristmill_gateway::service::{Follower, LiveEvents};
use gristmill_gateway::{DryRunReport, Event, PlanReport, Report, Stream, ToolCalled};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::run_error::{Workspace, error_lines, shown_traceback, traceback};
use super::{Failure, Outcome};
use crate::terminal::{Printable, set_in};
use crate::{color, exit_codes, own_sessions};

/// What came of a program.
pub struct Ran {
    pub report: Arc<Report>,
    /// What a model would get, if that is wanted.
    pub answer: Option<Arc<Answer>>,
    /// Why not all of its output was shown.
    pub unshown: Option<io::Error>,
}

/// The end of it, and the exit code.
pub fn print_report(report: &Report, said: Option<&Answer>, as_json: bool, workspace: Workspace) -> Outcome {
    let printed = match (said, as_json) {
        (Some(said), true) => print_json(&said.structured),
        (Some(said), false) => print_said(said),
        (None, true) => print_json(report),
        (None, false) => print_end(report, workspace),
    };
    match printed {
        Ok(()) => Ok(exit_codes::of(report)),
        // Whoever read our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit_codes::of(report)),
        Err(error) => Err(Failure::Internal(anyhow!("can't write to standard output: {error}"))),
    }
}

/// Shows what happens until nothing more does, if it is to be shown. Ctrl-C cancels the program, and its
/// report follows; a second one ends us at once.
pub async fn follow(mut follower: Follower, events: Option<LiveEvents>) -> Ran {
    let mut interrupts = Interrupts::default();
    let screen = match events {
        Some(events) => Some(show_live(&follower, events, &mut interrupts).await),
        None => None,
    };
    let report = loop {
        tokio::select! {
            report = follower.ended() => break report,
            () = interrupts.next() => follower.cancel(),
        }
    };
    let unshown = match screen {
        Some(screen) => tokio::select! {
            failed = screen.finish() => failed,
            () = interrupts.next() => None,
        },
        None => None,
    };
    Ran { report, answer: follower.progress().answer, unshown }
}

/// Shows what a program prints as it prints it. The screen may still be at it when this returns.
async fn show_live(follower: &Follower, mut events: LiveEvents, interrupts: &mut Interrupts) -> ScreenThread {
    let screen = ScreenThread::start();
    let mut unshown: Option<(Stream, Vec<u8>)> = None;
    loop {
        tokio::select! {
            event = events.next(), if unshown.is_none() => match event {
                Some(Event::Output { stream, bytes }) => unshown = Some((stream, bytes)),
                Some(Event::ServerStarting { server }) => say_starting(&server),
                // `run` has no nodes.
                Some(Event::RunsAgain) => {}
                Some(Event::ToolStarted { .. } | Event::ToolProgress { .. } | Event::ToolFinished(_)) => {}
                None => break,
            },
            room = screen.outputs.reserve(), if unshown.is_some() => match (room, unshown.take()) {
                (Ok(room), Some(output)) => room.send(output),
                // Nobody can see it any more.
                (Err(_), _) | (_, None) => follower.cancel(),
            },
            () = interrupts.next() => follower.cancel(),
        }
    }
    screen
}

/// Tells a person why nothing happens.
fn say_starting(server: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("starting {} …", visible(server));
    }
}

#[derive(Default)]
struct Interrupts(u32);

impl Interrupts {
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.0 += 1;
        if self.0 > 1 {
            std::process::exit(130);
        }
    }
}

/// The screen on a thread of its own: a reader that does not read must not stop the deadline.
struct ScreenThread {
    outputs: mpsc::Sender<(Stream, Vec<u8>)>,
    ended: oneshot::Receiver<Option<io::Error>>,
}

impl ScreenThread {
    fn start() -> Self {
        let (outputs, mut received) = mpsc::channel::<(Stream, Vec<u8>)>(16);
        let (told, ended) = oneshot::channel();
        std::thread::spawn(move || {
            let mut screen = Screen { stdout: Printable::default(), stderr: Printable::default() };
            let mut failed = None;
            while let Some((stream, bytes)) = received.blocking_recv() {
                if let Err(error) = screen.write(stream, &bytes) {
                    failed = Some(error);
                    break;
                }
            }
            drop(received);
            let _ = told.send(failed);
        });
        Self { outputs, ended }
    }

    /// Waits until everything is shown; gives what went wrong.
    async fn finish(self) -> Option<io::Error> {
        drop(self.outputs);
        self.ended.await.ok().flatten()
    }
}

/// Where a program's output goes, as it comes.
struct Screen {
    stdout: Printable,
    stderr: Printable,
}

impl Screen {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let (printable, terminal) = match stream {
            Stream::Stdout => (&mut self.stdout, io::stdout().is_terminal()),
            Stream::Stderr => (&mut self.stderr, io::stderr().is_terminal()),
        };
        // A program must not drive the terminal of the person who looks at it.
        let shown = terminal.then(|| printable.take(bytes));
        let bytes = shown.as_ref().map_or(bytes, |shown| shown.as_bytes());
        match stream {
            Stream::Stdout => write_flushed(&mut io::stdout().lock(), bytes),
            Stream::Stderr => write_flushed(&mut io::stderr().lock(), bytes),
        }
    }
}

fn write_flushed(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

/// What a program came to: it is data, and as it is unless a person looks at it.
fn shown(text: &str, terminal: bool) -> String {
    if terminal { Printable::all(text) } else { text.to_owned() }
}

/// A message of ours, with the word at its beginning in color.
fn message(text: &str) -> String {
    color::message(&set_in(text), color::on_stderr())
}

fn print_json(document: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_string_pretty(document)?;
    match io::stdout().is_terminal() {
        // What a program says must not be obeyed here either.
        true => writeln!(io::stdout().lock(), "{}", visible_json(&json)),
        false => writeln!(io::stdout().lock(), "{json}"),
    }
}

fn print_said(said: &Answer) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", shown(&said.text, io::stdout().is_terminal()))?;
    let mut stderr = io::stderr().lock();
    for file in &said.files {
        let size = format_bytes(file.base64.len() as u64 / 4 * 3);
        writeln!(stderr, "note: the answer includes an image: {}, {size}", file.media_type)?;
    }
    writeln!(stderr, "note: {} tokens", said.tokens)
}

fn print_end(report: &Report, workspace: Workspace) -> io::Result<()> {
    if let Some(result) = &report.result {
        let text = match result {
            Value::String(text) => text.clone(),
            // Bytes are for --json; here it is enough to know of them.
            value => serde_json::to_string_pretty(&*answer::without_bytes(value))?,
        };
        let mut stdout = io::stdout().lock();
        if !report.stdout.is_empty() && !report.stdout.ends_with('\n') {
            writeln!(stdout)?;
        }
        writeln!(stdout, "{}", shown(&text, io::stdout().is_terminal()))?;
    }
    let mut stderr = io::stderr().lock();
    if let Some(error) = &report.error {
        let mut text = String::new();
        let unfinished = |output: &str| !output.is_empty() && !output.ends_with('\n');
        if unfinished(&report.stderr) || (report.stderr.is_empty() && unfinished(&report.stdout)) {
            text.push('\n');
        }
        if let Some(traceback) = traceback(error) {
            text.push_str(&shown_traceback(traceback));
        }
        write!(stderr, "{text}")?;
        let mut said = error_lines(error, workspace);
        let is_told = |why: Option<&str>| error.kind == "tool" || why == Some(error.message.as_str());
        let untold = |call: &&ToolCalled| !call.ok && !is_told(call.error.as_deref());
        for call in report.tools_called.iter().filter(untold).take(5) {
            said.push(failed_call(call));
        }
        for line in said {
            writeln!(stderr, "{}", message(&line))?;
        }
    } else {
        for hit in &report.limits_hit {
            let hit = format!("note: hit a limit and kept running: {}", hit.message);
            writeln!(stderr, "{}", message(&hit))?;
        }
    }
    for line in dry_run_lines(report) {
        writeln!(stderr, "{}", message(&line))?;
    }
    let plan = report.plan.as_ref().map(PlanReport::note);
    for note in plan.iter().chain(&report.notes).chain(&report.large_result_note()) {
        writeln!(stderr, "{}", message(&format!("note: {note}")))?;
    }
    let made = report.session.as_ref().filter(|session| session.is_new);
    if let Some(name) = made.and_then(|session| session.name.as_deref()) {
        let made = format!("note: {}", own_sessions::new_session_words(name));
        writeln!(stderr, "{}", message(&made))?;
    }
    Ok(())
}

/// The call, and what became of it.
fn failed_call(call: &ToolCalled) -> String {
    format!("note: {}: {}", call.name, call.error.as_deref().unwrap_or("no answer"))
}

/// What a dry run would have written, and how to have it written.
fn dry_run_lines(report: &Report) -> Vec<String> {
    let Some(dry_run) = report.dry_run.as_ref().filter(|dry_run| dry_run.count() > 0) else {
        return Vec::new();
    };
    let DryRunReport { plan, expires, writes, unlisted } = dry_run;
    let mut lines = vec![format!("dry run: {} held, none sent", counted(dry_run.count(), "write"))];
    let numbered = writes.iter().enumerate();
    lines.extend(numbered.map(|(number, write)| format!("  {}. {}", number + 1, write.line())));
    if *unlisted > 0 {
        lines.push(format!("  and {} more", counted(*unlisted, "write")));
    }
    if let Some(plan) = plan {
        lines.push(format!("plan: {plan}, until {}", expires.as_deref().unwrap_or_default()));
        lines.push(format!("hint: `gristmill run --plan {plan}` asks you, then makes exactly these writes"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_a_call_is_said_once() {
        let error = "no answer before the program ended or gave up";
        let call = ToolCalled {
            name: "weather.forecast".to_owned(),
            line: Some(1),
            ok: false,
            sent: true,
            time_ms: 0.0,
            error: Some(error.to_owned()),
            kept_error: None,
            argument_bytes: 2,
            answer_bytes: 0,
            argument_tokens: None,
            answer_tokens: None,
        };
        assert_eq!(failed_call(&call), format!("note: weather.forecast: {error}"));
    }
}
