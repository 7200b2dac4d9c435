//! Places in a JSON document: what a schema says of one, and how it is reached.

use serde_json::Value;

/// References that are followed from one place to the next.
const REFERENCES_MAX: usize = 8;

/// The schema of what a JSON Pointer points to.
pub(super) fn schema_at<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let mut schema = followed(root, root)?;
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        let below = schema
            .get("properties")
            .and_then(|all| all.get(&name))
            .or_else(|| schema.get("items").filter(|_| step.parse::<usize>().is_ok()))
            .or_else(|| schema.get("additionalProperties"))?;
        schema = followed(root, below)?;
    }
    Some(schema)
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

/// A pointer as `message.to`, without positions in lists.
pub(super) fn field_name(pointer: &str) -> String {
    let steps = pointer.split('/').skip(1).filter(|step| step.parse::<usize>().is_err());
    steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_is_found_through_lists_and_references() {
        let schema = json!({
            "properties": {"people": {"items": {"$ref": "#/$defs/person"}}},
            "$defs": {"person": {"properties": {"mail": {"format": "email"}}}, "loop": {"$ref": "#/$defs/loop"}},
        });
        let found = schema_at(&schema, "/people/3/mail").expect("it is described");
        assert_eq!(found["format"], "email");
        assert!(schema_at(&schema, "/people/3/phone").is_none());
        assert!(schema_at(&json!({"$ref": "#/$defs/loop", "$defs": schema["$defs"]}), "").is_none());
    }

    #[test]
    fn fields_are_named_without_positions() {
        assert_eq!(field_name("/messages/0/to/1"), "messages.to");
        assert_eq!(field_name(""), "");
    }
}
