//! A tool's parameters and its result.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::caps::{Caps, LEVELS};
use super::reader::{Reader, Shape};
use super::types::{Field, Type, Types};
use crate::catalogue::{Tool, ToolDefinition, parameter_identifier};

/// A parameter of a tool, as a Python program passes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the stub.
    pub identifier: String,
    /// Its name in the arguments that are sent.
    pub name: String,
    /// Whether a call without it is refused.
    pub is_required: bool,
}

/// What a tool takes and returns.
#[derive(Debug)]
pub(super) struct Interface {
    /// With their identifiers; required ones first.
    pub parameters: Vec<(String, Field)>,
    /// The type of arguments beyond the parameters, if there may be any.
    pub others: Option<Type>,
    pub result: Type,
    pub types: Types,
}

impl Interface {
    /// With the result that the server declares, or that was learned.
    pub fn read(tool: &Tool, caps: &'static Caps) -> Self {
        let learned = tool.learned.as_ref().map(|learned| &learned.schema);
        Self::with_result(tool, caps, tool.definition.output_schema.as_ref().or(learned))
    }

    /// With the result that the server declares: what programs may be refused by.
    pub fn declared(tool: &Tool, caps: &'static Caps) -> Self {
        Self::with_result(tool, caps, tool.definition.output_schema.as_ref())
    }

    fn with_result(tool: &Tool, caps: &'static Caps, result: Option<&Value>) -> Self {
        let definition = &tool.definition;
        let mut reader = Reader::new(caps, &definition.input_schema, &tool.identifier);
        let shape = arguments(&mut reader, &definition.input_schema);
        let identifiers = identifiers(&shape);
        let fields = reader.read_shape_fields(&shape);
        let others = match shape.others {
            Some(other) => Some(reader.read(other, "Other")),
            None => shape.is_open.then_some(Type::Any),
        };
        let result = match result {
            Some(schema) => {
                reader.set_root(schema);
                reader.read(unwrapped(schema), &format!("{}Result", tool.identifier))
            }
            None => Type::Any,
        };
        let named = |field: Field| (identifiers.get(&field.name).cloned().unwrap_or_default(), field);
        Self { parameters: fields.into_iter().map(named).collect(), others, result, types: reader.types }
    }
}

/// See `super::parameters`.
pub(super) fn parameters(definition: &ToolDefinition) -> Vec<Parameter> {
    let mut reader = Reader::new(&LEVELS[0], &definition.input_schema, "");
    let shape = arguments(&mut reader, &definition.input_schema);
    let mut identifiers = identifiers(&shape);
    let mut made: Vec<Parameter> = shape
        .fields
        .iter()
        .map(|(name, _)| Parameter {
            identifier: identifiers.remove(name).unwrap_or_default(),
            is_required: shape.required.contains(name),
            name: name.clone(),
        })
        .collect();
    made.sort_by_key(|parameter| !parameter.is_required);
    made
}

fn arguments<'a>(reader: &mut Reader<'a>, schema: &'a Value) -> Shape<'a> {
    let mut shape = Shape::default();
    if let Value::Object(schema) = schema {
        shape.collect(reader, schema);
        shape.merge_variants(reader);
    }
    shape
}

/// Names that are identifiers stay; of the others those that meet another get a number. Depends on the
/// names alone, not on their order.
fn identifiers(shape: &Shape<'_>) -> HashMap<String, String> {
    let mut names: Vec<&str> = shape.fields.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let plain = names.iter().filter(|name| parameter_identifier(name) == **name);
    let mut taken: HashSet<String> = plain.map(|name| (*name).to_owned()).collect();
    let mut made = HashMap::new();
    for name in names {
        let identifier = parameter_identifier(name);
        if identifier == name {
            made.insert(name.to_owned(), identifier);
            continue;
        }
        let numbered = (2..).map(|number| format!("{}_{number}", identifier.trim_end_matches('_')));
        let free = std::iter::once(identifier.clone()).chain(numbered).find(|one| !taken.contains(one));
        let free = free.unwrap_or(identifier);
        taken.insert(free.clone());
        made.insert(name.to_owned(), free);
    }
    made
}

/// Some servers wrap a result that is not an object into one; programs get what is inside.
fn unwrapped(schema: &Value) -> &Value {
    let is_wrapped = schema.get("x-fastmcp-wrap-result") == Some(&Value::Bool(true));
    schema.pointer("/properties/result").filter(|_| is_wrapped).unwrap_or(schema)
}
