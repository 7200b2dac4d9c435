//! What happened. Both come when something has ended.

use serde::{Deserialize, Serialize};

/// An execution ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Executed {
    pub id: String,
    /// Whose it is: `local`, or a token's name.
    pub caller: String,
    /// The session's name or handle.
    pub session: Option<String>,
    /// Unix time.
    pub at_ms: u64,
    pub outcome: Outcome,
    /// The code of the failure, such as GM-1201.
    pub code: Option<String>,
    pub duration_ms: u64,
    /// 0: no limit.
    pub duration_limit_ms: u64,
    pub memory_peak_bytes: u64,
    /// 0: no limit.
    pub memory_limit_bytes: u64,
    pub output_bytes: u64,
    /// Negative: direct calls would have taken fewer. `None`: not known.
    pub tokens_saved: Option<i64>,
    /// A hash of the program with the variables it was given: two runs with other variables are no repetition.
    pub program: u64,
    pub calls: u32,
}

/// How an execution ended, by whose doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Succeeded,
    /// The program raised, or didn't pass the checks.
    ProgramFailed,
    /// It was stopped at a limit.
    LimitReached,
    /// Ours or the machine's fault.
    SystemFailed,
    /// Its caller went away; says nothing about the program.
    Canceled,
}

/// A call to a server ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Called {
    pub execution: String,
    pub caller: String,
    pub server: String,
    pub tool: String,
    /// Unix time.
    pub at_ms: u64,
    pub outcome: CallOutcome,
    pub took_ms: u64,
    pub answer_bytes: u64,
    /// A cheap hash of the answer's shape: names and types of its fields, without lengths of lists and without
    /// values. 0: not known.
    pub shape: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallOutcome {
    Answered,
    /// By the policy or by a person.
    Denied,
    /// The server failed, or said that the tool did.
    Failed,
}
