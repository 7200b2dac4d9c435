//! The gateway's log: where `serve` writes it, and what other commands log if somebody asks.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gristmill_logs::{Log, LogError, LogFilter, LogFormat, LogSettings, LogTarget, SpanQueue, default_path};

use crate::failure::Failure;
use crate::terminal::eprint_lines;

/// What is logged, unless a flag says so.
const VARIABLE: &str = "GRISTMILL_LOG";

#[derive(Args)]
pub struct LogArguments {
    /// Log to this file, or to stderr with `-` [default: logs/gateway.log in the data folder]
    #[arg(long, value_name = "PATH")]
    pub log_file: Option<PathBuf>,

    /// How log lines are written
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = format_parser())]
    pub log_format: LogFormat,

    /// Log each stage of every execution and call, with times and sizes
    #[arg(long)]
    pub debug: bool,
}

fn format_parser() -> impl TypedValueParser<Value = LogFormat> {
    PossibleValuesParser::new(["text", "json"]).try_map(|text| text.parse::<LogFormat>())
}

impl LogArguments {
    /// Logs from now on, until what this gives is dropped. Without a data folder to keep it in, only if
    /// somebody asked for a log.
    pub fn start(&self, data: Option<&Path>, spans: Option<SpanQueue>) -> Result<Option<Log>, Failure> {
        let asked = filter_asked_for()?;
        let is_wanted = self.debug || asked.is_some();
        let filter = match (self.debug, asked) {
            (true, _) => LogFilter::debug(),
            (false, Some(asked)) => asked,
            (false, None) => LogFilter::info(),
        };
        let start = |target: LogTarget, filter: LogFilter| {
            gristmill_logs::start(LogSettings {
                target,
                format: self.log_format,
                filter,
                spans: spans.clone(),
            })
        };
        let target = match (&self.log_file, data) {
            (Some(path), _) if path.as_os_str() == "-" => LogTarget::Stderr,
            (Some(path), _) => LogTarget::File(path.clone()),
            (None, Some(data)) => LogTarget::File(default_path(data)),
            (None, None) if is_wanted => LogTarget::Stderr,
            (None, None) if spans.is_none() => return Ok(None),
            (None, None) => {
                let started = start(LogTarget::Stderr, LogFilter::off());
                return started.map(Some).map_err(|error| Failure::Internal(error.into()));
            }
        };
        let mut started = start(target, filter);
        if let (Err(error @ LogError::File { .. }), None) = (&started, &self.log_file) {
            eprint_lines(&format!("note: there's no log: {error}"));
            started = start(LogTarget::Stderr, LogFilter::off());
        }
        match started {
            Ok(log) => Ok(Some(log)),
            Err(error @ LogError::File { .. }) => Err(Failure::Usage(error.into())),
            Err(error @ (LogError::Thread(_) | LogError::Twice)) => Err(Failure::Internal(error.into())),
        }
    }
}

/// A log on stderr of what the environment asks for, if it does.
pub fn asked_for() -> Result<Option<Log>, Failure> {
    filter_asked_for()?.map(on_stderr_with).transpose()
}

/// A log on stderr, for a command that runs until it is stopped and keeps nothing.
#[cfg(feature = "cluster")]
pub fn on_stderr() -> Result<Log, Failure> {
    on_stderr_with(filter_asked_for()?.unwrap_or_else(LogFilter::info))
}

fn on_stderr_with(filter: LogFilter) -> Result<Log, Failure> {
    let settings = LogSettings { target: LogTarget::Stderr, format: LogFormat::Text, filter, spans: None };
    gristmill_logs::start(settings).map_err(|error| Failure::Internal(error.into()))
}

fn filter_asked_for() -> Result<Option<LogFilter>, Failure> {
    let text = std::env::var(VARIABLE).ok().filter(|text| !text.trim().is_empty());
    let filter = text.map(|text| text.parse::<LogFilter>()).transpose();
    filter.map_err(|error| Failure::Usage(anyhow::anyhow!("{VARIABLE}: {error}")))
}
