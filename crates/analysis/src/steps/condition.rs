//! Conditions on fields, joined by and, or, not.
//!
//! They are two-valued, as in pandas: a missing value or NaN equals nothing, so `==` and the orders are false
//! there and `!=` is true; `not` turns exactly what was true into false.

use std::cmp::Ordering;
use std::collections::HashSet;

use polars_core::prelude::*;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::arguments::{Arguments, kind_word, number_of};
use crate::bounds::{CONDITION_DEPTH_MAX, PATTERN_BYTES_MAX};
use crate::expression::Expression;
use crate::moment;
use crate::outcome::{Notes, Problem};
use crate::table::{Kind, Table, engine_problem};
use crate::text_dates;
use crate::values::Values;

/// A condition that was understood.
#[derive(Debug)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Expression(Expression),
    Compare { field: String, comparison: Comparison },
}

/// One comparison of a field.
#[derive(Debug)]
pub(super) enum Comparison {
    Equal(Value),
    NotEqual(Value),
    Less(Value),
    LessOrEqual(Value),
    Greater(Value),
    GreaterOrEqual(Value),
    In(Vec<Value>),
    NotIn(Vec<Value>),
    Between(Value, Value),
    Contains { part: Value, ignores_case: bool },
    NotContains { part: Value, ignores_case: bool },
    Starts { part: String, ignores_case: bool },
    Ends { part: String, ignores_case: bool },
    Matches(Regex),
    IsNull,
    IsNotNull,
    IsNan,
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
        if let Some(conditions) = arguments.any(&["conditions", "condition"]) {
            let inner = list(conditions, depth)?;
            parts.push(if is_or(&arguments)? { Condition::Any(inner) } else { Condition::All(inner) });
        }
        if let Some(inner) = arguments.any(&["and", "all"]) {
            parts.push(Condition::All(list(inner, depth)?));
        }
        if let Some(inner) = arguments.any(&["or", "any"]) {
            parts.push(Condition::Any(list(inner, depth)?));
        }
        if let Some(inner) = arguments.any(&["not"]) {
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
                compared(table, field, comparison, notes).map_err(|problem| problem.field(field.as_str()))
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
    let value = || match arguments.any(&["value", "values"]) {
        Some(value) => Ok(value.clone()),
        None => Err(Problem::new(format!("the operator {written:?} needs a value"))
            .hint("for missing values use \"is null\" or \"is not null\"")),
    };
    let many = || match value()? {
        Value::Array(items) => Ok(items),
        other => Err(Problem::new(format!(
            "the operator {written:?} needs a list of values, not {}",
            kind_word(&other)
        ))),
    };
    let text = || match value()? {
        Value::String(text) => Ok(text),
        other => {
            Err(Problem::new(format!("the operator {written:?} needs a text, not {}", kind_word(&other))))
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
        "between" => match (arguments.any(&["min"]), arguments.any(&["max"])) {
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

fn compared(
    table: &Table,
    field: &str,
    comparison: &Comparison,
    notes: &mut Notes,
) -> Result<Vec<bool>, Problem> {
    let is_null_test = matches!(comparison, Comparison::IsNull | Comparison::IsNotNull);
    if is_null_test && !table.has(field) && !table.members(field).is_empty() {
        let is_there = any_member(table, field)?;
        let wanted = matches!(comparison, Comparison::IsNotNull);
        return Ok(is_there.into_iter().map(|there| there == wanted).collect());
    }
    let column = table.column(field)?;
    match comparison {
        Comparison::Equal(value) => equal_to(column, value, notes),
        Comparison::NotEqual(value) => equal_to(column, value, notes).map(inverted),
        Comparison::Less(value) => ordered(column, value, &|order| order == Ordering::Less, notes),
        Comparison::LessOrEqual(value) => ordered(column, value, &Ordering::is_le, notes),
        Comparison::Greater(value) => ordered(column, value, &|order| order == Ordering::Greater, notes),
        Comparison::GreaterOrEqual(value) => ordered(column, value, &Ordering::is_ge, notes),
        Comparison::Between(low, high) => {
            let mut mask = ordered(column, low, &Ordering::is_ge, notes)?;
            mask.iter_mut()
                .zip(ordered(column, high, &Ordering::is_le, notes)?)
                .for_each(|(own, other)| *own &= other);
            Ok(mask)
        }
        Comparison::In(values) => one_of(column, values, notes),
        Comparison::NotIn(values) => one_of(column, values, notes).map(inverted),
        Comparison::Contains { part, ignores_case } => contains(table, field, column, part, *ignores_case),
        Comparison::NotContains { part, ignores_case } => {
            contains(table, field, column, part, *ignores_case).map(inverted)
        }
        Comparison::Starts { part, ignores_case } => texts(column, &|text| begins(text, part, *ignores_case)),
        Comparison::Ends { part, ignores_case } => texts(column, &|text| {
            if *ignores_case {
                text.to_lowercase().ends_with(&part.to_lowercase())
            } else {
                text.ends_with(part.as_str())
            }
        }),
        Comparison::Matches(pattern) => texts(column, &|text| pattern.is_match(text)),
        Comparison::IsNull => Ok(column.is_null().iter().map(|missing| missing != Some(false)).collect()),
        Comparison::IsNotNull => Ok(column.is_null().iter().map(|missing| missing == Some(false)).collect()),
        Comparison::IsNan => match Kind::of(column) {
            Kind::Number => Ok(column
                .f64()
                .map_err(engine_problem)?
                .iter()
                .map(|value| value.is_some_and(f64::is_nan))
                .collect()),
            Kind::Boolean | Kind::Integer | Kind::Text | Kind::Date | Kind::Datetime | Kind::Nothing => {
                Ok(vec![false; column.len()])
            }
        },
    }
}

fn inverted(mask: Vec<bool>) -> Vec<bool> {
    mask.into_iter().map(|holds| !holds).collect()
}

fn begins(text: &str, part: &str, ignores_case: bool) -> bool {
    if ignores_case { text.to_lowercase().starts_with(&part.to_lowercase()) } else { text.starts_with(part) }
}

/// In which rows an object has any member.
fn any_member(table: &Table, field: &str) -> Result<Vec<bool>, Problem> {
    let mut mask = vec![false; table.rows()];
    for name in table.members(field) {
        let column = table.frame.column(&name).map_err(engine_problem)?;
        mask.iter_mut()
            .zip(column.is_null().iter())
            .for_each(|(own, missing)| *own |= missing == Some(false));
    }
    Ok(mask)
}

fn equal_to(column: &Column, value: &Value, notes: &mut Notes) -> Result<Vec<bool>, Problem> {
    match value {
        Value::Null => Ok(column.is_null().iter().map(|missing| missing != Some(false)).collect()),
        // Integers beyond 64 bits are kept as text, and compared as such.
        Value::Number(number) if Kind::of(column) == Kind::Text && number.as_i64().is_none() => {
            let digits = number.to_string();
            texts(column, &|text| text == digits)
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            ordered(column, value, &|order| order == Ordering::Equal, notes)
        }
    }
}

fn one_of(column: &Column, values: &[Value], notes: &mut Notes) -> Result<Vec<bool>, Problem> {
    if Kind::of(column) == Kind::Text && values.iter().all(Value::is_string) {
        let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        return one_of_texts(column, &values, notes);
    }
    let mut mask = vec![false; column.len()];
    for value in values {
        mask.iter_mut().zip(equal_to(column, value, notes)?).for_each(|(own, other)| *own |= other);
    }
    Ok(mask)
}

/// By time if the field and all of the values are dates, else by letters.
fn one_of_texts(column: &Column, values: &[&str], notes: &mut Notes) -> Result<Vec<bool>, Problem> {
    let read = |value: &&str| moment::parse(value).map(|(limit, _)| limit);
    let limits: Option<HashSet<i64>> = values.iter().map(read).collect();
    match (limits, text_dates::moments(column)) {
        (Some(limits), Some(moments)) => {
            return Ok(moments.iter().map(|own| own.is_some_and(|own| limits.contains(&own))).collect());
        }
        (None, Some(_)) => {
            let wrong = values.iter().find(|value| read(value).is_none()).copied().unwrap_or_default();
            text_dates::remark(column, wrong, true, notes);
        }
        (Some(_), None) => {
            if let Some(first) = values.first() {
                text_dates::remark(column, first, false, notes);
            }
        }
        (None, None) => {}
    }
    let set: HashSet<&str> = values.iter().copied().collect();
    texts(column, &|text| set.contains(text))
}

/// By time if the field and the value are dates, else by letters.
fn ordered_texts(
    column: &Column,
    limit: &str,
    wanted: &dyn Fn(Ordering) -> bool,
    notes: &mut Notes,
) -> Result<Vec<bool>, Problem> {
    match (moment::parse(limit), text_dates::moments(column)) {
        (Some((limit, _)), Some(moments)) => {
            return Ok(moments.iter().map(|own| own.is_some_and(|own| wanted(own.cmp(&limit)))).collect());
        }
        (None, Some(_)) => text_dates::remark(column, limit, true, notes),
        (Some(_), None) => text_dates::remark(column, limit, false, notes),
        (None, None) => {}
    }
    texts(column, &|text| wanted(text.cmp(limit)))
}

/// The rows whose value stands to `value` in an order that is wanted.
fn ordered(
    column: &Column,
    value: &Value,
    wanted: &dyn Fn(Ordering) -> bool,
    notes: &mut Notes,
) -> Result<Vec<bool>, Problem> {
    let kind = Kind::of(column);
    let mismatch = || {
        let hint = match (kind, value) {
            (Kind::Text, Value::Number(_)) => format!(
                "give a text, or cast first: {{\"cast\": {{\"{}\": \"number\"}}}}",
                crate::table::shown(column.name())
            ),
            (Kind::Integer | Kind::Number, Value::String(_)) => "give the value without quotes".to_owned(),
            (Kind::Date | Kind::Datetime, _) => {
                "dates are written 2026-07-28 or 2026-07-28T09:30:00Z".to_owned()
            }
            _ => "compare it with a value of the same kind".to_owned(),
        };
        let message = format!(
            "field {:?} holds {}, and cannot be compared with {}",
            crate::table::shown(column.name()),
            kind.as_str(),
            kind_word(value)
        );
        Problem::new(message).hint(hint)
    };
    match (kind, value) {
        (Kind::Nothing, _) => Ok(vec![false; column.len()]),
        (Kind::Integer, Value::Number(number)) if number.as_i64().is_some() => {
            let limit = number.as_i64().unwrap_or_default();
            Ok(column
                .i64()
                .map_err(engine_problem)?
                .iter()
                .map(|own| own.is_some_and(|own| wanted(own.cmp(&limit))))
                .collect())
        }
        (Kind::Integer | Kind::Number, Value::Number(_)) => {
            let limit = number_of(value).ok_or_else(mismatch)?;
            let numbers = Values::of(column)?.into_numbers();
            Ok(numbers
                .into_iter()
                .map(|own| own.and_then(|own| own.partial_cmp(&limit)).is_some_and(wanted))
                .collect())
        }
        (Kind::Text, Value::String(limit)) => ordered_texts(column, limit, wanted, notes),
        (Kind::Boolean, Value::Bool(limit)) => Ok(column
            .bool()
            .map_err(engine_problem)?
            .iter()
            .map(|own| own.is_some_and(|own| wanted(own.cmp(limit))))
            .collect()),
        (Kind::Date | Kind::Datetime, Value::String(text)) => {
            let (limit, _) = moment::parse(text).ok_or_else(mismatch)?;
            let (moments, _) = Values::of(column)?.moments().ok_or_else(mismatch)?;
            Ok(moments.into_iter().map(|own| own.is_some_and(|own| wanted(own.cmp(&limit)))).collect())
        }
        (Kind::Boolean | Kind::Integer | Kind::Number | Kind::Text | Kind::Date | Kind::Datetime, _) => {
            Err(mismatch())
        }
    }
}

fn texts(column: &Column, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<bool>, Problem> {
    match Kind::of(column) {
        Kind::Text => {
            Ok(column.str().map_err(engine_problem)?.iter().map(|text| text.is_some_and(wanted)).collect())
        }
        Kind::Nothing => Ok(vec![false; column.len()]),
        kind @ (Kind::Boolean | Kind::Integer | Kind::Number | Kind::Date | Kind::Datetime) => {
            let field = crate::table::shown(column.name());
            Err(Problem::new(format!(
                "field {field:?} holds {}, and this operator needs text",
                kind.as_str()
            ))
            .hint(format!("cast it first: {{\"cast\": {{\"{field}\": \"text\"}}}}")))
        }
    }
}

/// A part of a text, or an item of a list.
fn contains(
    table: &Table,
    field: &str,
    column: &Column,
    part: &Value,
    ignores_case: bool,
) -> Result<Vec<bool>, Problem> {
    if table.is_list(field) {
        return texts(column, &|text| {
            let items: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
            items.iter().any(|item| is_same(item, part, ignores_case))
        });
    }
    let Value::String(part) = part else {
        return Err(Problem::new(format!("contains needs a text, not {}", kind_word(part))));
    };
    let lower = part.to_lowercase();
    texts(column, &|text| {
        if ignores_case { text.to_lowercase().contains(&lower) } else { text.contains(part.as_str()) }
    })
}

fn is_same(item: &Value, part: &Value, ignores_case: bool) -> bool {
    match (item, part) {
        (Value::String(item), Value::String(part)) if ignores_case => {
            item.to_lowercase() == part.to_lowercase()
        }
        (Value::Number(_), Value::Number(_)) => number_of(item) == number_of(part),
        (item, part) => item == part,
    }
}
