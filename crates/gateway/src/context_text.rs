//! A program's variables, as the text of a JSON object.

use std::sync::Arc;

use serde_json::{Map, Value};

/// Variables that a program finds defined. Text and not values: parsed it would be many times as large, for
/// as long as the program waits and runs. Clones share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextText(Option<Arc<str>>);

impl ContextText {
    /// A JSON object.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or("{}")
    }

    /// From the text of a JSON object that was one of these before.
    pub(crate) fn of_object(text: &str) -> Self {
        match text {
            "{}" => Self(None),
            text => Self(Some(text.into())),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl From<Map<String, Value>> for ContextText {
    fn from(variables: Map<String, Value>) -> Self {
        match variables.is_empty() {
            true => Self(None),
            false => Self(Some(Value::Object(variables).to_string().into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_are_an_object_even_where_there_are_none() {
        let of = |value: Value| match value {
            Value::Object(variables) => ContextText::from(variables),
            other => unreachable!("{other}"),
        };
        assert_eq!(of(json!({})), ContextText::default());
        assert_eq!(of(json!({})).as_str(), "{}");
        assert_eq!(of(json!({"a": [1, 2]})).as_str(), r#"{"a":[1,2]}"#);
        assert!(of(json!({})).is_empty() && !of(json!({"a": 1})).is_empty());
    }
}
