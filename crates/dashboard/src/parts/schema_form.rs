//! A form made of a tool's JSON Schema, and the arguments that come back from it.
//!
//! Simple fields get an input of their own; whatever has structure is written as JSON. A schema is a stranger's:
//! what it doesn't say clearly becomes a JSON field too.

use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::Text;

/// More fields are left to the JSON field at the end.
const FIELDS_MAX: usize = 60;
/// What the names of our fields begin with, so that none collides with `csrf`.
const PREFIX: &str = "arg.";
/// All arguments at once, as one JSON object; wins over the fields beside it.
const WHOLE: &str = "arguments";

/// Why a form can't be sent. Nothing was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    pub field: String,
    pub problem: &'static str,
}

/// The arguments that a form of this schema sent. Empty fields are left out.
pub fn arguments(schema: &Value, pairs: &[(String, String)]) -> Result<Map<String, Value>, FieldProblem> {
    if let Some((_, whole)) = pairs.iter().find(|(name, text)| name == WHOLE && !text.trim().is_empty()) {
        return match serde_json::from_str(whole) {
            Ok(Value::Object(arguments)) => Ok(arguments),
            _ => Err(FieldProblem { field: WHOLE.to_owned(), problem: "is not a JSON object" }),
        };
    }
    let mut arguments = Map::new();
    for field in fields(schema) {
        let sent = pairs.iter().find(|(name, _)| name.strip_prefix(PREFIX) == Some(field.name));
        let Some((_, text)) = sent.filter(|(_, text)| !text.is_empty()) else { continue };
        let value =
            field.parse(text).map_err(|problem| FieldProblem { field: field.name.to_owned(), problem })?;
        arguments.insert(field.name.to_owned(), value);
    }
    Ok(arguments)
}

/// The fields. `filled` is what was sent before, by name.
pub(crate) fn form_fields(schema: &Value, filled: &[(Text, Text)]) -> Markup {
    let fields = fields(schema);
    let has_fields = !fields.is_empty();
    html! {
        @for (at, field) in fields.iter().enumerate() {
            @let before = filled.iter().find(|(name, _)| name.raw() == field.name).map(|(_, text)| text.raw());
            (field.markup(at, before.unwrap_or_default()))
        }
        details.whole open[!has_fields] {
            summary { @if has_fields { "Write the arguments as JSON instead" } @else { "Arguments as JSON" } }
            textarea name=(WHOLE) rows="4" spellcheck="false" aria-label="Arguments as JSON" placeholder="{ }" {}
        }
    }
}

struct Field<'a> {
    name: &'a str,
    shape: Shape<'a>,
    is_required: bool,
    schema: &'a Value,
}

enum Shape<'a> {
    Choice(Vec<&'a str>),
    Line(&'static str),
    Number { whole: bool },
    Switch,
    Json,
}

fn fields(schema: &Value) -> Vec<Field<'_>> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .take(FIELDS_MAX)
        .map(|(name, schema)| Field {
            name,
            shape: shape(schema),
            is_required: required.contains(&name.as_str()),
            schema,
        })
        .collect()
}

fn shape(schema: &Value) -> Shape<'_> {
    if let Some(values) = schema["enum"].as_array() {
        let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        return if words.len() == values.len() { Shape::Choice(words) } else { Shape::Json };
    }
    match schema["type"].as_str() {
        Some("string") => Shape::Line(match schema["format"].as_str() {
            Some("date") => "date",
            Some("email") => "email",
            _ => "text",
        }),
        Some("integer") => Shape::Number { whole: true },
        Some("number") => Shape::Number { whole: false },
        Some("boolean") => Shape::Switch,
        _ => Shape::Json,
    }
}

impl Field<'_> {
    fn parse(&self, text: &str) -> Result<Value, &'static str> {
        match &self.shape {
            Shape::Choice(_) | Shape::Line(_) => Ok(Value::String(text.to_owned())),
            Shape::Number { whole } => match serde_json::from_str::<Value>(text.trim()) {
                Ok(number @ Value::Number(_)) => Ok(number),
                _ if *whole => Err("is not a whole number"),
                _ => Err("is not a number"),
            },
            Shape::Switch => match text {
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                _ => Err("is neither true nor false"),
            },
            Shape::Json => serde_json::from_str(text).map_err(|_| "is not JSON"),
        }
    }

    fn markup(&self, at: usize, before: &str) -> Markup {
        let id = format!("field-{at}");
        let name = format!("{PREFIX}{}", self.name);
        let about = self.schema["description"].as_str().unwrap_or_default();
        html! {
            div.field {
                label for=(id) {
                    (Text::from(self.name))
                    @if self.is_required { span.required { " required" } }
                    small { " " (self.kind()) }
                }
                (self.input(&id, &name, before))
                @if !about.is_empty() { p.about id={ (id) "-about" } { (Text::from(about)) } }
            }
        }
    }

    fn kind(&self) -> &'static str {
        match self.shape {
            Shape::Choice(_) => "one of",
            Shape::Line("date") => "date",
            Shape::Line("email") => "email address",
            Shape::Line(_) => "text",
            Shape::Number { whole: true } => "whole number",
            Shape::Number { whole: false } => "number",
            Shape::Switch => "yes or no",
            Shape::Json => "JSON",
        }
    }

    fn input(&self, id: &str, name: &str, before: &str) -> Markup {
        let required = self.is_required;
        html! {
            @match &self.shape {
                Shape::Choice(words) => {
                    select id=(id) name=(name) required[required] {
                        option value="" { "Leave out" }
                        @for word in words {
                            option value=(word) selected[*word == before] { (Text::from(*word)) }
                        }
                    }
                }
                Shape::Switch => {
                    select id=(id) name=(name) required[required] {
                        option value="" { "Leave out" }
                        option value="true" selected[before == "true"] { "Yes" }
                        option value="false" selected[before == "false"] { "No" }
                    }
                }
                Shape::Line(kind) => {
                    input id=(id) name=(name) type=(kind) value=(before) required[required] autocomplete="off";
                }
                Shape::Number { whole } => {
                    input id=(id) name=(name) type="number" step=(if *whole { "1" } else { "any" })
                        value=(before) required[required] autocomplete="off";
                }
                Shape::Json => {
                    textarea id=(id) name=(name) rows="3" spellcheck="false" required[required] {
                        "\n" (before)
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({
            "properties": {
                "to": { "type": "string", "format": "email" },
                "tries": { "type": "integer" },
                "urgent": { "type": "boolean" },
                "tags": { "type": "array" },
                "kind": { "enum": ["a", "b"] },
            },
            "required": ["to"],
        })
    }

    fn sent(pairs: &[(&str, &str)]) -> Result<Value, FieldProblem> {
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        arguments(&schema(), &pairs).map(Value::Object)
    }

    #[test]
    fn what_a_form_sends_becomes_arguments() {
        let pairs = [
            ("csrf", "x"),
            ("arg.to", "a@b.c"),
            ("arg.tries", "3"),
            ("arg.urgent", "true"),
            ("arg.tags", "[1]"),
            ("arg.kind", ""),
            ("arg.unknown", "x"),
        ];
        assert_eq!(sent(&pairs), Ok(json!({ "to": "a@b.c", "tries": 3, "urgent": true, "tags": [1] })));
    }

    #[test]
    fn one_json_object_wins_over_the_fields() {
        assert_eq!(sent(&[("arg.to", "x"), ("arguments", "{\"to\": 1}")]), Ok(json!({ "to": 1 })));
    }

    #[test]
    fn what_does_not_fit_names_its_field() {
        let check = |name: &str, text: &str, problem| {
            let field = name.trim_start_matches(PREFIX).to_owned();
            assert_eq!(sent(&[(name, text)]), Err(FieldProblem { field, problem }));
        };
        check("arg.tries", "many", "is not a whole number");
        check("arg.urgent", "maybe", "is neither true nor false");
        check("arg.tags", "[", "is not JSON");
        check("arguments", "[]", "is not a JSON object");
    }

    #[test]
    fn a_schema_that_says_nothing_leaves_json() {
        for schema in [json!(null), json!(true), json!({ "properties": [] }), json!({ "required": 3 })] {
            let page = form_fields(&schema, &[]).into_string();
            assert!(page.contains("<details class=\"whole\" open>"), "{page}");
        }
    }
}
