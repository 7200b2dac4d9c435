//! The arguments of a request, parsed when the first rule looks at them, or never.

use std::cell::OnceCell;

use serde_json::Value;

/// Arguments as they will be sent.
pub struct Arguments<'a> {
    text: &'a str,
    parsed: OnceCell<Value>,
}

impl<'a> Arguments<'a> {
    /// A JSON object.
    pub fn of(text: &'a str) -> Self {
        Self { text, parsed: OnceCell::new() }
    }

    /// There are none.
    pub fn none() -> Self {
        Self::of("{}")
    }

    pub fn value(&self) -> &Value {
        self.parsed.get_or_init(|| serde_json::from_str(self.text).unwrap_or_default())
    }

    /// Whether anybody has looked.
    #[cfg(test)]
    pub(super) fn were_parsed(&self) -> bool {
        self.parsed.get().is_some()
    }
}
