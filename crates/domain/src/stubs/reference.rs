//! Where `$ref` points. Only ever into the same document.

use serde_json::{Map, Value};

use super::types::Type;

/// What became of a reference.
#[derive(Debug)]
pub(super) enum Reference {
    /// Being read: inside itself it is known by its number, if it was met there.
    Reading {
        id: Option<usize>,
        containers: usize,
    },
    Read(Type),
}

/// The reference that a schema is.
pub(super) fn target(schema: &Map<String, Value>) -> Option<&str> {
    ["$ref", "$dynamicRef", "$recursiveRef"].iter().find_map(|name| schema.get(*name)?.as_str())
}

/// What it points to. Nothing if that is elsewhere.
pub(super) fn resolve<'a>(root: &'a Value, target: &str) -> Option<&'a Value> {
    let fragment = percent_decoded(target.strip_prefix('#')?);
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(&fragment);
    }
    let definitions = ["$defs", "definitions"].iter().filter_map(|name| root.get(*name)?.as_object());
    let is_anchor = |schema: &&Value| {
        ["$anchor", "$dynamicAnchor"]
            .iter()
            .any(|name| schema.get(*name).and_then(Value::as_str) == Some(&fragment))
    };
    definitions.flat_map(|all| all.values()).find(is_anchor).or_else(|| Some(root).filter(is_anchor))
}

/// The same through a chain of references, at most a few.
pub(super) fn resolve_all<'a>(root: &'a Value, schema: &'a Map<String, Value>) -> &'a Map<String, Value> {
    let mut schema = schema;
    for _ in 0..4 {
        let next = target(schema).and_then(|target| resolve(root, target)).and_then(Value::as_object);
        match next {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

/// The last part, as a hint for a name.
pub(super) fn name(target: &str) -> String {
    let last = target.rsplit(['/', '#']).next().unwrap_or_default();
    let name: String = last.chars().take(60).collect();
    if name.is_empty() { "Arguments".to_owned() } else { name }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let pair = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_point_into_the_document_only() {
        let root = json!({
            "$defs": {"a b": {"const": 1}, "c/d": {"const": 2}, "e": {"$anchor": "here", "const": 3}}
        });
        let found = |target: &str| resolve(&root, target).and_then(|schema| schema.get("const")).cloned();
        assert_eq!(found("#/$defs/a%20b"), Some(json!(1)));
        assert_eq!(found("#/$defs/c~1d"), Some(json!(2)));
        assert_eq!(found("#here"), Some(json!(3)));
        assert_eq!(found("#/$defs/none"), None);
        assert_eq!(found("https://example.com/schema#/$defs/e"), None);
        assert_eq!(found("other.json"), None);
        assert_eq!(resolve(&root, "#"), Some(&root));
    }
}
