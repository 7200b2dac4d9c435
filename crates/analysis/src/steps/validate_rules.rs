//! The rules of `validate`: what can be asked of a field, and in which rows it does not hold.

use std::collections::HashMap;

use regex::Regex;
use serde_json::{Value, json};

use super::Context;
use super::condition::pattern;
use crate::arguments::{Arguments, json_kind, number_of};
use crate::kind::Kind;
use crate::outcome::Problem;
use crate::table::Table;
use crate::text_dates;
use crate::timestamp;
use crate::values::{Cell, Values};

/// What is asked of one field.
#[derive(Debug)]
pub(super) enum Rule {
    Type(String),
    Required,
    Min(Value),
    Max(Value),
    MinLength(usize),
    MaxLength(usize),
    Pattern(Regex),
    Allowed(Vec<Value>),
    Unique,
    Reference { input: String, field: String },
}

const KNOWN: [&str; 12] = [
    "field",
    "type",
    "required",
    "min",
    "max",
    "range",
    "min_length",
    "max_length",
    "pattern",
    "allowed",
    "unique",
    "references",
];
const ACCEPTED: [&str; 16] = [
    "matches",
    "regex",
    "in",
    "enum",
    "values",
    "allowed_values",
    "one_of",
    "reference",
    "not_null",
    "nullable",
    "minimum",
    "maximum",
    "min_value",
    "max_value",
    "between",
    "data_type",
];
/// Types, each with its other spellings.
const TYPES: [(&str, &[&str]); 7] = [
    ("number", &["float", "double", "decimal", "numeric"]),
    ("integer", &["int", "int64", "whole"]),
    ("text", &["string", "str"]),
    ("boolean", &["bool"]),
    ("date", &[]),
    ("datetime", &["timestamp"]),
    ("list", &["array"]),
];

/// The rules of one field. `body` may leave the field's name to its key.
pub(super) fn rules_of(body: &Value, field: &str) -> Result<Vec<Rule>, Problem> {
    let arguments = Arguments::new("a rule", body, &KNOWN, &ACCEPTED)?;
    let mut rules = Vec::new();
    let is_nullable = arguments.first_of(&["nullable"]).is_none() || arguments.flag(&["nullable"])?;
    if arguments.flag(&["required", "not_null"])? || !is_nullable {
        rules.push(Rule::Required);
    }
    if let Some(name) = arguments.text(&["type", "data_type"])? {
        let wanted = name.to_ascii_lowercase();
        let found = TYPES.iter().find(|(own, others)| *own == wanted || others.contains(&wanted.as_str()));
        let Some((own, _)) = found else {
            return Err(Problem::unknown_spelling("type", name, TYPES).field(field));
        };
        rules.push(Rule::Type((*own).to_owned()));
    }
    if let Some(range) = arguments.first_of(&["range", "between"]) {
        match range.as_array().map(Vec::as_slice) {
            Some([low, high]) => rules.extend([Rule::Min(low.clone()), Rule::Max(high.clone())]),
            Some(_) | None => {
                return Err(Problem::new(
                    "\"range\" must be a list of two values: the lowest and the highest",
                )
                .field(field));
            }
        }
    }
    rules.extend(arguments.first_of(&["min", "minimum", "min_value"]).map(|value| Rule::Min(value.clone())));
    rules.extend(arguments.first_of(&["max", "maximum", "max_value"]).map(|value| Rule::Max(value.clone())));
    rules.extend(arguments.count(&["min_length"])?.map(Rule::MinLength));
    rules.extend(arguments.count(&["max_length"])?.map(Rule::MaxLength));
    if let Some(text) = arguments.text(&["pattern", "matches", "regex"])? {
        rules.push(Rule::Pattern(pattern(text, false)?));
    }
    let allowed = ["allowed", "allowed_values", "in", "enum", "values", "one_of"];
    match arguments.first_of(&allowed) {
        None => {}
        Some(Value::Array(values)) => rules.push(Rule::Allowed(values.clone())),
        Some(other) => {
            return Err(arguments.wrong(&allowed, "a list of values", other).field(field));
        }
    }
    if arguments.flag(&["unique"])? {
        rules.push(Rule::Unique);
    }
    if let Some(reference) = arguments.first_of(&["references", "reference"]) {
        let inner = Arguments::new("references", reference, &["input", "field"], &["with"])?;
        let input = inner.required_text(&["input", "with"])?.to_owned();
        rules.push(Rule::Reference { input, field: inner.text(&["field"])?.unwrap_or(field).to_owned() });
    }
    if rules.is_empty() {
        return Err(Problem::new(format!("the rule for {field:?} checks nothing"))
            .hint(format!("available: {}", KNOWN.join(", ")))
            .field(field));
    }
    Ok(rules)
}

impl Rule {
    /// The rule as a report shows it.
    pub(super) fn name(&self) -> String {
        match self {
            Rule::Type(name) => format!("type {name}"),
            Rule::Required => "required".to_owned(),
            Rule::Min(value) => format!("min {value}"),
            Rule::Max(value) => format!("max {value}"),
            Rule::MinLength(count) => format!("min_length {count}"),
            Rule::MaxLength(count) => format!("max_length {count}"),
            Rule::Pattern(pattern) => format!("pattern {pattern}"),
            Rule::Allowed(values) => format!("allowed {}", crate::values::short(&json!(values).to_string())),
            Rule::Unique => "unique".to_owned(),
            Rule::Reference { input, field } => format!("references {input}.{field}"),
        }
    }

    /// The rows in which it does not hold. A missing value breaks `required` and nothing else.
    pub(super) fn broken(
        &self,
        table: &Table,
        field: &str,
        context: &mut Context,
    ) -> Result<Vec<usize>, Problem> {
        if !table.has(field) {
            if !table.members(field).is_empty() {
                return Err(table.unknown_field(field));
            }
            let is_required = matches!(self, Rule::Required);
            return Ok(if is_required { (0..table.rows()).collect() } else { Vec::new() });
        }
        let values = table.column(field)?.values();
        let is_list = table.is_list(field);
        let breaks = |holds: &dyn Fn(&Cell) -> bool| -> Vec<usize> {
            (0..values.len()).filter(|row| !values.is_missing(*row) && !holds(&values.cell(*row))).collect()
        };
        Ok(match self {
            Rule::Required => (0..values.len()).filter(|row| values.is_missing(*row)).collect(),
            Rule::Type(name) => breaks(&|cell| is_of_type(cell, name, is_list)),
            Rule::Min(limit) => breaks(&|cell| is_within(cell, limit, std::cmp::Ordering::is_ge)),
            Rule::Max(limit) => breaks(&|cell| is_within(cell, limit, std::cmp::Ordering::is_le)),
            Rule::MinLength(count) => {
                breaks(&|cell| cell.text().is_some_and(|text| text.chars().count() >= *count))
            }
            Rule::MaxLength(count) => {
                breaks(&|cell| cell.text().is_some_and(|text| text.chars().count() <= *count))
            }
            Rule::Pattern(pattern) => breaks(&|cell| cell.text().is_some_and(|text| pattern.is_match(&text))),
            Rule::Allowed(allowed) => breaks(&|cell| allowed.iter().any(|value| is_value(cell, value))),
            Rule::Unique => repeated(values),
            Rule::Reference { input, field: other_field } => {
                let other = context.other(input)?;
                let others = other.column(other_field)?.values();
                let known: std::collections::HashSet<String> =
                    (0..others.len()).filter_map(|row| key(others, row)).collect();
                (0..values.len())
                    .filter(|row| key(values, *row).is_some_and(|key| !known.contains(&key)))
                    .collect()
            }
        })
    }
}

/// Rows whose value was there before.
fn repeated(values: &Values) -> Vec<usize> {
    let mut first: HashMap<String, usize> = HashMap::new();
    let is_repeated =
        |row: &usize| key(values, *row).is_some_and(|key| *first.entry(key).or_insert(*row) != *row);
    (0..values.len()).filter(is_repeated).collect()
}

fn key(values: &Values, row: usize) -> Option<String> {
    match values.cell(row) {
        Cell::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Some((number as i64).to_string())
        }
        cell => cell.text(),
    }
}

fn is_of_type(cell: &Cell, name: &str, is_list: bool) -> bool {
    match (name, cell) {
        ("list", Cell::Text(_)) => is_list,
        (_, Cell::Text(_)) if is_list => false,
        ("text", Cell::Text(_)) | ("boolean", Cell::Boolean(_)) => true,
        ("number", Cell::Integer(_)) | ("integer", Cell::Integer(_)) => true,
        ("number", Cell::Number(value)) => !value.is_nan(),
        ("integer", Cell::Number(value)) => value.fract() == 0.0,
        ("date", Cell::Text(text)) => timestamp::parse_date(text).is_some(),
        ("datetime", Cell::Text(text)) => timestamp::parse(text).is_some(),
        ("date" | "datetime", Cell::Date(_)) | ("datetime", Cell::Datetime(_)) => true,
        _ => false,
    }
}

fn is_within(cell: &Cell, limit: &Value, wanted: fn(std::cmp::Ordering) -> bool) -> bool {
    let order = match (cell, limit) {
        (Cell::Integer(own), Value::Number(number)) => match number.as_i64() {
            Some(limit) => Some(own.cmp(&limit)),
            None => number_of(limit).and_then(|limit| (*own as f64).partial_cmp(&limit)),
        },
        (Cell::Number(own), Value::Number(_)) => number_of(limit).and_then(|limit| own.partial_cmp(&limit)),
        (Cell::Text(own), Value::String(limit)) => Some(text_dates::order(own, limit)),
        (Cell::Date(_) | Cell::Datetime(_), Value::String(limit)) => {
            let own = cell.text().and_then(|text| timestamp::parse(&text));
            own.zip(timestamp::parse(limit)).map(|((own, _), (limit, _))| own.cmp(&limit))
        }
        _ => None,
    };
    order.is_some_and(wanted)
}

fn is_value(cell: &Cell, value: &Value) -> bool {
    match (cell, value) {
        (Cell::Boolean(own), Value::Bool(value)) => own == value,
        (Cell::Integer(own), Value::Number(number)) => match number.as_i64() {
            Some(value) => *own == value,
            None => number_of(value) == Some(*own as f64),
        },
        (Cell::Number(own), Value::Number(_)) => number_of(value) == Some(*own),
        (cell, Value::String(text)) => cell.text().as_ref() == Some(text),
        _ => false,
    }
}

/// Whether a limit can be compared with the field at all; a rule that can hold nowhere is a mistake.
pub(super) fn check_limit(rule: &Rule, kind: Kind, field: &str) -> Result<(), Problem> {
    let (Rule::Min(limit) | Rule::Max(limit)) = rule else { return Ok(()) };
    let fits = match kind {
        Kind::Integer | Kind::Number => limit.is_number(),
        Kind::Text | Kind::Date | Kind::Datetime => limit.is_string(),
        Kind::Null => true,
        Kind::Boolean => false,
    };
    if fits {
        return Ok(());
    }
    let message = format!(
        "field {field:?} has type {}, so it can't have {} {}",
        kind.as_str(),
        rule.name().split(' ').next().unwrap_or_default(),
        json_kind(limit)
    );
    Err(Problem::new(message)
        .hint("use a limit of the field's own type, or cast the field first")
        .field(field))
}
