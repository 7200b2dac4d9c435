//! The table `cluster` in the JSON Schema of a configuration file.

use gristmill_gateway::EngineId;
use gristmill_gateway::domain::Level;
use serde_json::{Value as Json, json};

use super::cluster_names::{CLUSTER_CHARS_MAX, CLUSTER_DEFAULT, LABEL_CHARS_MAX, LABELS_MAX, NODE_CHARS_MAX};
use super::cluster_places::{self, RUN};
use super::cluster_table::{PLACE, STATE_KEY, TAKES_MAX};
use super::schema::table;

pub(super) fn cluster(key: &str) -> Option<Json> {
    let path = |description: &str| json!({ "description": description, "type": "string", "minLength": 1 });
    Some(match key {
        "nats" => json!({
            "description": "The bus: tls://HOST:PORT, or nats://HOST:PORT on this machine; or a list of such",
            "type": ["string", "array"],
            "items": { "type": "string", "minLength": 1 },
            "minLength": 1,
            "minItems": 1,
        }),
        "name" => json!({
            "description": "Which cluster on that bus",
            "type": "string",
            "pattern": plain_name(CLUSTER_CHARS_MAX),
            "default": CLUSTER_DEFAULT,
        }),
        "node" => json!({
            "description": "What this machine is called in it [default: by its host name]",
            "type": "string",
            "pattern": plain_name(NODE_CHARS_MAX),
        }),
        "nkey" => json!({
            "description": "Its NKey seed, as a reference such as ${file:/etc/gristmill/node.nk}",
            "type": "string",
            "pattern": r"^\$\{.+\}$",
        }),
        "ca" => path("The only root certificates that the bus's may come from [default: the system's]"),
        "certificate" => path("A client certificate for the bus; needs `key`"),
        "key" => path("The key of `certificate`"),
        "run" => json!({
            "description": "Where this gateway's programs run, unless a rule under [[cluster.place]] says otherwise",
            "enum": RUN,
            "default": RUN[0],
        }),
        "takes" => json!({
            "description": "How many programs of other gateways this gateway runs at once",
            "type": "integer",
            "minimum": 0,
            "maximum": TAKES_MAX,
            "default": 0,
        }),
        "labels" => labels("What this machine is, for programs that ask for it"),
        STATE_KEY => json!({
            "description": "Share one state with every gateway that has this key: a reference such as ${file:/etc/gristmill/state.key} [default: this gateway has a state of its own]",
            "type": "string",
            "pattern": r"^\$\{.+\}$",
        }),
        PLACE => json!({
            "description": "Where programs run; the first that fits one decides",
            "type": "array",
            "items": table(&cluster_places::KEYS, place, "Where some programs run"),
        }),
        _ => return None,
    })
}

fn place(key: &str) -> Option<Json> {
    let texts = |description: &str| json!({ "description": description, "type": "array", "minItems": 1, "items": { "type": "string", "minLength": 1 } });
    Some(match key {
        "engines" => json!({
            "description": "Programs of these engines [default: all]",
            "type": "array",
            "minItems": 1,
            "items": { "enum": EngineId::ALL.iter().map(|engine| engine.name()).collect::<Vec<_>>() },
        }),
        "levels" => json!({
            "description": "Programs at these isolation levels [default: all]",
            "type": "array",
            "minItems": 1,
            "items": { "enum": Level::ALL.map(Level::as_str) },
        }),
        "tokens" => texts("Programs that came with these access tokens; `*` is anything [default: all]"),
        "sessions" => texts("Programs of these sessions; `*` is anything [default: all]"),
        "run" => json!({
            "description": "Where they run: on this machine, on nodes, or here while a place is free",
            "enum": RUN,
        }),
        "labels" => labels("A node must have all of these"),
        _ => return None,
    })
}

fn labels(description: &str) -> Json {
    json!({
        "description": description,
        "type": "array",
        "maxItems": LABELS_MAX,
        "items": { "type": "string", "pattern": plain_name(LABEL_CHARS_MAX) },
    })
}

fn plain_name(chars_max: usize) -> String {
    format!("^[a-z0-9-]{{1,{chars_max}}}$")
}
