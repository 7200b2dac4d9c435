//! YAML as a tree: one document, YAML 1.2 (`yes` is a word, not a truth), no aliases.
//!
//! The tree is built from events with a stack of our own: no depth of nesting recurses.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

use super::syntax_error::SyntaxError;
use super::tree::{Bounds, Entry, Node, Value};

/// Reads a whole text.
pub fn parse(text: &str, bounds: Bounds) -> Result<Node, SyntaxError> {
    // The parser guesses at what it does not accept; a text of nothing but blanks is one such case.
    let mut builder = Builder { bounds, open: Vec::new(), root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| scan_error(&error))?;
        builder.take(event, span.start)?;
    }
    let empty = Node { line: 1, value: Value::Map(Vec::new()) };
    Ok(match builder.root {
        None | Some(Node { value: Value::Null, .. }) => empty,
        Some(root) => root,
    })
}

fn scan_error(error: &ScanError) -> SyntaxError {
    let at = error.marker();
    SyntaxError::Text { message: error.info().to_owned(), line: Some(at.line()), column: Some(at.col() + 1) }
}

fn refused(message: &str, at: Marker) -> SyntaxError {
    SyntaxError::Text { message: message.to_owned(), line: Some(at.line()), column: Some(at.col() + 1) }
}

struct Builder {
    bounds: Bounds,
    open: Vec<Open>,
    root: Option<Node>,
}

/// A list or a map that is not finished.
enum Open {
    List { line: usize, nodes: Vec<Node> },
    Map { line: usize, entries: Vec<Entry>, key: Option<(String, Marker)> },
}

impl Builder {
    fn take(&mut self, event: Event<'_>, at: Marker) -> Result<(), SyntaxError> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => match self.root {
                Some(_) => Err(refused("it holds a second document; only one is read", at)),
                None => Ok(()),
            },
            Event::Alias(_) => Err(refused("aliases (`*name`) are not read; write the value out", at)),
            Event::Scalar(text, style, _, tag) => {
                let plain = style == ScalarStyle::Plain && tag.is_none();
                if let Some(Open::Map { key: key @ None, .. }) = self.open.last_mut() {
                    *key = Some((text.into_owned(), at));
                    return Ok(());
                }
                let value = if plain { scalar(&text) } else { Value::Text(text.into_owned()) };
                self.bounds.count(self.open.len())?;
                self.put(Node { line: at.line(), value }, at)
            }
            Event::SequenceStart(..) => {
                self.begin(at)?;
                self.open.push(Open::List { line: at.line(), nodes: Vec::new() });
                Ok(())
            }
            Event::MappingStart(..) => {
                self.begin(at)?;
                self.open.push(Open::Map { line: at.line(), entries: Vec::new(), key: None });
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { line, nodes }) => self.put(Node { line, value: Value::List(nodes) }, at),
                Some(Open::Map { line, entries, .. }) => {
                    self.put(Node { line, value: Value::Map(entries) }, at)
                }
                None => Err(refused("something ends that never began", at)),
            },
        }
    }

    fn begin(&mut self, at: Marker) -> Result<(), SyntaxError> {
        if let Some(Open::Map { key: None, .. }) = self.open.last() {
            return Err(refused("a key must be a plain word", at));
        }
        Ok(self.bounds.count(self.open.len())?)
    }

    fn put(&mut self, node: Node, at: Marker) -> Result<(), SyntaxError> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { nodes, .. }) => nodes.push(node),
            Some(Open::Map { entries, key, .. }) => {
                let (key, place) = key.take().ok_or_else(|| refused("a key must be a plain word", at))?;
                entries.push(Entry { key, line: place.line(), column: place.col(), node });
            }
        }
        Ok(())
    }
}

fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        text if is_number(text) => Value::Number(text.to_owned()),
        text => Value::Text(text.to_owned()),
    }
}

/// As JSON and TOML have them; what only YAML takes for a number stays text.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && !(digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0."))
        && digits.chars().all(|c| matches!(c, '0'..='9' | '.' | 'e' | 'E' | '+' | '-'))
        && text.parse::<f64>().is_ok()
}
