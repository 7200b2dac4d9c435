//! Where a `$ref` leads. Only places in the same schema count: nothing is ever fetched.

use std::borrow::Cow;

use serde_json::Value;

use crate::visible_text::one_line;

/// References followed before giving up, where a schema is only described.
const HOPS_MAX: usize = 8;

/// The place that `#` or `#/…` names.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.is_empty() {
        return Some(root);
    }
    root.pointer(&percent_decoded(pointer)?)
}

/// The schema itself, or what it refers to and nothing else.
pub(super) fn followed<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..HOPS_MAX {
        let Some(Value::String(reference)) = schema.get("$ref") else {
            return schema;
        };
        match resolve(root, reference) {
            Some(target) => schema = target,
            None => return schema,
        }
    }
    schema
}

/// A reference for a message.
pub(super) fn shown(reference: &str) -> String {
    one_line(reference, 80)
}

fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
        decoded.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reference_leads_into_its_own_schema_or_nowhere() {
        let root = json!({"$defs": {"a b": {"type": "string"}, "c/d": 1, "e": {"$ref": "#/$defs/e"}}});
        assert_eq!(resolve(&root, "#"), Some(&root));
        assert_eq!(resolve(&root, "#/$defs/a%20b"), Some(&json!({"type": "string"})));
        assert_eq!(resolve(&root, "#/$defs/c~1d"), Some(&json!(1)));
        for nowhere in ["", "#name", "#/$defs/x", "https://example.com/a.json", "#/%", "#/%zz", "#/%ff"] {
            assert_eq!(resolve(&root, nowhere), None, "{nowhere}");
        }
        let circle = &root["$defs"]["e"];
        assert_eq!(followed(&root, circle), circle);
    }
}
