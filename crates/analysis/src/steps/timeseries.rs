//! `timeseries`: resample, rolling, difference, gaps and trend over a time field.

use serde_json::{Value, json};

use super::aggregate_functions::{note_overflow, values_of_figures};
use super::interval::Interval;
use super::resample::resample;
use super::rolling::rolling;
use super::time_field::{TIME, has_offsets, in_time, ordered, time_words, times_of, with_column};
use super::{Context, Outcome};
use crate::arguments::Arguments;
use crate::column::Column;
use crate::outcome::Problem;
use crate::statistics::integers::Figure;
use crate::statistics::{relation, summary};
use crate::table::Table;
use crate::timestamp::DAY;
use crate::values::{Values, json_number};

const OPERATIONS: [&str; 5] = ["resample", "rolling", "difference", "gaps", "trend"];
/// Below this p-value a slope is taken for more than chance.
const SIGNIFICANCE: f64 = 0.05;
const KNOWN: [&str; 13] = [
    "operation",
    "time",
    "every",
    "field",
    "function",
    "aggregations",
    "percentiles",
    "as",
    "fill",
    "window",
    "min_periods",
    "periods",
    "percent",
];
const ACCEPTED: [&str; 9] = [
    "method",
    "time_field",
    "date_field",
    "timestamp",
    "frequency",
    "interval",
    "group_by",
    "quantiles",
    "value",
];

pub(super) fn timeseries(body: &Value, table: &Table, context: &mut Context) -> Result<Outcome, Problem> {
    let arguments = Arguments::new("timeseries", body, &KNOWN, &ACCEPTED)?;
    let operation = arguments.text(&["operation", "method"])?.ok_or_else(|| {
        arguments.missing(&["operation"]).hint(format!("operations: {}", OPERATIONS.join(", ")))
    })?;
    if arguments.first_of(&["group_by"]).is_some() {
        return Err(Problem::new("timeseries can't group").hint(
            "filter to one group first, or aggregate by computed date parts: year(date), month(date)",
        ));
    }
    match operation.to_ascii_lowercase().as_str() {
        "resample" => resample(&arguments, table, context).map(Outcome::Table),
        "rolling" => rolling(&arguments, table, context).map(Outcome::Table),
        "difference" | "diff" => difference(&arguments, table, context).map(Outcome::Table),
        "gaps" => gaps(&arguments, table, context).map(Outcome::Table),
        "trend" => trend(&arguments, table, context).map(Outcome::Report),
        _ => Err(Problem::unknown("operation of timeseries", operation, OPERATIONS)),
    }
}

fn difference(arguments: &Arguments<'_>, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let field = arguments.required_text(&["field"])?;
    let periods = arguments.count(&["periods"])?.unwrap_or(1);
    let percent = arguments.flag(&["percent"])?;
    let (table, _) = ordered(arguments, table, context)?;
    let values = match table.column(field)?.values() {
        Values::Integers(list) if percent => Values::Numbers(changes(list, periods, |before, now| {
            let change = (i128::from(now) - i128::from(before)) as f64;
            (before != 0).then(|| change / before as f64 * 100.0)
        })),
        Values::Integers(list) => {
            let figures =
                changes(list, periods, |before, now| Some(Figure::of(i128::from(now) - i128::from(before))));
            note_overflow(&figures, field, &mut context.notes);
            values_of_figures(figures, field, &mut context.notes)
        }
        Values::Numbers(_)
        | Values::Booleans(_)
        | Values::Texts(_)
        | Values::Dates(_)
        | Values::Datetimes(_)
        | Values::Null(_) => Values::Numbers(changes(&table.numbers(field)?, periods, |before, now| {
            if percent {
                (before != 0.0).then(|| (now - before) / before * 100.0)
            } else {
                Some(now - before)
            }
        })),
    };
    let ending = if percent { "percent_change" } else { "difference" };
    with_column(arguments, &table, format!("{field}_{ending}"), values)
}

/// What `change` makes of each value and the one so many rows before it.
fn changes<T: Copy, U>(
    list: &[Option<T>],
    periods: usize,
    change: impl Fn(T, T) -> Option<U>,
) -> Vec<Option<U>> {
    let before = |row: usize| row.checked_sub(periods).and_then(|row| list.get(row).copied().flatten());
    list.iter().enumerate().map(|(row, now)| change(before(row)?, (*now)?)).collect()
}

/// Where the steps between timestamps are larger than they should be.
fn gaps(arguments: &Arguments<'_>, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let time = arguments.required_text(&TIME)?;
    let (_, mut timestamps) = in_time(table, time, context)?;
    timestamps.dedup();
    let every = match arguments.text(&["every", "frequency", "interval"])? {
        Some(text) => Interval::parse(text)?,
        None => {
            let steps: Vec<f64> = timestamps.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let usual = summary::median(&steps).map_or(DAY, |step| (step as i64).max(1));
            context.notes.add(format!(
                "the usual step between rows is {} seconds; set \"every\" to change it",
                usual as f64 / 1e6
            ));
            Interval::Micros(usual)
        }
    };
    let found: Vec<(i64, i64, i64)> = timestamps
        .windows(2)
        .map(|pair| (pair[0], pair[1], every.between(pair[0], pair[1]) - 1))
        .filter(|(_, _, missing)| *missing > 0)
        .collect();
    let has_offset = has_offsets(table, time)?;
    let columns = vec![
        Column::new("after", times_of(found.iter().map(|(after, ..)| *after).collect(), has_offset)),
        Column::new("before", times_of(found.iter().map(|(_, before, _)| *before).collect(), has_offset)),
        Column::new(
            "missing",
            Values::Integers(found.iter().map(|(_, _, missing)| Some(*missing)).collect()),
        ),
    ];
    Table::new(found.len(), columns)
}

/// The straight line through a field over time, or over the rows where no time is named.
fn trend(arguments: &Arguments<'_>, table: &Table, context: &mut Context) -> Result<Value, Problem> {
    let field = arguments.required_text(&["field"])?;
    let (table, timestamps) = ordered(arguments, table, context)?;
    let numbers = table.numbers(field)?;
    let first = timestamps.as_ref().and_then(|timestamps| timestamps.first().copied()).unwrap_or_default();
    let place = |row: usize| match &timestamps {
        Some(timestamps) => {
            timestamps.get(row).map_or(0.0, |timestamp| (timestamp - first) as f64 / DAY as f64)
        }
        None => row as f64,
    };
    let points = numbers.iter().enumerate().filter_map(|(row, number)| {
        number.filter(|number| !number.is_nan()).map(|number| (place(row), number))
    });
    let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
    let Some(line) = relation::line(&x, &y) else {
        return Err(Problem::new(format!(
            "a trend of {field:?} needs at least two rows at different times, not {}",
            x.len()
        ))
        .field(field));
    };
    let is_significant = line.p_value.is_some_and(|p_value| p_value < SIGNIFICANCE);
    let direction = if line.slope == 0.0 {
        "level"
    } else if !is_significant {
        "none"
    } else if line.slope > 0.0 {
        "rising"
    } else {
        "falling"
    };
    let has_offset = match arguments.text(&TIME)? {
        Some(time) => has_offsets(&table, time)?,
        None => false,
    };
    let per = if timestamps.is_some() { "slope_per_day" } else { "slope_per_row" };
    let mut report = json!({"field": field, "rows": x.len(), "direction": direction});
    if let Value::Object(report) = &mut report {
        report.insert(per.to_owned(), json_number(line.slope));
        report.insert("intercept".to_owned(), json_number(line.intercept));
        report.insert("r_squared".to_owned(), json_number(line.r_squared));
        report.insert("p_value".to_owned(), line.p_value.map_or(Value::Null, json_number));
        report.insert("significant_at_5_percent".to_owned(), is_significant.into());
        if let Some((first, last)) =
            timestamps.as_ref().and_then(|timestamps| timestamps.first().zip(timestamps.last()))
        {
            report.insert("from".to_owned(), time_words(*first, has_offset).into());
            report.insert("to".to_owned(), time_words(*last, has_offset).into());
        }
    }
    Ok(report)
}
