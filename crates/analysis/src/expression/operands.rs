//! What a cell is taken for where an expression works on it, and which of two comes first.

use std::cmp::Ordering;

use crate::outcome::Problem;
use crate::text_dates;
use crate::timestamp::{self, DAY};
use crate::values::Cell;

/// A truth value, which may be missing.
pub(super) fn truth(cell: &Cell) -> Result<Option<bool>, Problem> {
    match cell {
        Cell::Missing => Ok(None),
        Cell::Boolean(value) => Ok(Some(*value)),
        Cell::Integer(_) | Cell::Number(_) | Cell::Text(_) | Cell::Date(_) | Cell::Datetime(_) => {
            Err(Problem::new(format!("the expression uses {} as true or false", kind_of(cell)))
                .hint("compare it with something: count > 0"))
        }
    }
}

/// A number, if the cell is one.
pub(super) fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Integer(value) => Some(*value as f64),
        Cell::Number(value) => Some(*value),
        Cell::Missing | Cell::Boolean(_) | Cell::Text(_) | Cell::Date(_) | Cell::Datetime(_) => None,
    }
}

/// A timestamp in microseconds, if the cell is one; text counts as ISO 8601.
pub(super) fn timestamp_of(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Date(days) => Some(days.saturating_mul(DAY)),
        Cell::Datetime(micros) => Some(*micros),
        Cell::Text(text) => timestamp::parse(text).map(|(micros, _)| micros),
        Cell::Missing | Cell::Boolean(_) | Cell::Integer(_) | Cell::Number(_) => None,
    }
}

/// `None` where one is missing or NaN.
pub(super) fn order(left: &Cell, right: &Cell) -> Result<Option<Ordering>, Problem> {
    if *left == Cell::Missing || *right == Cell::Missing {
        return Ok(None);
    }
    if let (Some(first), Some(second)) = (number(left), number(right)) {
        if let (Cell::Integer(first), Cell::Integer(second)) = (left, right) {
            return Ok(Some(first.cmp(second)));
        }
        return Ok(first.partial_cmp(&second));
    }
    match (left, right) {
        (Cell::Text(left), Cell::Text(right)) => Ok(Some(text_dates::order(left, right))),
        (Cell::Boolean(left), Cell::Boolean(right)) => Ok(Some(left.cmp(right))),
        (left, right) => match (timestamp_of(left), timestamp_of(right)) {
            (Some(left), Some(right)) => Ok(Some(left.cmp(&right))),
            (Some(_) | None, Some(_) | None) => Err(Problem::new(format!(
                "the expression compares {} with {}",
                kind_of(left),
                kind_of(right)
            ))
            .hint("convert one of them with number(...), text(...) or date(...)")),
        },
    }
}

/// The kind of a cell, in words.
pub(super) fn kind_of(cell: &Cell) -> &'static str {
    match cell {
        Cell::Missing => "a missing value",
        Cell::Boolean(_) => "a truth value",
        Cell::Integer(_) => "an integer",
        Cell::Number(_) => "a number",
        Cell::Text(_) => "a text",
        Cell::Date(_) => "a date",
        Cell::Datetime(_) => "a datetime",
    }
}
