//! A server's settings as a tree again: for editing files and for showing what is configured.

use std::collections::BTreeMap;

use gristmill_gateway::domain::{
    Accept, AllowedHost, OAuthSettings, Part, SandboxNetwork, SandboxSettings, Sandboxing, SecretText,
    ServerLimits, ServerSettings, ToolPattern, ToolRules, Transport, one_line,
};

use super::tree::{Node, Value};

/// What stands for a value that is not shown.
pub const MASK: &str = "…";

/// For whom it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// For a file: everything as it is.
    File,
    /// For a file that other clients read: they want to be told the type.
    SharedFile,
    /// For people: references as they are, plain values of variables and headers masked.
    Show,
}

/// How a server is reached, on one line, with nothing in it that might be a secret.
pub fn transport(settings: &ServerSettings) -> String {
    const CHARS_MAX: usize = 400;
    match &settings.transport {
        Transport::Stdio { command, args, .. } => {
            let words: Vec<String> =
                std::iter::once(command).chain(args).map(|word| word.written()).collect();
            one_line(&words.join(" "), CHARS_MAX)
        }
        Transport::Http { url, .. } => {
            let url = url.written();
            one_line(url.split(['?', '#']).next().unwrap_or_default(), CHARS_MAX)
        }
        Transport::Hosts(hosts) => {
            let hosts: Vec<&str> = hosts.allowed.iter().map(AllowedHost::as_str).collect();
            one_line(&format!("allowed_hosts: {}", hosts.join(", ")), CHARS_MAX)
        }
    }
}

/// The table of one server. What is as it is by default is left out.
pub fn server(settings: &ServerSettings, purpose: Purpose) -> Node {
    let mut table = Vec::new();
    let text = |text: &SecretText| Node::text(text.written());
    match &settings.transport {
        Transport::Stdio { command, args, env, cwd } => {
            put(&mut table, "command", Some(text(command)));
            put(&mut table, "args", (!args.is_empty()).then(|| Node::list(arguments(args, purpose))));
            put(&mut table, "env", named(env, purpose));
            put(&mut table, "cwd", cwd.as_ref().map(|path| Node::text(path.display().to_string())));
        }
        Transport::Http { url, headers, oauth } => {
            let kind = (purpose == Purpose::SharedFile).then(|| Node::text("http"));
            put(&mut table, "type", kind);
            let shown = if purpose == Purpose::Show { masked_url(url) } else { url.written() };
            put(&mut table, "url", Some(Node::text(shown)));
            put(&mut table, "headers", named(headers, purpose));
            put(&mut table, "oauth", oauth_table(oauth, purpose));
        }
        // Its own table has it.
        Transport::Hosts(_) => {}
    }
    put(&mut table, "description", settings.description.as_ref().map(Node::text));
    put(&mut table, "category", settings.category.as_ref().map(Node::text));
    let disabled = Node { line: 0, value: Value::Bool(false) };
    put(&mut table, "enabled", (!settings.enabled).then_some(disabled));
    let accept = (settings.accept != Accept::default()).then(|| Node::text(settings.accept.name()));
    put(&mut table, "accept", accept);
    put(&mut table, "protocol", settings.protocol.map(|version| Node::text(version.name())));
    put(&mut table, "tools", tools_table(&settings.tools));
    put(&mut table, "limits", limits_table(&settings.limits));
    put(&mut table, "sandbox", sandbox(&settings.sandbox));
    let marks = || Node::list(settings.marks.iter().map(|mark| Node::text(mark.as_str())).collect());
    put(&mut table, "marks", (!settings.marks.is_empty()).then(marks));
    put(&mut table, "privacy", settings.privacy.map(|mode| Node::text(mode.as_str())));
    Node::map(table)
}

fn put(table: &mut Vec<(String, Node)>, key: &str, node: Option<Node>) {
    table.extend(node.map(|node| (key.to_owned(), node)));
}

fn number(number: u64) -> Node {
    Node { line: 0, value: Value::Number(number.to_string()) }
}

fn named(texts: &BTreeMap<String, SecretText>, purpose: Purpose) -> Option<Node> {
    let entry = |(name, text): (&String, &SecretText)| (name.clone(), Node::text(secret(text, purpose)));
    (!texts.is_empty()).then(|| Node::map(texts.iter().map(entry).collect()))
}

fn secret(text: &SecretText, purpose: Purpose) -> String {
    match purpose {
        Purpose::File | Purpose::SharedFile => text.written(),
        Purpose::Show => masked(text),
    }
}

/// References as they are, everything between them hidden. `Bearer` is no secret.
pub(super) fn masked(text: &SecretText) -> String {
    let [Part::Plain(scheme), reference @ Part::Reference(_)] = text.parts() else {
        return text.parts().iter().map(masked_part).collect();
    };
    match scheme.as_str() {
        "Bearer " | "Basic " | "Token " | "token " => format!("{scheme}{}", masked_part(reference)),
        _ => format!("{MASK}{}", masked_part(reference)),
    }
}

fn masked_part(part: &Part) -> String {
    match part {
        Part::Plain(_) => MASK.to_owned(),
        Part::Reference(_) => written_part(part),
    }
}

fn written_part(part: &Part) -> String {
    match part {
        Part::Plain(text) => text.replace("${", "$${"),
        Part::Reference(reference) => reference.written(),
    }
}

/// Addresses carry keys in their query, and passwords before the host.
fn masked_url(url: &SecretText) -> String {
    let mut shown = String::new();
    let mut in_query = false;
    for part in url.parts() {
        match part {
            Part::Reference(_) => shown.push_str(&written_part(part)),
            Part::Plain(_) if in_query => shown.push_str(MASK),
            Part::Plain(_) => {
                let written = written_part(part);
                match written.split_once('?') {
                    Some((before, after)) => {
                        in_query = true;
                        shown.push_str(before);
                        shown.push('?');
                        shown.push_str(if after.is_empty() { "" } else { MASK });
                    }
                    None => shown.push_str(&written),
                }
            }
        }
    }
    let Some((scheme, rest)) = shown.split_once("://") else { return shown };
    let host_end = rest.find(['/', '?']).unwrap_or(rest.len());
    match rest[..host_end].rfind('@') {
        Some(at) if !rest[..at].contains("${") => format!("{scheme}://{MASK}{}", &rest[at..]),
        Some(_) | None => shown,
    }
}

/// The same for an address without references. What is left of it is one, too.
pub(super) fn masked_address(url: &str) -> String {
    let (before, query) = url.split_once('?').map_or((url, ""), |(before, _)| (before, "?…"));
    let Some((_, host)) = before.rsplit_once('@') else { return format!("{before}{query}") };
    let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://")).unwrap_or_default();
    format!("{scheme}{MASK}@{host}{query}")
}

/// The value of `--token x` and `--api-key=x` is hidden, the rest of a command line is not.
fn arguments(args: &[SecretText], purpose: Purpose) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut follows_secret_flag = false;
    for arg in args {
        let flag = arg.as_plain().filter(|text| text.starts_with('-'));
        let (name, has_value) = match flag.and_then(|flag| flag.split_once('=')) {
            Some((name, _)) => (Some(name), true),
            None => (flag, false),
        };
        let is_secret = name.is_some_and(is_secret_name);
        let text = match (purpose, name) {
            (Purpose::Show, Some(name)) if is_secret && has_value => format!("{name}={MASK}"),
            (Purpose::Show, None) if follows_secret_flag => masked(arg),
            (Purpose::Show | Purpose::File | Purpose::SharedFile, _) => arg.written(),
        };
        nodes.push(Node::text(text));
        follows_secret_flag = is_secret && !has_value;
    }
    nodes
}

/// Whether a name promises a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let words = ["token", "secret", "password", "passwd", "api-key", "apikey", "access-key", "authorization"];
    words.iter().any(|word| name.contains(word))
}

fn oauth_table(oauth: &OAuthSettings, purpose: Purpose) -> Option<Node> {
    let mut table = Vec::new();
    put(&mut table, "client_id", oauth.client_id.as_ref().map(|text| Node::text(text.written())));
    let client_secret = oauth.client_secret.as_ref().map(|text| Node::text(secret(text, purpose)));
    put(&mut table, "client_secret", client_secret);
    let scopes = || Node::list(oauth.scopes.iter().map(Node::text).collect());
    put(&mut table, "scopes", (!oauth.scopes.is_empty()).then(scopes));
    put(&mut table, "callback_port", oauth.callback_port.map(|port| number(u64::from(port))));
    (!table.is_empty()).then(|| Node::map(table))
}

fn tools_table(rules: &ToolRules) -> Option<Node> {
    let list = |patterns: &[ToolPattern]| {
        Node::list(patterns.iter().map(|pattern| Node::text(pattern.as_str())).collect())
    };
    let mut table = Vec::new();
    put(&mut table, "include", rules.include.as_deref().map(list));
    put(&mut table, "exclude", (!rules.exclude.is_empty()).then(|| list(&rules.exclude)));
    (!table.is_empty()).then(|| Node::map(table))
}

fn sandbox(sandboxing: &Sandboxing) -> Option<Node> {
    let flag = |flag: bool| Node { line: 0, value: Value::Bool(flag) };
    let SandboxSettings { read, write, network, env, preset, required } = match sandboxing {
        Sandboxing::ByLevel => return None,
        Sandboxing::Off => return Some(flag(false)),
        Sandboxing::On(settings) if *settings == SandboxSettings::default() => return Some(flag(true)),
        Sandboxing::On(settings) => settings,
    };
    let mut table = Vec::new();
    let listed = |paths: &[std::path::PathBuf]| {
        let texts = paths.iter().map(|path| Node::text(path.display().to_string()));
        (!paths.is_empty()).then(|| Node::list(texts.collect()))
    };
    put(&mut table, "read", listed(read));
    put(&mut table, "write", listed(write));
    put(
        &mut table,
        "network",
        match network {
            SandboxNetwork::On => None,
            SandboxNetwork::Off => Some(Node::text("off")),
            SandboxNetwork::Hosts(hosts) => {
                Some(Node::list(hosts.iter().map(|host| Node::text(host.as_str())).collect()))
            }
        },
    );
    put(&mut table, "env", env.as_ref().map(|names| Node::list(names.iter().map(Node::text).collect())));
    put(&mut table, "preset", preset.map(|preset| Node::text(preset.name())));
    put(&mut table, "required", required.then(|| flag(true)));
    Some(Node::map(table))
}

fn limits_table(limits: &ServerLimits) -> Option<Node> {
    let default = ServerLimits::default();
    let ServerLimits { startup_ms, call_ms, parallel_calls, result_bytes, calls_per_minute } = *limits;
    let mut table = Vec::new();
    put(&mut table, "startup", (startup_ms != default.startup_ms).then(|| Node::text(time(startup_ms))));
    put(&mut table, "call", (call_ms != default.call_ms).then(|| Node::text(time(call_ms))));
    let parallel = (parallel_calls != default.parallel_calls).then(|| number(parallel_calls));
    put(&mut table, "parallel_calls", parallel);
    let result = (result_bytes != default.result_bytes).then(|| Node::text(size(result_bytes)));
    put(&mut table, "result_size", result);
    let per_minute = (calls_per_minute != default.calls_per_minute).then(|| number(calls_per_minute));
    put(&mut table, "calls_per_minute", per_minute);
    (!table.is_empty()).then(|| Node::map(table))
}

/// Exactly, and as short as it goes.
pub fn time(ms: u64) -> String {
    if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") }
}

/// Exactly, and as short as it goes.
pub fn size(bytes: u64) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes}B"), |(unit, letter)| format!("{}{letter}", bytes / unit))
}
