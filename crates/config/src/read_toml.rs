//! TOML as a tree.

use toml_edit::{Document, Item, Key, TableLike, Value as TomlValue};

use super::syntax_error::SyntaxError;
use super::tree::{Bounds, Entry, Lines, Node, Value};

/// Reads a whole text.
pub fn parse(text: &str, bounds: Bounds) -> Result<Node, SyntaxError> {
    let lines = Lines::of(text);
    let document = Document::parse(text).map_err(|error| SyntaxError::Text {
        message: match error.span() {
            // The parser takes `npx` for the beginning of a number.
            Some(span) if is_bare_word(text, span.start) => "text must stand in quotes".to_owned(),
            Some(_) | None => error.message().to_owned(),
        },
        line: error.span().map(|span| lines.line(span.start)),
        column: error.span().map(|span| lines.column(span.start) + 1),
    })?;
    let mut reader = Reader { lines, bounds };
    let value = reader.table(document.as_table(), 0)?;
    Ok(Node { line: 1, value })
}

/// Whether a word stands there, without quotes, where a value is needed.
fn is_bare_word(text: &str, at: usize) -> bool {
    let (Some(before), Some(word)) = (text.get(..at), text.get(at..)) else { return false };
    before.trim_end_matches([' ', '\t']).ends_with(['=', '[', ','])
        && word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '~' | '$' | '@'))
}

struct Reader {
    lines: Lines,
    bounds: Bounds,
}

impl Reader {
    fn table(&mut self, table: &dyn TableLike, depth: usize) -> Result<Value, SyntaxError> {
        let mut entries = Vec::new();
        for (key, item) in table.iter() {
            let at = table.key(key).and_then(Key::span).map_or(0, |span| span.start);
            let line = self.lines.line(at);
            let node = self.item(item, line, depth + 1)?;
            entries.push(Entry { key: key.to_owned(), line, column: self.lines.column(at), node });
        }
        Ok(Value::Map(entries))
    }

    fn item(&mut self, item: &Item, line: usize, depth: usize) -> Result<Node, SyntaxError> {
        self.bounds.count(depth)?;
        let value = match item {
            Item::None => Value::Null,
            Item::Value(value) => return self.value(value, line, depth),
            Item::Table(table) => self.table(table, depth)?,
            Item::ArrayOfTables(tables) => {
                let mut nodes = Vec::new();
                for table in tables.iter() {
                    self.bounds.count(depth + 1)?;
                    let line = table.span().map_or(line, |span| self.lines.line(span.start));
                    nodes.push(Node { line, value: self.table(table, depth + 1)? });
                }
                Value::List(nodes)
            }
        };
        Ok(Node { line, value })
    }

    fn value(&mut self, value: &TomlValue, line: usize, depth: usize) -> Result<Node, SyntaxError> {
        let line = value.span().map_or(line, |span| self.lines.line(span.start));
        let value = match value {
            TomlValue::String(text) => Value::Text(text.value().clone()),
            TomlValue::Integer(number) => Value::Number(number.value().to_string()),
            TomlValue::Float(number) => Value::Number(number.value().to_string()),
            TomlValue::Boolean(flag) => Value::Bool(*flag.value()),
            TomlValue::Datetime(date) => Value::Text(date.value().to_string()),
            TomlValue::InlineTable(table) => self.table(table, depth)?,
            TomlValue::Array(array) => {
                let mut nodes = Vec::new();
                for value in array.iter() {
                    self.bounds.count(depth + 1)?;
                    nodes.push(self.value(value, line, depth + 1)?);
                }
                Value::List(nodes)
            }
        };
        Ok(Node { line, value })
    }
}
