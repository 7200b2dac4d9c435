//! The arguments of a request, parsed when the first rule looks at them, or never.

use std::cell::OnceCell;

use serde_json::Value;

/// Arguments as they will be sent, or as a server may take them.
pub struct Arguments<'a> {
    text: &'a str,
    parsed: OnceCell<Value>,
    spelling: Spelling,
}

/// How a text is spelled that rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    AsSent,
    /// Without percent signs, as a server may read it: a rule's own text is read in the same way.
    Decoded,
}

impl<'a> Arguments<'a> {
    /// A JSON object.
    pub fn of(text: &'a str) -> Self {
        Self { text, parsed: OnceCell::new(), spelling: Spelling::AsSent }
    }

    /// Arguments in one spelling.
    pub(super) fn spelled(value: Value, spelling: Spelling) -> Self {
        Self { text: "{}", parsed: OnceCell::from(value), spelling }
    }

    pub(super) fn spelling(&self) -> Spelling {
        self.spelling
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
