//! Values as literals of both languages. Whatever a value holds, its literal is one token of the program.

pub use gristmill_domain::stubs::string_literal as quoted;
use serde_json::Value;

use crate::Language;

/// The literal of a value; a number stays as it was written, however long. Objects are never made from sentences,
/// so they have none.
pub fn literal(language: Language, value: &Value) -> String {
    match value {
        Value::Null | Value::Object(_) => match language {
            Language::Python => "None".to_owned(),
            Language::TypeScript => "null".to_owned(),
        },
        Value::Bool(true) if language == Language::Python => "True".to_owned(),
        Value::Bool(false) if language == Language::Python => "False".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(language, text),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| literal(language, value)).collect();
            format!("[{}]", values.join(", "))
        }
    }
}

/// Whether a name can stand in a program as it is.
pub fn is_identifier(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.len() <= 128 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_one_token_whatever_it_holds() {
        let check = |text: &str, python: &str, typescript: &str| {
            assert_eq!(quoted(Language::Python, text), python);
            assert_eq!(quoted(Language::TypeScript, text), typescript);
        };
        check("a\"b\\c\nd", r#""a\"b\\c\nd""#, r#""a\"b\\c\nd""#);
        check("${x} 'y' `z`", r#""${x} 'y' `z`""#, r#""${x} 'y' `z`""#);
        check("Zürich 東京", "\"Zürich 東京\"", "\"Zürich 東京\"");
        check("\u{2028}\u{202e}\u{0}", r#""\u2028\u202e\x00""#, r#""\u2028\u202e\x00""#);
        check("🙂", r#""\U0001f642""#, r#""\u{1f642}""#);
    }

    #[test]
    fn a_letter_that_nobody_sees_is_escaped() {
        assert_eq!(quoted(Language::Python, "a\u{3164}b"), r#""a\u3164b""#);
    }

    #[test]
    fn other_values_are_those_of_the_language() {
        assert_eq!(literal(Language::Python, &json!([1, 2.5, true, null])), "[1, 2.5, True, None]");
        assert_eq!(literal(Language::TypeScript, &json!([1, 2.5, true, null])), "[1, 2.5, true, null]");
    }
}
