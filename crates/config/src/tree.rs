//! What a configuration file says, whichever format it is written in: a tree that knows its lines.
//!
//! Walls: depth and size are bounded here, once for all formats, so that whoever walks a tree may
//! recurse. Nothing here knows what a server is.

use std::collections::HashSet;

use serde_json::Value as Json;

/// How deep a file may be nested. Ours needs five levels; other clients' files a few more.
pub const DEPTH_MAX: usize = 32;
/// How many values a file may hold: a thousand servers with fifty settings each.
pub const NODES_MAX: usize = 50_000;

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Counted from 1.
    pub line: usize,
    pub value: Value,
}

/// What every one of the formats can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing, the same as leaving the key out.
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    /// Text; also what only one of the formats knows, such as dates.
    Text(String),
    List(Vec<Node>),
    /// By name, in the order of the file.
    Map(Vec<Entry>),
}

/// One name of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    /// Where the name stands, from 1.
    pub line: usize,
    /// Characters before the name.
    pub column: usize,
    pub node: Node,
}

/// A file that is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    #[error("it is nested deeper than {max} levels")]
    Depth { max: usize },
    #[error("it holds more than {max} values")]
    Nodes { max: usize },
}

/// Counts while a tree is built.
#[derive(Debug)]
pub struct Bounds {
    depth_max: usize,
    nodes_max: usize,
    nodes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self::new(DEPTH_MAX, NODES_MAX)
    }
}

impl Bounds {
    /// Other bounds, for files that are not ours.
    pub fn new(depth_max: usize, nodes_max: usize) -> Self {
        Self { depth_max, nodes_max, nodes: 0 }
    }

    /// One more value, this deep.
    pub fn count(&mut self, depth: usize) -> Result<(), BoundsError> {
        if depth > self.depth_max {
            return Err(BoundsError::Depth { max: self.depth_max });
        }
        if self.nodes >= self.nodes_max {
            return Err(BoundsError::Nodes { max: self.nodes_max });
        }
        self.nodes += 1;
        Ok(())
    }
}

impl Node {
    /// A text without a place, for files that are yet to be written.
    pub fn text(text: impl Into<String>) -> Self {
        Self { line: 0, value: Value::Text(text.into()) }
    }

    /// A map without a place, of what is there.
    pub fn map(entries: Vec<(String, Node)>) -> Self {
        let entry = |(key, node)| Entry { key, line: 0, column: 0, node };
        Self { line: 0, value: Value::Map(entries.into_iter().map(entry).collect()) }
    }

    /// A list without a place.
    pub fn list(nodes: Vec<Node>) -> Self {
        Self { line: 0, value: Value::List(nodes) }
    }

    /// The names, if it is a map.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => &[],
        }
    }

    /// The entry with this name.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Without its places. Of names that occur twice the last one stays.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(text) => {
                text.parse::<serde_json::Number>().map_or_else(|_| Json::String(text.clone()), Json::Number)
            }
            Value::Text(text) => Json::String(text.clone()),
            Value::List(nodes) => nodes.iter().map(Node::to_json).collect(),
            Value::Map(entries) => {
                Json::Object(entries.iter().map(|e| (e.key.clone(), e.node.to_json())).collect())
            }
        }
    }

    /// Every name that occurs twice in its map, with its path and line.
    pub fn repeated_keys(&self) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        self.collect_repeated("", &mut found);
        found
    }

    fn collect_repeated(&self, path: &str, found: &mut Vec<(String, usize)>) {
        match &self.value {
            Value::Map(entries) => {
                let mut seen = HashSet::new();
                for entry in entries {
                    let below = join(path, &entry.key);
                    if !seen.insert(&entry.key) {
                        found.push((below.clone(), entry.line));
                    }
                    entry.node.collect_repeated(&below, found);
                }
            }
            Value::List(nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    node.collect_repeated(&format!("{path}[{index}]"), found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
        }
    }
}

impl Value {
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a table",
        }
    }
}

/// The path of a key below another.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Turns places in a text into lines.
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// The line of a byte, from 1.
    pub fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte)
    }

    /// The bytes before it on its line.
    pub fn column(&self, byte: usize) -> usize {
        byte - self.starts.get(self.line(byte) - 1).copied().unwrap_or(byte)
    }
}
