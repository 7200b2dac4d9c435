//! One line on a terminal that says what a command waits for, from its second second on.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use crate::terminal::columns;

/// What is done sooner needs no words.
const PATIENCE: Duration = Duration::from_secs(1);
const FRAME: Duration = Duration::from_millis(100);
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Back to the beginning of the line, which is empty then.
const ERASE: &str = "\r\x1b[2K";

/// Shown as long as it is held. Nothing happens where standard error is not a terminal.
pub struct Spinner {
    shown: Option<Shown>,
}

/// What a spinner says; cheap to clone, and to change from anywhere.
#[derive(Clone)]
pub struct SpinnerText(Arc<Mutex<String>>);

struct Shown {
    text: SpinnerText,
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Spinner {
    pub fn start(text: impl Into<String>) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if !std::io::stderr().is_terminal() || is_dumb {
            return Self { shown: None };
        }
        let text = SpinnerText(Arc::new(Mutex::new(text.into())));
        let (stop, stopped) = mpsc::channel();
        let words = text.clone();
        let thread = std::thread::spawn(move || turn(&words, &stopped));
        Self { shown: Some(Shown { text, stop, thread }) }
    }

    /// What it says; none where it is not shown.
    pub fn text(&self) -> Option<SpinnerText> {
        self.shown.as_ref().map(|shown| shown.text.clone())
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(Shown { stop, thread, .. }) = self.shown.take() {
            drop(stop);
            // It only ever waits for this.
            let _ = thread.join();
        }
    }
}

impl SpinnerText {
    pub fn set(&self, text: String) {
        *self.0.lock() = text;
    }
}

fn turn(text: &SpinnerText, stopped: &mpsc::Receiver<()>) {
    let mut wait = PATIENCE;
    for frame in FRAMES.into_iter().cycle() {
        match stopped.recv_timeout(wait) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
        }
        wait = FRAME;
        let line = fitting(&text.0.lock(), columns(std::io::stderr()).unwrap_or(80));
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "{ERASE}{frame} {line}").and_then(|()| stderr.flush());
    }
    if wait == FRAME {
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "{ERASE}").and_then(|()| stderr.flush());
    }
}

/// A line that wraps could not be erased.
fn fitting(text: &str, columns: usize) -> String {
    let room = columns.saturating_sub(3);
    match text.chars().count() > room {
        true => text.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(fitting("short", 40), "short");
        assert_eq!(fitting(&"x".repeat(100), 40), format!("{}…", "x".repeat(36)));
    }
}
