//! Takes typed values out of a table, and tells of each that is wrong and each that nobody took.

use super::problem::{ProblemKind, Problems};
use super::tree::{Entry, Node, Value, join};

/// The keys of one table, taken one by one.
pub struct Fields<'a> {
    path: String,
    entries: &'a [Entry],
    taken: Vec<bool>,
}

impl<'a> Fields<'a> {
    /// Of a table; anything else is told of, and nothing counts as an empty one.
    pub fn of(node: &'a Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let entries: &[Entry] = match &node.value {
            Value::Map(entries) => entries,
            Value::Null => &[],
            Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
                problems.wrong_type(path, node, "a table");
                return None;
            }
        };
        Some(Self { path: path.to_owned(), entries, taken: vec![false; entries.len()] })
    }

    /// The path of a key in here.
    pub fn path(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// The table's own path.
    pub fn own_path(&self) -> &str {
        &self.path
    }

    /// Where a key stands; 0 if it is not there.
    pub fn line(&self, key: &str) -> usize {
        self.entries.iter().find(|entry| entry.key == key).map_or(0, |entry| entry.line)
    }

    /// A value, if it is there and not nothing.
    pub fn take(&mut self, key: &str) -> Option<&'a Node> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        for (entry, taken) in self.entries.iter().zip(&mut self.taken) {
            *taken |= entry.key == key;
        }
        let node = &self.entries[index].node;
        (node.value != Value::Null).then_some(node)
    }

    pub fn text(&mut self, key: &str, problems: &mut Problems) -> Option<(&'a str, usize)> {
        let node = self.take(key)?;
        match &node.value {
            Value::Text(text) => Some((text, node.line)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => {
                problems.wrong_type(&self.path(key), node, "text");
                None
            }
        }
    }

    pub fn flag(&mut self, key: &str, problems: &mut Problems) -> Option<bool> {
        let node = self.take(key)?;
        match &node.value {
            Value::Bool(flag) => Some(*flag),
            Value::Null | Value::Number(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
                problems.wrong_type(&self.path(key), node, "true or false");
                None
            }
        }
    }

    /// A whole number within bounds.
    pub fn whole(&mut self, key: &str, min: u64, max: u64, problems: &mut Problems) -> Option<u64> {
        let node = self.take(key)?;
        let number = match &node.value {
            Value::Number(text) => text.parse().ok(),
            Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        };
        let number = number.filter(|number| (min..=max).contains(number));
        if number.is_none() {
            problems.error(&self.path(key), node.line, ProblemKind::OutOfRange { min, max });
        }
        number
    }

    /// A number or a text, as it is written: times and sizes.
    pub fn quantity(
        &mut self,
        key: &str,
        expected: &'static str,
        problems: &mut Problems,
    ) -> Option<(&'a str, usize)> {
        let node = self.take(key)?;
        match &node.value {
            Value::Text(text) | Value::Number(text) => Some((text, node.line)),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
                problems.wrong_type(&self.path(key), node, expected);
                None
            }
        }
    }

    /// Scalars as text with their lines. Numbers and truths are taken as they are written: they
    /// end up as arguments and variables, which are text anyway.
    pub fn texts(&mut self, key: &str, problems: &mut Problems) -> Vec<(String, usize)> {
        let Some(node) = self.take(key) else { return Vec::new() };
        let Value::List(nodes) = &node.value else {
            problems.wrong_type(&self.path(key), node, "a list of texts");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            match scalar_text(node) {
                Some(text) => texts.push((text, node.line)),
                None => problems.wrong_type(&format!("{}[{index}]", self.path(key)), node, "text"),
            }
        }
        texts
    }

    /// Names with a text each: variables, headers.
    pub fn named_texts(&mut self, key: &str, problems: &mut Problems) -> Vec<(&'a str, String, usize)> {
        let Some(node) = self.take(key) else { return Vec::new() };
        let Value::Map(entries) = &node.value else {
            problems.wrong_type(&self.path(key), node, "a table of texts");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for entry in entries {
            match scalar_text(&entry.node) {
                Some(text) => texts.push((entry.key.as_str(), text, entry.line)),
                None => {
                    problems.wrong_type(&join(&self.path(key), &entry.key), &entry.node, "text");
                }
            }
        }
        texts
    }

    pub fn left(&self) -> impl Iterator<Item = &'a Entry> {
        let left = self.entries.iter().zip(&self.taken).filter(|(_, taken)| !**taken);
        left.map(|(entry, _)| entry).collect::<Vec<_>>().into_iter()
    }

    /// Whatever nobody took is a mistake.
    pub fn finish(self, known: &[&str], problems: &mut Problems) {
        for entry in self.left() {
            // Looking for the nearest name takes a while; a long file of nonsense is not worth it.
            if problems.is_full() {
                return;
            }
            problems.error(&self.path(&entry.key), entry.line, ProblemKind::unknown_key(&entry.key, known));
        }
    }
}

fn scalar_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}
