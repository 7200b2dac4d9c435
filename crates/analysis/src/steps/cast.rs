//! `cast`: a column as another kind. What cannot be converted becomes missing, and a note counts it.

use serde_json::{Map, Value};

use super::Context;
use super::columns::inside;
use crate::arguments::json_kind;
use crate::column::Column;
use crate::outcome::Problem;
use crate::table::Table;
use crate::timestamp::{self, DAY};
use crate::values::{Cell, Values, short};

/// What a column can be cast to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Boolean,
    Integer,
    Number,
    Text,
    Date,
    Datetime,
}

const TARGETS: [(&str, Target, &[&str]); 6] = [
    ("boolean", Target::Boolean, &["bool"]),
    ("integer", Target::Integer, &["int", "int64"]),
    ("number", Target::Number, &["float", "float64", "double", "decimal"]),
    ("text", Target::Text, &["string", "str"]),
    ("date", Target::Date, &[]),
    ("datetime", Target::Datetime, &["timestamp", "time"]),
];

impl Target {
    fn parse(name: &str) -> Result<Self, Problem> {
        let wanted = name.trim().to_ascii_lowercase();
        let found =
            TARGETS.iter().find(|(own, _, others)| *own == wanted || others.contains(&wanted.as_str()));
        found.map(|(_, target, _)| *target).ok_or_else(|| {
            Problem::unknown_spelling("type", name, TARGETS.iter().map(|(own, _, others)| (*own, *others)))
        })
    }
}

pub(super) fn cast(body: &Value, mut table: Table, context: &mut Context) -> Result<Table, Problem> {
    let around = ["fields", "columns", "types", "mappings"];
    let inner = inside(body, &around).filter(|inner| inner.is_object()).unwrap_or(body);
    let Value::Object(pairs) = inner else {
        return Err(Problem::new(format!(
            "cast takes an object of fields and types, not {}",
            json_kind(body)
        ))
        .hint("example: {\"cast\": {\"price\": \"number\"}}"));
    };
    let alone = one_cast(inner);
    for (field, target) in alone.as_ref().unwrap_or(pairs) {
        let Value::String(name) = target else {
            return Err(Problem::new(format!(
                "the type of {field:?} must be text, not {}",
                json_kind(target)
            ))
            .field(field));
        };
        let target = Target::parse(name).map_err(|problem| problem.field(field.as_str()))?;
        let column = table.column(field)?;
        let internal = column.name().to_owned();
        let (values, lost) = converted(column.values(), target);
        if let Some((count, example)) = lost {
            context.notes.add(format!("cast of {field:?} to {name}: {count} values couldn't be converted and are now missing, such as {example:?}"));
        }
        table.lists.remove(&internal);
        table.set_column(Column::new(internal, values));
    }
    Ok(table)
}

/// `{"field": "price", "type": "number"}`, where `price` is no type.
fn one_cast(body: &Value) -> Option<Map<String, Value>> {
    let field = inside(body, &["field", "column"])?.as_str().filter(|name| Target::parse(name).is_err())?;
    let target = inside(body, &["type", "to", "as", "dtype"])?;
    Some(Map::from_iter([(field.to_owned(), target.clone())]))
}

/// The values as another kind; how many could not be, with one of them.
fn converted(values: &Values, target: Target) -> (Values, Option<(usize, String)>) {
    let mut lost: Option<(usize, String)> = None;
    let cells: Vec<Cell> = (0..values.len())
        .map(|row| {
            let cell = values.cell(row);
            let converted = convert(&cell, target);
            if converted == Cell::Missing && cell != Cell::Missing {
                lost.get_or_insert_with(|| (0, short(&cell.text().unwrap_or_default()))).0 += 1;
            }
            converted
        })
        .collect();
    (collect_cells(cells, target), lost)
}

fn collect_cells(cells: Vec<Cell>, target: Target) -> Values {
    let cells = cells.into_iter();
    match target {
        Target::Boolean => Values::Booleans(
            cells.map(|cell| if let Cell::Boolean(value) = cell { Some(value) } else { None }).collect(),
        ),
        Target::Integer => Values::Integers(
            cells.map(|cell| if let Cell::Integer(value) = cell { Some(value) } else { None }).collect(),
        ),
        Target::Number => Values::Numbers(
            cells.map(|cell| if let Cell::Number(value) = cell { Some(value) } else { None }).collect(),
        ),
        Target::Text => Values::Texts(
            cells.map(|cell| if let Cell::Text(value) = cell { Some(value) } else { None }).collect(),
        ),
        Target::Date => Values::Dates(
            cells.map(|cell| if let Cell::Date(value) = cell { Some(value) } else { None }).collect(),
        ),
        Target::Datetime => Values::Datetimes(
            cells.map(|cell| if let Cell::Datetime(value) = cell { Some(value) } else { None }).collect(),
        ),
    }
}

fn convert(cell: &Cell, target: Target) -> Cell {
    if *cell == Cell::Missing {
        return Cell::Missing;
    }
    match target {
        Target::Text => cell.text().map_or(Cell::Missing, Cell::Text),
        Target::Boolean => boolean(cell).map_or(Cell::Missing, Cell::Boolean),
        Target::Integer => integer(cell).map_or(Cell::Missing, Cell::Integer),
        Target::Number => number(cell).map_or(Cell::Missing, Cell::Number),
        Target::Date => timestamp_of(cell).map_or(Cell::Missing, |micros| Cell::Date(micros.div_euclid(DAY))),
        Target::Datetime => timestamp_of(cell).map_or(Cell::Missing, Cell::Datetime),
    }
}

fn boolean(cell: &Cell) -> Option<bool> {
    match cell {
        Cell::Boolean(value) => Some(*value),
        Cell::Integer(0) => Some(false),
        Cell::Integer(1) => Some(true),
        Cell::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => None,
        },
        Cell::Missing | Cell::Integer(_) | Cell::Number(_) | Cell::Date(_) | Cell::Datetime(_) => None,
    }
}

/// Whole numbers only: a fraction is not cut in silence.
fn integer(cell: &Cell) -> Option<i64> {
    let whole = |value: f64| (value.fract() == 0.0 && value.abs() < 9.2e18).then_some(value as i64);
    match cell {
        Cell::Boolean(value) => Some(i64::from(*value)),
        Cell::Integer(value) => Some(*value),
        Cell::Number(value) => whole(*value),
        Cell::Text(text) => text.trim().parse().ok().or_else(|| text.trim().parse().ok().and_then(whole)),
        Cell::Missing | Cell::Date(_) | Cell::Datetime(_) => None,
    }
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Boolean(value) => Some(f64::from(u8::from(*value))),
        Cell::Integer(value) => Some(*value as f64),
        Cell::Number(value) => Some(*value),
        Cell::Text(text) => text.trim().parse().ok(),
        Cell::Missing | Cell::Date(_) | Cell::Datetime(_) => None,
    }
}

/// Numbers are seconds since 1970, as Unix counts them.
fn timestamp_of(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Date(days) => Some(days.saturating_mul(DAY)),
        Cell::Datetime(micros) => Some(*micros),
        Cell::Text(text) => timestamp::parse(text).map(|(micros, _)| micros),
        Cell::Integer(seconds) => seconds.checked_mul(timestamp::SECOND),
        Cell::Number(seconds) => (seconds.abs() < 1e12).then_some((seconds * 1e6).round() as i64),
        Cell::Missing | Cell::Boolean(_) => None,
    }
}
