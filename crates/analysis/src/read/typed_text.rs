//! Columns of text that hold something else throughout: whole numbers, numbers, truth values.

use polars_core::prelude::*;

use crate::outcome::{Notes, Problem};
use crate::table::engine_problem;
use crate::values::Values;

/// What a text could be, from narrow to wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Boolean,
    Integer,
    Big,
    Number,
    Text,
}

/// The same table, each column as what all of its texts look like.
pub(super) fn typed(frame: DataFrame, notes: &mut Notes) -> Result<DataFrame, Problem> {
    let rows = frame.height();
    let mut columns = Vec::with_capacity(frame.width());
    for column in frame.into_columns() {
        columns.push(if column.dtype() == &DataType::String { typed_column(column, notes)? } else { column });
    }
    DataFrame::new(rows, columns).map_err(engine_problem)
}

fn typed_column(column: Column, notes: &mut Notes) -> Result<Column, Problem> {
    let texts = column.str().map_err(engine_problem)?;
    let mut look: Option<Look> = None;
    for text in texts.iter().flatten() {
        let next = look_of(text);
        look = Some(look.map_or(next, |look| both(look, next)));
        if look == Some(Look::Text) {
            break;
        }
    }
    let name = column.name().to_string();
    match look {
        None | Some(Look::Text) => Ok(column),
        Some(Look::Big) => {
            notes.add(format!("field {name:?} has integers beyond 64 bits; it is kept exact as text, so == and in work; cast it to number to calculate (about 16 digits)"));
            Ok(column)
        }
        Some(Look::Boolean) => Values::Booleans(
            texts.iter().map(|text| text.map(|text| text.eq_ignore_ascii_case("true"))).collect(),
        )
        .into_column(&name),
        Some(Look::Integer) => {
            Values::Integers(texts.iter().map(|text| text.and_then(|text| text.parse().ok())).collect())
                .into_column(&name)
        }
        Some(Look::Number) => {
            Values::Numbers(texts.iter().map(|text| text.and_then(|text| text.parse().ok())).collect())
                .into_column(&name)
        }
    }
}

fn look_of(text: &str) -> Look {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return if text.parse::<i64>().is_ok() { Look::Integer } else { Look::Big };
    }
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return Look::Boolean;
    }
    if text.parse::<f64>().is_ok() { Look::Number } else { Look::Text }
}

fn both(left: Look, right: Look) -> Look {
    match (left, right) {
        (left, right) if left == right => left,
        (Look::Integer, Look::Number) | (Look::Number, Look::Integer) => Look::Number,
        (Look::Integer, Look::Big) | (Look::Big, Look::Integer) => Look::Big,
        (Look::Big, Look::Number) | (Look::Number, Look::Big) => Look::Number,
        (Look::Boolean | Look::Text | Look::Integer | Look::Big | Look::Number, _) => Look::Text,
    }
}
