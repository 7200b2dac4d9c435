//! Analyses: declarative work on data, each in a jailed process of its own that ends with it.
//!
//! The way of one: [`job`] (what is asked, measured, as the worker's frame) → a place and a child →
//! [`drive`] (one job in, one outcome back, the deadline beside it) → [`outcome`] (what is said about
//! it). [`in_program`] is the same for a program's `analyze`.
//!
//! Walls: no engine is linked here. The data is never parsed in this process; it goes to the worker as
//! text or as a descriptor, and the output comes back as a file that the worker has written. Whatever
//! the worker says, and whatever it wrote, is hostile.

mod drive;
mod format;
mod in_program;
mod job;
mod outcome;
mod output_file;

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_domain::{Code, Level, Limits};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::pool::{CheckoutError, Pool};

pub use format::{format_of_path, is_path};
pub(crate) use in_program::{AnalysisCall, ProgramAnalyses};
pub use job::{NAME_BYTES_MAX, OUTPUT_BYTES_MAX, REQUEST_BYTES_MAX};
pub(crate) use output_file::unlinked_file_in;

/// The fewest that run at once, however few cores there are: a slow one must not hold up all others.
const PLACES_MIN: usize = 2;

/// What is to be analyzed, and how.
#[derive(Debug)]
pub struct AnalysisRequest {
    /// JSON: `{"steps": [...]}`, or `{"analysis_type": ..., "parameters": {...}}`.
    pub request: String,
    /// The data first; further ones for joins and references, by name.
    pub inputs: Vec<AnalysisInput>,
    /// Wall time, CPU time and memory; `None` takes the gateway's.
    pub limits: Option<Limits>,
    /// An empty file, open for reading and writing, which the whole output is written to.
    pub output: File,
}

#[derive(Debug)]
pub struct AnalysisInput {
    /// What the steps call it.
    pub name: String,
    /// `json`, `json_lines`, `csv` or `parquet`; `None` if the content is to tell.
    pub format: Option<String>,
    pub data: AnalysisData,
}

/// Where an input is.
#[derive(Debug)]
pub enum AnalysisData {
    /// Here: JSON text, as a rule.
    Inline(String),
    /// In a plain file, open for reading only.
    File(File),
}

/// An analysis that was done.
#[derive(Debug)]
pub struct AnalysisOutcome {
    /// Rows of the output, if it is a table.
    pub rows: Option<u64>,
    /// Its columns, if it is a table.
    pub columns: Vec<String>,
    /// What a reader should know: values that were cast, columns that were renamed.
    pub notes: Vec<String>,
    /// The file of the request, from its beginning: one JSON text, by the worker's word.
    pub output: File,
    /// How long it is.
    pub output_bytes: u64,
    /// From handing the job to a worker until its outcome.
    pub time_ms: f64,
    /// Memory beyond what every worker begins with; the worker's word.
    pub memory_peak_bytes: u64,
}

/// An analysis that was not done, or not to its end. The inputs are untouched; what the output file
/// holds is of no use. The next analysis works.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AnalysisFailure {
    /// Which kind of failure.
    pub code: Code,
    pub message: String,
    pub hint: Option<String>,
    /// In which step, counted from 1.
    pub step: Option<usize>,
}

impl AnalysisFailure {
    fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: Some(hint.into()), step: None }
    }
}

/// What every analysis shares. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Analyses {
    pool: Arc<Pool>,
    places: Arc<Semaphore>,
    limits: Limits,
    queue_timeout: Duration,
}

impl Analyses {
    pub fn new(pool: Arc<Pool>, limits: Limits, queue_timeout: Duration, cores: usize) -> Self {
        let places = Arc::new(Semaphore::new(Self::places(cores)));
        Self { pool, places, limits, queue_timeout }
    }

    /// How many run at once on so many cores.
    pub fn places(cores: usize) -> usize {
        cores.max(PLACES_MIN)
    }

    /// From here on none begins.
    pub fn close(&self) {
        self.places.close();
    }

    pub async fn run(&self, request: AnalysisRequest) -> Result<AnalysisOutcome, AnalysisFailure> {
        if let Some(limits) = &request.limits {
            self.check_level(limits.level()).await?;
        }
        let mut job = job::prepare(request, &self.limits)?;
        let _place = self.take_place().await?;
        let worker = self.pool.checkout_analysis().await.map_err(no_worker)?;
        let started = Instant::now();
        let ending = drive::drive(worker, &mut job).await;
        outcome::settle(ending, job, started.elapsed())
    }

    /// An analysis may be held to a stricter level than the gateway's, if its layers stand.
    async fn check_level(&self, level: Level) -> Result<(), AnalysisFailure> {
        if level <= self.limits.level() {
            return Ok(());
        }
        match self.pool.lacks(level).await {
            None => Ok(()),
            Some(wall) => Err(AnalysisFailure::new(
                Code::BadRequest,
                format!("level {level} needs the sandbox layer {wall:?}, which this machine doesn't have"),
                "`gristmill doctor --level` with that level says how to get it; nothing ran",
            )),
        }
    }

    async fn take_place(&self) -> Result<OwnedSemaphorePermit, AnalysisFailure> {
        let busy = |why: String| AnalysisFailure::new(Code::Busy, why, "try again in a moment");
        let wait = Arc::clone(&self.places).acquire_owned();
        match tokio::time::timeout(self.queue_timeout, wait).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) => Err(busy("the gateway is closing; nothing ran".to_owned())),
            Err(_) => Err(busy(format!(
                "too many analyses are running, and none finished within {} s; nothing ran",
                self.queue_timeout.as_secs()
            ))),
        }
    }
}

fn no_worker(error: CheckoutError) -> AnalysisFailure {
    let hint = match &error {
        CheckoutError::Unavailable(_) => "run `gristmill doctor` to see what's missing",
        CheckoutError::TimedOut(_) => "try again; `gristmill doctor` shows the state of the workers",
    };
    AnalysisFailure::new(Code::WorkerUnavailable, format!("can't start a worker: {error}"), hint)
}
