//! A schema and a value in a few words: what is allowed, and what was given.

use serde_json::{Map, Value};

use super::references;
use crate::visible_text::one_line;

const CHOICES_MAX: usize = 12;
const ALTERNATIVES_MAX: usize = 6;
const DEPTH_MAX: usize = 3;
const TEXT_CHARS_MAX: usize = 60;
const SUMMARY_CHARS_MAX: usize = 120;

/// A value, short: texts and numbers as they are, containers by their size.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => one_line(number.as_str(), 40),
        Value::String(text) => quoted(text),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text, TEXT_CHARS_MAX).replace('"', "\\\""))
}

/// The first line of a schema's description.
pub(super) fn summary(root: &Value, schema: &Value) -> Option<String> {
    let own = schema.get("description").and_then(Value::as_str);
    let text = own.or_else(|| references::followed(root, schema).get("description")?.as_str())?;
    let line = text.trim().lines().next()?.trim();
    let end = line.find(". ").unwrap_or(line.len());
    let line = one_line(line[..end].trim_end_matches('.'), SUMMARY_CHARS_MAX);
    (!line.is_empty()).then_some(line)
}

/// What a schema allows, such as "a whole number of at least 1"; nothing where it says nothing.
pub(super) fn expectation(root: &Value, schema: &Value) -> Option<String> {
    expected(root, schema, 0)
}

fn expected(root: &Value, schema: &Value, depth: usize) -> Option<String> {
    let Value::Object(keywords) = references::followed(root, schema) else {
        return None;
    };
    if let Some(value) = keywords.get("const") {
        return Some(shown(value));
    }
    if let Some(Value::Array(values)) = keywords.get("enum") {
        return Some(choices(values));
    }
    let names: Vec<&str> = match keywords.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).take(7).collect(),
        _ => Vec::new(),
    };
    if !names.is_empty() {
        let words: Vec<String> = names.iter().map(|name| of_type(name, keywords)).collect();
        return Some(words.join(" or "));
    }
    if depth >= DEPTH_MAX {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    for keyword in ["anyOf", "oneOf"] {
        for part in keywords.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            let part = expected(root, part, depth + 1)?;
            if !words.contains(&part) {
                words.push(part);
            }
            if words.len() > ALTERNATIVES_MAX {
                return None;
            }
        }
    }
    if words.is_empty()
        && let Some(Value::Array(parts)) = keywords.get("allOf")
    {
        return parts.iter().take(ALTERNATIVES_MAX).find_map(|part| expected(root, part, depth + 1));
    }
    (!words.is_empty()).then(|| words.join(" or "))
}

fn choices(values: &[Value]) -> String {
    let mut list = values.iter().take(CHOICES_MAX).map(shown).collect::<Vec<_>>().join(", ");
    match values {
        [] => return "nothing".to_owned(),
        [_] => return list,
        _ => {}
    }
    if values.len() > CHOICES_MAX {
        list.push_str(&format!(" or {} more", values.len() - CHOICES_MAX));
    }
    format!("one of {list}")
}

fn of_type(name: &str, keywords: &Map<String, Value>) -> String {
    match name {
        "string" => {
            let mut text = format!("text{}", span(keywords, "minLength", "maxLength", "character"));
            if let Some(Value::String(pattern)) = keywords.get("pattern") {
                text.push_str(&format!(" that matches /{}/", one_line(pattern, 80)));
            }
            text
        }
        "integer" => format!("a whole number{}", range(keywords)),
        "number" => format!("a number{}", range(keywords)),
        "boolean" => "true or false".to_owned(),
        "array" => format!("a list{}", span(keywords, "minItems", "maxItems", "item")),
        "object" => "an object".to_owned(),
        other => one_line(other, 20),
    }
}

fn span(keywords: &Map<String, Value>, least: &str, most: &str, unit: &str) -> String {
    let number = |name: &str| keywords.get(name).and_then(Value::as_u64);
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    match (number(least).filter(|least| *least > 0), number(most)) {
        (Some(least), Some(most)) if least == most => format!(" of {least} {unit}{}", plural(least)),
        (Some(least), Some(most)) => format!(" of {least} to {most} {unit}s"),
        (Some(least), None) => format!(" of at least {least} {unit}{}", plural(least)),
        (None, Some(most)) => format!(" of at most {most} {unit}{}", plural(most)),
        (None, None) => String::new(),
    }
}

fn range(keywords: &Map<String, Value>) -> String {
    let number = |name: &str| keywords.get(name).filter(|value| value.is_number()).map(shown);
    // The widest safe integers are what generators write for "any".
    let real = |text: &String| !matches!(text.as_str(), "9007199254740991" | "-9007199254740991");
    let least = number("minimum").filter(real);
    let most = number("maximum").filter(real);
    let mut words = match (least, most) {
        (Some(least), Some(most)) => format!(" of {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    };
    for (keyword, word) in
        [("exclusiveMinimum", "above"), ("exclusiveMaximum", "below"), ("multipleOf", "in steps of")]
    {
        if let Some(limit) = number(keyword).filter(real) {
            words.push_str(&format!(" {word} {limit}"));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_is_said_in_a_few_words() {
        let root = json!({"$defs": {"mode": {"enum": ["a", "b"]}}});
        let check = |schema: Value, expected: Option<&str>| {
            assert_eq!(expectation(&root, &schema).as_deref(), expected, "{schema}");
        };
        check(json!({}), None);
        check(json!(true), None);
        check(json!({"type": "string", "minLength": 1}), Some("text of at least 1 character"));
        check(json!({"type": "string", "pattern": "^a$"}), Some("text that matches /^a$/"));
        check(
            json!({"type": "integer", "minimum": 1, "maximum": 9007199254740991u64}),
            Some("a whole number of at least 1"),
        );
        check(
            json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1.5}),
            Some("a number of at most 1.5 above 0"),
        );
        check(json!({"type": ["string", "null"]}), Some("text or null"));
        check(
            json!({"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/mode"}]}),
            Some("true or false or one of \"a\", \"b\""),
        );
        check(json!({"type": "array", "minItems": 2, "maxItems": 2}), Some("a list of 2 items"));
        check(json!({"const": 3}), Some("3"));
        check(json!({"type": "string\n\u{202e}x"}), Some("string \\u{202e}x"));
    }
}
