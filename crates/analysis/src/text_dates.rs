//! Columns of text that hold dates: compared by time where all of their values are ISO 8601, and where they
//! are compared by letters beside a date, a note says so.

use polars_core::prelude::Column;

use crate::moment;
use crate::outcome::Notes;
use crate::table::shown;
use crate::values::short;

/// The moments of a column of text, if it has values and all of them are ISO dates.
pub(crate) fn moments(column: &Column) -> Option<Vec<Option<i64>>> {
    let texts = column.str().ok()?;
    if texts.null_count() == texts.len() {
        return None;
    }
    let mut moments = Vec::with_capacity(texts.len());
    for text in texts.iter() {
        moments.push(match text {
            None => None,
            Some(text) => Some(moment::parse(text)?.0),
        });
    }
    Some(moments)
}

/// Says that a value was compared with a column of text by letters, though one of the two is a date.
pub(crate) fn remark(column: &Column, value: &str, is_column_of_dates: bool, notes: &mut Notes) {
    if column.null_count() == column.len() {
        return;
    }
    let field = shown(column.name());
    let value = short(value);
    notes.add(if is_column_of_dates {
        format!("field {field:?} holds dates and {value:?} is no ISO date: they were compared by letters; write it as 2026-07-28 or 2026-07-28T09:30:00Z")
    } else {
        format!("field {field:?} was compared with {value:?} by letters: not all of its values are ISO dates; cast it to compare by time: {{\"cast\": {{\"{field}\": \"datetime\"}}}}")
    });
}

/// Two texts in order: by time if both are ISO dates, else by letters.
pub(crate) fn order(left: &str, right: &str) -> std::cmp::Ordering {
    match (moment::parse(left), moment::parse(right)) {
        (Some((left, _)), Some((right, _))) => left.cmp(&right),
        (Some(_) | None, Some(_) | None) => left.cmp(right),
    }
}
