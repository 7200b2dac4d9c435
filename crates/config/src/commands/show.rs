//! `gristmill config show`: the configuration as it was resolved, and who said what.
//!
//! Secrets are shown as references. Plain values of variables and headers are masked, because
//! people write secrets there.

use std::fmt::Display;

use serde_json::{Value as Json, json};
use toml_edit::{DocumentMut, Item, Table};

use gristmill_gateway::domain::{HostCredential, LimitName, Transport, counted};
use gristmill_gateway::privacy::{Allow, PrivacySettings};

use crate::cluster_table::{self, ClusterConfig};
use crate::network_table::{self, NetworkConfig};
use crate::privacy_layers::PrivacyConfig;
use crate::problem::shown;
use crate::written::{self, Purpose};
use crate::{
    Approval, Config, ConfiguredServer, Origin, PlaceRule, alerts_table, approvals_table, audit_table,
    dashboard_table, edit_toml, engines_table, guardrails_table, history_table, learning_table, llm_table,
    privacy_table, results_table, search_table, serve_table, sessions_table, watch_table,
};

/// The whole configuration as TOML, with origins as comments. It can be read again, whatever is configured; rules and
/// what is allowed are left out.
pub fn as_toml(config: &Config) -> String {
    let limits = LimitName::ALL.map(|name| {
        let origin = config.limit_origins.get(&name).unwrap_or(&Origin::Default);
        (name.as_str(), json!(name.written(config.limits.get(name))).to_string(), origin)
    });
    let mut text = format!("# {}\nlevel = \"{}\"\n", config.level_origin, config.level);
    text.push_str(&table_as_toml("limits", limits));
    text.push_str(&table_as_toml(sessions_table::TABLE, config.sessions.shown()));
    text.push_str(&table_as_toml(history_table::TABLE, config.history.shown()));
    text.push_str(&table_as_toml(audit_table::TABLE, config.audit.shown()));
    if config.approvals.webhook.is_some() {
        text.push_str(&table_as_toml(approvals_table::TABLE, config.approvals.shown()));
    }
    text.push_str(&table_as_toml(watch_table::TABLE, config.watch.shown()));
    text.push_str(&table_as_toml(alerts_table::TABLE, config.alerts.shown()));
    text.push_str(&table_as_toml(dashboard_table::TABLE, config.dashboard.shown()));
    text.push_str(&table_as_toml(results_table::TABLE, config.results.shown()));
    text.push_str(&table_as_toml(engines_table::TABLE, config.engines.shown()));
    text.push_str(&table_as_toml(learning_table::TABLE, config.learning.shown()));
    text.push_str(&table_as_toml(search_table::TABLE, config.search.shown()));
    text.push_str(&network_as_toml(&config.network));
    text.push_str(&table_as_toml(serve_table::TABLE, config.serve.shown()));
    text.push_str(&table_as_toml(llm_table::TABLE, config.llm.shown()));
    text.push_str(&cluster_as_toml(&config.cluster));
    text.push_str(&table_as_toml(guardrails_table::TABLE, config.guardrails.shown()));
    let policy = &config.policy;
    text.push_str(&format!(
        "\n[policy]\npreset = \"{}\" # {}\n",
        policy.settings.preset, policy.preset_origin
    ));
    if let Some(origin) = &policy.settings.read_only {
        text.push_str(&format!("read_only = true # {origin}\n"));
    }
    text.push_str("# the rules: `gristmill policy show`\n");
    text.push_str(&privacy_as_toml(&config.privacy));
    for server in config.servers.iter().filter(|server| !is_hosts(server)) {
        text.push('\n');
        text.push_str(&server_as_toml(server));
    }
    text
}

/// One table with its values, which are TOML and JSON alike.
fn table_as_toml<'a, K: Display>(
    name: &str,
    shown: impl IntoIterator<Item = (K, String, &'a Origin)>,
) -> String {
    let mut text = format!("\n[{name}]\n");
    for (key, value, origin) in shown {
        text.push_str(&format!("{key} = {} # {origin}\n", in_toml(&value)));
    }
    text
}

/// JSON has one character in its texts as it is that TOML wants as an escape.
fn in_toml(json: &str) -> String {
    json.replace('\u{7f}', "\\u007f")
}

/// Each credential has a table of its own.
fn network_as_toml(network: &NetworkConfig) -> String {
    let mut text = table_as_toml(network_table::TABLE, network.shown());
    for HostCredential { host, header, value } in &network.credentials {
        let (host, header, value) = (json!(host.as_str()), json!(header), json!(written::masked(value)));
        let value = in_toml(&value.to_string());
        text.push_str(&format!("\n[network.credentials.{host}]\nheader = {header}\nvalue = {value}\n"));
    }
    text
}

/// Of credentials only the hosts that have one.
fn network_as_json(network: &NetworkConfig) -> Json {
    let hosts: Vec<&str> = network.credentials.iter().map(|one| one.host.as_str()).collect();
    let mut shown = shown_as_json(network.shown());
    shown["credentials"] = json!({"value": hosts, "origin": network.origin().to_string()});
    shown
}

/// Nothing without a cluster.
fn cluster_as_toml(cluster: &ClusterConfig) -> String {
    if cluster.settings.is_none() {
        return String::new();
    }
    let mut text = table_as_toml(cluster_table::TABLE, cluster.shown());
    for rule in cluster.places() {
        text.push_str("\n[[cluster.place]]\n");
        let line = |(key, value): (&str, Json)| format!("{key} = {}\n", in_toml(&value.to_string()));
        text.extend(rule.shown().into_iter().map(line));
    }
    text
}

fn cluster_as_json(cluster: &ClusterConfig) -> Json {
    let mut shown = shown_as_json(cluster.shown());
    if !cluster.places().is_empty() {
        let rules: Vec<Json> = cluster.places().iter().map(PlaceRule::as_json).collect();
        shown["place"] = json!({"value": rules, "origin": cluster.origin.to_string()});
    }
    shown
}

/// Without what is allowed: people write names and addresses there.
fn privacy_as_toml(privacy: &PrivacyConfig) -> String {
    let shown = privacy.shown().map(|(key, value, origin)| (key, value.to_string(), origin));
    let mut text = table_as_toml(privacy_table::TABLE, shown);
    let PrivacySettings { detector, restore, .. } = &privacy.settings;
    let Allow { values, globs, fields } = &detector.allow;
    if values.len() + globs.len() + fields.len() + restore.len() > 0 {
        let counts = [
            counted(values.len(), "allowed value"),
            counted(globs.len(), "glob"),
            counted(fields.len(), "field"),
            counted(restore.len(), "restore rule"),
        ];
        text.push_str(&format!("# {}\n", counts.join(", ")));
    }
    if !detector.patterns.is_empty() {
        text.push_str("\n[privacy.patterns]\n");
    }
    for (name, pattern) in &detector.patterns {
        text.push_str(&format!("{name} = {}\n", toml_edit::Value::from(pattern.as_str())));
    }
    text
}

fn privacy_as_json(privacy: &PrivacyConfig) -> Json {
    let entry = |(key, value, origin): (&str, Json, &Origin)| {
        (key.to_owned(), json!({"value": value, "origin": origin.to_string()}))
    };
    let mut shown: serde_json::Map<String, Json> = privacy.shown().into_iter().map(entry).collect();
    let PrivacySettings { detector, restore, .. } = &privacy.settings;
    let allow = &detector.allow;
    shown.insert("patterns".to_owned(), json!(detector.patterns));
    let allowed = json!({
        "values": allow.values.len(),
        "globs": allow.globs.len(),
        "fields": allow.fields.len(),
    });
    shown.insert("allow".to_owned(), allowed);
    shown.insert("restore".to_owned(), json!(restore.len()));
    Json::Object(shown)
}

/// One server as TOML, with its origin as a comment.
pub fn server_as_toml(server: &ConfiguredServer) -> String {
    server_for(server, Purpose::Show)
}

/// One server as TOML, with or without masks.
pub fn server_for(server: &ConfiguredServer, purpose: Purpose) -> String {
    let mut servers = Table::new();
    servers.set_implicit(true);
    let table = edit_toml::table(&written::server(&server.settings, purpose));
    servers.insert(&server.settings.name, Item::Table(table));
    let mut document = DocumentMut::new();
    document.insert("servers", Item::Table(servers));
    let remedy = server.approval.remedy().map(|remedy| format!("# {remedy}\n")).unwrap_or_default();
    format!("# {}\n{remedy}{document}", server.origin)
}

/// The whole configuration as JSON.
pub fn as_json(config: &Config) -> Json {
    let limits = LimitName::ALL.map(|name| {
        let origin = config.limit_origins.get(&name).unwrap_or(&Origin::Default);
        let entry = json!({"value": config.limits.get(name), "origin": origin.to_string()});
        (name.as_str().to_owned(), entry)
    });
    let (sessions, history, results) = (&config.sessions, &config.history, &config.results);
    let audit = &config.audit;
    let guardrails = &config.guardrails;
    let entry = |value: Json, origin: &Origin| json!({"value": value, "origin": origin.to_string()});
    let levels = guardrails.level_origins.iter().map(|(level, origin)| {
        let lists = guardrails.settings.levels.get(level).cloned().unwrap_or_default();
        let value = json!({
            "allowed_modules": lists.allowed_modules,
            "denied_modules": lists.denied_modules,
        });
        (level.as_str().to_owned(), entry(value, origin))
    });
    let servers = config.servers.iter().filter(|server| !is_hosts(server));
    let servers = servers.map(|server| (server.settings.name.clone(), server_as_json(server)));
    json!({
        "level": {"value": config.level.as_str(), "origin": config.level_origin.to_string()},
        "limits": limits.into_iter().collect::<serde_json::Map<_, _>>(),
        "sessions": {
            "idle_s": entry(json!(sessions.settings.idle.as_secs()), &sessions.idle_origin),
            "named_idle_s": entry(json!(sessions.settings.named_idle.as_secs()), &sessions.named_idle_origin),
            "max": entry(json!(sessions.settings.max), &sessions.max_origin),
            "kept_interpreters": entry(json!(sessions.keep.count), &sessions.kept_origin),
        },
        "history": {
            "keep_s": entry(json!(history.settings.keep.as_secs()), &history.keep_origin),
            "max_size": entry(json!(history.settings.bytes_max), &history.size_origin),
            "content": entry(json!(history.settings.content), &history.content_origin),
        },
        "audit": {
            "enabled": entry(json!(audit.enabled), &audit.enabled_origin),
            "arguments": entry(json!(audit.settings.arguments), &audit.arguments_origin),
            "keep_s": entry(json!(audit.settings.keep.as_secs()), &audit.keep_origin),
            "max_size": entry(json!(audit.settings.bytes_max), &audit.size_origin),
        },
        "approvals": shown_as_json(config.approvals.shown()),
        "watch": shown_as_json(config.watch.shown()),
        "alerts": shown_as_json(config.alerts.shown()),
        "dashboard": shown_as_json(config.dashboard.shown()),
        "results": {
            "keep_s": entry(json!(results.settings.keep.as_secs()), &results.keep_origin),
            "max_size": entry(json!(results.settings.bytes_max), &results.size_origin),
        },
        "serve": {
            "profile": entry(json!(config.serve.profile), &config.serve.profile_origin),
            "signature_tokens": entry(json!(config.serve.signature_tokens), &config.serve.signature_tokens_origin),
            "call_tool": entry(json!(config.serve.call_tool), &config.serve.call_tool_origin),
            "generate_code": entry(json!(config.serve.generate_code), &config.serve.generate_code_origin),
        },
        "engines": shown_as_json(config.engines.shown()),
        "learning": shown_as_json(config.learning.shown()),
        "search": shown_as_json(config.search.shown()),
        "llm": shown_as_json(config.llm.shown()),
        "network": network_as_json(&config.network),
        "cluster": cluster_as_json(&config.cluster),
        "guardrails": {
            "strict_mode": entry(json!(guardrails.settings.strict_mode), &guardrails.strict_origin),
            "allowed_modules": entry(json!(guardrails.settings.allowed_modules), &guardrails.allowed_origin),
            "denied_modules": entry(json!(guardrails.settings.denied_modules), &guardrails.denied_origin),
            "types": entry(json!(guardrails.types.as_str()), &guardrails.types_origin),
            "levels": levels.collect::<serde_json::Map<_, _>>(),
        },
        "policy": {
            "preset": entry(json!(config.policy.settings.preset.as_str()), &config.policy.preset_origin),
            "read_only": config.policy.settings.read_only.is_some(),
            "rules": config.policy.settings.user.len() + config.policy.settings.project.len(),
        },
        "privacy": privacy_as_json(&config.privacy),
        "servers": servers.collect::<serde_json::Map<_, _>>(),
        "data_folder": config.data_folder.as_ref().map(|path| path.display().to_string()),
    })
}

/// Whether it is what the table `network` comes to, which is shown as that.
fn is_hosts(server: &ConfiguredServer) -> bool {
    matches!(server.settings.transport, Transport::Hosts(_))
}

/// Values as a file has them.
fn shown_as_json<'a>(shown: impl IntoIterator<Item = (&'static str, String, &'a Origin)>) -> Json {
    let entry = |(key, value, origin): (&'static str, String, &Origin)| {
        let value: Json = serde_json::from_str(&value).unwrap_or(Json::Null);
        (key.to_owned(), json!({"value": value, "origin": origin.to_string()}))
    };
    Json::Object(shown.into_iter().map(entry).collect())
}

/// One server as JSON.
pub fn server_as_json(server: &ConfiguredServer) -> Json {
    json!({
        "settings": written::server(&server.settings, Purpose::Show).to_json(),
        "origin": server.origin.to_string(),
        "approval": approval_name(server.approval),
        "variables": server.variables.names().map(shown).collect::<Vec<_>>(),
    })
}

pub fn approval_name(approval: Approval) -> &'static str {
    match approval {
        Approval::Given => "given",
        Approval::Missing => "missing",
        Approval::Outdated => "outdated",
    }
}
