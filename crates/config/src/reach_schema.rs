//! The tables `llm` and `network` in the JSON Schema of a configuration file: what reaches beyond this machine.

use gristmill_gateway::domain::ModelProvider;
use serde_json::{Value as Json, json};

use super::schema::{table, time};
use super::{llm_table, network_table};

pub(super) fn llm(key: &str) -> Option<Json> {
    let text = |description: &str| json!({ "description": description, "type": "string", "minLength": 1 });
    let number = |description: &str, max: f64| json!({ "description": description, "type": "number", "minimum": 0, "maximum": max });
    Some(match key {
        "enabled" => json!({
            "description": "Whether a language model is asked at all",
            "type": "boolean",
            "default": true,
        }),
        "provider" => json!({
            "description": "Who has the model; auto takes what the environment has a key for",
            "enum": ModelProvider::NAMES,
            "default": ModelProvider::default().as_str(),
        }),
        "model" => text("The model's name [default: by provider]"),
        "url" => text("The provider's address, if it isn't the usual one"),
        "api_key" => {
            text("The key, as a reference such as ${keyring:openai} [default: the provider's variable]")
        }
        "deployment" => text("The deployment's name, for azure"),
        "api_version" => text("The version of the API, for azure"),
        "temperature" => {
            number("How freely it writes [default: the model's own]", llm_table::TEMPERATURE_MAX)
        }
        "max_tokens" => json!({
            "description": "The longest answer, in tokens",
            "type": "integer",
            "minimum": llm_table::TOKENS.0,
            "maximum": llm_table::TOKENS.1,
        }),
        "timeout" => time("Time for one answer, with every try [default: 5m]"),
        "input_price" => number("US dollars for a million tokens that are sent", llm_table::PRICE_MAX),
        "output_price" => number("US dollars for a million tokens that are written", llm_table::PRICE_MAX),
        _ => return None,
    })
}

pub(super) fn network(key: &str) -> Option<Json> {
    let quantity = |description: &str| json!({ "description": description, "type": ["string", "integer"] });
    Some(match key {
        "allowed_hosts" => json!({
            "description": "Hosts, such as \"api.example.com\", \"*.example.org:8443\" or \"http://127.0.0.1:8080\" [default: none]",
            "type": "array",
            "items": { "type": "string", "minLength": 1 },
        }),
        "timeout" => quantity("How long one request may take [default: 30s]"),
        "request_size" => quantity("How large the body of a request may be [default: 1M]"),
        "response_size" => quantity("How large an answer may be [default: 4M]"),
        "requests_per_execution" => json!({
            "description": "Requests of one execution [default: 100]",
            "type": "integer",
            "minimum": 1,
            "maximum": network_table::REQUESTS_MAX,
        }),
        "credentials" => json!({
            "description": "Headers that the gateway adds, by host as in `allowed_hosts`; programs never see them",
            "type": "object",
            "additionalProperties": table(&network_table::CREDENTIAL_KEYS, credential, "A header and its value"),
        }),
        _ => return None,
    })
}

fn credential(key: &str) -> Option<Json> {
    let description = match key {
        "header" => "Its name, such as \"Authorization\"",
        "value" => "Its value, such as \"Bearer ${env:EXAMPLE_TOKEN}\"",
        _ => return None,
    };
    Some(json!({ "description": description, "type": "string", "minLength": 1 }))
}
