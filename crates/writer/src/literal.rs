//! Values as literals of both languages. Whatever a value holds, its literal is one token of the program.

use serde_json::Value;

use crate::Language;

/// The literal of a value. Objects are never made from sentences, so they have none.
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

/// A text between double quotes. Letters and digits of any script stay readable; everything else beyond
/// ASCII is escaped, so that nothing turns the line around or breaks it.
pub fn quoted(language: Language, text: &str) -> String {
    let mut made = String::with_capacity(text.len() + 2);
    made.push('"');
    for c in text.chars() {
        match c {
            '"' => made.push_str("\\\""),
            '\\' => made.push_str("\\\\"),
            '\n' => made.push_str("\\n"),
            '\r' => made.push_str("\\r"),
            '\t' => made.push_str("\\t"),
            ' '..='~' => made.push(c),
            c if c.is_alphanumeric() => made.push(c),
            c if (c as u32) <= 0xffff => made.push_str(&format!("\\u{:04x}", c as u32)),
            c if language == Language::Python => made.push_str(&format!("\\U{:08x}", c as u32)),
            c => made.push_str(&format!("\\u{{{:x}}}", c as u32)),
        }
    }
    made.push('"');
    made
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
        check("\u{2028}\u{202e}\u{0}", r#""\u2028\u202e\u0000""#, r#""\u2028\u202e\u0000""#);
        check("🙂", r#""\U0001f642""#, r#""\u{1f642}""#);
    }

    #[test]
    fn other_values_are_those_of_the_language() {
        assert_eq!(literal(Language::Python, &json!([1, 2.5, true, null])), "[1, 2.5, True, None]");
        assert_eq!(literal(Language::TypeScript, &json!([1, 2.5, true, null])), "[1, 2.5, true, null]");
    }
}
