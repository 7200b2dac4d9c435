//! `sandbox = true`, `sandbox = false`, or a table with what a confined server may do.

use gristmill_gateway::domain::{
    SandboxHost, SandboxNetwork, SandboxPreset, SandboxSettings, Sandboxing, Transport,
};

use super::fields::Fields;
use super::problem::{Foreign, ProblemKind, Problems, Severity};
use super::references::{self, Folders};
use super::strictness::Strictness;
use super::tree::Value;

pub(super) const KEYS: [&str; 6] = ["read", "write", "network", "env", "preset", "required"];

/// Reads it out of a server's table.
pub fn read(
    server: &mut Fields<'_>,
    transport: Option<&Transport>,
    strictness: Strictness,
    folders: &Folders,
    problems: &mut Problems,
) -> Sandboxing {
    let Some(node) = server.take("sandbox") else { return Sandboxing::ByLevel };
    let path = server.path("sandbox");
    if let Some(Transport::Http { .. } | Transport::Hosts(_)) = transport {
        problems.error(&path, node.line, ProblemKind::WrongTransport { needs: "command" });
    }
    match &node.value {
        Value::Bool(false) => return Sandboxing::Off,
        Value::Bool(true) => return Sandboxing::On(SandboxSettings::default()),
        // Another client's sandbox means something else.
        Value::Map(entries)
            if strictness == Strictness::Foreign
                && entries.iter().any(|entry| !KEYS.contains(&entry.key.as_str())) =>
        {
            let what = ProblemKind::Foreign(Foreign::Unknown);
            problems.add(Severity::Warning, &path, node.line, what);
            return Sandboxing::ByLevel;
        }
        Value::Map(_) => {}
        Value::Null | Value::Number(_) | Value::Text(_) | Value::List(_) => {
            problems.wrong_type(&path, node, "true, false or a table");
            return Sandboxing::ByLevel;
        }
    }
    let Some(mut fields) = Fields::of(node, &path, problems) else { return Sandboxing::ByLevel };
    let settings = SandboxSettings {
        read: paths(&mut fields, "read", folders, problems),
        write: paths(&mut fields, "write", folders, problems),
        network: network(&mut fields, problems),
        env: env(&mut fields, problems),
        preset: preset(&mut fields, problems),
        required: fields.flag("required", problems).unwrap_or(false),
    };
    fields.finish(&KEYS, problems);
    Sandboxing::On(settings)
}

fn paths(
    fields: &mut Fields<'_>,
    key: &str,
    folders: &Folders,
    problems: &mut Problems,
) -> Vec<std::path::PathBuf> {
    let texts = fields.texts(key, problems).into_iter();
    let mut paths = Vec::new();
    for (index, (text, line)) in texts.enumerate() {
        let key = format!("{}[{index}]", fields.path(key));
        let text = if text == "~" { "~/" } else { text.as_str() };
        paths.extend(references::path(text, &key, line, folders, problems));
    }
    paths
}

fn network(fields: &mut Fields<'_>, problems: &mut Problems) -> SandboxNetwork {
    const WORDS: [&str; 2] = ["on", "off"];
    let Some(node) = fields.take("network") else { return SandboxNetwork::default() };
    if let Value::Text(word) = &node.value {
        return match word.as_str() {
            "on" => SandboxNetwork::On,
            "off" => SandboxNetwork::Off,
            word => {
                problems.error(&fields.path("network"), node.line, ProblemKind::not_one_of(word, &WORDS));
                SandboxNetwork::Off
            }
        };
    }
    let mut hosts = Vec::new();
    for (index, (text, line)) in fields.texts("network", problems).into_iter().enumerate() {
        match SandboxHost::read(&text) {
            Some(host) => hosts.push(host),
            None => {
                let key = format!("{}[{index}]", fields.path("network"));
                problems.error(&key, line, ProblemKind::BadHost);
            }
        }
    }
    // Nobody to connect to.
    if hosts.is_empty() { SandboxNetwork::Off } else { SandboxNetwork::Hosts(hosts) }
}

fn env(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    fields.take("env")?;
    let mut names = Vec::new();
    for (name, line) in fields.texts("env", problems) {
        if name.is_empty() || name.contains(['=', '\0']) {
            problems.error(&fields.path("env"), line, ProblemKind::BadVariable);
        }
        names.push(name);
    }
    Some(names)
}

fn preset(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<SandboxPreset> {
    let (word, line) = fields.text("preset", problems)?;
    let preset = SandboxPreset::from_name(word);
    if preset.is_none() {
        let what = ProblemKind::not_one_of(word, &SandboxPreset::NAMES);
        problems.error(&fields.path("preset"), line, what);
    }
    preset
}
