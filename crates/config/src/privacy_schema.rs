//! The table `privacy` in the JSON Schema of a configuration file.

use gristmill_gateway::domain::PrivacyMode;
use gristmill_gateway::privacy::{DetectorSettings, Kind};
use serde_json::{Map, Value as Json, json};

use super::privacy_table::{
    ALLOW_KEYS, CONFIDENCE, FIELD_KEYS, KEYS, NAME_CHARS_MAX, RULE_KEYS, RULES_MAX, TEXT_BYTES_MAX,
};

pub(super) fn privacy() -> Json {
    let mode = mode("How far personal data may go [default: off at level development, output otherwise]");
    json!({
        "description": "Personal data and secrets; a project's file can only make it stricter",
        "type": ["string", "object"],
        "anyOf": [mode, table(&KEYS, |key| table_key(key, &mode))],
    })
}

pub(super) fn mode(description: &str) -> Json {
    json!({ "description": description, "enum": PrivacyMode::ALL.map(PrivacyMode::as_str) })
}

fn table(keys: &[&str], of: impl Fn(&str) -> Option<Json>) -> Json {
    let properties: Map<_, _> = keys.iter().filter_map(|key| Some(((*key).to_owned(), of(key)?))).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn needing(key: &str, mut table: Json) -> Json {
    table["required"] = json!([key]);
    table
}

fn texts(description: &str) -> Json {
    let text = json!({ "type": "string", "minLength": 1, "maxLength": TEXT_BYTES_MAX });
    json!({ "description": description, "type": "array", "items": text })
}

fn kinds(description: &str) -> Json {
    json!({ "description": description, "type": "array", "items": { "type": "string" } })
}

fn table_key(key: &str, mode: &Json) -> Option<Json> {
    let default = DetectorSettings::default();
    let (least, most) = CONFIDENCE;
    Some(match key {
        "mode" => mode.clone(),
        "off" => {
            let names: Vec<&str> = Kind::ALL.iter().map(Kind::name).collect();
            let names = names.join(", ");
            kinds(&format!("Kinds that aren't looked for: any of {names}, or of `patterns`"))
        }
        "confidence_min" => json!({
            "description": "Findings below this many percent don't count",
            "type": "integer",
            "minimum": least,
            "maximum": most,
            "default": default.confidence_min,
        }),
        "phone_regions" => json!({
            "description": "Countries whose phone numbers are found without a country code",
            "type": "array",
            "items": { "type": "string", "pattern": "^[A-Za-z]{2}$" },
            "default": default.phone_regions,
        }),
        "restore_to_model" => kinds("Kinds that a model may have back; at level development it may have all"),
        "patterns" => json!({
            "description": "Your own kinds: a name and a regular expression each",
            "type": "object",
            "propertyNames": { "pattern": format!("^[a-z][a-z0-9_]{{0,{}}}$", NAME_CHARS_MAX - 1) },
            "additionalProperties": { "type": "string", "minLength": 1, "maxLength": TEXT_BYTES_MAX },
        }),
        "allow" => {
            let mut allow = table(&ALLOW_KEYS, allow_key);
            allow["description"] = json!("What is left alone");
            allow
        }
        "restore" => json!({
            "description": "Where tokens become values again; the first rule that fits counts",
            "type": "array",
            "maxItems": RULES_MAX,
            "items": needing("allow", table(&RULE_KEYS, rule_key)),
        }),
        _ => return None,
    })
}

fn allow_key(key: &str) -> Option<Json> {
    Some(match key {
        "values" => texts("Exact values, whatever their case"),
        "globs" => texts("Values with `*` for any text, such as *@example.com"),
        "fields" => json!({
            "description": "Server, tool and keys, such as crm.*.fields.notes; `*` is one name, `**` any number of them",
            "type": "array",
            "items": {
                "type": ["string", "object"],
                "anyOf": [{ "type": "string" }, needing("field", table(&FIELD_KEYS, field_key))],
            },
        }),
        _ => return None,
    })
}

fn field_key(key: &str) -> Option<Json> {
    Some(match key {
        "field" => json!({ "description": "The field", "type": "string", "minLength": 1 }),
        "kinds" => kinds("Only these kinds [default: all]"),
        _ => return None,
    })
}

fn rule_key(key: &str) -> Option<Json> {
    Some(match key {
        "kinds" => kinds("Only these kinds [default: all]"),
        "to" => json!({
            "description": "A tool such as mail.send_*, or a server; `*` is anything [default: all]",
            "type": "string",
            "minLength": 1,
        }),
        "fields" => texts("Only these arguments, such as message.to; `*` is anything [default: all]"),
        "allow" => json!({ "description": "Whether they may go there", "type": "boolean" }),
        _ => return None,
    })
}
