//! Places in a JSON document: what a schema says of one, and how it is reached.

use serde_json::Value;

/// References that are followed from one place to the next.
const REFERENCES_MAX: usize = 8;

/// Alternatives (`anyOf` and the like) that are looked at in one place.
const ALTERNATIVES_MAX: usize = 32;

/// What a schema says of a place.
#[derive(Debug, Default)]
pub(super) struct Place<'s> {
    /// Each may describe it.
    pub schemas: Vec<&'s Value>,
    /// Whether the schema knows its name, or that of the list that it is in.
    pub is_declared: bool,
}

impl<'s> Place<'s> {
    /// Where a JSON Pointer points to.
    pub fn at(root: &'s Value, pointer: &str) -> Option<Self> {
        let mut place = Self { schemas: alternatives(root, root), is_declared: false };
        for step in pointer.split('/').skip(1) {
            let name = unescaped(step);
            let below = |key: &str| place.schemas.iter().find_map(|schema| schema.get(key));
            let named = place.schemas.iter().find_map(|schema| schema.get("properties")?.get(&name));
            let (schema, is_declared) = match (named, below("items").filter(|_| is_position(step))) {
                (Some(named), _) => (named, true),
                (None, Some(item)) => (item, place.is_declared),
                (None, None) => (below("additionalProperties")?, false),
            };
            place = Self { schemas: alternatives(root, schema), is_declared };
        }
        (!place.schemas.is_empty()).then_some(place)
    }
}

/// A schema behind its references, and those that it combines.
fn alternatives<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let mut all: Vec<&Value> = followed(root, schema).into_iter().collect();
    let mut next = 0;
    while let Some(schema) = all.get(next).copied() {
        next += 1;
        let combined = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
        let combined: Vec<&Value> = combined.flatten().filter_map(|one| followed(root, one)).collect();
        all.extend(combined.into_iter().take(ALTERNATIVES_MAX.saturating_sub(all.len())));
    }
    all
}

/// A schema behind its references within the document.
fn followed<'s>(root: &'s Value, mut schema: &'s Value) -> Option<&'s Value> {
    for _ in 0..REFERENCES_MAX {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => schema = root.pointer(reference.strip_prefix('#')?)?,
            None => return Some(schema),
        }
    }
    None
}

/// A pointer as `message.to`, without positions in lists. A dot within a name is `%2E`: no name reads as two.
pub(super) fn field_name(pointer: &str) -> String {
    names(pointer).map(|name| name.replace('.', "%2E")).collect::<Vec<_>>().join(".")
}

/// The last name in a pointer.
pub(super) fn last_name(pointer: &str) -> String {
    names(pointer).last().unwrap_or_default()
}

fn names(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).filter(|step| !is_position(step)).map(unescaped)
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

fn is_position(step: &str) -> bool {
    !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at<'s>(schema: &'s Value, pointer: &str) -> Option<(Option<&'s str>, bool)> {
        let place = Place::at(schema, pointer)?;
        let format = place.schemas.iter().find_map(|schema| schema.get("format")?.as_str());
        Some((format, place.is_declared))
    }

    #[test]
    fn a_schema_is_found_through_lists_references_and_alternatives() {
        let schema = json!({
            "properties": {
                "people": {"items": {"$ref": "#/$defs/person"}},
                "to": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
                "free": {"additionalProperties": {"format": "email"}},
            },
            "$defs": {"person": {"properties": {"mail": {"format": "email"}}}, "loop": {"$ref": "#/$defs/loop"}},
        });
        assert_eq!(at(&schema, "/people/3/mail"), Some((Some("email"), true)));
        assert_eq!(at(&schema, "/people/3/phone"), None);
        assert_eq!(at(&schema, "/to/0"), Some((None, true)));
        assert_eq!(at(&schema, "/free/to"), Some((Some("email"), false)), "it has no such name");
        assert_eq!(at(&schema, "/cc"), None);
        assert_eq!(at(&json!({"$ref": "#/$defs/loop", "$defs": schema["$defs"]}), ""), None);
    }

    #[test]
    fn fields_are_named_without_positions_and_dots_in_names_divide_nothing() {
        assert_eq!(field_name("/messages/0/to/1"), "messages.to");
        assert_eq!(field_name(""), "");
        assert_eq!(field_name("/message.to"), "message%2Eto");
        assert_eq!(last_name("/message/x.to/0"), "x.to");
    }
}
