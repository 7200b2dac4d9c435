//! The ways in which something too large is made small.

use std::fmt;
use std::str::FromStr;

/// How a value is shaped that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Strategy {
    /// Whatever suits each part: small parts whole, the first and last of many, structure of texts.
    #[default]
    Auto,
    /// What it is, how many, first and last.
    Summarize,
    /// Some of many, spread evenly; the same ones each time.
    Sample,
    /// The beginning and the end.
    HeadTail,
    /// The fields and types that were found, how often, with examples.
    Schema,
    /// For each column its types, nulls, distinct values, range and most frequent values.
    Table,
    /// Lines of text: headings, log levels, repeated lines folded.
    Text,
    /// The beginning, and nothing else.
    Truncate,
}

/// A name that no strategy has.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown strategy `{0}`; use auto, summarize, sample, head_tail, schema, table, text or truncate")]
pub struct UnknownStrategy(pub String);

impl Strategy {
    pub const ALL: [Strategy; 8] = [
        Strategy::Auto,
        Strategy::Summarize,
        Strategy::Sample,
        Strategy::HeadTail,
        Strategy::Schema,
        Strategy::Table,
        Strategy::Text,
        Strategy::Truncate,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::Auto => "auto",
            Strategy::Summarize => "summarize",
            Strategy::Sample => "sample",
            Strategy::HeadTail => "head_tail",
            Strategy::Schema => "schema",
            Strategy::Table => "table",
            Strategy::Text => "text",
            Strategy::Truncate => "truncate",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, UnknownStrategy> {
        Strategy::ALL
            .into_iter()
            .find(|strategy| strategy.as_str() == text)
            .ok_or_else(|| UnknownStrategy(crate::one_line(text, 60)))
    }
}
