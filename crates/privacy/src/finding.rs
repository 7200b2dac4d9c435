//! What a scan tells.

use std::ops::Range;

use serde::Serialize;

use crate::kind::Kind;

/// One piece of personal data or one secret. Never holds the value itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: Kind,
    /// Bytes of the text, on character boundaries.
    pub span: Range<usize>,
    /// In percent.
    pub confidence: u8,
    /// Which format or check found it, such as `us-ssn` or `secret-github`.
    pub rule: &'static str,
    /// Set if the value stood in encoded text; then the span is that of the encoded text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
}

impl Finding {
    pub(crate) fn new(kind: Kind, span: Range<usize>, confidence: u8, rule: &'static str) -> Self {
        Self { kind, span, confidence, rule, encoding: None }
    }
}

/// There is more in a text or document than is told at once. What was found until then says nothing about the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are more findings than are told at once")]
pub struct TooMany;

/// How text was encoded that was looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    Base64,
    Percent,
}

/// A finding in a JSON document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JsonFinding {
    /// JSON Pointer (RFC 6901) to the value, or to the value of the key that holds the finding.
    pub pointer: String,
    /// Whether it is in the last key of the pointer instead of its value.
    pub is_in_key: bool,
    /// Its span counts bytes of the string, or of the number as it is written.
    #[serde(flatten)]
    pub finding: Finding,
}
