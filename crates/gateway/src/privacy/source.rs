//! Where a value comes from, which tells what it is.

use serde_json::{Map, Value};

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'s> {
    pub server: Option<&'s str>,
    pub tool: Option<&'s str>,
    /// What the document is described by.
    pub schema: Option<&'s Value>,
    /// Whether a token must look like what the schema demands.
    pub keeps_formats: bool,
    /// Names of the fields that it was found under, the outermost first.
    pub above: &'s [String],
    /// The object that it is a member of.
    pub beside: Option<&'s Map<String, Value>>,
}

/// The same, for a thread of its own.
pub(super) struct OwnedSource {
    server: Option<String>,
    tool: Option<String>,
    schema: Option<Value>,
    keeps_formats: bool,
    above: Vec<String>,
    beside: Option<Map<String, Value>>,
}

impl Source<'_> {
    pub(super) fn to_owned(self) -> OwnedSource {
        OwnedSource {
            server: self.server.map(str::to_owned),
            tool: self.tool.map(str::to_owned),
            schema: self.schema.cloned(),
            keeps_formats: self.keeps_formats,
            above: self.above.to_vec(),
            beside: self.beside.cloned(),
        }
    }
}

impl OwnedSource {
    pub fn borrowed(&self) -> Source<'_> {
        Source {
            server: self.server.as_deref(),
            tool: self.tool.as_deref(),
            schema: self.schema.as_ref(),
            keeps_formats: self.keeps_formats,
            above: &self.above,
            beside: self.beside.as_ref(),
        }
    }
}

/// Whether a document takes no more than so many bytes, roughly; no more of it is looked at.
pub(super) fn fits(value: &Value, left: &mut usize) -> bool {
    let takes = |left: &mut usize, bytes: usize| left.checked_sub(bytes).map(|rest| *left = rest).is_some();
    match value {
        Value::String(text) => takes(left, text.len() + 2),
        Value::Null | Value::Bool(_) | Value::Number(_) => takes(left, 8),
        Value::Array(items) => takes(left, 2) && items.iter().all(|item| fits(item, left)),
        Value::Object(members) => {
            takes(left, 2)
                && members.iter().all(|(key, value)| takes(left, key.len() + 4) && fits(value, left))
        }
    }
}

/// How many bytes a document takes, roughly, up to a bound.
pub(super) fn bytes_of(value: &Value, bytes_max: usize) -> usize {
    let mut left = bytes_max;
    match fits(value, &mut left) {
        true => bytes_max - left,
        false => bytes_max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_measured_no_further_than_it_may_be_large() {
        assert!(fits(&json!({"a": [1, "two", null]}), &mut { 64 }));
        for large in [json!("x".repeat(65)), json!(vec![0; 9]), json!({"k".repeat(65): 1})] {
            assert!(!fits(&large, &mut { 64 }), "{large}");
            assert_eq!(bytes_of(&large, 64), 64, "{large}");
        }
        assert_eq!(bytes_of(&json!(["one"]), 64), 7);
    }
}
