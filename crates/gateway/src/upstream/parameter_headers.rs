//! Arguments that a server wants to see in HTTP headers, too, so that what stands between can
//! route by them: those whose schema says `x-mcp-header`.

use serde_json::{Map, Value};

/// Nobody routes by more.
const HEADERS_MAX: usize = 32;
const DEPTH_MAX: usize = 8;

/// Names without their prefix, and values as text.
pub(super) fn parameter_headers(schema: &Value, arguments: &Map<String, Value>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    collect(schema, arguments, DEPTH_MAX, &mut headers);
    headers
}

fn collect(
    schema: &Value,
    arguments: &Map<String, Value>,
    depth: usize,
    headers: &mut Vec<(String, String)>,
) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        let (Some(value), true) = (arguments.get(name), headers.len() < HEADERS_MAX && depth > 0) else {
            continue;
        };
        match (property.get("x-mcp-header").and_then(Value::as_str), value) {
            (Some(header), Value::String(text)) => headers.push((header.to_owned(), text.clone())),
            (Some(header), Value::Number(_) | Value::Bool(_)) => {
                headers.push((header.to_owned(), value.to_string()));
            }
            (None, Value::Object(inner)) => collect(property, inner, depth - 1, headers),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_marked_arguments_become_headers() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "where": {"properties": {"shard": {"type": "integer", "x-mcp-header": "Shard"}}},
            "secret": {"type": "string"},
        }});
        let arguments = json!({"region": "eu", "where": {"shard": 7}, "secret": "x"});
        let Value::Object(arguments) = arguments else { panic!("an object") };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(parameter_headers(&schema, &arguments), [pair("Region", "eu"), pair("Shard", "7")]);
    }
}
