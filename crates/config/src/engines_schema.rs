//! The table `engines` in the JSON Schema of a configuration file.

use gristmill_gateway::EngineId;
use serde_json::{Value as Json, json};

use super::engines_table::{NATIVE, NATIVE_KEYS};
use super::schema::table;

pub(super) fn engines(key: &str) -> Option<Json> {
    match key {
        "warm" => Some(json!({
            "description": "Languages whose workers wait before their first program [default: python]",
            "type": "array",
            "items": { "enum": EngineId::ALL.iter().map(|engine| engine.name()).collect::<Vec<_>>() },
        })),
        NATIVE => Some(table(&NATIVE_KEYS, native_engine, "The machine's own Python, without WebAssembly")),
        _ => None,
    }
}

fn native_engine(key: &str) -> Option<Json> {
    let flag = |description: &str| json!({ "description": description, "type": "boolean" });
    let texts = |description: &str| json!({ "description": description, "type": "array", "items": { "type": "string", "minLength": 1 } });
    Some(match key {
        "enabled" => flag("Let programs use it [default: false]"),
        "auto" => {
            flag("Use it for programs that import what only its environment has, unasked [default: false]")
        }
        "hardened" => flag("Let level hardened use it, too [default: false]"),
        "without_namespaces" => flag("Let level production use it without namespaces [default: false]"),
        "tokens" => texts("Only these access tokens may use it; `*` is anything [default: every token]"),
        "sessions" => {
            texts("Programs of these sessions run in it, unless a call says otherwise; `*` is anything")
        }
        "python" => json!({
            "description": "The interpreter, 3.11 or newer: an absolute path [default: the first python3]",
            "type": "string",
            "pattern": "^/",
        }),
        "path" => texts("Further folders to import from, each an absolute path"),
        "preload" => texts("Modules imported before programs [default: numpy and pandas, if added]"),
        _ => return None,
    })
}
