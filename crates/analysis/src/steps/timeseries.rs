//! `timeseries`: resample, rolling, difference, gaps and trend over a time field.

use polars_core::prelude::*;
use serde_json::{Value, json};

use super::aggregate_functions::{column_of, remark_overflow};
use super::resample::{Every, resample};
use super::rolling::rolling;
use super::{Context, Outcome};
use crate::arguments::Arguments;
use crate::moment::{self, DAY};
use crate::outcome::Problem;
use crate::statistics::whole::Figure;
use crate::statistics::{relation, summary};
use crate::table::{Kind, NESTED, Table, engine_problem};
use crate::values::{Values, json_number, short};

const OPERATIONS: [&str; 5] = ["resample", "rolling", "difference", "gaps", "trend"];
/// Below this p-value a slope is taken for more than chance.
const SIGNIFICANCE: f64 = 0.05;
/// Names under which callers give the time field.
pub(super) const TIME: [&str; 4] = ["time", "time_field", "date_field", "timestamp"];
const KNOWN: [&str; 25] = [
    "operation",
    "method",
    "time",
    "time_field",
    "date_field",
    "timestamp",
    "every",
    "frequency",
    "interval",
    "field",
    "function",
    "functions",
    "aggregations",
    "aggregates",
    "metrics",
    "percentiles",
    "percentile",
    "as",
    "fill",
    "window",
    "min_periods",
    "periods",
    "percent",
    "group_by",
    "value_field",
];

pub(super) fn timeseries(body: &Value, table: &Table, context: &mut Context) -> Result<Outcome, Problem> {
    let arguments = Arguments::new("timeseries", body, &KNOWN)?;
    let operation = arguments.text(&["operation", "method"])?.ok_or_else(|| {
        arguments.missing(&["operation"]).hint(format!("operations: {}", OPERATIONS.join(", ")))
    })?;
    if arguments.any(&["group_by"]).is_some() {
        return Err(Problem::new("timeseries does not group").hint(
            "filter to one group first, or use aggregate with computed date parts: year(date), month(date)",
        ));
    }
    match operation.to_ascii_lowercase().as_str() {
        "resample" => resample(&arguments, body, table, context).map(Outcome::Table),
        "rolling" => rolling(&arguments, table, context).map(Outcome::Table),
        "difference" | "diff" => difference(&arguments, table, context).map(Outcome::Table),
        "gaps" => gaps(&arguments, table, context).map(Outcome::Table),
        "trend" => trend(&arguments, table, context).map(Outcome::Report),
        _ => Err(Problem::unknown("operation of timeseries", operation, OPERATIONS)),
    }
}

/// The moments of the time field; rows without one are counted in a note.
pub(super) fn moments_of(
    table: &Table,
    field: &str,
    context: &mut Context,
) -> Result<Vec<Option<i64>>, Problem> {
    let column = table.column(field)?;
    let needs_dates = |found: String| {
        Problem::new(format!("field {field:?} holds {found}, and this needs dates"))
            .hint("dates are written 2026-07-28 or 2026-07-28T09:30:00Z; for Unix seconds cast first: {\"cast\": {\"time\": \"datetime\"}}")
            .field(field)
    };
    let Some((moments, wrong)) = Values::of(column)?.moments() else {
        return Err(needs_dates(Kind::of(column).as_str().to_owned()));
    };
    if let Some(wrong) = wrong {
        return Err(needs_dates(format!("the text {:?}", short(&wrong))));
    }
    let missing = moments.iter().filter(|moment| moment.is_none()).count();
    if missing > 0 {
        context.notes.add(format!("{missing} rows have no {field:?} and were left out"));
    }
    Ok(moments)
}

/// Whether the times were written with an offset or a Z, so that they are shown as UTC again.
pub(super) fn has_offsets(table: &Table, field: &str) -> Result<bool, Problem> {
    let texts = table.column(field)?.str();
    Ok(texts.is_ok_and(|texts| texts.iter().flatten().any(moment::has_offset)))
}

/// A moment as text, with a Z where the times had an offset.
fn time_words(micros: i64, has_offset: bool) -> String {
    let text = moment::time_text(micros);
    if has_offset { format!("{text}Z") } else { text }
}

/// A column of moments. Times that had an offset are text with a Z, which is compared by time as well.
pub(super) fn times_of(moments: Vec<i64>, has_offset: bool) -> Values {
    if has_offset {
        return Values::Texts(moments.into_iter().map(|micros| Some(time_words(micros, true))).collect());
    }
    Values::Datetimes(moments.into_iter().map(Some).collect())
}

/// The table in the order of its time field, without rows that have none, and the moments.
pub(super) fn in_time(
    table: &Table,
    field: &str,
    context: &mut Context,
) -> Result<(Table, Vec<i64>), Problem> {
    let moments = moments_of(table, field, context)?;
    let mut order: Vec<(i64, usize)> =
        moments.iter().enumerate().filter_map(|(row, moment)| moment.map(|moment| (moment, row))).collect();
    order.sort_unstable();
    let rows =
        IdxCa::from_iter_values(PlSmallStr::EMPTY, order.iter().map(|(_, row)| super::groups::index(*row)));
    let frame = table.frame.take(&rows).map_err(engine_problem)?;
    Ok((table.with_frame(frame), order.into_iter().map(|(moment, _)| moment).collect()))
}

/// In time's order where a time field is named, else as it is.
pub(super) fn ordered(
    arguments: &Arguments<'_>,
    table: &Table,
    context: &mut Context,
) -> Result<(Table, Option<Vec<i64>>), Problem> {
    match arguments.text(&TIME)? {
        Some(time) => in_time(table, time, context).map(|(table, moments)| (table, Some(moments))),
        None => Ok((table.clone(), None)),
    }
}

/// Adds a column under the asked name, or under the usual one.
pub(super) fn with_column(
    arguments: &Arguments<'_>,
    mut table: Table,
    usual: String,
    values: Values,
) -> Result<Table, Problem> {
    let name = arguments.text(&["as"])?.map_or(usual, str::to_owned).replace(NESTED, " ");
    table.frame.with_column(values.into_column(&name)?).map_err(engine_problem)?;
    Ok(table)
}

fn difference(arguments: &Arguments<'_>, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let field = arguments.required_text(&["field", "value_field"])?;
    let periods = arguments.count(&["periods"])?.unwrap_or(1);
    let percent = arguments.flag(&["percent"])?;
    let (table, _) = ordered(arguments, table, context)?;
    let values = match Values::of(table.column(field)?)? {
        Values::Integers(list) if percent => Values::Numbers(changes(&list, periods, |before, now| {
            let change = (i128::from(now) - i128::from(before)) as f64;
            (before != 0).then(|| change / before as f64 * 100.0)
        })),
        Values::Integers(list) => {
            let figures =
                changes(&list, periods, |before, now| Some(Figure::of(i128::from(now) - i128::from(before))));
            remark_overflow(&figures, field, &mut context.notes);
            column_of(figures, field, &mut context.notes)
        }
        Values::Numbers(_)
        | Values::Booleans(_)
        | Values::Texts(_)
        | Values::Dates(_)
        | Values::Datetimes(_)
        | Values::Nothing(_) => Values::Numbers(changes(&table.numbers(field)?, periods, |before, now| {
            if percent {
                (before != 0.0).then(|| (now - before) / before * 100.0)
            } else {
                Some(now - before)
            }
        })),
    };
    let ending = if percent { "percent_change" } else { "difference" };
    with_column(arguments, table, format!("{field}_{ending}"), values)
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

/// Where the steps between moments are larger than they should be.
fn gaps(arguments: &Arguments<'_>, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let time = arguments.required_text(&TIME)?;
    let (_, mut moments) = in_time(table, time, context)?;
    moments.dedup();
    let every = match arguments.text(&["every", "frequency", "interval"])? {
        Some(text) => Every::parse(text)?,
        None => {
            let steps: Vec<f64> = moments.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let usual = summary::median(&steps).map_or(DAY, |step| (step as i64).max(1));
            context.notes.add(format!(
                "the usual step between two rows is {} seconds; set \"every\" for another",
                usual as f64 / 1e6
            ));
            Every::Micros(usual)
        }
    };
    let found: Vec<(i64, i64, i64)> = moments
        .windows(2)
        .map(|pair| (pair[0], pair[1], every.between(pair[0], pair[1]) - 1))
        .filter(|(_, _, missing)| *missing > 0)
        .collect();
    let has_offset = has_offsets(table, time)?;
    let columns = vec![
        times_of(found.iter().map(|(after, ..)| *after).collect(), has_offset).into_column("after")?,
        times_of(found.iter().map(|(_, before, _)| *before).collect(), has_offset).into_column("before")?,
        Values::Integers(found.iter().map(|(_, _, missing)| Some(*missing)).collect())
            .into_column("missing")?,
    ];
    Table::new(found.len(), columns)
}

/// The straight line through a field over time, or over the rows where no time is named.
fn trend(arguments: &Arguments<'_>, table: &Table, context: &mut Context) -> Result<Value, Problem> {
    let field = arguments.required_text(&["field", "value_field"])?;
    let (table, moments) = ordered(arguments, table, context)?;
    let numbers = table.numbers(field)?;
    let first = moments.as_ref().and_then(|moments| moments.first().copied()).unwrap_or_default();
    let place = |row: usize| match &moments {
        Some(moments) => moments.get(row).map_or(0.0, |moment| (moment - first) as f64 / DAY as f64),
        None => row as f64,
    };
    let points = numbers.iter().enumerate().filter_map(|(row, number)| {
        number.filter(|number| !number.is_nan()).map(|number| (place(row), number))
    });
    let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
    let Some(line) = relation::line(&x, &y) else {
        return Err(Problem::new(format!(
            "a trend of {field:?} needs at least two rows at different times; there are {}",
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
    let per = if moments.is_some() { "slope_per_day" } else { "slope_per_row" };
    let mut report = json!({"field": field, "rows": x.len(), "direction": direction});
    if let Value::Object(report) = &mut report {
        report.insert(per.to_owned(), json_number(line.slope));
        report.insert("intercept".to_owned(), json_number(line.intercept));
        report.insert("r_squared".to_owned(), json_number(line.r_squared));
        report.insert("p_value".to_owned(), line.p_value.map_or(Value::Null, json_number));
        report.insert("significant_at_5_percent".to_owned(), is_significant.into());
        if let Some((first, last)) = moments.as_ref().and_then(|moments| moments.first().zip(moments.last()))
        {
            report.insert("from".to_owned(), time_words(*first, has_offset).into());
            report.insert("to".to_owned(), time_words(*last, has_offset).into());
        }
    }
    Ok(report)
}
