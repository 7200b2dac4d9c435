//! The strictest rules that clients and model APIs are known to hold a tool's schemas to. One that
//! breaks a rule is not merely ignored: VS Code refuses the whole request over an array without `items`,
//! OpenAI answers 400, Codex takes what has no type for a string, and older Gemini APIs know neither
//! unions nor enums of anything but strings.

use serde_json::{Map, Value, json};

use super::shown::{CodeWriting, ShownTools, SingleCalls};
use crate::server::profile::Profile;

/// Whose schema it is. A model API sees what goes in; what comes out is read by clients alone, which
/// know a value of any type.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Input,
    Output,
}

const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// OpenAI's limit on how deep objects may be nested.
const DEPTH_MAX: usize = 5;

/// Every rule that a tool breaks, each with the path of the offending node.
fn broken_rules(tool: &Value) -> Vec<String> {
    let name = tool["name"].as_str().unwrap_or_default();
    let mut broken = Vec::new();
    if !is_plain_name(name) {
        broken.push(format!("{name}: a name has letters, digits, _ and - only, at most 64"));
    }
    let schemas = [("inputSchema", Direction::Input), ("outputSchema", Direction::Output)];
    for (key, direction) in schemas {
        let path = format!("{name}.{key}");
        let schema = &tool[key];
        if schema["type"] != "object" || schema["properties"].as_object().is_none_or(Map::is_empty) {
            broken.push(format!("{path}: the root is an object with properties"));
        }
        check_node(&path, schema, direction, DEPTH_MAX, &mut broken);
    }
    broken
}

fn check_node(path: &str, node: &Value, direction: Direction, depth: usize, broken: &mut Vec<String>) {
    let mut breaks = |rule: &str| broken.push(format!("{path}: {rule}"));
    let Some(members) = node.as_object() else { return breaks("a schema is an object") };
    if direction == Direction::Output && members.is_empty() {
        return;
    }
    if depth == 0 {
        return breaks("nested too deep");
    }
    let kind = match &members.get("type") {
        Some(Value::String(kind)) if TYPES.contains(&kind.as_str()) => kind.as_str(),
        Some(Value::Array(_)) => return breaks("a union of types"),
        Some(_) => return breaks("an unknown type"),
        None => return breaks("no type"),
    };
    for key in members.keys() {
        let is_known = match key.as_str() {
            "type" => true,
            "description" => members[key].as_str().is_some_and(|words| !words.trim().is_empty()),
            "enum" => kind == "string" && is_word_list(&members[key]),
            "items" => kind == "array",
            "properties" | "required" => kind == "object",
            _ => false,
        };
        if !is_known {
            breaks(&format!("`{key}` in a schema of type {kind}"));
        }
    }
    let none = Map::new();
    let properties = members.get("properties").and_then(Value::as_object).unwrap_or(&none);
    for name in members.get("required").and_then(Value::as_array).into_iter().flatten() {
        if name.as_str().is_none_or(|name| !properties.contains_key(name)) {
            breaks(&format!("it requires {name}, which is no property"));
        }
    }
    if let Some(name) = properties.keys().find(|name| !is_plain_name(name)) {
        breaks(&format!("the property `{name}` has no plain name"));
    }
    match members.get("items") {
        Some(items) => check_node(&format!("{path}.items"), items, direction, depth - 1, broken),
        None if kind == "array" => breaks("an array without items"),
        None => {}
    }
    for (name, property) in properties {
        check_node(&format!("{path}.properties.{name}"), property, direction, depth - 1, broken);
    }
}

fn is_plain_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}

fn is_word_list(words: &Value) -> bool {
    words.as_array().is_some_and(|words| !words.is_empty() && words.iter().all(Value::is_string))
}

#[test]
fn every_schema_of_every_profile_keeps_the_strictest_rules() {
    for profile in [Profile::Minimal, Profile::Standard, Profile::Full] {
        let shown = ShownTools::new(profile, SingleCalls::ByCallTool, CodeWriting::ByGenerateCode);
        let broken: Vec<String> = shown.definitions().iter().flat_map(broken_rules).collect();
        assert!(broken.is_empty(), "{profile}:\n{}", broken.join("\n"));
    }
}

#[test]
fn each_rule_names_the_path_of_what_breaks_it() {
    let check = |property: Value, expected: &[&str]| {
        let tool = json!({
            "name": "tool",
            "inputSchema": {"type": "object", "properties": {"x": property}},
            "outputSchema": {"type": "object", "properties": {"any": {}}},
        });
        let expected: Vec<String> =
            expected.iter().map(|rule| format!("tool.inputSchema.properties.x{rule}")).collect();
        assert_eq!(broken_rules(&tool), expected, "{property}");
    };
    check(json!({"type": "string", "enum": ["a"]}), &[]);
    check(json!({"type": "array", "items": {"type": "object"}}), &[]);
    check(json!({}), &[": no type"]);
    check(json!(true), &[": a schema is an object"]);
    check(json!({"enum": ["a"]}), &[": no type"]);
    check(json!({"type": "integer", "enum": [1]}), &[": `enum` in a schema of type integer"]);
    check(json!({"type": ["string", "null"]}), &[": a union of types"]);
    check(json!({"anyOf": [{"type": "string"}]}), &[": no type"]);
    check(json!({"type": "null"}), &[": an unknown type"]);
    check(json!({"type": "array"}), &[": an array without items"]);
    check(json!({"type": "array", "items": {}}), &[".items: no type"]);
    check(
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        &[": `additionalProperties` in a schema of type object"],
    );
    check(
        json!({"type": "object", "properties": {"a b": {"type": "string"}}, "required": ["c"]}),
        &[": it requires \"c\", which is no property", ": the property `a b` has no plain name"],
    );
    check(json!({"type": "string", "description": " "}), &[": `description` in a schema of type string"]);
}
