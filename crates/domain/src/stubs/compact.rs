//! How a tool is called, in as few tokens as a model still reads: for lists that stand in its context all
//! the time. Names and types only, none of a server's sentences.

use serde_json::Value;

use super::inert_text::{is_plain_name, key, string};
use super::interface::Interface;
use super::outline::outline;
use super::types::{Body, Field, Scalar, Type, Types};
use super::{Language, caps::COMPACT_CHARS_MAX};
use crate::catalogue::Tool;

/// A tool in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compact {
    /// Such as `list_leads(status?: new|won, owner?, page=1)`. What has no type is text; `…` stands for
    /// optional parameters that would make it long.
    pub call: String,
    /// The parameters in it that are one of several words: `status?: new|won`.
    pub choices: Vec<String>,
    /// Such as `{records: [{id, name}], total}`. Empty if nothing is known of it.
    pub result: String,
}

/// Levels of objects that are spelled out.
const LEVELS: usize = 3;
/// Fields of an object that are.
const FIELDS_MAX: usize = 10;
/// Values of an enum that are, and their characters together.
const VALUES_MAX: usize = 12;
const VALUES_CHARS_MAX: usize = 120;
/// Values that are, of an optional parameter in a call that is long.
const FEW_WORDS: usize = 4;

pub(super) fn of(interface: &Interface, tool: &Tool, result_chars_max: usize) -> Compact {
    let types = &interface.types;
    let mut parameters: Vec<String> =
        interface.parameters.iter().map(|(identifier, field)| parameter(identifier, field, types)).collect();
    let has_choices = |(_, (_, field)): &(&String, &(String, Field))| matches!(&field.value, Type::Literal(values) if values.len() > 2);
    let choices = parameters.iter().zip(&interface.parameters).filter(has_choices);
    let choices = choices.map(|(written, _)| written.clone()).collect();
    if interface.others.is_some() {
        parameters.push("…".to_owned());
    }
    let required = interface.parameters.iter().filter(|(_, field)| field.is_required).count();
    let whole = |parameters: &[String]| format!("{}({})", tool.identifier, parameters.join(", "));
    let mut call = whole(&parameters);
    if call.chars().count() > COMPACT_CHARS_MAX {
        // Rather some words of many than parameters that nobody hears of.
        parameters.iter_mut().skip(required).for_each(|written| *written = with_few_words(written));
        call = whole(&parameters);
    }
    while call.chars().count() > COMPACT_CHARS_MAX && parameters.len() > required + 1 {
        parameters.truncate(parameters.len() - 2);
        parameters.push("…".to_owned());
        call = whole(&parameters);
    }
    let result = match &interface.result {
        Type::Any => String::new(),
        known => outline(types, known, result_chars_max).unwrap_or_else(|| text(known, types, LEVELS)),
    };
    Compact { call, choices, result }
}

/// An optional parameter with the first of its words, if these are many.
fn with_few_words(written: &str) -> String {
    let is_list = written.ends_with(']');
    match written.match_indices('|').nth(FEW_WORDS - 1) {
        Some((at, _)) if written.matches('|').count() > FEW_WORDS && !written.contains('{') => {
            let kept = written.get(..at).unwrap_or(written);
            format!("{kept}|…{}", if is_list { "]" } else { "" })
        }
        Some(_) | None => written.to_owned(),
    }
}

/// A default that is a number or a truth value says of which type it is, and that it may be left out. A text could be
/// a server's sentence.
fn parameter(identifier: &str, field: &Field, types: &Types) -> String {
    let default = field.default.as_ref().filter(|_| !field.is_required);
    match default {
        Some(Value::Bool(true)) => format!("{identifier}=True"),
        Some(Value::Bool(false)) => format!("{identifier}=False"),
        Some(Value::Number(number)) => format!("{identifier}={number}"),
        Some(_) | None => with_type(identifier, field.is_required, &field.value, types, LEVELS),
    }
}

fn with_type(name: &str, is_required: bool, value: &Type, types: &Types, levels: usize) -> String {
    let mark = if is_required { "" } else { "?" };
    // That nothing may be given is said by the mark.
    let value = match value {
        Type::Union(members) if !is_required => {
            Type::union(members.iter().filter(|member| **member != Type::Null).cloned())
        }
        other => other.clone(),
    };
    match value {
        Type::Str => format!("{name}{mark}"),
        other => format!("{name}{mark}: {}", text(&other, types, levels)),
    }
}

fn text(value: &Type, types: &Types, levels: usize) -> String {
    match value {
        Type::Any => "any".to_owned(),
        Type::Null => "None".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Int => "int".to_owned(),
        Type::Float => "float".to_owned(),
        Type::Str => "str".to_owned(),
        Type::Literal(values) => literal(values),
        Type::List(item) => match item.as_ref() {
            // Of nearly anything.
            Type::Any | Type::Union(_) => "list".to_owned(),
            item => format!("[{}]", text(item, types, levels)),
        },
        Type::Tuple(..) => "list".to_owned(),
        Type::Map(_) => "dict".to_owned(),
        Type::Named(id) => match types.get(*id).map(|(_, named)| &named.body) {
            Some(Body::Object { fields, .. }) if levels > 0 => object(fields, types, levels - 1),
            Some(Body::Object { .. }) => "dict".to_owned(),
            Some(Body::Alias(_)) | None => "any".to_owned(),
        },
        Type::Union(members) => {
            let members: Vec<String> = members.iter().map(|member| text(member, types, levels)).collect();
            members.join("|")
        }
    }
}

fn object(fields: &[Field], types: &Types, levels: usize) -> String {
    let shown = fields.iter().take(FIELDS_MAX).map(|field| {
        let name = key(Language::TypeScript, &field.name);
        with_type(&name, field.is_required, &field.value, types, levels)
    });
    let mut shown: Vec<String> = shown.collect();
    if fields.len() > FIELDS_MAX {
        shown.push("…".to_owned());
    }
    format!("{{{}}}", shown.join(", "))
}

/// Words as they are, anything else in quotes.
fn literal(values: &[Scalar]) -> String {
    let written = |value: &Scalar| match value {
        Scalar::Str(word) if is_plain_name(word) => word.clone(),
        Scalar::Str(other) => string(Language::Python, other),
        Scalar::Int(int) => int.to_string(),
        Scalar::Bool(true) => "True".to_owned(),
        Scalar::Bool(false) => "False".to_owned(),
    };
    let mut shown: Vec<String> = Vec::new();
    let mut chars = 0;
    for value in values {
        let word = written(value);
        chars += word.chars().count() + 1;
        if shown.len() == VALUES_MAX || chars > VALUES_CHARS_MAX {
            shown.push("…".to_owned());
            break;
        }
        shown.push(word);
    }
    shown.join("|")
}
