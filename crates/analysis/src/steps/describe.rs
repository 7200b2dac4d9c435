//! `describe`: what each column holds.

use serde_json::{Map, Value, json};

use crate::arguments::Arguments;
use crate::column::Column;
use crate::factorize::factorize;
use crate::kind::Kind;
use crate::outcome::Problem;
use crate::statistics::integers::{self, Figure};
use crate::statistics::summary;
use crate::table::{Table, display_name};
use crate::text_dates;
use crate::values::{Values, json_number, short};

/// The most frequent values that are shown.
const TOP: usize = 5;
/// Where numbers are cut, by the share of values below.
const QUANTILES: [(&str, f64); 5] =
    [("min", 0.0), ("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("max", 1.0)];

pub(super) fn describe(body: &Value, table: &Table) -> Result<Value, Problem> {
    let named = json!({"fields": body});
    let body = if body.is_string() || body.is_array() { &named } else { body };
    let arguments = Arguments::new("describe", body, &["fields"], &[])?;
    let fields = arguments.texts(&["fields"])?;
    let columns: Vec<&Column> = if fields.is_empty() {
        table.columns().iter().collect()
    } else {
        fields.iter().map(|field| table.column(field)).collect::<Result<_, _>>()?
    };
    let described: Vec<Value> = columns.into_iter().map(|column| described(column, table)).collect();
    Ok(json!({"rows": table.rows(), "columns": described}))
}

fn described(column: &Column, table: &Table) -> Value {
    let (kind, values) = (column.kind(), column.values());
    let is_list = table.lists.contains(column.name());
    let mut about = Map::new();
    about.insert("field".to_owned(), display_name(column.name()).into());
    about.insert(
        "type".to_owned(),
        if is_list {
            "list"
        } else if kind == Kind::Null {
            "nothing"
        } else {
            kind.as_str()
        }
        .into(),
    );
    let non_finite = nan_count(column);
    let missing = values.missing_count();
    about.insert("count".to_owned(), (column.len() - missing - non_finite).into());
    about.insert("missing".to_owned(), missing.into());
    if non_finite > 0 {
        about.insert("nan".to_owned(), non_finite.into());
    }
    // The text of a list says nothing about its items.
    if is_list {
        return Value::Object(about);
    }
    let counts = frequencies(column);
    about.insert("distinct".to_owned(), counts.len().into());
    match kind {
        Kind::Integer => about.extend(whole_numbers(values)),
        Kind::Number => about.extend(numeric(values.numbers())),
        Kind::Text | Kind::Boolean | Kind::Date | Kind::Datetime => about.extend(extremes(column, kind)),
        Kind::Null => {}
    }
    if !matches!(kind, Kind::Number | Kind::Null) {
        about.insert("top".to_owned(), top(values, counts));
    }
    Value::Object(about)
}

fn nan_count(column: &Column) -> usize {
    column.floats().map_or(0, |numbers| numbers.iter().flatten().filter(|number| number.is_nan()).count())
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
    about.insert("mean".to_owned(), number(integers::mean(&sorted)));
    about.insert("std".to_owned(), number(integers::variance(&sorted).map(f64::sqrt)));
    for (name, share) in QUANTILES {
        let figure = match integers::quantile(&sorted, share) {
            None => Value::Null,
            Some(Figure::Integer(value)) => value.into(),
            Some(Figure::Float(value)) => json_number(value),
        };
        about.insert(name.to_owned(), figure);
    }
    about
}

/// The least and the greatest; of texts also how long they are.
fn extremes(column: &Column, kind: Kind) -> Map<String, Value> {
    let mut about = Map::new();
    let values = column.values();
    let (least, greatest) = match text_dates::timestamps(column).map(Values::Datetimes) {
        None => least_and_greatest(values),
        Some(timestamps) => least_and_greatest(&timestamps),
    };
    let text = |row: Option<usize>| match row.and_then(|row| values.cell(row).text()) {
        None => Value::Null,
        Some(text) => short(&text).into(),
    };
    about.insert("min".to_owned(), text(least));
    about.insert("max".to_owned(), text(greatest));
    if kind == Kind::Text {
        let lengths = column.texts().into_iter().flat_map(|texts| texts.iter().flatten());
        let lengths = lengths.map(|text| text.chars().count());
        about.insert("min_length".to_owned(), lengths.clone().min().into());
        about.insert("max_length".to_owned(), lengths.max().into());
    }
    about
}

/// The rows with the least and the greatest value; of several the first with the least, and the last with the
/// greatest.
fn least_and_greatest(values: &Values) -> (Option<usize>, Option<usize>) {
    fn of<T: Ord>(list: impl Iterator<Item = Option<T>> + Clone) -> (Option<usize>, Option<usize>) {
        let present = list.enumerate().filter_map(|(row, value)| value.map(|value| (value, row)));
        let least = present.clone().min_by(|(left, _), (right, _)| left.cmp(right));
        let greatest = present.max_by(|(left, _), (right, _)| left.cmp(right));
        (least.map(|(_, row)| row), greatest.map(|(_, row)| row))
    }
    match values {
        Values::Booleans(list) => of(list.iter().copied()),
        Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => of(list.iter().copied()),
        Values::Texts(texts) => of(texts.iter()),
        Values::Numbers(_) | Values::Null(_) => (None, None),
    }
}

/// How often each value comes, with the row it came in first. NaN is not counted among the values.
fn frequencies(column: &Column) -> Vec<(usize, usize)> {
    let factorized = factorize(column.values());
    let mut counts = vec![(0, usize::MAX); factorized.count];
    for (row, code) in factorized.codes.into_iter().enumerate() {
        if let Some((count, first)) = code.and_then(|code| counts.get_mut(code as usize)) {
            *count += 1;
            *first = row.min(*first);
        }
    }
    let is_nan = |row: usize| {
        column.floats().and_then(|list| list.get(row).copied().flatten()).is_some_and(f64::is_nan)
    };
    counts.retain(|(_, row)| !is_nan(*row));
    counts
}

fn top(values: &Values, mut counts: Vec<(usize, usize)>) -> Value {
    counts.sort_unstable_by_key(|(count, row)| (std::cmp::Reverse(*count), *row));
    counts
        .into_iter()
        .take(TOP)
        .map(|(count, row)| json!({"value": values.cell(row).json(), "count": count}))
        .collect::<Vec<_>>()
        .into()
}
