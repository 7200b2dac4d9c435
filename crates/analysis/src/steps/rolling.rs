//! Rolling windows: what is computed of each row and those before it.

use serde_json::Value;

use super::Context;
use super::aggregate_functions::{note_overflow, values_of_figures};
use super::interval::Interval;
use super::time_field::{ordered, with_column};
use crate::arguments::{Arguments, count_of, json_kind};
use crate::outcome::Problem;
use crate::statistics::integers::{self, Figure};
use crate::statistics::summary;
use crate::table::Table;
use crate::values::Values;

/// Values looked at in all windows together: some seconds of work.
const WORK_MAX: usize = 2_000_000_000;

/// What is computed of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Mean,
    Sum,
    Min,
    Max,
    Median,
    Deviation,
    Count,
}

const FUNCTIONS: [(&str, Function); 7] = [
    ("mean", Function::Mean),
    ("sum", Function::Sum),
    ("min", Function::Min),
    ("max", Function::Max),
    ("median", Function::Median),
    ("std", Function::Deviation),
    ("count", Function::Count),
];

/// So many rows, or so long a time, up to and with each row.
enum Window {
    Rows(usize),
    Micros(i64),
}

pub(super) fn rolling(
    arguments: &Arguments<'_>,
    table: &Table,
    context: &mut Context,
) -> Result<Table, Problem> {
    let field = arguments.required_text(&["field"])?;
    let name = arguments.text(&["function"])?.unwrap_or("mean").to_ascii_lowercase();
    let wanted = if name == "avg" || name == "average" { "mean" } else { name.as_str() };
    let function = FUNCTIONS.iter().find(|(own, _)| *own == wanted).map(|(_, function)| *function);
    let function = function
        .ok_or_else(|| Problem::unknown("function of rolling", &name, FUNCTIONS.map(|(name, _)| name)))?;
    let window = window_of(arguments)?;
    let (table, timestamps) = ordered(arguments, table, context)?;
    let numbers = table.numbers(field)?;
    let values = table.column(field)?.values();
    let starts = starts_of(&window, numbers.len(), timestamps.as_deref())?;
    let work =
        starts.iter().enumerate().map(|(row, start)| row + 1 - start).fold(0_usize, usize::saturating_add);
    if work > WORK_MAX {
        return Err(Problem::new(format!(
            "the windows cover {work} values in total; the limit is {WORK_MAX}"
        ))
        .hint("use a smaller window, or resample first"));
    }
    let least = match (arguments.count(&["min_periods"])?, &window) {
        (Some(least), _) => least,
        (None, Window::Rows(rows)) => *rows,
        (None, Window::Micros(_)) => 1,
    };
    let values = if let Values::Integers(list) = values {
        let figures = windows(list, &starts, least, |own| integer_figure(function, own));
        if function == Function::Sum {
            note_overflow(&figures, field, &mut context.notes);
        }
        values_of_figures(figures, field, &mut context.notes)
    } else {
        let there: Vec<Option<f64>> =
            numbers.iter().map(|value| value.filter(|value| !value.is_nan())).collect();
        if function == Function::Count {
            Values::Integers(windows(&there, &starts, least, |own| i64::try_from(own.len()).ok()))
        } else {
            Values::Numbers(windows(&there, &starts, least, |own| float_figure(function, own)))
        }
    };
    with_column(arguments, &table, format!("{field}_rolling_{wanted}"), values)
}

fn window_of(arguments: &Arguments<'_>) -> Result<Window, Problem> {
    let example = "example: \"window\": 7 for seven rows, or \"window\": \"7d\" with a time field";
    match arguments.first_of(&["window"]) {
        None => Err(arguments.missing(&["window"]).hint(example)),
        Some(Value::String(text)) if text.trim().parse::<usize>().is_err() => match Interval::parse(text)? {
            Interval::Micros(micros) => Ok(Window::Micros(micros)),
            Interval::Months(_) => {
                Err(Problem::new("a window needs a fixed length, and months vary").hint("use days: \"30d\""))
            }
        },
        Some(value) => match count_of(value) {
            Some(rows) if rows > 0 => Ok(Window::Rows(rows)),
            Some(_) | None => Err(Problem::new(format!(
                "\"window\" must be a whole number greater than 0 or an interval, not {}",
                json_kind(value)
            ))
            .hint(example)),
        },
    }
}

/// The row that each window begins with.
fn starts_of(window: &Window, rows: usize, timestamps: Option<&[i64]>) -> Result<Vec<usize>, Problem> {
    match (window, timestamps) {
        (Window::Rows(length), _) => Ok((0..rows).map(|row| (row + 1).saturating_sub(*length)).collect()),
        (Window::Micros(_), None) => {
            Err(Problem::new("a window of time needs \"time\", the field with the dates"))
        }
        (Window::Micros(length), Some(timestamps)) => {
            let mut start = 0;
            let starts = timestamps.iter().map(|timestamp| {
                while timestamps.get(start).is_some_and(|first| timestamp - first >= *length) {
                    start += 1;
                }
                start
            });
            Ok(starts.collect())
        }
    }
}

/// What is measured of each row's window, if enough values are there.
fn windows<T: Copy, U>(
    list: &[Option<T>],
    starts: &[usize],
    least: usize,
    measure: impl Fn(&[T]) -> Option<U>,
) -> Vec<Option<U>> {
    let of_row = |(row, start): (usize, &usize)| {
        let own: Vec<T> = list.get(*start..=row).unwrap_or_default().iter().flatten().copied().collect();
        if own.len() < least { None } else { measure(&own) }
    };
    starts.iter().enumerate().map(of_row).collect()
}

fn float_figure(function: Function, values: &[f64]) -> Option<f64> {
    match function {
        Function::Mean => summary::mean(values),
        Function::Sum => Some(summary::sum(values.iter().copied())),
        Function::Min => values.iter().copied().reduce(f64::min),
        Function::Max => values.iter().copied().reduce(f64::max),
        Function::Median => summary::median(values),
        Function::Deviation => summary::variance(values).map(f64::sqrt),
        Function::Count => Some(summary::count_of(values)),
    }
}

fn integer_figure(function: Function, values: &[i64]) -> Option<Figure> {
    match function {
        Function::Mean => integers::mean(values).map(Figure::Float),
        Function::Sum => Some(Figure::of(integers::sum(values))),
        Function::Min => values.iter().copied().min().map(Figure::Integer),
        Function::Max => values.iter().copied().max().map(Figure::Integer),
        Function::Median => integers::median(values),
        Function::Deviation => integers::variance(values).map(f64::sqrt).map(Figure::Float),
        Function::Count => i64::try_from(values.len()).ok().map(Figure::Integer),
    }
}
