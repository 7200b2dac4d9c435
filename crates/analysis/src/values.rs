//! The values of one column in plain lists, which everything of ours computes with.

use polars_core::prelude::*;

use crate::moment::{self, DAY};
use crate::outcome::Problem;
use crate::table::{Kind, engine_problem};

/// A column's values; `None` is a missing one, NaN is not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    Booleans(Vec<Option<bool>>),
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
    /// Days since 1970-01-01.
    Dates(Vec<Option<i64>>),
    /// Microseconds since 1970-01-01 in UTC.
    Datetimes(Vec<Option<i64>>),
    /// So many missing values.
    Nothing(usize),
}

/// One value.
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
    pub(crate) fn of(column: &Column) -> Result<Values, Problem> {
        Ok(match Kind::of(column) {
            Kind::Boolean => Values::Booleans(column.bool().map_err(engine_problem)?.iter().collect()),
            Kind::Integer => Values::Integers(column.i64().map_err(engine_problem)?.iter().collect()),
            Kind::Number => Values::Numbers(column.f64().map_err(engine_problem)?.iter().collect()),
            Kind::Text => Values::Texts(texts_of(column)?),
            Kind::Date => Values::Dates(physical(column)?),
            Kind::Datetime => Values::Datetimes(physical(column)?),
            Kind::Nothing => Values::Nothing(column.len()),
        })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Values::Booleans(list) => list.len(),
            Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => list.len(),
            Values::Numbers(list) => list.len(),
            Values::Texts(list) => list.len(),
            Values::Nothing(count) => *count,
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
            Values::Nothing(_) => Kind::Nothing,
        }
    }

    pub(crate) fn into_column(self, name: &str) -> Result<Column, Problem> {
        let name: PlSmallStr = name.into();
        Ok(match self {
            Values::Booleans(list) => {
                BooleanChunked::from_iter_options(name, list.into_iter()).into_series().into()
            }
            Values::Integers(list) => {
                Int64Chunked::from_iter_options(name, list.into_iter()).into_series().into()
            }
            Values::Numbers(list) => {
                Float64Chunked::from_iter_options(name, list.into_iter()).into_series().into()
            }
            Values::Texts(list) => {
                StringChunked::from_iter_options(name, list.into_iter()).into_series().into()
            }
            Values::Dates(list) => {
                let days = list.into_iter().map(|day| day.and_then(|day| i32::try_from(day).ok()));
                let series = Int32Chunked::from_iter_options(name, days).into_series();
                series.cast(&DataType::Date).map_err(engine_problem)?.into()
            }
            Values::Datetimes(list) => {
                let series = Int64Chunked::from_iter_options(name, list.into_iter()).into_series();
                series.cast(&DataType::Datetime(TimeUnit::Microseconds, None)).map_err(engine_problem)?.into()
            }
            Values::Nothing(count) => Column::full_null(name, count, &DataType::Null),
        })
    }

    pub(crate) fn cell(&self, row: usize) -> Cell {
        fn get<T: Clone>(list: &[Option<T>], row: usize) -> Option<T> {
            list.get(row).cloned().flatten()
        }
        match self {
            Values::Booleans(list) => get(list, row).map_or(Cell::Missing, Cell::Boolean),
            Values::Integers(list) => get(list, row).map_or(Cell::Missing, Cell::Integer),
            Values::Numbers(list) => get(list, row).map_or(Cell::Missing, Cell::Number),
            Values::Texts(list) => get(list, row).map_or(Cell::Missing, Cell::Text),
            Values::Dates(list) => get(list, row).map_or(Cell::Missing, Cell::Date),
            Values::Datetimes(list) => get(list, row).map_or(Cell::Missing, Cell::Datetime),
            Values::Nothing(_) => Cell::Missing,
        }
    }

    pub(crate) fn is_missing(&self, row: usize) -> bool {
        match self {
            Values::Booleans(list) => list.get(row).is_none_or(Option::is_none),
            Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => {
                list.get(row).is_none_or(Option::is_none)
            }
            Values::Numbers(list) => list.get(row).is_none_or(Option::is_none),
            Values::Texts(list) => list.get(row).is_none_or(Option::is_none),
            Values::Nothing(_) => true,
        }
    }

    /// As numbers. What is none is missing; callers ask for the kind first.
    pub(crate) fn into_numbers(self) -> Vec<Option<f64>> {
        match self {
            Values::Numbers(list) => list,
            Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => {
                list.into_iter().map(|value| value.map(|value| value as f64)).collect()
            }
            Values::Booleans(list) => {
                list.into_iter().map(|value| value.map(|value| f64::from(u8::from(value)))).collect()
            }
            Values::Texts(list) => vec![None; list.len()],
            Values::Nothing(count) => vec![None; count],
        }
    }

    /// As moments in microseconds: dates and times as they are, text as ISO 8601.
    /// Beside them the text that is no date, if there is one.
    pub(crate) fn moments(&self) -> Option<(Vec<Option<i64>>, Option<String>)> {
        match self {
            Values::Datetimes(list) => Some((list.clone(), None)),
            Values::Dates(list) => Some((list.iter().map(|day| day.map(|day| day * DAY)).collect(), None)),
            Values::Texts(list) => {
                let mut wrong = None;
                let moments = list.iter().map(|text| {
                    let text = text.as_ref()?;
                    let moment = moment::parse(text).map(|(micros, _)| micros);
                    if moment.is_none() {
                        wrong.get_or_insert_with(|| text.clone());
                    }
                    moment
                });
                let moments = moments.collect();
                Some((moments, wrong))
            }
            Values::Nothing(count) => Some((vec![None; *count], None)),
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
            Cell::Date(value) => Some(moment::date_text(*value)),
            Cell::Datetime(value) => Some(moment::time_text(*value)),
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

fn texts_of(column: &Column) -> Result<Vec<Option<String>>, Problem> {
    Ok(column.str().map_err(engine_problem)?.iter().map(|text| text.map(str::to_owned)).collect())
}

/// What a date or a time is made of.
fn physical(column: &Column) -> Result<Vec<Option<i64>>, Problem> {
    let series =
        column.as_materialized_series().to_physical_repr().cast(&DataType::Int64).map_err(engine_problem)?;
    Ok(series.i64().map_err(engine_problem)?.iter().collect())
}
