//! An execution as it is written, and as it is asked for.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::execution_record::{
    ExecutionRecord, KeptText, RecordedCall, RecordedError, RecordedOutcome, RecordedStage,
};
use crate::ids::Owner;
use crate::report::TokenAccount;

/// Which executions are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    /// Those of one owner; `None` for everyone's.
    pub owner: Option<Owner>,
    /// Those that worked in this session.
    pub session: Option<String>,
    /// Those that failed or were lost.
    pub failed: bool,
    /// Those that began at or after this moment.
    pub since: Option<SystemTime>,
}

/// What was found under a name, or the beginning of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Nothing,
    One(Box<ExecutionRecord>),
    /// Names that begin so; some of them if there are many.
    Several(Vec<String>),
}

/// A row, as it is written first.
#[derive(Serialize, Deserialize)]
pub(crate) struct BegunRow {
    pub id: String,
    pub gateway: String,
    pub owner: String,
    /// Empty if it has none yet.
    pub session: String,
    pub language: Cow<'static, str>,
    pub level: Cow<'static, str>,
    pub program: String,
    /// Absent if contents are not kept.
    pub code: Option<String>,
    pub context: Option<String>,
    pub context_bytes: u64,
    pub started_ms: i64,
    /// The trace that it is part of.
    pub trace_id: Option<String>,
    pub weight: usize,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct EndedRow {
    /// Written now if it was not then.
    pub begun: Arc<BegunRow>,
    pub session: String,
    pub outcome: RecordedOutcome,
    pub duration_ms: f64,
    pub cpu_ms: f64,
    pub memory_peak_bytes: u64,
    pub calls: u64,
    pub calls_failed: u64,
    #[serde(with = "super::kept_whole::tokens")]
    pub tokens: TokenAccount,
    pub weight: usize,
    pub limits_hit: String,
    /// `rule:line`, parted by spaces.
    pub findings: String,
    pub error: Option<RecordedError>,
    pub notes: Option<String>,
    pub stdout: KeptText,
    pub stderr: KeptText,
    pub result: Option<KeptText>,
    #[serde(with = "super::kept_whole::calls")]
    pub tools_called: Vec<RecordedCall>,
    pub stages: Vec<RecordedStage>,
}
