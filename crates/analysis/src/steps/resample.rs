//! Resampling: one row for each interval, empty ones included.

use serde_json::Value;

use super::Context;
use super::aggregate::{aggregations, compute_columns, without_empty_sums};
use super::groups::Groups;
use super::interval::Interval;
use super::time_field::{TIME, has_offsets, times_of, timestamps_of};
use crate::arguments::{Arguments, json_kind, number_of};
use crate::column::Column;
use crate::outcome::Problem;
use crate::table::Table;
use crate::timestamp::DAY;
use crate::values::{Cell, Values};

/// Intervals in one outcome: a wrong unit would make millions of empty rows.
const INTERVALS_MAX: i64 = 1_000_000;

pub(super) fn resample(
    arguments: &Arguments<'_>,
    table: &Table,
    context: &mut Context,
) -> Result<Table, Problem> {
    let time = arguments.required_text(&TIME)?;
    let every = Interval::parse(arguments.required_text(&["every", "frequency", "interval"])?)?;
    let aggregations = aggregations(arguments)?;
    let timestamps = timestamps_of(table, time, context)?;
    let numbers: Vec<Option<i64>> =
        timestamps.iter().map(|timestamp| timestamp.map(|timestamp| every.number(timestamp))).collect();
    let present = numbers.iter().flatten().copied();
    let (first, count) = match present.clone().min().zip(present.max()) {
        None => (0, 0),
        Some((first, last)) => (first, last - first + 1),
    };
    if count > INTERVALS_MAX {
        return Err(Problem::new(format!(
            "resampling would make {count} intervals; the limit is {INTERVALS_MAX}"
        ))
        .hint("use a longer \"every\""));
    }
    let places: Vec<Option<usize>> =
        numbers.iter().map(|number| number.and_then(|number| usize::try_from(number - first).ok())).collect();
    let groups = Groups::numbered(&places, usize::try_from(count).unwrap_or(0));
    let starts = (first..first + count).map(|number| every.start(number));
    let times = if every.is_of_days() {
        Values::Dates(starts.map(|start| Some(start.div_euclid(DAY))).collect())
    } else {
        times_of(starts.collect(), has_offsets(table, time)?)
    };
    let mut figures = compute_columns(&aggregations, table, &groups, context)?;
    if let Some(fill) = arguments.first_of(&["fill"]) {
        let fill = Fill::parse(fill)?;
        figures = without_empty_sums(figures, &aggregations, table, &groups)?;
        figures = figures.iter().map(|column| fill_missing(column, &fill)).collect::<Result<_, _>>()?;
    }
    let mut columns = vec![Column::new(time, times)];
    columns.extend(figures);
    Table::new(groups.len(), columns)
}

/// What stands in intervals without a value.
enum Fill {
    Constant(Cell),
    /// What stood in the interval before it.
    Previous,
}

impl Fill {
    fn parse(fill: &Value) -> Result<Self, Problem> {
        let wrong =
            || Problem::new(format!("\"fill\" must be a number or \"previous\", not {}", json_kind(fill)));
        match fill {
            Value::Number(number) => match number.as_i64() {
                Some(whole) => Ok(Fill::Constant(Cell::Integer(whole))),
                None => number_of(fill).map(|number| Fill::Constant(Cell::Number(number))).ok_or_else(wrong),
            },
            Value::String(word) if word == "previous" || word == "forward" => Ok(Fill::Previous),
            Value::String(word) if word == "zero" => Ok(Fill::Constant(Cell::Integer(0))),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                Err(wrong())
            }
        }
    }
}

fn fill_missing(column: &Column, fill: &Fill) -> Result<Column, Problem> {
    if matches!(fill, Fill::Constant(_)) && !column.kind().is_numeric() {
        return Ok(column.clone());
    }
    let values = column.values();
    let mut before = Cell::Missing;
    let mut cells = Vec::with_capacity(values.len());
    for row in 0..values.len() {
        let own = values.cell(row);
        let cell = match fill {
            Fill::Constant(constant) if own == Cell::Missing => constant.clone(),
            Fill::Previous if own == Cell::Missing => before.clone(),
            Fill::Constant(_) | Fill::Previous => own,
        };
        before = cell.clone();
        cells.push(cell);
    }
    Ok(Column::new(column.name(), crate::expression::values_of(cells)?))
}
