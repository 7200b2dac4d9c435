//! `gristmill run --watch`: a program again and again, whenever its file changes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::anyhow;
use tokio::signal::unix::{SignalKind, signal};

use super::run::{self, Runner};
use super::{Failure, Outcome, run_input};
use crate::arguments::Run;
use crate::color::{self, Paint};

/// How often the file is looked at.
const POLL: Duration = Duration::from_millis(200);

/// A file as it was at one moment. Editors write in place or put a new file there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    changed: Option<SystemTime>,
    bytes: u64,
    inode: u64,
}

pub async fn watch(arguments: Run) -> Outcome {
    let Some(path) = arguments.script.as_deref().filter(|path| path.as_os_str() != "-") else {
        return Err(Failure::Usage(anyhow!("--watch needs a file: gristmill run --watch FILE")));
    };
    // Held over all runs: an interrupt of a program ends the watch, too.
    let mut interrupts = signal(SignalKind::interrupt()).map_err(|error| Failure::Internal(error.into()))?;
    let mut seen = stamp(path);
    // A file that isn't there yet is a mistake the first time.
    let request = run_input::request_from(&arguments).map_err(Failure::Usage)?;
    let runner = Runner::start(&arguments, Some(&request)).await?;
    for count in 1.. {
        separator(&format!("run {count}: {}", path.display()));
        run_once(&runner, &arguments).await;
        separator("waiting for changes; Ctrl-C to stop");
        tokio::select! {
            biased;
            _ = interrupts.recv() => break,
            new = changed(path, seen) => seen = Some(new),
        }
    }
    runner.stop().await;
    Ok(ExitCode::SUCCESS)
}

/// Whatever goes wrong is said, and the next version gets its chance.
async fn run_once(runner: &Runner, arguments: &Run) {
    let ran = match run_input::request_from(arguments) {
        Ok(request) => runner.run(arguments, request).await,
        Err(error) => Err(Failure::Usage(error)),
    };
    if let Err(failure) = ran.and_then(|ran| run::print(&ran, arguments)) {
        failure.report();
    }
}

fn separator(text: &str) {
    eprintln!("{}", color::painted(&format!("── {text} ──"), Paint::Heading, color::on_stderr()));
}

/// Waits until the file is another one than it was, and stays so for a moment.
async fn changed(path: &Path, before: Option<Stamp>) -> Stamp {
    let mut last = before;
    loop {
        tokio::time::sleep(POLL).await;
        let now = stamp(path);
        if let Some(stamp) = now.filter(|_| now == last && now != before) {
            return stamp;
        }
        last = now;
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp { changed: metadata.modified().ok(), bytes: metadata.len(), inode: metadata.ino() })
}
