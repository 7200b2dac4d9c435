//! What our own readers would refuse, so that nobody imports a configuration that can't be used.

use std::path::Path;

use gristmill_gateway::domain::{AllowedHost, HTTP_SERVER, Level, Limits};

use super::texts;
use crate::document::{Document, parse};
use crate::edit_settings::Setting;
use crate::problem::{ProblemKind, Problems, Severity, shown};
use crate::read_file::FileText;
use crate::references::Folders;
use crate::tree::{Entry, Node, Value};
use crate::{guardrails_table, llm_table, network_table};

/// Why the reader of a table would refuse a setting.
pub(super) fn refusal(setting: &Setting) -> Option<String> {
    let entry = Entry { key: setting.key.to_owned(), line: 1, column: 0, node: setting.value.clone() };
    let table = Node { line: 1, value: Value::Map(vec![entry]) };
    let (mut problems, folders) = (Problems::default(), Folders::of(Path::new("/"), None));
    match setting.table {
        Some(llm_table::TABLE) => drop(llm_table::read(&table, &folders, &mut problems)),
        Some(network_table::TABLE) => drop(network_table::read(&table, &folders, &mut problems)),
        Some(guardrails_table::TABLE) => drop(guardrails_table::read(&table, &mut problems)),
        Some(_) | None => {}
    }
    let kind = problems.into_vec().into_iter().find(|problem| problem.severity == Severity::Error)?.kind;
    match kind {
        ProblemKind::BadAllowedHost => Some(format!("{}{kind}", bad_host(&setting.value))),
        kind => Some(kind.to_string()),
    }
}

/// The first entry that isn't a host. One with a password in it isn't shown.
fn bad_host(hosts: &Node) -> String {
    let hosts = texts(hosts).unwrap_or_default();
    match hosts.iter().find(|host| AllowedHost::read(host).is_none()) {
        Some(host) if !host.contains(['@', '?']) => format!("`{}` ", shown(host)),
        Some(_) | None => "an entry ".to_owned(),
    }
}

/// The errors that a file would have after a change and doesn't have before, each with its key. `servers` are
/// added besides.
pub fn new_errors(
    path: &Path,
    before: Option<&[u8]>,
    after: &[u8],
    servers: &[&str],
    level: Level,
    home: Option<&Path>,
) -> Vec<String> {
    let had = before.map_or_else(Vec::new, |before| errors(path, before, &[], level, home));
    let mut has = errors(path, after, servers, level, home);
    has.retain(|error| !had.contains(error));
    has
}

fn errors(path: &Path, bytes: &[u8], servers: &[&str], level: Level, home: Option<&Path>) -> Vec<String> {
    let file = FileText { path: path.to_owned(), bytes: bytes.to_owned(), writable_by_others: false };
    let document = Document::read(&file, home);
    let of_file = document.problems.iter().filter(|problem| problem.severity == Severity::Error);
    let mut errors: Vec<String> = of_file
        .map(|problem| match &problem.place.key {
            Some(key) => format!("`{}` {}", shown(key), problem.kind),
            None => problem.kind.to_string(),
        })
        .collect();
    let level = document.level.map_or(level, |(level, _)| level);
    for (name, text, _) in &document.limits {
        if let Err(error) = Limits::of(level).set_text(name.as_str(), text) {
            errors.push(format!("`limits.{}` {error}", name.as_str()));
        }
    }
    let mut names =
        document.servers.iter().map(|(server, _)| server.name.as_str()).chain(servers.iter().copied());
    if names_hosts(&file) && names.any(|name| name == HTTP_SERVER) {
        errors.push(format!("`servers.{HTTP_SERVER}` {}", ProblemKind::HostsServerName));
    }
    errors
}

fn names_hosts(file: &FileText) -> bool {
    let Ok(tree) = parse(file) else { return false };
    let hosts = tree.entry(network_table::TABLE).and_then(|table| table.node.entry("allowed_hosts"));
    hosts.and_then(|hosts| texts(&hosts.node)).is_some_and(|hosts| !hosts.is_empty())
}
