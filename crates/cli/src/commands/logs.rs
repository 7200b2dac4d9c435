//! `gristmill logs`: the gateway's log, and what servers wrote to standard error.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gristmill_config::Flags;
use gristmill_gateway::Folders;
use gristmill_gateway::domain::nearest;
use gristmill_gateway::upstream::log_path;
use gristmill_logs::{FILES_MAX, LineFilter, LogLevel, default_path};

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::data_store::DataPlace;
use crate::log_reader::LogReader;
use crate::terminal::{Printable, eprint_lines};
use crate::upstreams;

/// How often a log is looked at again.
const POLL: Duration = Duration::from_millis(250);

#[derive(Args)]
pub struct Logs {
    /// What this server wrote to stderr, instead of the gateway's log
    pub server: Option<String>,

    /// What each server wrote to stderr, instead of the gateway's log
    #[arg(long, conflicts_with = "server")]
    pub servers: bool,

    /// Keep printing new lines until Ctrl-C
    #[arg(short, long)]
    pub follow: bool,

    /// How many of the last lines to print, of each log
    #[arg(short = 'n', long, default_value_t = 50)]
    pub lines: usize,

    /// Only lines about this execution; the beginning of its id is enough
    #[arg(long, value_name = "ID", conflicts_with_all = ["server", "servers"])]
    pub execution: Option<String>,

    /// Only lines of this level and above
    #[arg(long, value_name = "LEVEL", value_parser = level_parser(), conflicts_with_all = ["server", "servers"])]
    pub level: Option<LogLevel>,

    /// Where the gateway's log is, if `serve` has `--log-file`
    #[arg(long, value_name = "PATH", conflicts_with_all = ["server", "servers"])]
    pub log_file: Option<PathBuf>,

    #[command(flatten)]
    pub config: ConfigFile,
}

fn level_parser() -> impl TypedValueParser<Value = LogLevel> {
    PossibleValuesParser::new(["error", "warn", "info", "debug", "trace"])
        .try_map(|text| text.parse::<LogLevel>())
}

/// A log, and what stands before its lines where there are several.
struct Shown {
    label: String,
    reader: LogReader,
    filter: LineFilter,
}

pub async fn logs(arguments: Logs) -> Outcome {
    match arguments.server.is_some() || arguments.servers {
        true => servers_logs(arguments).await,
        false => gateways_log(arguments).await,
    }
}

async fn gateways_log(arguments: Logs) -> Outcome {
    let path = match arguments.log_file {
        Some(path) => path,
        None => default_path(DataPlace::of(None, &arguments.config)?.folder()?),
    };
    let filter = LineFilter { level: arguments.level, execution: arguments.execution };
    let is_filtered = filter != LineFilter::default();
    let mut log = Shown { label: String::new(), reader: LogReader::new(path), filter };
    match log.last(arguments.lines, FILES_MAX - 1)? {
        Some(lines) if lines.is_empty() && !arguments.follow => eprint_lines(nothing_found(is_filtered)),
        Some(lines) => lines.iter().for_each(|line| log.print(line)),
        None if arguments.follow => eprint_lines(&format!("waiting for {}", log.reader.path.display())),
        None => {
            let path = log.reader.path.display();
            return Err(Failure::Usage(anyhow!(
                "there's no log at {path}\nhint: `gristmill serve` writes one, unless it has `--no-state`; \
                 `--log-file PATH` shows another"
            )));
        }
    }
    match arguments.follow {
        true => follow(vec![log]).await,
        false => Ok(ExitCode::SUCCESS),
    }
}

fn nothing_found(is_filtered: bool) -> &'static str {
    match is_filtered {
        true => "no matching lines\nhint: stages and calls are logged by `gristmill serve --debug`",
        false => "nothing was logged yet",
    }
}

async fn servers_logs(arguments: Logs) -> Outcome {
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
    let shown = |name: &&str| Shown {
        label: label(name),
        reader: LogReader::new(log_path(&cache, name)),
        filter: LineFilter::default(),
    };
    let mut logs: Vec<Shown> = chosen.iter().map(shown).collect();
    let mut is_empty = true;
    for log in &mut logs {
        let lines = log.last(arguments.lines, 0)?.unwrap_or_default();
        is_empty &= lines.is_empty();
        lines.iter().for_each(|line| log.print(line));
    }
    if arguments.follow {
        return follow(logs).await;
    }
    if is_empty {
        eprint_lines(&nothing_yet(arguments.server.as_deref(), &cache));
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what comes until somebody has enough.
async fn follow(mut logs: Vec<Shown>) -> Outcome {
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => return Ok(ExitCode::SUCCESS),
            () = tokio::time::sleep(POLL) => {}
        }
        for log in &mut logs {
            log.print_new()?;
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

impl Shown {
    /// `None` if there is no log.
    fn last(&mut self, lines: usize, older: usize) -> Result<Option<VecDeque<String>>, Failure> {
        let filter = &self.filter;
        let found = self.reader.last(lines, older, |line| filter.takes(line));
        found.map_err(|error| unreadable(&self.reader.path, &error))
    }

    fn print_new(&mut self) -> Result<(), Failure> {
        let text = self.reader.read_new().map_err(|error| unreadable(&self.reader.path, &error))?;
        text.lines().filter(|line| self.filter.takes(line)).for_each(|line| self.print(line));
        Ok(())
    }

    fn print(&self, line: &str) {
        println!("{}{}", self.label, Printable::all(line));
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::Internal(anyhow!("can't read {}: {error}", path.display()))
}
