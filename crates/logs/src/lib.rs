//! The gateway's log, and its spans for OpenTelemetry. Other crates trace with `tracing`; what the filter lets through becomes lines here, each
//! with the execution, the session and the caller that it belongs to, in a file that stays small or on
//! standard error.
//!
//! Walls: only what our own crates trace is ever logged. Libraries trace whole messages, with what programs
//! send and get. A line is written by a thread of its own: nobody waits for a disk or for a reader.

mod fields;
mod filter;
mod layer;
mod line;
mod otlp;
mod rotating_file;
mod seek;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tracing::Subscriber;
use tracing_subscriber::Layer as _;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::Registry;

pub use filter::{AREAS, FilterError, LogFilter};
pub use line::LogFormat;
pub use otlp::{SpanBatch, SpanQueue, metrics_request};
pub use rotating_file::{FILE_BYTES_MAX, FILES_MAX};
pub use seek::{LineFilter, LogLevel};

use layer::LogLayer;
use otlp::OtlpLayer;
use rotating_file::RotatingFile;
use writer::{LineSender, LogWriter, Sink};

/// How long the last lines may take when a process ends.
const LAST_WAIT: Duration = Duration::from_millis(500);

/// Where lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    Stderr,
    /// A file; the ones before it are beside it as `NAME.1`, `NAME.2`, …
    File(PathBuf),
}

/// What is logged, where, and how it looks.
#[derive(Clone)]
pub struct LogSettings {
    pub target: LogTarget,
    pub format: LogFormat,
    pub filter: LogFilter,
    /// Where spans go beside it, if somebody wants them.
    pub spans: Option<SpanQueue>,
}

/// Why nothing is logged.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// What was to be logged is lost; everything else works.
    #[error("can't write the log {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("can't start the log's thread: {0}")]
    Thread(io::Error),
    #[error("this process has a log already")]
    Twice,
}

/// A log that is written. When it is dropped, what was logged before is written first.
pub struct Log {
    writer: LogWriter,
}

impl Drop for Log {
    fn drop(&mut self) {
        self.writer.finish(LAST_WAIT);
    }
}

/// The gateway's log in a data folder.
pub fn default_path(data: &Path) -> PathBuf {
    data.join("logs").join("gateway.log")
}

/// Logs what this process traces from now on.
pub fn start(settings: LogSettings) -> Result<Log, LogError> {
    let (log, subscriber) = open(settings)?;
    tracing::subscriber::set_global_default(subscriber).map_err(|_| LogError::Twice)?;
    Ok(log)
}

/// A log, and what is to be told to it.
pub fn open(settings: LogSettings) -> Result<(Log, impl Subscriber + Send + Sync), LogError> {
    let LogSettings { target, format, filter, spans } = settings;
    let sink = match target {
        LogTarget::Stderr => Sink::Stderr,
        LogTarget::File(path) => {
            let file = RotatingFile::open(&path, FILE_BYTES_MAX, FILES_MAX);
            Sink::File(file.map_err(|source| LogError::File { path, source })?)
        }
    };
    let writer = LogWriter::start(sink).map_err(LogError::Thread)?;
    let layer = LogLayer::new(LineSender::clone(writer.sender()), format);
    let spans = spans.map(|queue| OtlpLayer(queue).with_filter(otlp::targets()));
    let subscriber = Registry::default().with(layer.with_filter(filter.targets())).with(spans);
    Ok((Log { writer }, subscriber))
}
