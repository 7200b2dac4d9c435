//! Resampling: one row for each stretch of time, empty ones included, and how such stretches are written.

use polars_core::prelude::Column;
use serde_json::{Map, Value};

use super::Context;
use super::aggregate::{aggregations, computed, without_empty_sums};
use super::groups::Groups;
use super::timeseries::{TIME, has_offsets, moments_of, times_of};
use crate::arguments::{Arguments, kind_word, number_of};
use crate::moment::{self, DAY, Day, SECOND};
use crate::outcome::Problem;
use crate::table::{Kind, Table};
use crate::values::{Cell, Values};

/// Stretches in one outcome: a wrong unit would make millions of empty rows.
const STRETCHES_MAX: i64 = 1_000_000;
/// 1970-01-01 was a Thursday; weeks begin on Monday.
const MONDAY: i64 = 4 * DAY;

/// How long a stretch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Every {
    Micros(i64),
    Months(i64),
}

impl Every {
    /// `day`, `1d`, `15m`, `2w`, `month`, `quarter`, `year` and the like.
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let lower = text.trim().to_lowercase();
        let digits = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
        let (count, unit) = lower.split_at(digits);
        let count: i64 = if count.is_empty() { 1 } else { count.parse().unwrap_or(0) };
        let every = match unit.trim() {
            "s" | "sec" | "second" | "seconds" | "secondly" => Every::Micros(SECOND),
            "m" | "min" | "minute" | "minutes" | "t" => Every::Micros(60 * SECOND),
            "h" | "hour" | "hours" | "hourly" => Every::Micros(3600 * SECOND),
            "d" | "day" | "days" | "daily" => Every::Micros(DAY),
            "w" | "week" | "weeks" | "weekly" => Every::Micros(7 * DAY),
            "mo" | "month" | "months" | "monthly" | "ms" | "me" => Every::Months(1),
            "q" | "quarter" | "quarters" | "quarterly" => Every::Months(3),
            "y" | "year" | "years" | "yearly" => Every::Months(12),
            _ => return Err(Self::wrong(text)),
        };
        let scaled = match every {
            Every::Micros(micros) => micros.checked_mul(count).map(Every::Micros),
            Every::Months(months) => months.checked_mul(count).map(Every::Months),
        };
        scaled.filter(|_| (1..1_000_000).contains(&count)).ok_or_else(|| Self::wrong(text))
    }

    fn wrong(text: &str) -> Problem {
        Problem::new(format!("{text:?} is no stretch of time"))
            .hint("write a number and a unit: 30s, 15m, 1h, 1d, 1w, 1mo, 1q, 1y; or hour, day, week, month, quarter, year")
    }

    /// The number of the stretch that a moment is in.
    fn number(self, micros: i64) -> i64 {
        match self {
            Every::Micros(length) if length % (7 * DAY) == 0 => (micros - MONDAY).div_euclid(length),
            Every::Micros(length) => micros.div_euclid(length),
            Every::Months(months) => {
                let day = moment::day_of(micros.div_euclid(DAY));
                (day.year * 12 + day.month - 1).div_euclid(months)
            }
        }
    }

    /// When a stretch begins.
    fn start(self, number: i64) -> i64 {
        match self {
            Every::Micros(length) if length % (7 * DAY) == 0 => number * length + MONDAY,
            Every::Micros(length) => number * length,
            Every::Months(months) => {
                let month = number * months;
                moment::days_of(Day { year: month.div_euclid(12), month: month.rem_euclid(12) + 1, day: 1 })
                    * DAY
            }
        }
    }

    /// How many stretches lie between two moments, rounded.
    pub(super) fn between(self, from: i64, to: i64) -> i64 {
        match self {
            Every::Micros(length) => (to - from + length / 2).div_euclid(length),
            Every::Months(_) => self.number(to) - self.number(from),
        }
    }

    /// Whether stretches begin at midnight.
    fn is_of_days(self) -> bool {
        match self {
            Every::Micros(length) => length % DAY == 0,
            Every::Months(_) => true,
        }
    }
}

pub(super) fn resample(
    arguments: &Arguments<'_>,
    body: &Value,
    table: &Table,
    context: &mut Context,
) -> Result<Table, Problem> {
    let time = arguments.required_text(&TIME)?;
    let every = Every::parse(arguments.required_text(&["every", "frequency", "interval"])?)?;
    let asked = aggregation_body(body);
    let aggregation_arguments = Arguments::new("resample", &asked, AGGREGATION_KEYS)?;
    let aggregations = aggregations(&aggregation_arguments, &asked)?;
    let moments = moments_of(table, time, context)?;
    let numbers: Vec<Option<i64>> =
        moments.iter().map(|moment| moment.map(|moment| every.number(moment))).collect();
    let present = numbers.iter().flatten().copied();
    let (first, count) = match present.clone().min().zip(present.max()) {
        None => (0, 0),
        Some((first, last)) => (first, last - first + 1),
    };
    if count > STRETCHES_MAX {
        return Err(Problem::new(format!(
            "there would be {count} stretches of time; {STRETCHES_MAX} are the most"
        ))
        .hint("choose a longer \"every\""));
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
    let mut figures = computed(&aggregations, table, &groups, context)?;
    if let Some(fill) = arguments.any(&["fill"]) {
        let fill = Fill::parse(fill)?;
        figures = without_empty_sums(figures, &aggregations, table, &groups)?;
        figures = figures.iter().map(|column| filled(column, &fill)).collect::<Result<_, _>>()?;
    }
    let mut columns = vec![times.into_column(time)?];
    columns.extend(figures);
    Table::new(groups.len(), columns)
}

const AGGREGATION_KEYS: &[&str] = &[
    "field",
    "function",
    "functions",
    "aggregations",
    "aggregates",
    "metrics",
    "percentiles",
    "percentile",
    "as",
];

fn aggregation_body(body: &Value) -> Value {
    let members = body.as_object().into_iter().flatten();
    let members = members.filter(|(key, _)| AGGREGATION_KEYS.contains(&key.as_str()));
    Value::Object(members.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
}

/// What stands in stretches without a value.
enum Fill {
    Constant(Cell),
    /// The value before.
    Previous,
}

impl Fill {
    fn parse(fill: &Value) -> Result<Self, Problem> {
        let wrong =
            || Problem::new(format!("\"fill\" has to be a number or \"previous\", not {}", kind_word(fill)));
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

fn filled(column: &Column, fill: &Fill) -> Result<Column, Problem> {
    if matches!(fill, Fill::Constant(_)) && !Kind::of(column).is_numeric() {
        return Ok(column.clone());
    }
    let values = Values::of(column)?;
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
    crate::expression::values_of(cells)?.into_column(column.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_begin_on_mondays_and_on_firsts() {
        let check = |every: &str, moment: &str, expected: &str| {
            let every = Every::parse(every).unwrap();
            let (micros, _) = moment::parse(moment).unwrap();
            assert_eq!(moment::time_text(every.start(every.number(micros))), expected);
        };
        check("week", "2026-11-15", "2026-11-09T00:00:00");
        check("1mo", "1969-12-31T23:00:00", "1969-12-01T00:00:00");
        check("quarter", "2026-11-15", "2026-10-01T00:00:00");
        check("15m", "2026-11-15T10:44:59", "2026-11-15T10:30:00");
        for wrong in ["", "0d", "fortnight", "99999999999999999999d"] {
            assert!(Every::parse(wrong).is_err(), "{wrong}");
        }
    }
}
