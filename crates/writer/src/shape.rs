//! What a tool answers, as far as its schema says: fields of a record, rows, and whether there are more.

use serde_json::{Map, Value};

use crate::fields::{Field, FieldKind};
use crate::stems::stems_of;

/// Properties of one schema.
const PROPERTIES_MAX: usize = 64;
/// References that are followed one after the other.
const REFERENCES_MAX: usize = 8;
/// Values of one list of choices.
const CHOICES_MAX: usize = 64;

/// The shape of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Fields of the answer itself.
    pub fields: Vec<Field>,
    pub rows: Option<Rows>,
    /// The field that counts all rows, given or not.
    pub total: Option<String>,
    /// The field that says that rows are missing.
    pub truncated: Option<String>,
    /// The field that leads to the next page, and the parameter that takes it.
    pub next: Option<Next>,
}

/// The rows of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The field that holds them; none if the answer is the list.
    pub member: Option<String>,
    pub words: Vec<String>,
    pub about: Vec<String>,
    pub fields: Vec<Field>,
}

/// How the next page is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    pub field: String,
    pub parameter: String,
}

/// The shape that a schema describes; `None` if it says nothing.
pub fn shape(output: &Value, input: &Value) -> Option<Shape> {
    let schema = resolved(output, output);
    if kind_is(schema, "array") {
        let rows = rows(None, schema, output)?;
        return Some(Shape { rows: Some(rows), ..Shape::default() });
    }
    let properties = properties(schema)?;
    let mut shape = Shape { fields: fields(schema, output), ..Shape::default() };
    let mut lists = properties.iter().take(PROPERTIES_MAX).filter_map(|(name, property)| {
        let property_schema = resolved(property, output);
        kind_is(property_schema, "array").then(|| rows(Some(name), property_schema, output)).flatten()
    });
    // With two lists nobody can tell which one is meant.
    shape.rows = lists.next().filter(|_| lists.next().is_none());
    let named = |names: &[&str], kind: &FieldKind| {
        let is_it = |field: &&Field| field.kind == *kind && names.contains(&field.name.as_str());
        shape.fields.iter().find(is_it).map(|field| field.name.clone())
    };
    let total = named(&["total", "total_count", "totalCount", "total_results"], &FieldKind::Number);
    let truncated = named(&["truncated", "has_more", "hasMore", "is_truncated"], &FieldKind::Flag);
    let next = next(properties, input);
    Some(Shape { total, truncated, next, ..shape })
}

fn next(output: &Map<String, Value>, input: &Value) -> Option<Next> {
    let inputs = properties(input)?;
    output.keys().take(PROPERTIES_MAX).find_map(|field| {
        let lower = field.to_lowercase();
        let wanted = lower.strip_prefix("next")?.trim_start_matches('_');
        let parameter = inputs.keys().find(|name| name.to_lowercase() == wanted)?;
        Some(Next { field: field.clone(), parameter: parameter.clone() })
    })
}

fn rows(member: Option<&String>, list: &Value, root: &Value) -> Option<Rows> {
    let items = resolved(list.get("items")?, root);
    properties(items).or_else(|| items.as_object().filter(|_| kind_is(items, "object")))?;
    let about = list.get("description").and_then(Value::as_str).unwrap_or_default();
    Some(Rows {
        member: member.cloned(),
        words: member.map(|name| stems_of(name)).unwrap_or_default(),
        about: stems_of(about),
        fields: fields(items, root),
    })
}

fn fields(schema: &Value, root: &Value) -> Vec<Field> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = properties(schema).into_iter().flatten().take(PROPERTIES_MAX);
    properties
        .map(|(name, property)| {
            let inner = resolved(property, root);
            let about = property.get("description").or_else(|| inner.get("description"));
            let about = about.and_then(Value::as_str).unwrap_or_default();
            let always = required.contains(&name.as_str()) && !may_be_null(property);
            Field::new(name, about, field_kind(inner), always)
        })
        .collect()
}

fn field_kind(schema: &Value) -> FieldKind {
    if let Some(choices) = choices(schema) {
        return FieldKind::Choice(choices);
    }
    match kinds(schema).as_slice() {
        ["integer" | "number"] => FieldKind::Number,
        ["string"] => FieldKind::Text,
        ["boolean"] => FieldKind::Flag,
        _ => FieldKind::Other,
    }
}

/// The texts that a schema allows, if it is only these.
pub fn choices(schema: &Value) -> Option<Vec<String>> {
    let values = schema.get("enum")?.as_array()?;
    let texts = values.iter().filter(|value| !value.is_null()).map(|value| value.as_str().map(str::to_owned));
    let texts: Vec<String> = texts.take(CHOICES_MAX).collect::<Option<_>>()?;
    (!texts.is_empty() && values.len() <= CHOICES_MAX).then_some(texts)
}

/// Follows `$ref` within the document, and takes the one alternative that is not null.
pub fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..REFERENCES_MAX {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let Some(found) = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) else {
                break;
            };
            schema = found;
            continue;
        }
        let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        let mut others = alternatives.into_iter().flatten().filter(|one| !kind_is(one, "null"));
        match (others.next(), others.next()) {
            (Some(only), None) => schema = only,
            _ => break,
        }
    }
    schema
}

pub fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// The types that a schema allows, without null.
pub fn kinds(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").take(8).collect()
        }
        _ => Vec::new(),
    }
}

fn kind_is(schema: &Value, kind: &str) -> bool {
    matches!(schema.get("type"), Some(Value::String(only)) if only == kind) || kinds(schema) == [kind]
}

fn may_be_null(schema: &Value) -> bool {
    let in_types = schema
        .get("type")
        .and_then(Value::as_array)
        .is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"));
    let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    in_types || alternatives.into_iter().flatten().any(|one| kind_is(one, "null"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pages_rows_and_totals_are_found() {
        let input = json!({ "properties": { "page": { "type": "integer" } } });
        let row = json!({ "type": "object", "properties": { "words": { "type": ["integer", "null"] } }, "required": ["words"] });
        let output = json!({ "type": "object", "$defs": { "row": row }, "properties": {
            "documents": { "type": "array", "items": { "$ref": "#/$defs/row" } },
            "next_page": { "type": ["integer", "null"] },
            "total": { "type": "integer" },
        } });
        let shape = shape(&output, &input).expect("a shape");
        assert_eq!(shape.total.as_deref(), Some("total"));
        assert_eq!(shape.next, Some(Next { field: "next_page".to_owned(), parameter: "page".to_owned() }));
        let rows = shape.rows.expect("rows");
        assert_eq!(rows.member.as_deref(), Some("documents"));
        assert_eq!((rows.fields[0].name.as_str(), rows.fields[0].always), ("words", false));
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let output = json!({ "$ref": "#" });
        assert_eq!(shape(&output, &json!({})), None);
    }
}
