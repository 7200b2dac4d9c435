//! What an analysis gives back, besides the output itself.

use serde::{Deserialize, Serialize};

/// What was written to the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysed {
    /// How many rows the table has; `None` for a report, which is one object.
    pub rows: Option<u64>,
    /// The columns of the table in order; for a report the names of its members.
    pub columns: Vec<String>,
    /// What happened on the way that a reader of the numbers should know.
    pub notes: Vec<String>,
}

/// Why an analysis could not be done. The inputs are untouched; what is in the output is to be thrown away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The step it happened in, counted from 1; `None` before the first step.
    pub step: Option<usize>,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// The field it is about.
    pub field: Option<String>,
}
