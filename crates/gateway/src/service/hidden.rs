//! Reports and events on their way to a model or into a record: personal data is replaced by tokens.

use gristmill_protocol::Stream;
use tokio::sync::mpsc;

use crate::execute::{Event, event_channel};
use crate::ids::Caller;
use crate::privacy::{LiveOutput, Privacy, Source, Veil};
use crate::report::{ErrorReport, Report, ToolCalled};

/// Hides what is personal in a report, and says so in it. Everything that is recorded, stored or answered is
/// made from it afterwards.
pub(super) async fn hide_report(veil: Option<&Veil>, report: &mut Report) {
    let Some(veil) = veil else { return };
    if let Some(result) = &mut report.result {
        veil.value(result, Source::default()).await;
    }
    veil.text(&mut report.stdout).await;
    veil.text(&mut report.stderr).await;
    if let Some(error) = &mut report.error {
        hide_error(veil, error).await;
    }
    for called in &mut report.tools_called {
        hide_call(veil, called).await;
    }
    for note in &mut report.notes {
        veil.text(note).await;
    }
    // A program prints names on their own that stand in its result under a key which tells what they are.
    let error = report.error.as_mut();
    let said = error.into_iter().flat_map(|error| [Some(&mut error.message), error.traceback.as_mut()]);
    for text in [&mut report.stdout, &mut report.stderr].into_iter().chain(said.flatten()) {
        veil.repeated(text);
    }
    report.notes.extend(veil.note());
}

async fn hide_error(veil: &Veil, error: &mut ErrorReport) {
    veil.text(&mut error.message).await;
    veil.maybe_text(&mut error.traceback).await;
    veil.maybe_text(&mut error.hint).await;
}

async fn hide_call(veil: &Veil, called: &mut ToolCalled) {
    // As the program wrote it: it may be anything.
    if !called.ok {
        veil.text(&mut called.name).await;
    }
    veil.maybe_text(&mut called.error).await;
    veil.maybe_text(&mut called.kept_error).await;
}

/// Events as they happen, without what is personal in them.
pub(super) struct HiddenEvents {
    veil: Veil,
    stdout: LiveOutput,
    stderr: LiveOutput,
}

impl HiddenEvents {
    pub fn of(privacy: Option<&Privacy>, caller: &Caller) -> Option<Self> {
        let veil = privacy?.veil(caller)?;
        Some(Self { veil, stdout: LiveOutput::default(), stderr: LiveOutput::default() })
    }

    /// What can be told of an event by now.
    pub async fn event(&mut self, mut event: Event) -> Event {
        match &mut event {
            Event::Output { stream, bytes } => {
                let live = match stream {
                    Stream::Stdout => &mut self.stdout,
                    Stream::Stderr => &mut self.stderr,
                };
                *bytes = live.push(&self.veil, bytes).await;
            }
            Event::ToolProgress { name, progress } => {
                self.veil.text(name).await;
                self.veil.maybe_text(&mut progress.message).await;
            }
            Event::ToolFinished(called) => hide_call(&self.veil, called).await,
            Event::ToolStarted { name } => self.veil.text(name).await,
            Event::ServerStarting { .. } | Event::RunsAgain => {}
        }
        event
    }

    /// What was printed last, without an end of its line.
    pub async fn rest(&mut self) -> [Event; 2] {
        let stdout = self.stdout.finish(&self.veil).await;
        let stderr = self.stderr.finish(&self.veil).await;
        [
            Event::Output { stream: Stream::Stdout, bytes: stdout },
            Event::Output { stream: Stream::Stderr, bytes: stderr },
        ]
    }

    /// Hands events on to whoever sees them.
    pub fn before(mut self, seen: mpsc::Sender<Event>) -> mpsc::Sender<Event> {
        let (sender, mut events) = event_channel();
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                let event = self.event(event).await;
                // Whoever does not look any more misses nothing that matters.
                if !is_empty(&event) && seen.send(event).await.is_err() {
                    events.close();
                }
            }
            for event in self.rest().await.into_iter().filter(|event| !is_empty(event)) {
                let _ = seen.send(event).await;
            }
        });
        sender
    }
}

fn is_empty(event: &Event) -> bool {
    matches!(event, Event::Output { bytes, .. } if bytes.is_empty())
}
