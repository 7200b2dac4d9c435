//! What a person does to a YAML file in an editor. YAML is read, never written: nothing that writes it
//! keeps its comments and its layout.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::tree::{Entry, Node, Value};

/// How far in the contents of a table are.
const STEP: usize = 2;

/// Changes to one file, none of which was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByHand {
    pub path: PathBuf,
    /// What to do to it, each beside the others.
    pub steps: Vec<Step>,
}

/// One thing to do in the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Put this text there.
    Add {
        /// The table that it belongs to, if the file has it. Otherwise the text begins with it.
        below: Option<Spot>,
        /// Indented as it has to be.
        text: String,
    },
    /// Put this text there in place of a server.
    Replace {
        server: Spot,
        /// Indented as it has to be.
        text: String,
    },
    Delete(Spot),
}

/// Where something stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub key: String,
    /// From 1.
    pub line: usize,
}

impl Spot {
    fn of(entry: &Entry) -> Self {
        Self { key: entry.key.clone(), line: entry.line }
    }
}

impl ByHand {
    /// To have these servers in a table of the file, in place of what has their names there.
    pub(super) fn put(path: &Path, tree: &Node, block: &str, servers: &[(&str, Node)]) -> Self {
        let table = tree.entry(block);
        let there = |name: &str| table.and_then(|table| table.node.entry(name));
        let mut steps = Vec::new();
        let mut new = String::new();
        let column = column_of_servers(table);
        for (name, node) in servers {
            match there(name) {
                Some(entry) => {
                    let text = server_text(name, node, entry.column);
                    steps.push(Step::Replace { server: Spot::of(entry), text });
                }
                None => new.push_str(&server_text(name, node, column)),
            }
        }
        if !new.is_empty() {
            let below = table.map(Spot::of);
            let text = if below.is_some() { new } else { format!("{block}:\n{new}") };
            steps.push(Step::Add { below, text });
        }
        Self { path: path.to_owned(), steps }
    }

    /// To have what is wanted under these keys, each below the one before, and nothing else changed.
    pub(super) fn set(path: &Path, tree: &Node, keys: &[&str], wanted: &Json) -> Self {
        let (mut node, mut below): (&Node, Option<&Entry>) = (tree, None);
        let mut wanted = wanted;
        for (depth, name) in keys.iter().enumerate() {
            wanted = wanted.get(name).unwrap_or(&Json::Null);
            let column = column_within(below);
            let there = node.entry(name);
            match there.filter(|entry| matches!(entry.node.value, Value::Map(_))) {
                Some(entry) if depth + 1 < keys.len() => (node, below) = (&entry.node, Some(entry)),
                Some(_) | None => {
                    let column = there.map_or(column, |entry| entry.column);
                    let text = json_text(name, wanted, column);
                    let step = match there {
                        Some(entry) => Step::Replace { server: Spot::of(entry), text },
                        None => Step::Add { below: below.map(Spot::of), text },
                    };
                    return Self { path: path.to_owned(), steps: vec![step] };
                }
            }
        }
        Self { path: path.to_owned(), steps: Vec::new() }
    }

    /// To have one server no longer.
    pub(super) fn remove(path: &Path, server: &Entry) -> Self {
        Self { path: path.to_owned(), steps: vec![Step::Delete(Spot::of(server))] }
    }
}

impl Step {
    /// What to do, in words.
    pub fn instruction(&self) -> String {
        match self {
            Self::Add { below: Some(Spot { key, line }), .. } => {
                format!("add this below `{key}:` (line {line}):")
            }
            Self::Add { below: None, .. } => "add this:".to_owned(),
            Self::Replace { server: Spot { key, line }, .. } => {
                format!("put this in place of `{key}` (line {line}):")
            }
            Self::Delete(Spot { key, line }) => format!("delete `{key}` (line {line})"),
        }
    }

    /// What to paste, if anything.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Add { text, .. } | Self::Replace { text, .. } => Some(text),
            Self::Delete(_) => None,
        }
    }
}

impl fmt::Display for ByHand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(f, "{path} was not changed: Gristmill reads YAML, but does not edit it")?;
        for step in &self.steps {
            write!(f, "\n{}", step.instruction())?;
            if let Some(text) = step.text() {
                write!(f, "\n{}", text.trim_end())?;
            }
        }
        Ok(())
    }
}

/// As far in as the servers that are there.
fn column_of_servers(table: Option<&Entry>) -> usize {
    if table.is_none() { STEP } else { column_within(table) }
}

/// As far in as what is in a table; at the edge without one.
fn column_within(table: Option<&Entry>) -> usize {
    let Some(table) = table else { return 0 };
    let first = table.node.entries().first().filter(|entry| entry.line > table.line);
    first.map_or(table.column + STEP, |entry| entry.column)
}

fn server_text(name: &str, node: &Node, indent: usize) -> String {
    let mut lines = vec![format!("{:indent$}{}:", "", key(name))];
    block_lines(node, indent + 2, &mut lines);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn json_text(name: &str, value: &Json, indent: usize) -> String {
    match value {
        Json::Object(entries) => {
            let inside = entries.iter().map(|(name, value)| json_text(name, value, indent + STEP));
            format!("{:indent$}{}:\n{}", "", key(name), inside.collect::<String>())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            format!("{:indent$}{}: {value}\n", "", key(name))
        }
    }
}

fn block_lines(node: &Node, indent: usize, lines: &mut Vec<String>) {
    for entry in node.entries() {
        match &entry.node.value {
            Value::Map(entries) if !entries.is_empty() => {
                lines.push(format!("{:indent$}{}:", "", key(&entry.key)));
                block_lines(&entry.node, indent + 2, lines);
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_) => {
                lines.push(format!("{:indent$}{}: {}", "", key(&entry.key), flow(&entry.node)));
            }
        }
    }
}

/// A value on one line: JSON is YAML.
fn flow(node: &Node) -> String {
    match &node.value {
        Value::List(nodes) => format!("[{}]", nodes.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => {
            node.to_json().to_string()
        }
    }
}

/// Bare if nobody could take it for anything but a word.
fn key(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let is_word_of_yaml = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .contains(&name.to_ascii_lowercase().as_str());
    if is_plain && !is_word_of_yaml { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}
