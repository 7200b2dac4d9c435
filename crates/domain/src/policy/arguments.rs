//! The arguments of a request, parsed when the first rule looks at them, or never.

use std::cell::OnceCell;

use serde_json::Value;

/// Arguments as they will be sent, or as a server may take them.
pub struct Arguments<'a> {
    given: Given<'a>,
    parsed: OnceCell<Value>,
    spelling: Spelling,
}

#[derive(Clone, Copy)]
enum Given<'a> {
    Text(&'a str),
    Value(&'a Value),
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
        Self { given: Given::Text(text), parsed: OnceCell::new(), spelling: Spelling::AsSent }
    }

    /// The same, for whoever has it at hand.
    pub fn of_value(value: &'a Value) -> Self {
        Self { given: Given::Value(value), parsed: OnceCell::new(), spelling: Spelling::AsSent }
    }

    /// Arguments in one spelling.
    pub(super) fn spelled(value: Value, spelling: Spelling) -> Self {
        Self { given: Given::Text("{}"), parsed: OnceCell::from(value), spelling }
    }

    pub(super) fn spelling(&self) -> Spelling {
        self.spelling
    }

    /// There are none.
    pub fn none() -> Self {
        Self::of("{}")
    }

    pub fn value(&self) -> &Value {
        match self.given {
            Given::Value(value) => value,
            Given::Text(text) => self.parsed.get_or_init(|| serde_json::from_str(text).unwrap_or_default()),
        }
    }

    /// Whether anybody has looked.
    #[cfg(test)]
    pub(super) fn were_parsed(&self) -> bool {
        self.parsed.get().is_some()
    }
}
