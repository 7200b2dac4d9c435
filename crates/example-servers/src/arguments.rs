//! Arguments taken out of a call, each with its kind and its bounds.

use gristmill_domain::cut_chars;
use serde_json::{Map, Value};

/// The longest text shown back in an error.
const SHOWN_CHARS_MAX: usize = 80;

/// A text that must be given.
pub fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    match arguments.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("`{name}` must be a text, not {}", kind(other))),
        None => Err(format!("`{name}` is missing; it must be a text")),
    }
}

/// A text that may be left out or null.
pub fn optional_text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => text(arguments, name).map(Some),
    }
}

/// A number that must be given.
pub fn number(arguments: &Map<String, Value>, name: &str) -> Result<f64, String> {
    let value = arguments.get(name).ok_or_else(|| format!("`{name}` is missing; it must be a number"))?;
    finite(value).ok_or_else(|| format!("`{name}` must be a number, not {}", kind(value)))
}

/// A whole number within bounds; `default` if it is left out or null.
pub fn whole(
    arguments: &Map<String, Value>,
    name: &str,
    default: u64,
    bounds: [u64; 2],
) -> Result<u64, String> {
    let [least, most] = bounds;
    let value = match arguments.get(name) {
        None | Some(Value::Null) => return Ok(default),
        Some(value) => value,
    };
    // 3.0 is a whole number too: some clients write all numbers so.
    let exact = finite(value).filter(|number| number.fract() == 0.0 && *number >= 0.0 && *number < 9.0e15);
    match exact.map(|number| number as u64) {
        Some(number) if (least..=most).contains(&number) => Ok(number),
        Some(_) | None => {
            let given = shown(&value.to_string());
            Err(format!("`{name}` must be a whole number from {least} to {most}, not {given}"))
        }
    }
}

/// Yes or no; no if it is left out or null.
pub fn flag(arguments: &Map<String, Value>, name: &str) -> Result<bool, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(yes)) => Ok(*yes),
        Some(other) => Err(format!("`{name}` must be true or false, not {}", kind(other))),
    }
}

/// A number that a computer can hold.
pub fn finite(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

/// A foreign text, short enough for an error.
pub fn shown(text: &str) -> String {
    cut_chars(text, SHOWN_CHARS_MAX)
}

/// What a value is, in words.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
