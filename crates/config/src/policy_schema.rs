//! The table `policy` in the JSON Schema of a configuration file.

use gristmill_gateway::domain::Level;
use gristmill_gateway::domain::policy::{Decision, Preset};
use serde_json::{Map, Value as Json, json};

use super::policy_table::{CALLS_MAX, KEYS, KINDS, PER_MINUTE_MAX, RULE_KEYS, RULES_MAX};

pub(super) fn policy() -> Json {
    let preset = json!({
        "description": "The rules behind your own [default: careful]",
        "enum": Preset::ALL.map(Preset::as_str),
    });
    json!({
        "description": "Which tools may be called, by whom; a project's file can only make it stricter",
        "type": ["string", "object"],
        "anyOf": [
            preset,
            {
                "type": "object",
                "properties": properties(&KEYS, |key| table_key(key, &preset)),
                "additionalProperties": false,
            },
        ],
    })
}

fn properties(keys: &[&str], of: impl Fn(&str) -> Option<Json>) -> Json {
    Json::Object(keys.iter().filter_map(|key| Some(((*key).to_owned(), of(key)?))).collect::<Map<_, _>>())
}

fn table_key(key: &str, preset: &Json) -> Option<Json> {
    let patterns = |description: &str| json!({ "description": description, "type": "array", "items": { "type": "string" } });
    Some(match key {
        "preset" => preset.clone(),
        "read_only" => json!({
            "description": "Refuse every tool that its server doesn't mark read-only",
            "type": "boolean",
            "default": false,
        }),
        "read_only_sessions" => patterns("The same for sessions with these names; `*` is anything"),
        "read_only_tokens" => patterns("The same for access tokens with these names; `*` is anything"),
        "flow" => json!({
            "description": "What happens to requests to external servers once a session has read untrusted and private data [default: ask]",
            "enum": Decision::ALL.map(Decision::as_str),
        }),
        "rules" => json!({
            "description": "Your rules; the first that fits decides, before the preset's",
            "type": "array",
            "maxItems": RULES_MAX,
            "items": {
                "type": "object",
                "properties": properties(&RULE_KEYS, rule_key),
                "additionalProperties": false,
            },
        }),
        _ => return None,
    })
}

fn rule_key(key: &str) -> Option<Json> {
    let text = |description: &str| json!({ "description": description, "type": "string", "minLength": 1 });
    let hint = |name: &str| json!({ "description": format!("What the server says of the tool: {name}"), "type": "boolean" });
    let count = |description: &str, max: u64| json!({ "description": description, "type": "integer", "minimum": 1, "maximum": max });
    Some(match key {
        "name" => text("What refusals and records call this rule"),
        "server" => text("A server's name; `*` is anything"),
        "tool" => text("A tool's name, a prompt's name or a resource's URI; `*` is anything"),
        "kind" => json!({ "description": "What is asked of the server", "enum": KINDS }),
        "where" => json!({
            "description": "Arguments by path, such as \"order.total\" = \">1000\" or \"to\" = \"*@example.com\"",
            "type": "object",
            "additionalProperties": { "type": ["string", "number", "boolean"] },
        }),
        "read_only_hint" => hint("readOnlyHint"),
        "destructive_hint" => hint("destructiveHint"),
        "idempotent_hint" => hint("idempotentHint"),
        "open_world_hint" => hint("openWorldHint"),
        "token" => text("The access token's name; local callers have none"),
        "client" => text("The client's name, as the client says it"),
        "session" => text("The session's name, or its handle"),
        "level" => json!({ "description": "The isolation level", "enum": Level::ALL.map(Level::as_str) }),
        "decision" => json!({
            "description": "What happens to such a call; without it the rule only counts",
            "enum": Decision::ALL.map(Decision::as_str),
        }),
        "calls_per_minute" => count("Calls per minute and caller", PER_MINUTE_MAX),
        "calls_per_execution" => count("Calls per program", CALLS_MAX),
        "calls_per_day" => count("Calls per day (UTC) and caller", CALLS_MAX),
        "reason" => text("Why, in a sentence: the model reads it"),
        _ => return None,
    })
}
