//! An example call, built from a tool's parameters.

use serde_json::{Map, Value};

use super::Language;
use super::caps::EXAMPLE_CHARS_MAX;
use super::inert_text::{key, literal};
use super::interface::Interface;
use super::types::{Body, Field, Named, Scalar, Type, Types};
use crate::catalogue::Tool;

const DEPTH_MAX: usize = 4;

pub(super) fn call(language: Language, interface: &Interface, tool: &Tool) -> String {
    let required = || interface.parameters.iter().filter(|(_, field)| field.is_required);
    let values = required().map(|(identifier, field)| {
        let value = literal(language, &field_value(field, &interface.types, DEPTH_MAX));
        argument(language, identifier, field, &value)
    });
    let written = whole(language, tool, values.collect());
    if written.chars().count() <= EXAMPLE_CHARS_MAX {
        return written;
    }
    let shown = required().take(10).map(|(identifier, field)| argument(language, identifier, field, "\"…\""));
    whole(language, tool, shown.collect())
}

fn argument(language: Language, identifier: &str, field: &Field, value: &str) -> String {
    match language {
        Language::Python => format!("{identifier}={value}"),
        Language::TypeScript => format!("{}: {value}", key(language, &field.name)),
    }
}

fn whole(language: Language, tool: &Tool, arguments: Vec<String>) -> String {
    let name = &tool.identifier;
    let arguments = arguments.join(", ");
    match language {
        Language::Python => format!("await {name}({arguments})"),
        Language::TypeScript if arguments.is_empty() => format!("await {name}();"),
        Language::TypeScript => format!("await {name}({{ {arguments} }});"),
    }
}

fn field_value(field: &Field, types: &Types, depth: usize) -> Value {
    field.sample.clone().unwrap_or_else(|| value(&field.value, &field.name, types, depth))
}

fn value(wanted: &Type, name: &str, types: &Types, depth: usize) -> Value {
    match wanted {
        Type::Any | Type::Str => Value::from(word(name)),
        Type::Null => Value::Null,
        Type::Bool => Value::Bool(true),
        Type::Int | Type::Float => Value::from(1),
        Type::Literal(values) => match values.first() {
            Some(Scalar::Str(text)) => Value::from(text.as_str()),
            Some(Scalar::Int(int)) => Value::from(*int),
            Some(Scalar::Bool(truth)) => Value::from(*truth),
            None => Value::Null,
        },
        Type::List(_) if depth == 0 => Value::Array(Vec::new()),
        Type::List(item) => Value::Array(vec![value(item, singular(name), types, depth - 1)]),
        Type::Tuple(items, _) => {
            let depth = depth.saturating_sub(1);
            Value::Array(items.iter().map(|item| value(item, singular(name), types, depth)).collect())
        }
        Type::Map(_) => Value::Object(Map::new()),
        Type::Union(members) => match members.first() {
            Some(first) => value(first, name, types, depth),
            None => Value::Null,
        },
        Type::Named(id) => match types.get(*id) {
            Some((_, Named { body: Body::Object { fields, .. }, .. })) if depth > 0 => {
                let required = fields.iter().filter(|field| field.is_required);
                let member = |field: &Field| (field.name.clone(), field_value(field, types, depth - 1));
                Value::Object(required.map(member).collect())
            }
            Some((_, Named { body: Body::Alias(value_type), .. })) if depth > 0 => {
                value(value_type, name, types, depth - 1)
            }
            Some(_) | None => Value::Object(Map::new()),
        },
    }
}

fn singular(name: &str) -> &str {
    name.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with('s')).unwrap_or(name)
}

/// A word that could stand under this name.
fn word(name: &str) -> &'static str {
    let lower = name.to_ascii_lowercase();
    let has = |part: &str| lower.contains(part);
    let ends = |part: &str| lower.ends_with(part);
    if has("email") {
        "ada@example.com"
    } else if has("url") || has("uri") || has("link") {
        "https://example.com"
    } else if has("timestamp") || ends("time") || ends("_at") {
        "2026-01-31T09:30:00Z"
    } else if has("date") && !has("update") {
        "2026-01-31"
    } else if has("path") || has("file") {
        "path/to/file"
    } else if has("dir") || has("folder") {
        "path/to"
    } else if lower == "id" || ends("_id") || name.ends_with("Id") || name.ends_with("ID") || ends("-id") {
        "id-1"
    } else if has("query") || lower == "q" || has("search") || has("keyword") {
        "search words"
    } else if has("name") || has("title") {
        "example"
    } else if has("lang") {
        "en"
    } else if has("owner") || has("user") {
        "ada"
    } else if has("repo") {
        "example"
    } else if has("branch") {
        "main"
    } else {
        "text"
    }
}
