//! JSON as a tree, with the comments and trailing commas that people's files have.

use jsonc_parser::ast::{ObjectPropName, Value as JsonValue};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::syntax_error::SyntaxError;
use super::tree::{Bounds, Entry, Lines, Node, Value};

/// Reads a whole text.
pub fn parse(text: &str, bounds: Bounds) -> Result<Node, SyntaxError> {
    let lines = Lines::of(text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options()).map_err(|error| {
        let at = error.range().start;
        SyntaxError::Text {
            message: error.kind().to_string(),
            line: Some(lines.line(at)),
            column: Some(lines.column(at) + 1),
        }
    })?;
    match &parsed.value {
        Some(value) => Reader { lines, bounds }.value(value, 0),
        None => Ok(Node { line: 1, value: Value::Map(Vec::new()) }),
    }
}

/// Comments and trailing commas, and nothing else that JSON does not have.
pub fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

struct Reader {
    lines: Lines,
    bounds: Bounds,
}

impl Reader {
    fn value(&mut self, value: &JsonValue<'_>, depth: usize) -> Result<Node, SyntaxError> {
        self.bounds.count(depth)?;
        let line = self.lines.line(value.range().start);
        let value = match value {
            JsonValue::NullKeyword(_) => Value::Null,
            JsonValue::BooleanLit(flag) => Value::Bool(flag.value),
            JsonValue::NumberLit(number) => Value::Number(number.value.to_owned()),
            JsonValue::StringLit(text) => Value::Text(text.value.clone().into_owned()),
            JsonValue::Array(array) => {
                let nodes = array.elements.iter().map(|element| self.value(element, depth + 1));
                Value::List(nodes.collect::<Result<_, _>>()?)
            }
            JsonValue::Object(object) => {
                let mut entries = Vec::new();
                for property in &object.properties {
                    let key = match &property.name {
                        ObjectPropName::String(text) => text.value.clone().into_owned(),
                        ObjectPropName::Word(word) => word.value.to_owned(),
                    };
                    let at = property.range().start;
                    let node = self.value(&property.value, depth + 1)?;
                    let (line, column) = (self.lines.line(at), self.lines.column(at));
                    entries.push(Entry { key, line, column, node });
                }
                Value::Map(entries)
            }
        };
        Ok(Node { line, value })
    }
}
