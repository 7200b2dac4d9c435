//! One tool as its server defines it.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A definition that cannot be used. The server's other tools are unaffected.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DefinitionError {
    /// Not what the protocol says.
    #[error("the definition can't be read: {0}")]
    Unreadable(String),
    /// Longer than any name.
    #[error("the tool's name has {0} bytes; the limit is {NAME_BYTES_MAX}")]
    LongName(usize),
    /// Arguments are always an object.
    #[error("the input schema of `{0}` isn't an object")]
    NoSchema(String),
}

/// Far more than the specification advises.
const NAME_BYTES_MAX: usize = 200;

/// The hash of a definition's raw text, whatever its spacing and the order of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ToolHash([u8; 32]);

impl ToolHash {
    /// Of any JSON value.
    pub fn of(value: &Value) -> Self {
        Self(*blake3::hash(canonical_json(value).as_bytes()).as_bytes())
    }

    /// As it is written down.
    pub fn to_hex(self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// The reverse of `to_hex`.
    pub fn from_hex(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(|hash| Self(*hash.as_bytes()))
    }
}

/// A tool, as its server defines it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// What is sent when it is called.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// In the server's words; untrusted.
    pub description: Option<String>,
    /// The JSON Schema of its arguments; an object.
    pub input_schema: Value,
    /// The JSON Schema of its structured result.
    pub output_schema: Option<Value>,
    pub read_only: Option<bool>,
    /// Whether calling it again does no more; untrusted.
    pub idempotent: Option<bool>,
    /// Whether it destroys something; untrusted.
    pub destructive: Option<bool>,
    /// Whether it reaches things outside its server's own; untrusted.
    pub open_world: Option<bool>,
    /// The definition as it came, with everything in it.
    pub raw: String,
    /// Of `raw`.
    pub hash: ToolHash,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDefinition {
    name: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Option<Value>,
    #[serde(default)]
    output_schema: Option<Value>,
    #[serde(default)]
    annotations: Option<Value>,
}

impl RawDefinition {
    /// What is as it should be is moved, not read again: there are many, and their schemas are large.
    fn taken_from(mut members: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let is_text = |name: &str| matches!(members.get(name), None | Some(Value::Null | Value::String(_)));
        let has_name = matches!(members.get("name"), Some(Value::String(_)));
        if !(has_name && is_text("title") && is_text("description")) {
            return serde_json::from_value(Value::Object(members));
        }
        let mut value = |name: &str| members.swap_remove(name).filter(|value| !value.is_null());
        let text = |value: Option<Value>| match value {
            Some(Value::String(text)) => Some(text),
            Some(_) | None => None,
        };
        Ok(Self {
            name: text(value("name")).unwrap_or_default(),
            title: text(value("title")),
            description: text(value("description")),
            input_schema: value("inputSchema"),
            output_schema: value("outputSchema"),
            annotations: value("annotations"),
        })
    }
}

impl ToolDefinition {
    /// From an element of a `tools/list` result.
    pub fn parse(raw: &RawValue) -> Result<Self, DefinitionError> {
        Self::from_text(raw.get())
    }

    pub fn from_text(text: &str) -> Result<Self, DefinitionError> {
        let unreadable = |error: serde_json::Error| DefinitionError::Unreadable(error.to_string());
        let whole: Value = serde_json::from_str(text).map_err(unreadable)?;
        let hash = ToolHash::of(&whole);
        // A list would be read as the fields in their order.
        let Value::Object(members) = whole else {
            return Err(DefinitionError::Unreadable("it is not an object".to_owned()));
        };
        let written = RawDefinition::taken_from(members).map_err(unreadable)?;
        if written.name.len() > NAME_BYTES_MAX {
            return Err(DefinitionError::LongName(written.name.len()));
        }
        let input_schema = match written.input_schema {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(Value::Bool(true)) => Value::Object(Map::new()),
            Some(Value::Object(schema)) => Value::Object(schema),
            Some(_) => return Err(DefinitionError::NoSchema(written.name)),
        };
        let hint = |name: &str| written.annotations.as_ref().and_then(|hints| hints.get(name)?.as_bool());
        Ok(Self {
            hash,
            raw: text.to_owned(),
            read_only: hint("readOnlyHint"),
            idempotent: hint("idempotentHint"),
            destructive: hint("destructiveHint"),
            open_world: hint("openWorldHint"),
            name: written.name,
            title: written.title,
            description: written.description.filter(|text| !text.trim().is_empty()),
            input_schema,
            output_schema: written.output_schema.filter(|schema| schema.is_object()),
        })
    }

    /// The title in the annotations, the title, or nothing.
    pub fn summary(&self) -> String {
        let text = self.description.as_deref().or(self.title.as_deref()).unwrap_or_default();
        first_sentence(text)
    }
}

/// The first sentence or line, on one line.
pub(crate) fn first_sentence(text: &str) -> String {
    const CHARS_MAX: usize = 160;
    let line = text.trim().lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.trim_start_matches(['#', '*', ' ']);
    let end = line.find(". ").map_or(line.len(), |end| end + 1);
    match line[..end].char_indices().nth(CHARS_MAX) {
        Some((cut, _)) => {
            let cut = line[..cut].rfind(' ').unwrap_or(cut);
            format!("{}…", &line[..cut])
        }
        None => line[..end].to_owned(),
    }
}

/// JSON with sorted keys and no spaces: equal for equal values.
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| name.as_str());
            text.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_text(name, text);
                text.push(':');
                write_canonical(member, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::String(written) => write_text(written, text),
        Value::Null | Value::Bool(_) | Value::Number(_) => text.push_str(&value.to_string()),
    }
}

fn write_text(written: &str, text: &mut String) {
    if written.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        text.push_str(&Value::from(written).to_string());
    } else {
        text.push('"');
        text.push_str(written);
        text.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_covers_unknown_fields_but_not_spacing_or_order() {
        let hash = |text| ToolDefinition::from_text(text).expect("a definition").hash;
        let one =
            hash(r#"{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}}"#);
        let reordered = hash(
            r#"{ "execution": {"taskSupport": "forbidden"}, "inputSchema": {"type":"object"}, "name":"a" }"#,
        );
        let changed =
            hash(r#"{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}"#);
        assert_eq!(one, reordered);
        assert_ne!(one, changed);
        assert_eq!(ToolHash::from_hex(&one.to_hex()), Some(one));
    }

    #[test]
    fn canonical_json_is_the_same_json_in_order() {
        let check = |written: &str, expected: &str| {
            let value: Value = serde_json::from_str(written).expect("JSON");
            let canonical = canonical_json(&value);
            assert_eq!(canonical, expected);
            assert_eq!(serde_json::from_str::<Value>(&canonical).expect("JSON"), value);
        };
        check(
            r#"{"b": [1.50, -0, 1e400], "a": null, "": true}"#,
            r#"{"":true,"a":null,"b":[1.50,-0,1e+400]}"#,
        );
        check(
            r#"{"\u007f\u0041é": "a\"b\\c\/\n\u0001\ud83d\ude42", "k\tey": "plain"}"#,
            "{\"k\\tey\":\"plain\",\"\u{7f}Aé\":\"a\\\"b\\\\c/\\n\\u0001🙂\"}",
        );
    }

    #[test]
    fn a_definition_is_read_as_it_is_written_or_says_what_is_wrong_with_it() {
        let parse = |text: &str| ToolDefinition::from_text(text);
        let whole = parse(
            r#"{"title":"T","name":"a","description":"D","extra":[1],"outputSchema":{"type":"object"},
                "inputSchema":{"b":1,"a":{"z":1,"y":2}},"annotations":{"readOnlyHint":true}}"#,
        )
        .expect("a definition");
        assert_eq!((whole.title.as_deref(), whole.description.as_deref()), (Some("T"), Some("D")));
        assert_eq!(whole.input_schema.to_string(), r#"{"b":1,"a":{"z":1,"y":2}}"#);
        assert_eq!(whole.output_schema, Some(serde_json::json!({"type": "object"})));
        assert_eq!(whole.read_only, Some(true));
        let nothing =
            parse(r#"{"name":"a","title":null,"description":null,"inputSchema":null,"annotations":3}"#);
        assert_eq!(nothing.map(|one| (one.title, one.description, one.read_only)), Ok((None, None, None)));
        let check = |text: &str, expected: &str| match parse(text) {
            Err(DefinitionError::Unreadable(why)) => assert_eq!(why, expected),
            other => panic!("{other:?}"),
        };
        check(r#"{"title":"a"}"#, "missing field `name`");
        check(r#"{"name":null}"#, "invalid type: null, expected a string");
        check(r#"{"name":"a","title":["b"]}"#, "invalid type: sequence, expected a string");
        check(r#"{"name":"a","description":true}"#, "invalid type: boolean `true`, expected a string");
        check("3", "it is not an object");
    }

    #[test]
    fn odd_definitions_are_taken_or_refused_with_a_reason() {
        let parse = ToolDefinition::from_text;
        assert_eq!(parse(r#"{"name":"a"}"#).expect("no schema").input_schema, serde_json::json!({}));
        assert!(matches!(parse(r#"{"name":"a","inputSchema":3}"#), Err(DefinitionError::NoSchema(_))));
        assert!(matches!(parse(r#"{"title":"a"}"#), Err(DefinitionError::Unreadable(_))));
        assert!(matches!(parse(r#"["a"]"#), Err(DefinitionError::Unreadable(_))));
        let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(300));
        assert_eq!(parse(&long), Err(DefinitionError::LongName(300)));
    }

    #[test]
    fn a_summary_is_one_sentence() {
        let summary = |text: &str| first_sentence(text);
        assert_eq!(summary("Gets a thing. Then more."), "Gets a thing.");
        assert_eq!(summary("\n\n# Title\n\nbody"), "Title");
        assert!(summary(&"word ".repeat(100)).chars().count() <= 161);
    }
}
