//! `gristmill logs`: what servers wrote to standard error.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::Flags;
use gristmill_gateway::Folders;
use gristmill_gateway::domain::nearest;
use gristmill_gateway::upstream::log_path;

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::terminal::{Printable, eprint_lines};
use crate::upstreams;

/// How often a log is looked at again.
const POLL: Duration = Duration::from_millis(250);

/// A log is begun anew at 1 MB: this is all of it.
const READ_BYTES_MAX: u64 = 4 * 1024 * 1024;

#[derive(Args)]
pub struct Logs {
    /// Only this server
    pub server: Option<String>,

    /// Keep printing new lines until Ctrl-C
    #[arg(short, long)]
    pub follow: bool,

    /// How many of the last lines to print for each server
    #[arg(short = 'n', long, default_value_t = 50)]
    pub lines: usize,

    #[command(flatten)]
    pub config: ConfigFile,
}

/// One server's log, and how far it was printed.
struct Log {
    /// Before each line, where there are several logs.
    label: String,
    path: PathBuf,
    /// Of the file that was read last.
    inode: u64,
    offset: u64,
    /// The beginning of a line whose end isn't written yet.
    unfinished: Vec<u8>,
}

pub async fn logs(arguments: Logs) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let names: Vec<&str> =
        configured.config.servers.iter().map(|server| server.settings.name.as_str()).collect();
    let chosen = match &arguments.server {
        Some(server) if !names.contains(&server.as_str()) => {
            return Err(Failure::Usage(unknown(server, &names)));
        }
        Some(server) => vec![server.as_str()],
        None => names,
    };
    if chosen.is_empty() {
        eprint_lines("no servers are configured\nhint: gristmill add NAME -- COMMAND…");
        return Ok(ExitCode::SUCCESS);
    }
    let cache = Folders::from_environment().map_err(|error| Failure::Usage(error.into()))?.cache;
    let width = chosen.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let label = |name: &str| match chosen.len() {
        1 => String::new(),
        _ => format!("{name:<width$} | "),
    };
    let mut logs: Vec<Log> =
        chosen.iter().map(|name| Log::new(label(name), log_path(&cache, name))).collect();
    let mut is_empty = true;
    for log in &mut logs {
        is_empty &= !log.print_last(arguments.lines).map_err(|error| log.unreadable(&error))?;
    }
    if !arguments.follow {
        if is_empty {
            eprint_lines(&nothing_yet(arguments.server.as_deref(), &cache));
        }
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => return Ok(ExitCode::SUCCESS),
            () = tokio::time::sleep(POLL) => {}
        }
        for log in &mut logs {
            log.print_new().map_err(|error| log.unreadable(&error))?;
        }
    }
}

fn unknown(server: &str, names: &[&str]) -> anyhow::Error {
    let near = nearest(server, names.iter().map(|name| (*name, *name)), 1);
    let near = near.first().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    anyhow!("there's no server `{server}`{near}\nhint: `gristmill list` shows the configured servers")
}

fn nothing_yet(server: Option<&str>, cache: &Path) -> String {
    let who = server.map_or_else(|| "the servers haven't".to_owned(), |name| format!("`{name}` hasn't"));
    format!("{who} written anything to stderr yet; logs are kept in {}", cache.join("logs").display())
}

impl Log {
    fn new(label: String, path: PathBuf) -> Self {
        Self { label, path, inode: 0, offset: 0, unfinished: Vec::new() }
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        Failure::Internal(anyhow!("can't read {}: {error}", self.path.display()))
    }

    /// Whether there was anything.
    fn print_last(&mut self, lines: usize) -> io::Result<bool> {
        let text = self.read_new()?;
        let all: Vec<&str> = text.lines().collect();
        for line in &all[all.len().saturating_sub(lines)..] {
            self.print(line);
        }
        Ok(!all.is_empty())
    }

    fn print_new(&mut self) -> io::Result<()> {
        let text = self.read_new()?;
        text.lines().for_each(|line| self.print(line));
        Ok(())
    }

    fn print(&self, line: &str) {
        println!("{}{}", self.label, Printable::all(line));
    }

    /// Whole lines that were not read before; of a new file, all of it.
    fn read_new(&mut self) -> io::Result<String> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        if metadata.ino() != self.inode || metadata.len() < self.offset {
            (self.inode, self.offset) = (metadata.ino(), 0);
            self.unfinished.clear();
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let read = file.take(READ_BYTES_MAX).read_to_end(&mut self.unfinished)?;
        self.offset += read as u64;
        let whole = self.unfinished.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let rest = self.unfinished.split_off(whole);
        let lines = std::mem::replace(&mut self.unfinished, rest);
        Ok(String::from_utf8_lossy(&lines).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_are_read_once_and_a_log_that_begins_anew_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.log");
        let mut log = Log::new(String::new(), path.clone());
        let mut check = |content: &str, expected: &str| {
            std::fs::write(&path, content).expect("a file");
            assert_eq!(log.read_new().expect("a log"), expected, "{content:?}");
        };
        check("one\ntwo\nunfin", "one\ntwo\n");
        check("one\ntwo\nunfinished\n", "unfinished\n");
        check("one\ntwo\nunfinished\n", "");
        check("new\n", "new\n");
    }
}
