//! What the operations of `timeseries` share: the time field, the rows in its order, and the outcome's column.

use super::Context;
use crate::arguments::Arguments;
use crate::column::{Column, Row, row_index};
use crate::outcome::Problem;
use crate::table::{NESTED, Table};
use crate::timestamp;
use crate::values::{Values, short};

/// Names under which callers give the time field.
pub(super) const TIME: [&str; 4] = ["time", "time_field", "date_field", "timestamp"];

/// The timestamps of the time field; rows without one are counted in a note.
pub(super) fn timestamps_of(
    table: &Table,
    field: &str,
    context: &mut Context,
) -> Result<Vec<Option<i64>>, Problem> {
    let column = table.column(field)?;
    let needs_dates = |found: String| {
        Problem::new(format!("field {field:?} holds {found}, but this needs dates"))
            .hint("write dates as 2026-07-28 or 2026-07-28T09:30:00Z; cast Unix seconds first: {\"cast\": {\"time\": \"datetime\"}}")
            .field(field)
    };
    let Some((timestamps, wrong)) = column.values().timestamps() else {
        return Err(needs_dates(column.kind().as_str().to_owned()));
    };
    if let Some(wrong) = wrong {
        return Err(needs_dates(format!("the text {:?}", short(&wrong))));
    }
    let missing = timestamps.iter().filter(|timestamp| timestamp.is_none()).count();
    if missing > 0 {
        context.notes.add(format!("{missing} rows without {field:?} left out"));
    }
    Ok(timestamps)
}

/// Whether the times were written with an offset or a Z, so that they are shown as UTC again.
pub(super) fn has_offsets(table: &Table, field: &str) -> Result<bool, Problem> {
    let texts = table.column(field)?.texts();
    Ok(texts.is_some_and(|texts| texts.iter().flatten().any(timestamp::has_offset)))
}

/// A timestamp as text, with a Z where the times had an offset.
pub(super) fn time_words(micros: i64, has_offset: bool) -> String {
    let text = timestamp::time_text(micros);
    if has_offset { format!("{text}Z") } else { text }
}

/// A column of timestamps. Times that had an offset are text with a Z, which is compared by time as well.
pub(super) fn times_of(timestamps: Vec<i64>, has_offset: bool) -> Values {
    if has_offset {
        return Values::Texts(timestamps.into_iter().map(|micros| Some(time_words(micros, true))).collect());
    }
    Values::Datetimes(timestamps.into_iter().map(Some).collect())
}

/// The table in the order of its time field, without rows that have none, and the timestamps.
pub(super) fn in_time(
    table: &Table,
    field: &str,
    context: &mut Context,
) -> Result<(Table, Vec<i64>), Problem> {
    let timestamps = timestamps_of(table, field, context)?;
    let present = timestamps.iter().enumerate();
    let mut order: Vec<(i64, Row)> = present
        .filter_map(|(row, timestamp)| timestamp.map(|timestamp| (timestamp, row_index(row))))
        .collect();
    order.sort_unstable();
    let (timestamps, rows): (Vec<i64>, Vec<Row>) = order.into_iter().unzip();
    Ok((table.take(&rows), timestamps))
}

/// In time's order where a time field is named, else as it is.
pub(super) fn ordered(
    arguments: &Arguments<'_>,
    table: &Table,
    context: &mut Context,
) -> Result<(Table, Option<Vec<i64>>), Problem> {
    match arguments.text(&TIME)? {
        Some(time) => in_time(table, time, context).map(|(table, timestamps)| (table, Some(timestamps))),
        None => Ok((table.clone(), None)),
    }
}

/// Adds a column under the asked name, or under the usual one.
pub(super) fn with_column(
    arguments: &Arguments<'_>,
    table: &Table,
    usual: String,
    values: Values,
) -> Result<Table, Problem> {
    let name = arguments.text(&["as"])?.map_or(usual, str::to_owned).replace(NESTED, " ");
    let mut table = table.clone();
    table.set_column(Column::new(name, values));
    Ok(table)
}
