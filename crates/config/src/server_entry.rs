//! One server of a file, in our own words or in another client's, as [`ServerSettings`].
//!
//! Both vocabularies are understood in every block: whoever moves a server from one file to
//! another need not rewrite it.

use gristmill_gateway::domain::policy::{Mark, Marks};
use gristmill_gateway::domain::{Accept, Protocol, ServerLimits, ServerSettings};

use super::fields::Fields;
use super::problem::{Foreign, ProblemKind, Problems, Severity, closest};
use super::references::Folders;
use super::strictness::Strictness;
use super::tree::Node;
use super::{privacy_table, server_limits, server_sandbox, server_tools, server_transport};

pub const KEYS: [&str; 17] = [
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "oauth",
    "description",
    "category",
    "enabled",
    "accept",
    "protocol",
    "tools",
    "limits",
    "sandbox",
    "marks",
    "privacy",
];

/// Keys of other clients that are understood.
pub(super) const UNDERSTOOD: [&str; 22] = [
    "type",
    "transport",
    "disabled",
    "httpUrl",
    "serverUrl",
    "timeout",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "env_vars",
    "startup_timeout_sec",
    "startup_timeout_ms",
    "tool_timeout_sec",
    "workingDirectory",
    "auth",
    "includeTools",
    "enabled_tools",
    "enabledTools",
    "allowedTools",
    "excludeTools",
    "disabled_tools",
    "disabledTools",
];

/// Keys of other clients that mean nothing here.
const IGNORED: [&str; 15] = [
    "$schema",
    "alwaysLoad",
    "authProviderType",
    "autoStart",
    "dev",
    "gallery",
    "icon",
    "id",
    "name",
    "required",
    "source",
    "tags",
    "version",
    "watchPaths",
    "supports_parallel_tool_calls",
];

/// Keys of other clients that call tools without asking. Nobody has said so to us.
const GRANTS: [&str; 5] =
    ["alwaysAllow", "always_allow", "autoApprove", "trust", "default_tools_approval_mode"];

/// A name that can be a server's.
pub fn is_name(name: &str) -> bool {
    // What cannot be seen makes two names look alike, or text read backwards.
    let unseen = |c: char| matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let bad = |c: char| c.is_control() || unseen(c) || matches!(c, '.' | '/' | '\\');
    let length = name.chars().take(65).count();
    (1..=64).contains(&length) && !name.chars().any(bad) && name.trim() == name
}

/// Reads one server. `None` if anything in it is wrong; all of that is in `problems`.
pub fn read(
    name: &str,
    node: &Node,
    path: &str,
    strictness: Strictness,
    folders: &Folders,
    problems: &mut Problems,
) -> Option<ServerSettings> {
    let before = problems.errors();
    if !is_name(name) {
        problems.error(path, node.line, ProblemKind::BadName);
    }
    let mut fields = Fields::of(node, path, problems)?;
    let transport = server_transport::read(&mut fields, node.line, strictness, folders, problems);
    let description = fields.text("description", problems).map(|(text, _)| text.to_owned());
    let category = fields.text("category", problems).map(|(text, _)| text.to_owned());
    let enabled = enabled(&mut fields, problems);
    let accept = accept(&mut fields, problems);
    let protocol = protocol(&mut fields, problems);
    let tools = server_tools::read(&mut fields, strictness, problems);
    let mut limits = ServerLimits::default();
    server_limits::read_foreign(&mut fields, &mut limits, problems);
    if let Some(node) = fields.take("limits") {
        server_limits::read(node, &fields.path("limits"), &mut limits, problems);
    }
    let sandbox = server_sandbox::read(&mut fields, transport.as_ref(), strictness, folders, problems);
    let marks = marks(&mut fields, problems);
    let privacy = privacy_table::mode(&mut fields, "privacy", problems).map(|(mode, _)| mode);
    leftovers(&fields, strictness, problems);
    let transport = transport?;
    (problems.errors() == before).then(|| ServerSettings {
        name: name.to_owned(),
        transport,
        description,
        category,
        enabled,
        limits,
        accept,
        protocol,
        tools,
        sandbox,
        marks,
        privacy,
    })
}

fn enabled(fields: &mut Fields<'_>, problems: &mut Problems) -> bool {
    let enabled = fields.flag("enabled", problems);
    let line = fields.take("disabled").map_or(0, |node| node.line);
    let disabled = fields.flag("disabled", problems);
    if let (Some(enabled), Some(disabled)) = (enabled, disabled)
        && enabled == disabled
    {
        problems.error(&fields.path("disabled"), line, ProblemKind::Contradiction);
    }
    enabled.or(disabled.map(|disabled| !disabled)).unwrap_or(true)
}

fn accept(fields: &mut Fields<'_>, problems: &mut Problems) -> Accept {
    let Some((word, line)) = fields.text("accept", problems) else { return Accept::default() };
    Accept::from_name(word).unwrap_or_else(|| {
        problems.error(&fields.path("accept"), line, ProblemKind::not_accept(word));
        Accept::default()
    })
}

fn protocol(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Protocol> {
    let (word, line) = fields.text("protocol", problems)?;
    let version = Protocol::from_name(word);
    if version.is_none() {
        problems.error(&fields.path("protocol"), line, ProblemKind::not_one_of(word, &Protocol::NAMES));
    }
    version
}

/// One that is misspelled is a mistake: leaving it out would let through what somebody marked.
fn marks(fields: &mut Fields<'_>, problems: &mut Problems) -> Marks {
    let mut marks = Vec::new();
    for (word, line) in fields.texts("marks", problems) {
        match word.parse::<Mark>() {
            Ok(mark) => marks.push(mark),
            Err(_) => {
                let what = ProblemKind::not_one_of(&word, &Mark::ALL.map(Mark::as_str));
                problems.error(&fields.path("marks"), line, what);
            }
        }
    }
    Marks::of(marks)
}

fn leftovers(fields: &Fields<'_>, strictness: Strictness, problems: &mut Problems) {
    for entry in fields.left() {
        let key = entry.key.as_str();
        let path = fields.path(key);
        let (severity, foreign) = match key {
            key if IGNORED.contains(&key) => (Severity::Note, Foreign::Ignored),
            key if GRANTS.contains(&key) => (Severity::Note, Foreign::GrantNotCarried),
            "envFile" | "env_file" => (Severity::Warning, Foreign::EnvFileNotRead),
            key => {
                if problems.is_full() {
                    problems.error(&path, entry.line, ProblemKind::unknown_key("", &[]));
                    continue;
                }
                let known: Vec<&str> = KEYS.into_iter().chain(UNDERSTOOD).collect();
                let nearest = closest(key, &known);
                if strictness == Strictness::Ours || nearest.is_some() {
                    let what = ProblemKind::UnknownKey { nearest, allowed: KEYS.join(", ") };
                    problems.error(&path, entry.line, what);
                    continue;
                }
                (Severity::Note, Foreign::Unknown)
            }
        };
        problems.add(severity, &path, entry.line, ProblemKind::Foreign(foreign));
    }
}
