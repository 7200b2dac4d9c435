//! What a schema says about a field beside its type: format, range, default, a value to show.

use serde_json::{Map, Value};

use super::caps::{Caps, SHOWN_VALUE_CHARS_MAX};
use super::inert_text::one_line;
use super::reference;
use super::sample::{is_small, sample};
use super::types::Field;
use super::variants::only_variant;

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
        (Some(low), None) if low == "1" => Some("not empty".to_owned()),
        (Some(low), None) => Some(format!("at least {low}{unit}")),
        (None, Some(high)) => Some(format!("at most {high}{unit}")),
        (None, None) => None,
    };
    // Generators write the ends of the safe integers where nobody asked for a range.
    let bound = |name: &str| number(name).filter(|text| text.trim_start_matches('-') != "9007199254740991");
    let made = match (bound("minimum"), bound("maximum")) {
        (Some(low), Some(high)) => Some(format!("{low} to {high}")),
        (Some(low), None) => Some(format!("at least {low}")),
        (None, Some(high)) => Some(format!("at most {high}")),
        (None, None) => None,
    };
    made.into_iter().for_each(&mut note);
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
