//! The comparisons of a field, and in which rows they hold.

use std::cmp::Ordering;
use std::collections::HashSet;

use regex::Regex;
use serde_json::Value;

use crate::arguments::{json_kind, number_of};
use crate::column::Column;
use crate::kind::Kind;
use crate::outcome::{Notes, Problem};
use crate::table::Table;
use crate::text_dates;
use crate::timestamp;
use crate::values::Values;

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

/// In which rows the comparison holds for the field.
pub(super) fn evaluate(
    table: &Table,
    field: &str,
    comparison: &Comparison,
    notes: &mut Notes,
) -> Result<Vec<bool>, Problem> {
    let is_null_test = matches!(comparison, Comparison::IsNull | Comparison::IsNotNull);
    if is_null_test && !table.has(field) && !table.members(field).is_empty() {
        let is_there = any_member(table, field);
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
        Comparison::IsNull => Ok(missing(column)),
        Comparison::IsNotNull => Ok(inverted(missing(column))),
        Comparison::IsNan => Ok(match column.floats() {
            Some(numbers) => numbers.iter().map(|value| value.is_some_and(f64::is_nan)).collect(),
            None => vec![false; column.len()],
        }),
    }
}

/// In which rows there is no value.
fn missing(column: &Column) -> Vec<bool> {
    (0..column.len()).map(|row| column.values().is_missing(row)).collect()
}

fn inverted(mask: Vec<bool>) -> Vec<bool> {
    mask.into_iter().map(|holds| !holds).collect()
}

fn begins(text: &str, part: &str, ignores_case: bool) -> bool {
    if ignores_case { text.to_lowercase().starts_with(&part.to_lowercase()) } else { text.starts_with(part) }
}

/// In which rows an object has any member.
fn any_member(table: &Table, field: &str) -> Vec<bool> {
    let mut mask = vec![false; table.rows()];
    for column in table.members(field).iter().filter_map(|name| table.by_name(name)) {
        mask.iter_mut().zip(missing(column)).for_each(|(own, is_missing)| *own |= !is_missing);
    }
    mask
}

fn equal_to(column: &Column, value: &Value, notes: &mut Notes) -> Result<Vec<bool>, Problem> {
    match value {
        Value::Null => Ok(missing(column)),
        // Integers beyond 64 bits are kept as text, and compared as such.
        Value::Number(number) if column.kind() == Kind::Text && number.as_i64().is_none() => {
            let digits = number.to_string();
            texts(column, &|text| text == digits)
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            ordered(column, value, &|order| order == Ordering::Equal, notes)
        }
    }
}

fn one_of(column: &Column, values: &[Value], notes: &mut Notes) -> Result<Vec<bool>, Problem> {
    if column.kind() == Kind::Text && values.iter().all(Value::is_string) {
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
    let read = |value: &&str| timestamp::parse(value).map(|(limit, _)| limit);
    let limits: Option<HashSet<i64>> = values.iter().map(read).collect();
    match (limits, text_dates::timestamps(column)) {
        (Some(limits), Some(timestamps)) => {
            return Ok(rows_where(&timestamps, |own| limits.contains(&own)));
        }
        (None, Some(_)) => {
            let wrong = values.iter().find(|value| read(value).is_none()).copied().unwrap_or_default();
            text_dates::add_notes(column, wrong, true, notes);
        }
        (Some(_), None) => {
            if let Some(first) = values.first() {
                text_dates::add_notes(column, first, false, notes);
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
    match (timestamp::parse(limit), text_dates::timestamps(column)) {
        (Some((limit, _)), Some(timestamps)) => {
            return Ok(rows_where(&timestamps, |own| wanted(own.cmp(&limit))));
        }
        (None, Some(_)) => text_dates::add_notes(column, limit, true, notes),
        (Some(_), None) => text_dates::add_notes(column, limit, false, notes),
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
    let kind = column.kind();
    let mismatch = || {
        let hint = match (kind, value) {
            (Kind::Text, Value::Number(_)) => format!(
                "pass text, or cast it first: {{\"cast\": {{\"{}\": \"number\"}}}}",
                crate::table::display_name(column.name())
            ),
            (Kind::Integer | Kind::Number, Value::String(_)) => "pass the value without quotes".to_owned(),
            (Kind::Date | Kind::Datetime, _) => {
                "write dates as 2026-07-28 or 2026-07-28T09:30:00Z".to_owned()
            }
            _ => "compare it with a value of the same type".to_owned(),
        };
        let message = format!(
            "field {:?} has type {}, so it can't be compared with {}",
            crate::table::display_name(column.name()),
            kind.as_str(),
            json_kind(value)
        );
        Problem::new(message).hint(hint)
    };
    match (column.values(), value) {
        (Values::Null(count), _) => Ok(vec![false; *count]),
        (Values::Integers(list), Value::Number(number)) if number.as_i64().is_some() => {
            let limit = number.as_i64().unwrap_or_default();
            Ok(rows_where(list, |own| wanted(own.cmp(&limit))))
        }
        (Values::Integers(list), Value::Number(_)) => {
            let limit = number_of(value).ok_or_else(mismatch)?;
            Ok(rows_where(list, |own| (own as f64).partial_cmp(&limit).is_some_and(wanted)))
        }
        (Values::Numbers(list), Value::Number(_)) => {
            let limit = number_of(value).ok_or_else(mismatch)?;
            Ok(rows_where(list, |own| own.partial_cmp(&limit).is_some_and(wanted)))
        }
        (Values::Texts(_), Value::String(limit)) => ordered_texts(column, limit, wanted, notes),
        (Values::Booleans(list), Value::Bool(limit)) => Ok(rows_where(list, |own| wanted(own.cmp(limit)))),
        (Values::Dates(_) | Values::Datetimes(_), Value::String(text)) => {
            let (limit, _) = timestamp::parse(text).ok_or_else(mismatch)?;
            let (timestamps, _) = column.values().timestamps().ok_or_else(mismatch)?;
            Ok(rows_where(&timestamps, |own| wanted(own.cmp(&limit))))
        }
        (Values::Booleans(_) | Values::Integers(_) | Values::Numbers(_), _)
        | (Values::Texts(_) | Values::Dates(_) | Values::Datetimes(_), _) => Err(mismatch()),
    }
}

/// In which rows there is a value of which this holds.
fn rows_where<T: Copy>(list: &[Option<T>], holds: impl Fn(T) -> bool) -> Vec<bool> {
    list.iter().map(|value| value.is_some_and(&holds)).collect()
}

fn texts(column: &Column, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<bool>, Problem> {
    match column.values() {
        Values::Texts(texts) => Ok(texts.iter().map(|text| text.is_some_and(wanted)).collect()),
        Values::Null(count) => Ok(vec![false; *count]),
        Values::Booleans(_)
        | Values::Integers(_)
        | Values::Numbers(_)
        | Values::Dates(_)
        | Values::Datetimes(_) => {
            let field = crate::table::display_name(column.name());
            Err(Problem::new(format!(
                "field {field:?} has type {}, but this operator needs text",
                column.kind().as_str()
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
        return Err(Problem::new(format!("contains needs text, not {}", json_kind(part))));
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
