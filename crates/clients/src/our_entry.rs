//! Our own entry, in each client's words.

use std::path::{Path, PathBuf};

use gristmill_config::Surroundings;
use gristmill_config::tree::{Node, Value};

use super::entry_token::{self, EntryToken};
use super::known::Client;
use super::places;

/// What clients call an address.
const ADDRESSES: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// How the client is to reach us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    Start {
        command: String,
        /// The profile of tools that it gets.
        profile: Option<String>,
    },
    /// It connects to a server that runs already.
    Http { url: String, token: EntryToken },
}

/// The client cannot do that.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    #[error("{0} can't connect to URLs from this file; leave out --http")]
    NoHttp(Client),
    #[error("`--http` must be a URL such as http://127.0.0.1:8770/mcp")]
    BadUrl,
}

pub fn entry(client: Client, route: &Route) -> Result<Node, EntryError> {
    let text = |key: &str, value: &str| (key.to_owned(), Node::text(value));
    let fields = match route {
        Route::Start { command, profile } => {
            let profile = profile.iter().flat_map(|profile| ["--profile", profile]);
            let args = std::iter::once("serve").chain(profile).map(Node::text).collect();
            let kind = match client {
                Client::ClaudeCode | Client::Cursor | Client::Vscode => Some(text("type", "stdio")),
                Client::ClaudeDesktop | Client::Codex | Client::Gemini | Client::Windsurf => None,
            };
            let rest = [text("command", command), ("args".to_owned(), Node::list(args))];
            kind.into_iter().chain(rest).collect()
        }
        Route::Http { url, token } => {
            if !is_address(url) {
                return Err(EntryError::BadUrl);
            }
            let mut fields = match client {
                Client::ClaudeCode | Client::Vscode => vec![text("type", "http"), text("url", url)],
                Client::Cursor | Client::Codex => vec![text("url", url)],
                Client::Gemini => vec![text("httpUrl", url)],
                Client::Windsurf => vec![text("serverUrl", url)],
                Client::ClaudeDesktop => return Err(EntryError::NoHttp(client)),
            };
            fields.push(entry_token::field(client, token));
            fields
        }
    };
    Ok(Node::map(fields))
}

/// Whether arguments that are there already give way to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldArguments {
    /// Whoever added to them keeps what was added.
    Keep,
    /// Someone asked for others.
    Replace,
}

/// The entry that takes the place of one that is there: what others added to it stays, a token of their
/// own as well. `written` is what we wrote there last.
pub fn updated(
    current: &Node,
    wanted: &Node,
    arguments: OldArguments,
    written: Option<&serde_json::Value>,
) -> Node {
    if command(current).is_some() != command(wanted).is_some() {
        return wanted.clone();
    }
    let mut entries: Vec<(String, Node)> =
        current.entries().iter().map(|entry| (entry.key.clone(), entry.node.clone())).collect();
    let is_own_token = entry_token::is_someones_own(current, written);
    for ours in wanted.entries() {
        if entry_token::is_token_key(&ours.key) {
            if !is_own_token {
                put_token(&mut entries, &ours.key, &ours.node);
            }
            continue;
        }
        match entries.iter_mut().find(|(key, _)| *key == ours.key) {
            Some((key, node)) => {
                let is_kept = key == "args" && arguments == OldArguments::Keep && serves(node);
                if !is_kept {
                    node.clone_from(&ours.node);
                }
            }
            None => entries.push((ours.key.clone(), ours.node.clone())),
        }
    }
    Node::map(entries)
}

/// In the place of the token that we wrote there before, wherever that is.
fn put_token(entries: &mut Vec<(String, Node)>, key: &str, ours: &Node) {
    let there = entries.iter().find(|(known, _)| known == key);
    let joined = there.map_or_else(|| ours.clone(), |(_, current)| entry_token::joined(current, ours));
    let is_stale = |known: &str, node: &Node| {
        known != key && entry_token::said_in(&Node::map(vec![(known.to_owned(), node.clone())])).is_some()
    };
    entries.retain(|(known, node)| !is_stale(known, node));
    match entries.iter_mut().find(|(known, _)| known == key) {
        Some((_, node)) => *node = joined,
        None => entries.push((key.to_owned(), joined)),
    }
}

fn serves(args: &Node) -> bool {
    match &args.value {
        Value::List(args) => args.iter().any(|arg| arg.value == Value::Text("serve".to_owned())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => false,
    }
}

/// An address of ours as it must be written: one without a path gets the one that we serve at.
pub fn whole_address(url: &str) -> String {
    let after = url.split_once("://").map_or("", |(_, after)| after);
    let has_path = after.trim_end_matches('/').contains(['/', '?', '#']);
    if after.is_empty() || has_path { url.to_owned() } else { format!("{}/mcp", url.trim_end_matches('/')) }
}

fn is_address(url: &str) -> bool {
    let after = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    after.is_some_and(|after| !after.is_empty() && !after.starts_with('/'))
        && !url.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// Whether an entry starts this program, or one of its name.
pub fn is_ours(entry: &Node) -> bool {
    let Some(command) = command(entry) else { return false };
    let is_named = Path::new(command).file_name().is_some_and(|name| name == "gristmill");
    let first = match entry.entry("args").map(|args| &args.node.value) {
        Some(Value::List(args)) => args.iter().find_map(|arg| match &arg.value {
            Value::Text(text) if !text.starts_with('-') => Some(text.as_str()),
            _ => None,
        }),
        Some(_) | None => None,
    };
    is_named && first != Some("example-server")
}

/// Whether an entry is the one that we wrote: at the same address, if it is one, whatever was added to
/// it, such as a header with a token.
pub fn is_as_written(entry: &Node, written: &serde_json::Value) -> bool {
    let json = entry.to_json();
    let is_same = |key: &&str| written.get(*key).is_some() && json.get(*key) == written.get(*key);
    json == *written || ADDRESSES.iter().any(is_same)
}

/// The address that an entry leads to.
pub fn address(entry: &Node) -> Option<&str> {
    ADDRESSES.iter().find_map(|key| match &entry.entry(key)?.node.value {
        Value::Text(url) => Some(url.as_str()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    })
}

/// The program that an entry starts.
pub fn command(entry: &Node) -> Option<&str> {
    match entry.entry("command").map(|command| &command.node.value) {
        Some(Value::Text(command)) => Some(command),
        Some(_) | None => None,
    }
}

/// Where this program is: where a shell finds it, if that is the same file. Package managers keep
/// that path, while the file behind it moves with each version.
pub fn this_program(surroundings: &Surroundings) -> std::io::Result<PathBuf> {
    let this = std::env::current_exe()?;
    let found = places::on_path("gristmill", surroundings);
    let is_this = |path: &PathBuf| std::fs::canonicalize(path).is_ok_and(|real| real == this);
    Ok(found.filter(is_this).unwrap_or(this))
}
