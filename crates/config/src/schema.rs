//! The JSON Schema (draft 2020-12) of a configuration file, for editors and for the reference.
//!
//! It takes its keys from the readers' own lists, so that it has every key that they know.

use gristmill_gateway::domain::policy::Mark;
use gristmill_gateway::domain::{
    Accept, Level, LimitName, Limits, Protocol, SandboxPreset, ServerLimits, format_bytes, format_ms,
};
use serde_json::{Map, Value as Json, json};

use super::cluster_schema::cluster;
use super::engines_schema::engines;
use super::reach_schema::{llm, network};
use super::{
    alerts_table, approvals_table, audit_table, cluster_table, dashboard_table, document, engines_table,
    guardrails_table, history_table, learning_table, llm_table, network_table, policy_schema, policy_table,
    privacy_schema, privacy_table, results_table, search_table, serve_table, server_entry, server_limits,
    server_sandbox, server_tools, server_transport, watch_table,
};
use super::{sessions_table, strictness::Strictness};

/// Keys that every file may have, but that mistakes are not corrected to.
const MORE_KEYS: [&str; 2] = ["$schema", "mcp_servers"];

const TIME: &str = r"^\s*[0-9]*\.?[0-9]+\s*([mM]?[sS]|[mMhHdD])?\s*$";
const SIZE: &str = r"^\s*[0-9]*\.?[0-9]+\s*([kKmMgG]([iI]?[bB])?|[bB])?\s*$";

pub fn schema() -> Json {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Gristmill configuration",
        "description": "gristmill.toml, gristmill.yaml or gristmill.json",
        "type": "object",
        "properties": properties(&top_level_keys(), top_level),
        "additionalProperties": false,
        "$defs": {
            "server": server(Strictness::Ours),
            "clientServer": server(Strictness::Foreign),
            "time": {
                "description": "A time such as 250ms, 30s, 2m, 24h or 30d; a bare number is seconds",
                "type": ["string", "number"],
                "pattern": TIME,
                "minimum": 0,
            },
            "size": {
                "description": "A size such as 512K, 16M or 1GiB; a bare number is bytes",
                "type": ["string", "number"],
                "pattern": SIZE,
                "minimum": 0,
            },
            "secret": {
                "description": "Text; write secrets as ${NAME}, ${file:PATH}, ${keyring:NAME} or ${cmd:COMMAND}",
                "type": ["string", "number", "boolean"],
            },
            "secrets": { "type": "object", "additionalProperties": { "$ref": "#/$defs/secret" } },
        },
    })
}

fn top_level_keys() -> Vec<&'static str> {
    document::KEYS.into_iter().chain(MORE_KEYS).collect()
}

/// What is known of every key of a table. A key without an entry is left out, which a test tells of.
fn properties(keys: &[&str], of: fn(&str) -> Option<Json>) -> Json {
    let known = keys.iter().filter_map(|key| Some(((*key).to_owned(), of(key)?)));
    Json::Object(known.collect::<Map<_, _>>())
}

pub(super) fn table(keys: &[&str], of: fn(&str) -> Option<Json>, description: &str) -> Json {
    json!({
        "description": description,
        "type": "object",
        "properties": properties(keys, of),
        "additionalProperties": false,
    })
}

fn top_level(key: &str) -> Option<Json> {
    let servers = |definition: &str, description: &str| {
        let server = json!({ "$ref": format!("#/$defs/{definition}") });
        json!({ "description": description, "type": "object", "additionalProperties": server })
    };
    Some(match key {
        "$schema" => json!({ "description": "This schema, for your editor", "type": "string" }),
        "servers" => servers("server", "MCP servers by name"),
        "mcpServers" | "mcp_servers" => servers("clientServer", "MCP servers, as MCP clients write them"),
        "level" => json!({
            "description": "Isolation level of programs",
            "enum": Level::ALL.map(Level::as_str),
            "default": Level::default().as_str(),
        }),
        "limits" => table(&LimitName::ALL.map(LimitName::as_str), program_limit, "Limits of a program"),
        sessions_table::TABLE => {
            table(&sessions_table::KEYS, sessions, "Agent sessions; in your own configuration only")
        }
        history_table::TABLE => {
            table(&history_table::KEYS, history, "Recorded executions; in your own configuration only")
        }
        policy_table::TABLE => policy_schema::policy(),
        privacy_table::TABLE => privacy_schema::privacy(),
        results_table::TABLE => {
            table(&results_table::KEYS, results, "Stored results; in your own configuration only")
        }
        audit_table::TABLE => table(&audit_table::KEYS, audit, "The audit; in your own configuration only"),
        approvals_table::TABLE => table(
            &approvals_table::KEYS,
            approvals,
            "How you're told that a call waits for you; in your own configuration only",
        ),
        watch_table::TABLE => {
            table(&watch_table::KEYS, watch, "Watching for the unusual; in your own configuration only")
        }
        alerts_table::TABLE => table(
            &alerts_table::KEYS,
            alerts,
            "Who is told of what the watch finds; in your own configuration only",
        ),
        dashboard_table::TABLE => {
            table(&dashboard_table::KEYS, dashboard, "The dashboard; in your own configuration only")
        }
        engines_table::TABLE => {
            table(&engines_table::KEYS, engines, "Languages of programs; in your own configuration only")
        }
        learning_table::TABLE => {
            table(&learning_table::KEYS, learning, "What is learned from use; in your own configuration only")
        }
        search_table::TABLE => {
            table(&search_table::KEYS, search, "How tools are found; in your own configuration only")
        }
        network_table::TABLE => table(
            &network_table::KEYS,
            network,
            "Hosts that programs may send requests to; in your own configuration only",
        ),
        serve_table::TABLE => {
            table(&serve_table::KEYS, serve, "What clients are shown; in your own configuration only")
        }
        llm_table::TABLE => {
            table(&llm_table::KEYS, llm, "Which language model is asked; in your own configuration only")
        }
        cluster_table::TABLE => table(
            &cluster_table::KEYS,
            cluster,
            "Machines that run programs together; in your own configuration only",
        ),
        guardrails_table::TABLE => {
            table(&guardrails_table::KEYS, guardrails, "Checks of programs; in your own configuration only")
        }
        _ => return None,
    })
}

fn approvals(key: &str) -> Option<Json> {
    (key == "webhook").then(|| {
        table(&approvals_table::WEBHOOK_KEYS, webhook, "Where a message is sent when a call waits for you")
    })
}

fn webhook(key: &str) -> Option<Json> {
    let text = |description: &str| json!({ "description": description, "type": "string", "minLength": 1 });
    Some(match key {
        "url" => text("Where to: https://, or http:// on this machine"),
        "secret" => {
            text("What messages are signed with, such as \"${env:WEBHOOK_SECRET}\"; 16 characters or more")
        }
        "public_url" => text("Under which address you reach this gateway's HTTP endpoint"),
        _ => return None,
    })
}

fn search(key: &str) -> Option<Json> {
    let description = match key {
        "meaning" => "Find tools by what words mean, where the build has an encoder [default: true]",
        "uses" => "Put tools first that your programs called after similar searches [default: true]",
        _ => return None,
    };
    Some(json!({ "description": description, "type": "boolean" }))
}

fn learning(key: &str) -> Option<Json> {
    (key == "types").then(|| {
        json!({
            "description": "Learn what tools answer from their answers, and show it [default: true]",
            "type": "boolean",
        })
    })
}

fn serve(key: &str) -> Option<Json> {
    Some(match key {
        "profile" => json!({
            "description": "Which of Gristmill's tools clients see, unless `serve --profile` says otherwise",
            "enum": serve_table::PROFILES,
            "default": serve_table::PROFILES[0],
        }),
        "signature_tokens" => json!({
            "description": "Tokens that the signatures of tools may take in the description of execute_code; 0 for none",
            "type": "integer",
            "minimum": 0,
            "maximum": serve_table::SIGNATURE_TOKENS_MAX,
            "default": serve_table::SIGNATURE_TOKENS_DEFAULT,
        }),
        "call_tool" => json!({
            "description": "Whether clients see call_tool, for single calls without a program",
            "type": "boolean",
            "default": false,
        }),
        "generate_code" => json!({
            "description": "Whether clients see generate_code, which has a program written for a task in words",
            "type": "boolean",
            "default": false,
        }),
        _ => return None,
    })
}

fn guardrails(key: &str) -> Option<Json> {
    let modules = |description: &str| json!({ "description": description, "type": "array", "items": { "type": "string" } });
    Some(match key {
        "strict_mode" => json!({
            "description": "Whether programs with findings of severity high are refused at every level",
            "type": "boolean",
            "default": false,
        }),
        "allowed_modules" => modules("The only modules that programs may import [default: all]"),
        "denied_modules" => modules("Modules that programs may not import"),
        "development" | "production" | "hardened" => table(
            &guardrails_table::LEVEL_KEYS,
            guardrails_of_level,
            "The modules of programs at this level: allowed ones in place of those for all, denied ones beside them",
        ),
        "types" => json!({
            "description": "Whether TypeScript programs are type checked, where there is a type checker",
            "enum": guardrails_table::TYPES,
            "default": "auto",
        }),
        _ => return None,
    })
}

fn guardrails_of_level(key: &str) -> Option<Json> {
    guardrails(key).filter(|_| guardrails_table::LEVEL_KEYS.contains(&key))
}

fn program_limit(key: &str) -> Option<Json> {
    let name = LimitName::from_name(key)?;
    let limits = Limits::of(Level::default());
    let value = name.format(limits.get(name));
    let description = format!("{} [default at level production: {value}]", sentence(name.subject()));
    Some(match name.format(1).as_str() {
        "1 ms" => time(&description),
        "1 byte" => size(&description),
        _ => json!({ "description": description, "type": ["integer", "string"], "minimum": 0 }),
    })
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn sessions(key: &str) -> Option<Json> {
    let whole = |description: &str, (min, max): (u64, u64)| json!({ "description": description, "type": "integer", "minimum": min, "maximum": max });
    Some(match key {
        "idle" => time("How long a session without a name is kept after its last use [default: 24h]"),
        "named_idle" => time("How long a named session is kept after its last use [default: 30d]"),
        "max" => whole("How many sessions there may be [default: 1000]", sessions_table::MAX),
        "kept_interpreters" => {
            whole("How many sessions may keep their variables [default: 16]", sessions_table::KEPT)
        }
        _ => return None,
    })
}

fn audit(key: &str) -> Option<Json> {
    let flag = |description: &str, default: bool| json!({ "description": description, "type": "boolean", "default": default });
    Some(match key {
        "enabled" => flag("Whether an audit is written", true),
        "arguments" => flag("Whether it has the arguments of calls, not only their digests", false),
        "keep" => time("How long events are kept [default: 365d]"),
        "max_size" => size("How much space they may take [default: 512MB]"),
        _ => return None,
    })
}

fn watch(key: &str) -> Option<Json> {
    let (min, max) = watch_table::COUNTS;
    let count = |description: &str| json!({ "description": description, "type": "integer", "minimum": min, "maximum": max });
    Some(match key {
        "enabled" => {
            json!({ "description": "Whether executions and calls are watched", "type": "boolean", "default": true })
        }
        "calls_per_minute" => count("Calls of a caller or a tool that are never a burst [default: 400]"),
        "denials_per_minute" => count("Denied calls of a caller that are never a burst [default: 8]"),
        "output_per_minute" => size("Output of a caller that is never a burst [default: 1MiB]"),
        _ => return None,
    })
}

fn alerts(key: &str) -> Option<Json> {
    let flag = |description: &str, default: bool| json!({ "description": description, "type": "boolean", "default": default });
    Some(match key {
        "log" => flag("Whether alerts are written to standard error", true),
        "notices" => flag("Whether notices are alerts, too", false),
        "command" => json!({
            "description": "A program and its arguments, started for each alert, with JSON on standard input",
            "type": "array",
            "items": { "type": "string" },
        }),
        "webhook" => table(&alerts_table::WEBHOOK_KEYS, webhook, "Where alerts are sent, signed"),
        _ => return None,
    })
}

fn dashboard(key: &str) -> Option<Json> {
    (key == "price_per_million_tokens").then(|| {
        json!({
            "description": "Price of a million tokens, to show what was saved in money; 0 shows none",
            "type": "number",
            "minimum": 0,
            "maximum": dashboard_table::PRICE_MAX,
            "default": 3.0,
        })
    })
}

fn history(key: &str) -> Option<Json> {
    Some(match key {
        "keep" => time("How long executions are kept [default: 30d]"),
        "max_size" => size("How much space they may take [default: 256MB]"),
        "content" => json!({
            "description": "Whether programs, output and results are recorded too",
            "type": "boolean",
            "default": true,
        }),
        _ => return None,
    })
}

fn results(key: &str) -> Option<Json> {
    Some(match key {
        "keep" => time("How long a result is kept after its last use [default: 7d]"),
        "max_size" => size("How much space they may take [default: 1GiB]"),
        _ => return None,
    })
}

/// One server. In blocks of other clients their own keys are allowed, too.
fn server(strictness: Strictness) -> Json {
    let one_of = ["command", "url", "httpUrl", "serverUrl"].map(|key| json!({ "required": [key] }));
    let keys: Vec<&str> = server_entry::KEYS.into_iter().chain(server_entry::UNDERSTOOD).collect();
    json!({
        "description": "An MCP server: needs either `command` or `url`",
        "type": "object",
        "properties": properties(&keys, server_key),
        "oneOf": one_of,
        "additionalProperties": strictness == Strictness::Foreign,
    })
}

fn server_key(key: &str) -> Option<Json> {
    let text = |description: &str| json!({ "description": description, "type": "string" });
    let secrets = |description: &str| json!({ "description": description, "$ref": "#/$defs/secrets" });
    Some(match key {
        "command" => text("The command to start"),
        "args" => json!({
            "description": "Its arguments",
            "type": "array",
            "items": { "$ref": "#/$defs/secret" },
        }),
        "env" => secrets("Its environment variables; it gets no others except the few every program needs"),
        "cwd" => text("Where it starts, relative to this file; `~/` is your home folder"),
        "url" => text("A Streamable HTTP address"),
        "headers" => secrets("Headers sent with every request"),
        "oauth" => json!({
            "description": "For servers that don't support dynamic registration",
            "type": ["object", "boolean"],
            "properties": properties(&server_transport::OAUTH_KEYS, oauth_key),
        }),
        "description" => text("One line about the server, for agents"),
        "category" => text("A word to filter tool searches by"),
        "enabled" => json!({ "description": "Whether to connect it", "type": "boolean", "default": true }),
        "accept" => json!({
            "description": "Which changes to what it offers need no review",
            "enum": Accept::NAMES,
            "default": Accept::default().name(),
        }),
        "protocol" => json!({
            "description": "Speak this version of MCP with it, and try no other",
            "enum": Protocol::NAMES,
        }),
        "tools" => json!({
            "description": "Which of its tools are offered, by name; `*` and `?` stand for other characters",
            "type": ["object", "array"],
            "properties": properties(&server_tools::KEYS, |key| {
                let description = match key {
                    "include" => "Only these",
                    _ => "Not these, even if they are included",
                };
                Some(json!({ "description": description, "type": "array", "items": { "type": "string" } }))
            }),
        }),
        "limits" => table(&server_limits::KEYS, server_limit, "Limits of this server"),
        "marks" => json!({
            "description": "What its data is (untrusted, private), and whether what is sent to it leaves the house (external)",
            "type": "array",
            "items": { "enum": Mark::ALL.map(Mark::as_str) },
        }),
        "privacy" => {
            privacy_schema::mode("How far its personal data may go, if not as far as that of other servers")
        }
        "sandbox" => json!({
            "description": "Confines a server that Gristmill starts: true, false, or a table [default: on at level hardened]",
            "type": ["boolean", "object"],
            "properties": properties(&server_sandbox::KEYS, sandbox_key),
            "additionalProperties": false,
        }),
        key => return client_key(key),
    })
}

fn sandbox_key(key: &str) -> Option<Json> {
    let texts = |description: &str| json!({ "description": description, "type": "array", "items": { "type": "string" } });
    Some(match key {
        "read" => texts("Files and folders it may read, beyond the system's and its own"),
        "write" => texts("Files and folders it may read and write"),
        "network" => json!({
            "description": "Whom it may connect to: on, off, or a list of hosts such as api.example.com, *.example.com or 10.0.0.5:8080 [default: on]",
            "type": ["string", "array"],
            "items": { "type": "string" },
        }),
        "env" => texts("The variables it inherits, instead of PATH, HOME and a few more"),
        "preset" => json!({
            "description": "The runtime whose folders it gets [default: by its command]",
            "enum": SandboxPreset::NAMES,
        }),
        "required" => json!({
            "description": "Don't start it where a sandbox layer is missing [default: true at level hardened]",
            "type": "boolean",
        }),
        _ => return None,
    })
}

/// What other clients write, and we understand.
fn client_key(key: &str) -> Option<Json> {
    let mut written = match key {
        "type" | "transport" => json!({ "type": "string" }),
        "disabled" => json!({ "type": "boolean" }),
        "httpUrl" | "serverUrl" | "bearer_token_env_var" | "workingDirectory" => json!({ "type": "string" }),
        "timeout" | "startup_timeout_sec" | "startup_timeout_ms" | "tool_timeout_sec" => {
            json!({ "type": ["number", "string"] })
        }
        "http_headers" | "env_http_headers" => json!({ "$ref": "#/$defs/secrets" }),
        "env_vars" => json!({ "type": "array" }),
        key if server_tools::is_foreign(key) => json!({ "type": "array", "items": { "type": "string" } }),
        "auth" => json!({ "type": ["object", "string", "boolean"] }),
        _ => return None,
    };
    written["description"] = Json::from("As other MCP clients write it");
    Some(written)
}

fn oauth_key(key: &str) -> Option<Json> {
    Some(match key {
        "client_id" => json!({ "description": "The client id you registered", "type": "string" }),
        "client_secret" => json!({
            "description": "Its secret; write it as a reference such as ${keyring:NAME}",
            "type": "string",
        }),
        "scopes" => json!({
            "description": "The scopes to ask for",
            "type": ["array", "string"],
            "items": { "type": "string" },
        }),
        "callback_port" => json!({
            "description": "The local port that the login comes back to",
            "type": "integer",
            "minimum": 1,
            "maximum": u16::MAX,
        }),
        _ => return None,
    })
}

fn server_limit(key: &str) -> Option<Json> {
    let ServerLimits { startup_ms, call_ms, parallel_calls, result_bytes, calls_per_minute } =
        ServerLimits::default();
    let count = |description: String, minimum: u64, maximum: u64| json!({ "description": description, "type": "integer", "minimum": minimum, "maximum": maximum });
    Some(match key {
        "startup" => time(&format!("Time to start and list its tools [default: {}]", format_ms(startup_ms))),
        "call" => time(&format!("Time for one call [default: {}]", format_ms(call_ms))),
        "result_size" => size(&format!("The largest answer [default: {}]", format_bytes(result_bytes))),
        "parallel_calls" => {
            let description = format!("Calls at once; further ones wait [default: {parallel_calls}]");
            count(description, 1, server_limits::PARALLEL_MAX)
        }
        "calls_per_minute" => {
            let description = format!("Calls per minute; 0 is no limit [default: {calls_per_minute}]");
            count(description, 0, server_limits::CALLS_PER_MINUTE_MAX)
        }
        _ => return None,
    })
}

pub(super) fn time(description: &str) -> Json {
    json!({ "description": description, "$ref": "#/$defs/time" })
}

fn size(description: &str) -> Json {
    json!({ "description": description, "$ref": "#/$defs/size" })
}

#[cfg(test)]
mod tests {
    use super::super::cluster_places;
    use super::*;

    #[test]
    fn the_schema_has_every_key_that_the_readers_know() {
        let schema = schema();
        let check = |keys: &[&str], place: &str| {
            let properties = schema.pointer(place).and_then(Json::as_object).expect("a table");
            let missing: Vec<&&str> = keys.iter().filter(|key| !properties.contains_key(**key)).collect();
            assert!(missing.is_empty(), "{place}: {missing:?}");
        };
        check(&top_level_keys(), "/properties");
        check(&super::super::document::BLOCKS, "/properties");
        check(&LimitName::ALL.map(LimitName::as_str), "/properties/limits/properties");
        check(&sessions_table::KEYS, "/properties/sessions/properties");
        check(&history_table::KEYS, "/properties/history/properties");
        check(&audit_table::KEYS, "/properties/audit/properties");
        check(&approvals_table::WEBHOOK_KEYS, "/properties/approvals/properties/webhook/properties");
        check(&watch_table::KEYS, "/properties/watch/properties");
        check(&alerts_table::KEYS, "/properties/alerts/properties");
        check(&alerts_table::WEBHOOK_KEYS, "/properties/alerts/properties/webhook/properties");
        check(&dashboard_table::KEYS, "/properties/dashboard/properties");
        check(&results_table::KEYS, "/properties/results/properties");
        check(&engines_table::KEYS, "/properties/engines/properties");
        check(&engines_table::NATIVE_KEYS, "/properties/engines/properties/native/properties");
        check(&learning_table::KEYS, "/properties/learning/properties");
        check(&search_table::KEYS, "/properties/search/properties");
        check(&network_table::KEYS, "/properties/network/properties");
        check(
            &network_table::CREDENTIAL_KEYS,
            "/properties/network/properties/credentials/additionalProperties/properties",
        );
        check(&serve_table::KEYS, "/properties/serve/properties");
        check(&llm_table::KEYS, "/properties/llm/properties");
        check(&cluster_table::KEYS, "/properties/cluster/properties");
        check(&cluster_places::KEYS, "/properties/cluster/properties/place/items/properties");
        check(&guardrails_table::KEYS, "/properties/guardrails/properties");
        check(&policy_table::KEYS, "/properties/policy/anyOf/1/properties");
        check(&policy_table::RULE_KEYS, "/properties/policy/anyOf/1/properties/rules/items/properties");
        let privacy = "/properties/privacy/anyOf/1/properties";
        check(&privacy_table::KEYS, privacy);
        check(&privacy_table::ALLOW_KEYS, &format!("{privacy}/allow/properties"));
        let field = format!("{privacy}/allow/properties/fields/items/anyOf/1/properties");
        check(&privacy_table::FIELD_KEYS, &field);
        check(&privacy_table::RULE_KEYS, &format!("{privacy}/restore/items/properties"));
        check(&server_entry::KEYS, "/$defs/server/properties");
        check(&server_entry::UNDERSTOOD, "/$defs/clientServer/properties");
        check(&server_limits::KEYS, "/$defs/server/properties/limits/properties");
        check(&server_sandbox::KEYS, "/$defs/server/properties/sandbox/properties");
        check(&server_transport::OAUTH_KEYS, "/$defs/server/properties/oauth/properties");
    }
}
