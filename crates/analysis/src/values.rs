//! The values of one column, in plain lists, and one value by itself.

use crate::kind::Kind;
use crate::texts::Texts;
use crate::timestamp::{self, DAY};

/// A column's values; `None` is a missing one, NaN is not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    Booleans(Vec<Option<bool>>),
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Texts),
    /// Days since 1970-01-01.
    Dates(Vec<Option<i64>>),
    /// Microseconds since 1970-01-01 in UTC.
    Datetimes(Vec<Option<i64>>),
    /// So many missing values.
    Null(usize),
}

/// One value, apart from its column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Missing,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    Date(i64),
    Datetime(i64),
}

impl Values {
    pub(crate) fn len(&self) -> usize {
        match self {
            Values::Booleans(list) => list.len(),
            Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => list.len(),
            Values::Numbers(list) => list.len(),
            Values::Texts(list) => list.len(),
            Values::Null(count) => *count,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Values::Booleans(_) => Kind::Boolean,
            Values::Integers(_) => Kind::Integer,
            Values::Numbers(_) => Kind::Number,
            Values::Texts(_) => Kind::Text,
            Values::Dates(_) => Kind::Date,
            Values::Datetimes(_) => Kind::Datetime,
            Values::Null(_) => Kind::Null,
        }
    }

    /// How many are missing.
    pub(crate) fn missing_count(&self) -> usize {
        fn count<T>(list: &[Option<T>]) -> usize {
            list.iter().filter(|value| value.is_none()).count()
        }
        match self {
            Values::Booleans(list) => count(list),
            Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => count(list),
            Values::Numbers(list) => count(list),
            Values::Texts(texts) => texts.iter().filter(Option::is_none).count(),
            Values::Null(count) => *count,
        }
    }

    /// The values of these rows in this order; what is no row is missing.
    pub(crate) fn take(&self, rows: impl ExactSizeIterator<Item = Option<usize>>) -> Self {
        fn taken<T: Copy>(list: &[Option<T>], rows: impl Iterator<Item = Option<usize>>) -> Vec<Option<T>> {
            rows.map(|row| row.and_then(|row| list.get(row)).copied().flatten()).collect()
        }
        match self {
            Values::Booleans(list) => Values::Booleans(taken(list, rows)),
            Values::Integers(list) => Values::Integers(taken(list, rows)),
            Values::Numbers(list) => Values::Numbers(taken(list, rows)),
            Values::Texts(texts) => Values::Texts(texts.take(rows)),
            Values::Dates(list) => Values::Dates(taken(list, rows)),
            Values::Datetimes(list) => Values::Datetimes(taken(list, rows)),
            Values::Null(_) => Values::Null(rows.len()),
        }
    }

    pub(crate) fn cell(&self, row: usize) -> Cell {
        fn get<T: Copy>(list: &[Option<T>], row: usize) -> Option<T> {
            list.get(row).copied().flatten()
        }
        match self {
            Values::Booleans(list) => get(list, row).map_or(Cell::Missing, Cell::Boolean),
            Values::Integers(list) => get(list, row).map_or(Cell::Missing, Cell::Integer),
            Values::Numbers(list) => get(list, row).map_or(Cell::Missing, Cell::Number),
            Values::Texts(texts) => texts.get(row).map_or(Cell::Missing, |text| Cell::Text(text.to_owned())),
            Values::Dates(list) => get(list, row).map_or(Cell::Missing, Cell::Date),
            Values::Datetimes(list) => get(list, row).map_or(Cell::Missing, Cell::Datetime),
            Values::Null(_) => Cell::Missing,
        }
    }

    pub(crate) fn is_missing(&self, row: usize) -> bool {
        match self {
            Values::Booleans(list) => list.get(row).is_none_or(Option::is_none),
            Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => {
                list.get(row).is_none_or(Option::is_none)
            }
            Values::Numbers(list) => list.get(row).is_none_or(Option::is_none),
            Values::Texts(texts) => texts.is_missing(row),
            Values::Null(_) => true,
        }
    }

    /// As numbers. What is none is missing; callers ask for the kind first.
    pub(crate) fn numbers(&self) -> Vec<Option<f64>> {
        match self {
            Values::Numbers(list) => list.clone(),
            Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => {
                list.iter().map(|value| value.map(|value| value as f64)).collect()
            }
            Values::Booleans(list) => {
                list.iter().map(|value| value.map(|value| f64::from(u8::from(value)))).collect()
            }
            Values::Texts(texts) => vec![None; texts.len()],
            Values::Null(count) => vec![None; *count],
        }
    }

    /// As timestamps in microseconds: dates and times as they are, text as ISO 8601.
    /// Beside them the text that is no date, if there is one.
    pub(crate) fn timestamps(&self) -> Option<(Vec<Option<i64>>, Option<String>)> {
        match self {
            Values::Datetimes(list) => Some((list.clone(), None)),
            Values::Dates(list) => {
                Some((list.iter().map(|day| day.map(|day| day.saturating_mul(DAY))).collect(), None))
            }
            Values::Texts(texts) => {
                let mut wrong = None;
                let timestamps = texts.iter().map(|text| {
                    let text = text?;
                    let timestamp = timestamp::parse(text).map(|(micros, _)| micros);
                    if timestamp.is_none() {
                        wrong.get_or_insert_with(|| text.to_owned());
                    }
                    timestamp
                });
                let timestamps = timestamps.collect();
                Some((timestamps, wrong))
            }
            Values::Null(count) => Some((vec![None; *count], None)),
            Values::Booleans(_) | Values::Integers(_) | Values::Numbers(_) => None,
        }
    }
}

impl Cell {
    /// As text: what `cast` to text, `concat` and keys use.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Cell::Missing => None,
            Cell::Boolean(value) => Some(value.to_string()),
            Cell::Integer(value) => Some(value.to_string()),
            Cell::Number(value) => Some(number_text(*value)),
            Cell::Text(value) => Some(value.clone()),
            Cell::Date(value) => Some(timestamp::date_text(*value)),
            Cell::Datetime(value) => Some(timestamp::time_text(*value)),
        }
    }

    /// As JSON; what JSON cannot say is null.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self {
            Cell::Missing => serde_json::Value::Null,
            Cell::Boolean(value) => (*value).into(),
            Cell::Integer(value) => (*value).into(),
            Cell::Number(value) => json_number(*value),
            Cell::Text(value) => short(value).into(),
            Cell::Date(_) | Cell::Datetime(_) => self.text().into(),
        }
    }
}

/// A number in a report; NaN and infinity are null.
pub(crate) fn json_number(value: f64) -> serde_json::Value {
    serde_json::Number::from_f64(value).map_or(serde_json::Value::Null, serde_json::Value::Number)
}

/// The shortest text that reads back as the same number.
pub(crate) fn number_text(value: f64) -> String {
    format!("{value:?}")
}

/// The beginning of a long text, for reports and errors.
pub(crate) fn short(text: &str) -> String {
    if text.len() <= crate::bounds::SHOWN_BYTES_MAX {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(crate::bounds::SHOWN_BYTES_MAX);
    format!("{}…", text.get(..end).unwrap_or_default())
}
