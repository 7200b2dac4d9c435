//! Columns of text that hold dates: compared by time where all of their values are ISO 8601, and where they
//! are compared by letters beside a date, a note says so.

use crate::column::Column;
use crate::outcome::Notes;
use crate::table::display_name;
use crate::timestamp;
use crate::values::short;

/// The timestamps of a column of text, if it has values and all of them are ISO dates.
pub(crate) fn timestamps(column: &Column) -> Option<Vec<Option<i64>>> {
    let texts = column.texts()?;
    if column.is_all_missing() {
        return None;
    }
    let mut timestamps = Vec::with_capacity(texts.len());
    for text in texts.iter() {
        timestamps.push(match text {
            None => None,
            Some(text) => Some(timestamp::parse(text)?.0),
        });
    }
    Some(timestamps)
}

/// Says that a value was compared with a column of text by letters, though one of the two is a date.
pub(crate) fn add_notes(column: &Column, value: &str, is_column_of_dates: bool, notes: &mut Notes) {
    if column.is_all_missing() {
        return;
    }
    let field = display_name(column.name());
    let value = short(value);
    notes.add(if is_column_of_dates {
        format!("field {field:?} has dates, but {value:?} isn't an ISO date: they were compared as text; write it as 2026-07-28 or 2026-07-28T09:30:00Z")
    } else {
        format!("field {field:?} was compared with {value:?} as text: not all of its values are ISO dates; to compare by time, cast it: {{\"cast\": {{\"{field}\": \"datetime\"}}}}")
    });
}

/// Two texts in order: by time if both are ISO dates, else by letters.
pub(crate) fn order(left: &str, right: &str) -> std::cmp::Ordering {
    match (timestamp::parse(left), timestamp::parse(right)) {
        (Some((left, _)), Some((right, _))) => left.cmp(&right),
        (Some(_) | None, Some(_) | None) => left.cmp(right),
    }
}
