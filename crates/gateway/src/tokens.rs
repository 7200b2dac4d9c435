//! Counts tokens, exactly as one family of models does (o200k).

use gristmill_domain::search::TokenCount;
use serde::Serialize;
use serde_json::Value;

/// Tokens of a text.
pub fn count(text: &str) -> usize {
    gristmill_tokens::count(text)
}

/// Whether a text comes to no more tokens than that, which takes a fraction of counting it where nothing was counted
/// before.
pub fn fits(text: &str, tokens_max: usize) -> bool {
    gristmill_tokens::fits(text, tokens_max)
}

/// These tokens, for whoever counts by any.
pub(crate) struct Tokens;

impl TokenCount for Tokens {
    fn count(&self, text: &str) -> usize {
        count(text)
    }

    fn fits(&self, text: &str, tokens_max: usize) -> bool {
        fits(text, tokens_max)
    }
}

/// What is counted exactly of one text: a count takes about as long as reading the text five times.
const COUNTED_BYTES_MAX: usize = 16 << 20;

/// Tokens of a text of any length; beyond a bound in proportion, and then it says so.
pub fn count_bounded(text: &str) -> (usize, bool) {
    if text.len() <= COUNTED_BYTES_MAX {
        return (count(text), false);
    }
    let counted = &text[..text.floor_char_boundary(COUNTED_BYTES_MAX)];
    let tokens = count(counted) as f64 * text.len() as f64 / counted.len().max(1) as f64;
    (tokens.round() as usize, true)
}

/// Tokens of a tool's definition, as a model has it that calls the tool directly: name, description and
/// input schema as compact JSON. What clients add to it, such as the server's name, is left out. One of
/// any length; beyond a bound in proportion, and then it says so.
pub fn count_definition(name: &str, description: Option<&str>, input_schema: &Value) -> (usize, bool) {
    #[derive(Serialize)]
    struct Shown<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        input_schema: &'a Value,
    }
    let shown = serde_json::to_string(&Shown { name, description, input_schema }).unwrap_or_default();
    count_bounded(&shown)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_counts_as_it_is_shown_to_a_model() {
        let schema = json!({"type": "object"});
        let check = |description: Option<&str>, shown: &str| {
            assert_eq!(count_definition("add", description, &schema), (count(shown), false));
        };
        check(Some("Adds."), r#"{"name":"add","description":"Adds.","input_schema":{"type":"object"}}"#);
        check(None, r#"{"name":"add","input_schema":{"type":"object"}}"#);
    }
}
