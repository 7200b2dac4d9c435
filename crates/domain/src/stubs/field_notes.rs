//! What a schema says about a field beside its type: format, range, default, a value to show.

use serde_json::{Map, Value};

use super::caps::{Caps, SHOWN_VALUE_CHARS_MAX};
use super::inert_text::one_line;
use super::reader::variants;
use super::reference;
use super::types::{Field, Type};

/// Adds notes, the default and a sample to a field whose type is known.
pub(super) fn add(field: &mut Field, schema: &Map<String, Value>, root: &Value, caps: &Caps) {
    let inner = reference::resolve_all(root, only_variant(schema));
    let schemas = if std::ptr::eq(inner, schema) { vec![schema] } else { vec![schema, inner] };
    for schema in &schemas {
        notes(schema, caps, &mut field.notes);
    }
    if let Some(items @ Value::Object(item)) = inner.get("items") {
        let mut each = Vec::new();
        notes(item, caps, &mut each);
        if !each.is_empty() && items.get("properties").is_none() {
            field.notes.push(format!("each: {}", each.join(", ")));
        }
    }
    if schema.get("deprecated") == Some(&Value::Bool(true)) {
        field.notes.push("deprecated".to_owned());
    }
    field.default =
        schemas.iter().find_map(|schema| schema.get("default")).filter(|value| is_small(value)).cloned();
    field.sample = schemas.iter().find_map(|schema| sample(schema, &field.value));
}

/// Of a type or nothing, the type.
fn only_variant(schema: &Map<String, Value>) -> &Map<String, Value> {
    let Some(variants) = variants(schema) else { return schema };
    let is_null = |variant: &Value| variant.get("type").and_then(Value::as_str) == Some("null");
    let mut others = variants.iter().filter(|variant| !is_null(variant)).filter_map(Value::as_object);
    match (others.next(), others.next()) {
        (Some(only), None) => only,
        _ => schema,
    }
}

fn notes(schema: &Map<String, Value>, caps: &Caps, notes: &mut Vec<String>) {
    let text = |name: &str| {
        schema.get(name).and_then(Value::as_str).map(|text| one_line(text, SHOWN_VALUE_CHARS_MAX))
    };
    let number = |name: &str| {
        schema.get(name).filter(|value| value.is_number()).map(|value| one_line(&value.to_string(), 24))
    };
    let mut note = |text: String| {
        if !notes.contains(&text) {
            notes.push(text);
        }
    };
    if let Some(Value::Array(values)) = schema.get("enum")
        && values.len() > caps.literals_max
    {
        let first: Vec<String> = values.iter().take(8).map(shown).collect();
        note(format!("one of {} values: {}, …", values.len(), one_line(&first.join(", "), 200)));
    }
    if let Some(format) = text("format").filter(|format| !format.is_empty()) {
        note(format);
    }
    if let Some(encoding) = text("contentEncoding") {
        note(encoding);
    }
    let range = |low: &str, high: &str, unit: &str| match (number(low), number(high)) {
        (Some(low), Some(high)) if low == high => Some(format!("exactly {low}{unit}")),
        (Some(low), Some(high)) => Some(format!("{low} to {high}{unit}")),
        (Some(low), None) if low == "0" => None,
        (Some(low), None) => Some(format!("at least {low}{unit}")),
        (None, Some(high)) => Some(format!("at most {high}{unit}")),
        (None, None) => None,
    };
    // Draft 4 has flags where later drafts have numbers: a flag is no number, and so no note.
    let low = number("minimum").map(|low| (low, "minimum"));
    let is_safe_integer = |text: &str| text == "9007199254740991" || text == "-9007199254740991";
    if low.is_some() || number("maximum").is_some() {
        let is_written = |name: &str| number(name).is_some_and(|text| !is_safe_integer(&text));
        let made = match (is_written("minimum"), is_written("maximum")) {
            (true, true) => range("minimum", "maximum", ""),
            (true, false) => number("minimum").map(|low| format!("at least {low}")),
            (false, true) => number("maximum").map(|high| format!("at most {high}")),
            (false, false) => None,
        };
        made.into_iter().for_each(&mut note);
    }
    number("exclusiveMinimum").map(|low| format!("above {low}")).into_iter().for_each(&mut note);
    number("exclusiveMaximum").map(|high| format!("below {high}")).into_iter().for_each(&mut note);
    number("multipleOf").map(|step| format!("a multiple of {step}")).into_iter().for_each(&mut note);
    range("minLength", "maxLength", " characters").into_iter().for_each(&mut note);
    range("minItems", "maxItems", " items").into_iter().for_each(&mut note);
    range("minProperties", "maxProperties", " keys").into_iter().for_each(&mut note);
    if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
        note("distinct".to_owned());
    }
    if let Some(pattern) = text("pattern") {
        note(format!("matches {pattern}"));
    }
}

/// A value on one short line.
pub(super) fn shown(value: &Value) -> String {
    if is_small(value) { one_line(&value.to_string(), SHOWN_VALUE_CHARS_MAX) } else { "…".to_owned() }
}

/// Whether a value is short and flat enough to be copied and shown.
fn is_small(value: &Value) -> bool {
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

fn sample(schema: &Map<String, Value>, value: &Type) -> Option<Value> {
    let is_good = |sample: &&Value| is_small(sample) && !sample.is_null() && value.takes(sample);
    let examples = schema.get("examples").and_then(Value::as_array).into_iter().flatten().take(4);
    let single = ["example", "default", "const"].iter().filter_map(|name| schema.get(*name));
    if let Some(sample) = examples.chain(single).find(is_good) {
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
    let by_range = schema.get("minimum").filter(|low| low.as_f64().is_some_and(|low| low > 1.0)).cloned();
    let items = schema.get("items").and_then(Value::as_object);
    let by_item = match (value, items) {
        (Type::List(item), Some(items)) if !items.contains_key("items") => {
            sample(items, item).map(|sample| Value::Array(vec![sample]))
        }
        _ => None,
    };
    by_format.or(by_range).or(by_item).filter(|sample| value.takes(sample))
}
