//! Tool definitions as MCP writes them, and arguments held against them.

use serde_json::{Map, Value, json};

use super::unknown_name;

/// What a call does to the data behind a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Reads,
    /// Adds something new each time.
    Adds,
    /// Makes sure that something is there; a second time changes nothing.
    Ensures,
    /// Replaces what was there; a second time changes nothing more.
    Replaces,
    /// Takes something away from where it was.
    Moves,
}

impl Effect {
    fn annotations(self) -> Value {
        let (reads, destroys, repeatable) = match self {
            Self::Reads => (true, false, true),
            Self::Adds => (false, false, false),
            Self::Ensures => (false, false, true),
            Self::Replaces => (false, true, true),
            Self::Moves => (false, true, false),
        };
        json!({
            "readOnlyHint": reads,
            "destructiveHint": destroys,
            "idempotentHint": repeatable,
            "openWorldHint": false,
        })
    }
}

/// One tool. `output` is `null` for text and pictures.
pub fn tool(names: [&str; 2], description: &str, effect: Effect, input: Value, output: Value) -> Value {
    let [name, title] = names;
    let mut annotations = effect.annotations();
    annotations["title"] = Value::from(title);
    let mut tool = json!({
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": input,
    });
    if !output.is_null() {
        tool["outputSchema"] = output;
    }
    tool["annotations"] = annotations;
    tool
}

/// The schema of an object with these properties and no others.
pub fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The schema of an object in whose answers every property is always present.
pub fn full_object(properties: Value) -> Value {
    let required: Vec<String> =
        properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Refuses an unknown tool, an unknown argument and a missing one, with the names that there are.
pub fn check_call(tools: &[Value], tool: &str, arguments: &Map<String, Value>) -> Result<(), String> {
    let Some(definition) = tools.iter().find(|definition| definition["name"] == tool) else {
        return Err(unknown_name::unknown("tool", tool, tools.iter().filter_map(|it| it["name"].as_str())));
    };
    let schema = &definition["inputSchema"];
    let known: Vec<&str> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if let Some(name) = arguments.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(unknown_name::unknown(&format!("argument of {tool}"), name, known));
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match required.into_iter().find(|name| !arguments.contains_key(*name)) {
        Some(name) => Err(format!("{tool} needs `{name}`: {}", schema["properties"][name]["description"])),
        None => Ok(()),
    }
}
