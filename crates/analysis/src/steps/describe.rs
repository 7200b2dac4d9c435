//! `describe`: what each column holds.

use std::collections::HashMap;

use polars_core::prelude::Column;
use serde_json::{Map, Value, json};

use crate::arguments::Arguments;
use crate::outcome::Problem;
use crate::statistics::summary;
use crate::statistics::whole::{self, Figure};
use crate::table::{Kind, Table, shown};
use crate::text_dates;
use crate::values::{Cell, Values, json_number, short};

/// The most frequent values that are shown.
const TOP: usize = 5;
/// Where numbers are cut, by the share of values below.
const QUANTILES: [(&str, f64); 5] =
    [("min", 0.0), ("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("max", 1.0)];

pub(super) fn describe(body: &Value, table: &Table) -> Result<Value, Problem> {
    let arguments = Arguments::new("describe", body, &["fields", "columns"])?;
    let fields = arguments.texts(&["fields", "columns"])?;
    let columns: Vec<&Column> = if fields.is_empty() {
        table.frame.columns().iter().collect()
    } else {
        fields.iter().map(|field| table.column(field)).collect::<Result<_, _>>()?
    };
    let described =
        columns.into_iter().map(|column| described(column, table)).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({"rows": table.rows(), "columns": described}))
}

fn described(column: &Column, table: &Table) -> Result<Value, Problem> {
    let kind = Kind::of(column);
    let is_list = table.lists.contains(column.name().as_str());
    let mut about = Map::new();
    about.insert("field".to_owned(), shown(column.name()).into());
    about.insert(
        "type".to_owned(),
        if is_list {
            "list"
        } else if kind == Kind::Nothing {
            "nothing"
        } else {
            kind.as_str()
        }
        .into(),
    );
    let strange = nan_count(column);
    about.insert("count".to_owned(), (column.len() - column.null_count() - strange).into());
    about.insert("missing".to_owned(), column.null_count().into());
    if strange > 0 {
        about.insert("nan".to_owned(), strange.into());
    }
    // The text of a list says nothing about its items.
    if is_list {
        return Ok(Value::Object(about));
    }
    let values = Values::of(column)?;
    let counts = frequencies(&values);
    about.insert("distinct".to_owned(), counts.len().into());
    match kind {
        Kind::Integer => about.extend(whole_numbers(&values)),
        Kind::Number => about.extend(numeric(values.clone().into_numbers())),
        Kind::Text | Kind::Boolean | Kind::Date | Kind::Datetime => {
            about.extend(extremes(column, &values, kind))
        }
        Kind::Nothing => {}
    }
    if !matches!(kind, Kind::Number | Kind::Nothing) {
        about.insert("top".to_owned(), top(&values, counts));
    }
    Ok(Value::Object(about))
}

fn nan_count(column: &Column) -> usize {
    column.f64().map_or(0, |numbers| numbers.iter().flatten().filter(|number| number.is_nan()).count())
}

fn numeric(values: Vec<Option<f64>>) -> Map<String, Value> {
    let present: Vec<f64> = values.into_iter().flatten().collect();
    let sorted = summary::sorted(present.into_iter().filter(|value| !value.is_nan()).collect());
    let number = |value: Option<f64>| value.map_or(Value::Null, json_number);
    let mut about = Map::new();
    about.insert("mean".to_owned(), number(summary::mean(&sorted)));
    about.insert("std".to_owned(), number(summary::variance(&sorted).map(f64::sqrt)));
    for (name, share) in QUANTILES {
        about.insert(name.to_owned(), number(summary::quantile(&sorted, share)));
    }
    about
}

/// Of whole numbers: what is one of them is shown as it is, to the last digit.
fn whole_numbers(values: &Values) -> Map<String, Value> {
    let mut sorted: Vec<i64> = if let Values::Integers(list) = values {
        list.iter().flatten().copied().collect()
    } else {
        Vec::new()
    };
    sorted.sort_unstable();
    let number = |value: Option<f64>| value.map_or(Value::Null, json_number);
    let mut about = Map::new();
    about.insert("mean".to_owned(), number(whole::mean(&sorted)));
    about.insert("std".to_owned(), number(whole::variance(&sorted).map(f64::sqrt)));
    for (name, share) in QUANTILES {
        let figure = match whole::quantile(&sorted, share) {
            None => Value::Null,
            Some(Figure::Whole(value)) => value.into(),
            Some(Figure::Fraction(value)) => json_number(value),
        };
        about.insert(name.to_owned(), figure);
    }
    about
}

/// The least and the greatest; of texts also how long they are.
fn extremes(column: &Column, values: &Values, kind: Kind) -> Map<String, Value> {
    let mut about = Map::new();
    let texts: Vec<String> = (0..values.len()).filter_map(|row| values.cell(row).text()).collect();
    let (least, greatest) = match text_dates::moments(column) {
        None => (texts.iter().min(), texts.iter().max()),
        Some(moments) => {
            let by_time = || moments.iter().flatten().zip(&texts);
            let least = by_time().min_by_key(|(moment, _)| **moment);
            let greatest = by_time().max_by_key(|(moment, _)| **moment);
            (least.map(|(_, text)| text), greatest.map(|(_, text)| text))
        }
    };
    about.insert("min".to_owned(), least.map_or(Value::Null, |text| short(text).into()));
    about.insert("max".to_owned(), greatest.map_or(Value::Null, |text| short(text).into()));
    if kind == Kind::Text {
        let lengths = texts.iter().map(|text| text.chars().count());
        about.insert("min_length".to_owned(), lengths.clone().min().into());
        about.insert("max_length".to_owned(), lengths.max().into());
    }
    about
}

/// How often each value comes, with the row it came in first.
fn frequencies(values: &Values) -> HashMap<String, (usize, usize)> {
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    for row in 0..values.len() {
        let cell = values.cell(row);
        // NaN is not counted among the values.
        if matches!(cell, Cell::Number(number) if number.is_nan()) {
            continue;
        }
        if let Some(text) = cell.text() {
            counts.entry(text).or_insert((0, row)).0 += 1;
        }
    }
    counts
}

fn top(values: &Values, counts: HashMap<String, (usize, usize)>) -> Value {
    let mut counts: Vec<(usize, usize)> = counts.into_values().collect();
    counts.sort_unstable_by_key(|(count, row)| (std::cmp::Reverse(*count), *row));
    counts
        .into_iter()
        .take(TOP)
        .map(|(count, row)| json!({"value": values.cell(row).json(), "count": count}))
        .collect::<Vec<_>>()
        .into()
}
