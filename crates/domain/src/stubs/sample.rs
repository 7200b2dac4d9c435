//! A value to show for a schema, for example calls.

use serde_json::{Map, Value};

use super::pattern_sample::matching;
use super::types::Type;

/// A value of the schema, if it says more than its type does.
pub(super) fn sample(schema: &Map<String, Value>, value: &Type) -> Option<Value> {
    let is_good = |sample: &&Value| is_small(sample) && !sample.is_null() && value.takes(sample);
    let examples = schema.get("examples").and_then(Value::as_array).into_iter().flatten().take(4);
    let single = ["example", "default", "const"].iter().filter_map(|name| schema.get(*name));
    let values = schema.get("enum").and_then(Value::as_array).and_then(|values| values.first());
    if let Some(sample) = examples.chain(single).chain(values).find(is_good) {
        return Some(sample.clone());
    }
    let by_format = match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T09:30:00Z",
        "time" => "09:30:00Z",
        "duration" => "PT1H",
        "email" | "idn-email" => "ada@example.com",
        "uri" | "url" | "iri" | "uri-reference" => "https://example.com",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        _ => "",
    };
    let by_format = Some(by_format).filter(|text| !text.is_empty()).map(Value::from);
    let items = schema.get("items").and_then(Value::as_object);
    let by_item = match (value, items) {
        (Type::List(item), Some(items)) if !items.contains_key("items") => {
            sample(items, item).map(|sample| Value::Array(vec![sample]))
        }
        _ => None,
    };
    let made = by_format.or_else(|| by_pattern(schema)).or_else(|| by_range(schema)).or(by_item);
    made.filter(|sample| value.takes(sample))
}

fn by_pattern(schema: &Map<String, Value>) -> Option<Value> {
    let number =
        |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    let low = number("minLength").unwrap_or(0);
    let high = number("maxLength").unwrap_or(usize::MAX);
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        let is_good = |text: &String| !text.is_empty() && (low..=high).contains(&text.chars().count());
        // What ends a pattern can mostly be repeated.
        let padded = |text: String| match text.chars().last() {
            Some(last) if text.chars().count() < low && low <= 64 => {
                let missing = low - text.chars().count();
                format!("{text}{}", last.to_string().repeat(missing))
            }
            _ => text,
        };
        return matching(pattern).map(padded).filter(is_good).map(Value::from);
    }
    const WORD: &str = "text";
    if (WORD.len() + 1..=64).contains(&low) {
        return Some(Value::from("x".repeat(low)));
    }
    (high < WORD.len()).then(|| Value::from(&WORD[..high]))
}

/// A number in range, where that is not simply one.
fn by_range(schema: &Map<String, Value>) -> Option<Value> {
    let bound = |name: &str| schema.get(name).filter(|value| value.as_f64().is_some_and(f64::is_finite));
    let float = |value: &Value| value.as_f64().unwrap_or_default();
    if let Some(low) = bound("minimum").filter(|low| float(low) > 1.0) {
        return Some(low.clone());
    }
    if let Some(high) = bound("maximum").filter(|high| float(high) < 1.0) {
        return Some(high.clone());
    }
    let low = bound("exclusiveMinimum").map(float);
    let high = bound("exclusiveMaximum").map(float);
    match (low, high) {
        (Some(low), Some(high)) if low < high && high <= 1.0 => Some(Value::from((low + high) / 2.0)),
        (Some(low), _) if (1.0..1e9).contains(&low) => {
            schema.get("exclusiveMinimum")?.as_i64().map(|low| Value::from(low + 1))
        }
        _ => None,
    }
}

/// Whether a value is short and flat enough to be copied and shown.
pub(super) fn is_small(value: &Value) -> bool {
    fn fits(value: &Value, depth: usize, left: &mut usize) -> bool {
        let cost = match value {
            Value::String(text) => text.len(),
            Value::Number(number) => number.as_str().len(),
            Value::Null | Value::Bool(_) => 4,
            Value::Array(items) => items.len(),
            Value::Object(members) => members.keys().map(String::len).sum::<usize>() + members.len(),
        };
        if depth == 0 || cost > *left {
            return false;
        }
        *left -= cost;
        match value {
            Value::Array(items) => items.iter().all(|item| fits(item, depth - 1, left)),
            Value::Object(members) => members.values().all(|member| fits(member, depth - 1, left)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
    }
    fits(value, 4, &mut 200)
}
