//! What is known of one execution afterwards.

use serde::{Deserialize, Serialize, Serializer};

use crate::report::TokenAccount;

/// One execution, as it was recorded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExecutionRecord {
    #[serde(flatten)]
    pub summary: ExecutionSummary,
    /// In which language it was written.
    pub language: String,
    /// The level that it ran at.
    pub level: String,
    /// BLAKE3 of its text.
    pub program_hash: String,
    /// Variables that it was given, as JSON; absent if they were too many, or contents are not kept.
    pub context: Option<String>,
    pub context_bytes: u64,
    pub error: Option<RecordedError>,
    /// Things worth knowing that are not errors.
    pub notes: Vec<String>,
    pub stdout: KeptText,
    /// What it printed as errors.
    pub stderr: KeptText,
    /// Its result: JSON, unless it is cut.
    pub result: Option<KeptText>,
    /// Its first calls, in the order in which they began.
    pub tools_called: Vec<RecordedCall>,
    /// Where its time went, one stage after the other.
    #[serde(skip)]
    pub stages: Vec<RecordedStage>,
    /// The trace that it was part of.
    #[serde(skip)]
    pub trace_id: Option<String>,
    /// The process that ran it.
    #[serde(skip)]
    pub gateway: String,
}

/// One stage of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedStage {
    pub name: String,
    /// Since the beginning of the first.
    pub began_ms: f64,
    pub time_ms: f64,
}

/// The figures of one execution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExecutionSummary {
    pub id: String,
    /// The session it worked in; empty without one, which is `null` in JSON.
    #[serde(serialize_with = "null_if_empty")]
    pub session: String,
    /// What that is called, as long as it is there.
    #[serde(skip)]
    pub session_name: Option<String>,
    pub owner: String,
    /// When it was asked for, in milliseconds since 1970.
    pub started_ms: i64,
    /// From the request to the report.
    pub duration_ms: f64,
    pub outcome: RecordedOutcome,
    /// The code of its error.
    pub error_code: Option<String>,
    /// Limits that refused something, the fatal one first.
    pub limits_hit: Vec<String>,
    /// What was found in it before it ran, as `rule:line`.
    pub findings: Vec<String>,
    /// How many tools were called.
    pub calls: u64,
    /// How many of these calls failed.
    pub calls_failed: u64,
    /// What went through a model, and what did not have to.
    pub tokens: TokenAccount,
    pub cpu_time_ms: f64,
    /// The most memory that the interpreter had.
    pub memory_peak_bytes: u64,
    /// Its text; absent if contents are not kept. In lists only its beginning.
    pub code: Option<String>,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordedOutcome {
    Running,
    /// It ran to its end.
    Ok,
    /// An error or a limit.
    Failed,
    /// The caller took it back.
    Cancelled,
    /// Its gateway was gone before it ended.
    Lost,
}

/// Why an execution failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedError {
    /// Stable; see docs/errors.md.
    pub code: String,
    pub line: Option<u64>,
    /// Absent if contents are not kept, as the rest.
    pub message: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
    /// The program's own frames.
    pub traceback: Option<String>,
}

/// A text, or what was kept of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptText {
    /// Absent if contents are not kept.
    pub text: Option<String>,
    /// How long it was as a whole.
    pub bytes: u64,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedCall {
    /// As the program named it.
    pub name: String,
    /// The program's line, as far as it told.
    pub line: Option<u64>,
    /// Whether the tool answered with a value.
    pub ok: bool,
    /// Whether it left us.
    pub sent: bool,
    /// How long it took.
    pub time_ms: f64,
    /// When it began, since the beginning of the first stage; absent if that was not kept.
    #[serde(skip)]
    pub began_ms: Option<f64>,
    /// Its arguments, as JSON.
    pub argument_bytes: u64,
    /// The same in tokens.
    pub argument_tokens: u64,
    /// What came back, as JSON, with its files.
    pub answer_bytes: u64,
    /// The same in tokens, without files.
    pub answer_tokens: u64,
    /// What went wrong; absent if contents are not kept.
    pub error: Option<String>,
}

fn null_if_empty<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match text.is_empty() {
        true => serializer.serialize_none(),
        false => serializer.serialize_str(text),
    }
}

impl RecordedOutcome {
    pub const ALL: [RecordedOutcome; 5] = [
        RecordedOutcome::Running,
        RecordedOutcome::Ok,
        RecordedOutcome::Failed,
        RecordedOutcome::Cancelled,
        RecordedOutcome::Lost,
    ];

    /// Whether it is known how it ended, and so how long it took.
    pub fn is_known(self) -> bool {
        match self {
            RecordedOutcome::Running | RecordedOutcome::Lost => false,
            RecordedOutcome::Ok | RecordedOutcome::Failed | RecordedOutcome::Cancelled => true,
        }
    }

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            RecordedOutcome::Running => "running",
            RecordedOutcome::Ok => "ok",
            RecordedOutcome::Failed => "failed",
            RecordedOutcome::Cancelled => "cancelled",
            RecordedOutcome::Lost => "lost",
        }
    }

    /// As it was written. What nobody wrote counts as lost.
    pub(crate) fn read(text: &str) -> Self {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text).unwrap_or(RecordedOutcome::Lost)
    }
}

impl KeptText {
    /// Whether something of it is missing.
    pub fn is_cut(&self) -> bool {
        self.text.as_ref().is_some_and(|text| (text.len() as u64) < self.bytes)
    }
}
