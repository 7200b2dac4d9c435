//! The alternatives that a schema allows.

use serde_json::{Map, Value};

/// `anyOf` or `oneOf`, if it says anything.
pub(super) fn variants(schema: &Map<String, Value>) -> Option<&Vec<Value>> {
    let variants = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    (!variants.is_empty()).then_some(variants)
}

/// Of a type or nothing, the type.
pub(super) fn only_variant(schema: &Map<String, Value>) -> &Map<String, Value> {
    let Some(variants) = variants(schema) else { return schema };
    let is_null = |variant: &Value| variant.get("type").and_then(Value::as_str) == Some("null");
    let mut others = variants.iter().filter(|variant| !is_null(variant)).filter_map(Value::as_object);
    match (others.next(), others.next()) {
        (Some(only), None) => only,
        _ => schema,
    }
}
