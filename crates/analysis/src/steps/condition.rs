//! Conditions on fields, joined by and, or, not.
//!
//! They are two-valued, as in pandas: a missing value or NaN equals nothing, so `==` and the orders are false
//! there and `!=` is true; `not` turns exactly what was true into false.

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::comparison::{Comparison, evaluate};
use crate::arguments::{Arguments, json_kind};
use crate::bounds::{CONDITION_DEPTH_MAX, PATTERN_BYTES_MAX};
use crate::expression::Expression;
use crate::outcome::{Notes, Problem};
use crate::table::Table;

/// A condition that was understood.
#[derive(Debug)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Expression(Expression),
    Compare { field: String, comparison: Comparison },
}

const KNOWN: [&str; 18] = [
    "conditions",
    "logic",
    "and",
    "or",
    "not",
    "expression",
    "where",
    "field",
    "operator",
    "op",
    "value",
    "values",
    "min",
    "max",
    "ignore_case",
    "all",
    "any",
    "condition",
];
/// The operators, each with what people write for it and what leads to it in an error.
const OPERATORS: [(&str, &[&str]); 17] = [
    ("==", &["eq", "equals"]),
    ("!=", &["ne", "not_equals"]),
    (">", &["gt", "greater", "greater_than", "more", "after"]),
    (">=", &["=>", "gte", "greater_or_equal", "at_least"]),
    ("<", &["lt", "less", "less_than", "fewer", "before"]),
    ("<=", &["=<", "lte", "less_or_equal", "at_most"]),
    ("in", &["one_of", "any_of"]),
    ("not in", &["none_of"]),
    ("contains", &["includes", "like"]),
    ("not contains", &["excludes"]),
    ("starts", &["starts_with", "begins"]),
    ("ends", &["ends_with"]),
    ("matches", &["regex"]),
    ("between", &["range"]),
    ("is null", &["missing", "empty"]),
    ("is not null", &["present", "not_empty"]),
    ("is nan", &["nan"]),
];

impl Condition {
    pub(super) fn parse(body: &Value) -> Result<Self, Problem> {
        Self::parse_at(body, 0)
    }

    fn parse_at(body: &Value, depth: usize) -> Result<Self, Problem> {
        if depth > CONDITION_DEPTH_MAX {
            return Err(Problem::new(format!(
                "conditions are nested deeper than {CONDITION_DEPTH_MAX} levels"
            )));
        }
        match body {
            Value::Array(_) => return Ok(Condition::All(list(body, depth)?)),
            Value::String(text) => return Ok(Condition::Expression(Expression::parse(text)?)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
        let arguments = Arguments::new("a condition", body, &KNOWN)?;
        let mut parts = Vec::new();
        if let Some(conditions) = arguments.first_of(&["conditions", "condition"]) {
            let inner = list(conditions, depth)?;
            parts.push(if is_or(&arguments)? { Condition::Any(inner) } else { Condition::All(inner) });
        }
        if let Some(inner) = arguments.first_of(&["and", "all"]) {
            parts.push(Condition::All(list(inner, depth)?));
        }
        if let Some(inner) = arguments.first_of(&["or", "any"]) {
            parts.push(Condition::Any(list(inner, depth)?));
        }
        if let Some(inner) = arguments.first_of(&["not"]) {
            parts.push(Condition::Not(Box::new(Self::parse_at(inner, depth + 1)?)));
        }
        if let Some(text) = arguments.text(&["expression", "where"])? {
            parts.push(Condition::Expression(Expression::parse(text)?));
        }
        if let Some(field) = arguments.text(&["field"])? {
            let comparison = comparison(&arguments).map_err(|problem| problem.field(field))?;
            parts.push(Condition::Compare { field: field.to_owned(), comparison });
        }
        match parts.len() {
            0 => Err(Problem::new("a condition needs a field with an operator and a value, or conditions inside").hint(
                r#"for example {"field": "price", "operator": ">", "value": 10}, or {"conditions": [...], "logic": "OR"}"#,
            )),
            1 => Ok(parts.remove(0)),
            _ => Ok(Condition::All(parts)),
        }
    }

    /// In which rows it holds.
    pub(super) fn holds(&self, table: &Table, notes: &mut Notes) -> Result<Vec<bool>, Problem> {
        match self {
            Condition::All(inner) => {
                let mut mask = vec![true; table.rows()];
                for condition in inner {
                    let other = condition.holds(table, notes)?;
                    mask.iter_mut().zip(other).for_each(|(own, other)| *own &= other);
                }
                Ok(mask)
            }
            Condition::Any(inner) => {
                let mut mask = vec![false; table.rows()];
                for condition in inner {
                    let other = condition.holds(table, notes)?;
                    mask.iter_mut().zip(other).for_each(|(own, other)| *own |= other);
                }
                Ok(mask)
            }
            Condition::Not(inner) => Ok(inner.holds(table, notes)?.into_iter().map(|holds| !holds).collect()),
            Condition::Expression(expression) => expression.holds(table, notes),
            Condition::Compare { field, comparison } => {
                evaluate(table, field, comparison, notes).map_err(|problem| problem.field(field.as_str()))
            }
        }
    }
}

fn list(value: &Value, depth: usize) -> Result<Vec<Condition>, Problem> {
    match value {
        Value::Array(items) => items.iter().map(|item| Condition::parse_at(item, depth + 1)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Ok(vec![Condition::parse_at(value, depth + 1)?])
        }
    }
}

fn is_or(arguments: &Arguments<'_>) -> Result<bool, Problem> {
    match arguments.text(&["logic"])? {
        None => Ok(false),
        Some(logic) if logic.eq_ignore_ascii_case("and") => Ok(false),
        Some(logic) if logic.eq_ignore_ascii_case("or") => Ok(true),
        Some(logic) => Err(Problem::unknown("logic", logic, ["AND", "OR"])
            .hint("write AND or OR; for NOT use {\"not\": {...}}")),
    }
}

fn comparison(arguments: &Arguments<'_>) -> Result<Comparison, Problem> {
    let written = arguments.required_text(&["operator", "op"])?;
    let operator = written.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    let ignores_case = arguments.flag(&["ignore_case"])?;
    let value = || match arguments.first_of(&["value", "values"]) {
        Some(value) => Ok(value.clone()),
        None => Err(Problem::new(format!("the operator {written:?} needs a value"))
            .hint("for missing values use \"is null\" or \"is not null\"")),
    };
    let many = || match value()? {
        Value::Array(items) => Ok(items),
        other => Err(Problem::new(format!(
            "the operator {written:?} needs a list of values, not {}",
            json_kind(&other)
        ))),
    };
    let text = || match value()? {
        Value::String(text) => Ok(text),
        other => {
            Err(Problem::new(format!("the operator {written:?} needs a text, not {}", json_kind(&other))))
        }
    };
    Ok(match operator.as_str() {
        "==" | "=" | "===" | "eq" | "equals" | "equal" | "is" => Comparison::Equal(value()?),
        "!=" | "<>" | "!==" | "ne" | "neq" | "not_equals" | "not_equal" | "is_not" => {
            Comparison::NotEqual(value()?)
        }
        ">" | "gt" | "greater_than" => Comparison::Greater(value()?),
        ">=" | "gte" | "ge" | "greater_or_equal" => Comparison::GreaterOrEqual(value()?),
        "<" | "lt" | "less_than" => Comparison::Less(value()?),
        "<=" | "lte" | "le" | "less_or_equal" => Comparison::LessOrEqual(value()?),
        "in" => Comparison::In(many()?),
        "not_in" | "nin" => Comparison::NotIn(many()?),
        "between" => match (arguments.first_of(&["min"]), arguments.first_of(&["max"])) {
            (Some(low), Some(high)) => Comparison::Between(low.clone(), high.clone()),
            (Some(_) | None, Some(_) | None) => match many()?.as_slice() {
                [low, high] => Comparison::Between(low.clone(), high.clone()),
                _ => {
                    return Err(Problem::new(
                        "between needs a list of two values, the lowest and the highest",
                    ));
                }
            },
        },
        "contains" => Comparison::Contains { part: value()?, ignores_case },
        "not_contains" => Comparison::NotContains { part: value()?, ignores_case },
        "starts" | "starts_with" | "startswith" => Comparison::Starts { part: text()?, ignores_case },
        "ends" | "ends_with" | "endswith" => Comparison::Ends { part: text()?, ignores_case },
        "matches" | "regex" | "like_regex" => Comparison::Matches(pattern(&text()?, ignores_case)?),
        "is_null" | "isnull" | "null" | "is_missing" => Comparison::IsNull,
        "is_not_null" | "not_null" | "notnull" | "exists" => Comparison::IsNotNull,
        "is_nan" => Comparison::IsNan,
        _ => return Err(Problem::unknown_spelling("operator", written, OPERATORS)),
    })
}

/// A pattern within its bound.
pub(super) fn pattern(text: &str, ignores_case: bool) -> Result<Regex, Problem> {
    let built = RegexBuilder::new(text)
        .case_insensitive(ignores_case)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build();
    built.map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim();
        Problem::new(format!("the pattern {text:?} cannot be used: {reason}"))
            .hint("patterns are regular expressions without look-around and back-references")
    })
}
