//! Parquet, and how its many types become the few kinds that steps know.

use std::collections::BTreeSet;
use std::io::Cursor;

use polars_core::prelude::*;
use polars_io::SerReader;
use polars_io::prelude::ParquetReader;
use serde_json::Value;

use crate::bounds::{COLUMNS_MAX, DEPTH_MAX, ROWS_MAX};
use crate::moment;
use crate::outcome::{Notes, Problem};
use crate::table::{NESTED, Table, engine_problem};
use crate::values::{Values, json_number};

pub(super) fn read_parquet(bytes: Vec<u8>, notes: &mut Notes) -> Result<Table, Problem> {
    let mut reader = ParquetReader::new(Cursor::new(bytes));
    let rows = reader.num_rows().map_err(parquet_problem)?;
    let width = reader.schema().map_err(parquet_problem)?.len();
    if rows > ROWS_MAX || width > COLUMNS_MAX {
        let message = format!(
            "the Parquet data has {rows} rows and {width} columns; {ROWS_MAX} and {COLUMNS_MAX} are the most"
        );
        return Err(Problem::new(message).hint("analyse it in parts"));
    }
    let frame = reader.finish().map_err(parquet_problem)?;
    let rows = frame.height();
    let mut plain = Plain { columns: Vec::new(), lists: BTreeSet::new(), notes };
    for column in frame.into_columns() {
        let name = column.name().replace(NESTED, " ");
        plain.add(column, name, 0)?;
    }
    let Plain { columns, lists, .. } = plain;
    Ok(Table { lists, ..Table::new(rows, columns)? })
}

/// Columns of plain kinds.
struct Plain<'a> {
    columns: Vec<Column>,
    lists: BTreeSet<String>,
    notes: &'a mut Notes,
}

impl Plain<'_> {
    fn add(&mut self, column: Column, name: String, depth: usize) -> Result<(), Problem> {
        if self.columns.len() >= COLUMNS_MAX || depth > DEPTH_MAX {
            return Err(Problem::new(format!(
                "the data has more than {COLUMNS_MAX} columns, or is nested too deep"
            )));
        }
        let plain_name: PlSmallStr = name.as_str().into();
        let cast = |to: &DataType| column.strict_cast(to).map_err(engine_problem);
        let plain = match column.dtype() {
            DataType::Boolean
            | DataType::Int64
            | DataType::Float64
            | DataType::String
            | DataType::Date
            | DataType::Null => column,
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32 => cast(&DataType::Int64)?,
            DataType::Float32 => cast(&DataType::Float64)?,
            DataType::UInt64 | DataType::Int128 => match cast(&DataType::Int64) {
                Ok(column) => column,
                Err(_) => {
                    self.notes
                        .add(format!("field {name:?} has integers beyond 64 bits; it is kept exact as text"));
                    cast(&DataType::String)?
                }
            },
            DataType::Decimal(..) => {
                self.notes.add(format!(
                    "field {name:?} holds decimals; they are calculated as binary fractions (about 16 digits)"
                ));
                cast(&DataType::Float64)?
            }
            DataType::Datetime(unit, _) => moments(&column, *unit)?.into_column(&name)?,
            DataType::Duration(unit) => {
                self.notes.add(format!("field {name:?} holds durations; they are numbers of seconds here"));
                seconds(&column, *unit)?.into_column(&name)?
            }
            DataType::Time => clock_texts(&column)?.into_column(&name)?,
            DataType::Struct(_) => return self.add_members(&column, &name, depth),
            DataType::List(_) => {
                self.lists.insert(name.clone());
                list_texts(&column)?.into_column(&name)?
            }
            DataType::Binary => binary_texts(&column)?.into_column(&name)?,
            // Categories and whatever else has a text.
            _ => cast(&DataType::String)?,
        };
        self.columns.push(plain.with_name(plain_name));
        Ok(())
    }

    fn add_members(&mut self, column: &Column, name: &str, depth: usize) -> Result<(), Problem> {
        let members = column.struct_().map_err(engine_problem)?.fields_as_series();
        for member in members {
            let member_name = format!("{name}{NESTED}{}", member.name().replace(NESTED, " "));
            self.add(member.into(), member_name, depth + 1)?;
        }
        Ok(())
    }
}

fn physical(column: &Column) -> Result<Vec<Option<i64>>, Problem> {
    let series =
        column.as_materialized_series().to_physical_repr().cast(&DataType::Int64).map_err(engine_problem)?;
    Ok(series.i64().map_err(engine_problem)?.iter().collect())
}

fn moments(column: &Column, unit: TimeUnit) -> Result<Values, Problem> {
    let micros = physical(column)?.into_iter().map(|value| value.map(|value| micros_of(value, unit)));
    Ok(Values::Datetimes(micros.collect()))
}

fn micros_of(value: i64, unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Nanoseconds => value.div_euclid(1_000),
        TimeUnit::Microseconds => value,
        TimeUnit::Milliseconds => value.saturating_mul(1_000),
    }
}

fn seconds(column: &Column, unit: TimeUnit) -> Result<Values, Problem> {
    let micros =
        physical(column)?.into_iter().map(|value| value.map(|value| micros_of(value, unit) as f64 / 1e6));
    Ok(Values::Numbers(micros.collect()))
}

/// Times of day, which are nanoseconds since midnight, as `09:30:00`.
fn clock_texts(column: &Column) -> Result<Values, Problem> {
    let texts = physical(column)?
        .into_iter()
        .map(|value| value.map(|value| moment::time_text(value / 1_000).split_off(11)));
    Ok(Values::Texts(texts.collect()))
}

fn binary_texts(column: &Column) -> Result<Values, Problem> {
    let bytes = column.binary().map_err(engine_problem)?;
    Ok(Values::Texts(
        bytes.iter().map(|bytes| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())).collect(),
    ))
}

fn list_texts(column: &Column) -> Result<Values, Problem> {
    let series = column.as_materialized_series();
    let mut texts = Vec::with_capacity(series.len());
    for row in 0..series.len() {
        let value = json_of(&series.get(row).map_err(engine_problem)?, 0);
        texts.push((!value.is_null()).then(|| value.to_string()));
    }
    Ok(Values::Texts(texts))
}

/// A value inside a list as JSON.
fn json_of(value: &AnyValue<'_>, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Null;
    }
    match value {
        AnyValue::Null => Value::Null,
        AnyValue::Boolean(value) => (*value).into(),
        AnyValue::String(text) => (*text).into(),
        AnyValue::StringOwned(text) => text.as_str().into(),
        AnyValue::Float32(value) => json_number(f64::from(*value)),
        AnyValue::Float64(value) => json_number(*value),
        AnyValue::List(items) => {
            items.iter().map(|item| json_of(&item, depth + 1)).collect::<Vec<_>>().into()
        }
        AnyValue::Struct(_, _, fields) => {
            let members = value._iter_struct_av().map(|member| json_of(&member, depth + 1));
            Value::Object(fields.iter().map(|field| field.name().to_string()).zip(members).collect())
        }
        AnyValue::StructOwned(members) => {
            let (values, fields) = members.as_ref();
            let values = values.iter().map(|member| json_of(member, depth + 1));
            Value::Object(fields.iter().map(|field| field.name().to_string()).zip(values).collect())
        }
        other => match other.extract::<i64>() {
            Some(whole) if other.dtype().is_integer() => whole.into(),
            Some(_) | None => other.to_string().into(),
        },
    }
}

fn parquet_problem(error: PolarsError) -> Problem {
    let text = error.to_string();
    let short: String = text.lines().next().unwrap_or_default().chars().take(300).collect();
    Problem::new(format!("the Parquet data could not be read: {short}")).hint("check that the file is whole")
}
