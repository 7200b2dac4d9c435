//! A small checker for tests: does a value have the shape that a schema says? It knows the words
//! that our own schemas use and fails on any other, so that no promise goes unchecked.

use serde_json::Value;

/// Everything that is wrong, with its place.
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "$", &mut found);
    found
}

fn check(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(yes) = schema.as_bool() {
        if !yes {
            found.push(format!("{at}: not allowed"));
        }
        return;
    }
    let Some(words) = schema.as_object() else { return found.push(format!("{at}: no schema")) };
    for (word, said) in words {
        let fits = match word.as_str() {
            "description" | "title" | "default" | "examples" | "required" | "additionalProperties" => true,
            "properties" | "items" | "format" => true,
            "type" => types(said).any(|name| is(name, value)),
            "enum" => said.as_array().is_some_and(|all| all.contains(value)),
            "minimum" => value.as_f64().is_none_or(|number| number >= said.as_f64().unwrap_or(f64::NAN)),
            "maximum" => value.as_f64().is_none_or(|number| number <= said.as_f64().unwrap_or(f64::NAN)),
            "maxItems" => value.as_array().is_none_or(|all| all.len() as u64 <= said.as_u64().unwrap_or(0)),
            "minItems" => {
                value.as_array().is_none_or(|all| all.len() as u64 >= said.as_u64().unwrap_or(u64::MAX))
            }
            "maxLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 <= said.as_u64().unwrap_or(0))
            }
            _ => false,
        };
        if !fits {
            found.push(format!(
                "{at}: `{word}` {said} does not hold for {}",
                super::arguments::shown(&value.to_string())
            ));
        }
    }
    if let Some(object) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                found.push(format!("{at}: `{name}` is missing"));
            }
        }
        for (name, inner) in object {
            let place = format!("{at}.{name}");
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(schema), _) | (None, Some(schema)) => check(schema, inner, &place, found),
                (None, None) => {}
            }
        }
    }
    for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
        if let Some(schema) = schema.get("items") {
            check(schema, inner, &format!("{at}[{index}]"), found);
        }
    }
}

fn types(said: &Value) -> impl Iterator<Item = &str> {
    let one = said.as_str().into_iter();
    one.chain(said.as_array().into_iter().flatten().filter_map(Value::as_str))
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[test]
fn the_checker_finds_what_does_not_fit() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"type": "integer", "minimum": 1}, "b": {"type": "array", "items": {"enum": ["x"]}}},
    });
    let check = |value: Value, expected: &[&str]| assert_eq!(problems(&schema, &value), expected);
    check(serde_json::json!({"a": 1, "b": ["x"]}), &[]);
    check(serde_json::json!({"b": []}), &["$: `a` is missing"]);
    check(serde_json::json!({"a": 0}), &["$.a: `minimum` 1 does not hold for 0"]);
    check(serde_json::json!({"a": 1, "b": ["y"]}), &["$.b[0]: `enum` [\"x\"] does not hold for \"y\""]);
    check(serde_json::json!({"a": 1, "c": 1}), &["$.c: not allowed"]);
}
