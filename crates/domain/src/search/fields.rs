//! What of a tool is searched, and how much of it.

use serde_json::Value;

use crate::catalogue::{Server, Tool};
use crate::short_text::first_bytes;

/// Where a word was found; its weight depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    Title,
    Server,
    Summary,
    Description,
    ParameterName,
    ParameterText,
    Choice,
}

/// How many fields there are.
pub(super) const FIELDS: usize = 8;

/// Real descriptions have up to 13,000 bytes; what a tool is for stands near the beginning.
const DESCRIPTION_BYTES_MAX: usize = 4_000;
const PARAMETER_TEXT_BYTES_MAX: usize = 400;
const TITLE_BYTES_MAX: usize = 300;
/// Parameters within parameters, and alternatives within those.
const DEPTH_MAX: usize = 4;
/// Schemas, texts and choices that one tool may contribute.
const SCHEMAS_MAX: usize = 200;
const CHOICES_MAX: usize = 24;

/// Calls `visit` with every text of a tool that is searched.
pub(super) fn visit<'a>(server: &'a Server, tool: &'a Tool, visit: &mut impl FnMut(Field, &'a str)) {
    let definition = &tool.definition;
    visit(Field::Name, &definition.name);
    visit(Field::Server, &server.offer.name);
    for text in [&server.offer.title, &server.offer.category].into_iter().flatten() {
        visit(Field::Server, first_bytes(text, TITLE_BYTES_MAX));
    }
    if let Some(title) = &definition.title {
        visit(Field::Title, first_bytes(title, TITLE_BYTES_MAX));
    }
    if let Some(description) = &definition.description {
        let (summary, rest) = first_sentence(first_bytes(description, DESCRIPTION_BYTES_MAX));
        visit(Field::Summary, summary);
        visit(Field::Description, rest);
    }
    let mut left = SCHEMAS_MAX;
    parameters(&definition.input_schema, DEPTH_MAX, &mut left, visit);
}

fn parameters<'a>(schema: &'a Value, depth: usize, left: &mut usize, visit: &mut impl FnMut(Field, &'a str)) {
    if depth == 0 || *left == 0 {
        return;
    }
    *left -= 1;
    for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if *left == 0 {
            return;
        }
        visit(Field::ParameterName, first_bytes(name, TITLE_BYTES_MAX));
        if let Some(text) = inner.get("description").and_then(Value::as_str) {
            visit(Field::ParameterText, first_bytes(text, PARAMETER_TEXT_BYTES_MAX));
        }
        let choices = inner.get("enum").and_then(Value::as_array);
        for choice in choices.into_iter().flatten().take(CHOICES_MAX).filter_map(Value::as_str) {
            visit(Field::Choice, first_bytes(choice, TITLE_BYTES_MAX));
        }
        parameters(inner, depth - 1, left, visit);
    }
    if let Some(items) = schema.get("items") {
        parameters(items, depth - 1, left, visit);
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for inner in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
            if *left == 0 {
                return;
            }
            parameters(inner, depth - 1, left, visit);
        }
    }
}

/// The first sentence or line that says something, and what follows it.
pub(super) fn first_sentence(text: &str) -> (&str, &str) {
    const BYTES_MAX: usize = 240;
    let text = text.trim_start();
    let head = first_bytes(text, BYTES_MAX);
    let end = [". ", ".\n", "\n\n"].iter().filter_map(|mark| head.find(mark)).min();
    text.split_at(end.unwrap_or(head.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_stands_apart() {
        assert_eq!(first_sentence("Gets it. Then more."), ("Gets it", ". Then more."));
        assert_eq!(first_sentence("\nTitle\n\nbody"), ("Title", "\n\nbody"));
        assert_eq!(first_sentence("no end"), ("no end", ""));
    }
}
