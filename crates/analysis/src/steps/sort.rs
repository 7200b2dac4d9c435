//! `sort` and `limit`.

use serde_json::{Map, Value};

use crate::arguments::{Arguments, count_of, json_kind};
use crate::outcome::Problem;
use crate::row_order::{Direction, row_order};
use crate::table::Table;
use crate::text_dates;
use crate::values::Values;

const EXAMPLE: &str =
    r#"example: {"sort": [{"field": "price", "descending": true}, "name"]}, or {"sort": "-price"}"#;

/// Settings that are understood besides the documented ones.
const SETTINGS: [&str; 12] = [
    "field",
    "fields",
    "by",
    "sort_by",
    "order_by",
    "key",
    "direction",
    "order",
    "ascending",
    "desc",
    "reverse",
    "descending",
];

/// By one field or several; equal rows keep their order, missing values come last.
pub(super) fn sort(body: &Value, table: &Table) -> Result<Table, Problem> {
    let mut by: Vec<(String, Direction)> = Vec::new();
    match body {
        Value::Array(items) => {
            for item in items {
                by.extend(keys_of(item, table)?);
            }
        }
        single => by.extend(keys_of(single, table)?),
    }
    if by.is_empty() {
        return Err(Problem::new("sort needs a field").hint(EXAMPLE));
    }
    let columns = by.iter().map(|(field, _)| table.column(field)).collect::<Result<Vec<_>, _>>()?;
    // Texts that are dates are sorted by time.
    let dates: Vec<Option<Values>> =
        columns.iter().map(|column| text_dates::timestamps(column).map(Values::Datetimes)).collect();
    let keys: Vec<(&Values, Direction)> = columns
        .iter()
        .zip(&dates)
        .zip(&by)
        .map(|((column, dates), (_, direction))| (dates.as_ref().unwrap_or(column.values()), *direction))
        .collect();
    Ok(table.take(&row_order(&keys, table.rows())))
}

fn keys_of(item: &Value, table: &Table) -> Result<Vec<(String, Direction)>, Problem> {
    match item {
        Value::String(field) => Ok(vec![match field.strip_prefix('-') {
            Some(rest) if !table.has(field) => (rest.to_owned(), Direction::Descending),
            Some(_) | None => (field.clone(), Direction::Ascending),
        }]),
        Value::Object(pairs) if is_by_field(pairs) => pairs
            .iter()
            .map(|(field, order)| Ok((field.clone(), direction_of(order.as_str().unwrap_or_default())?)))
            .collect(),
        Value::Object(_) => keys_of_settings(item, table),
        other => Err(Problem::new(format!("sort takes fields, not {}", json_kind(other))).hint(EXAMPLE)),
    }
}

/// `{"price": "desc", "name": "asc"}`: every value is an order, and no name is a setting.
fn is_by_field(pairs: &Map<String, Value>) -> bool {
    let is_order = |value: &Value| value.as_str().is_some_and(|order| direction_of(order).is_ok());
    !pairs.is_empty()
        && pairs.iter().all(|(name, value)| !SETTINGS.contains(&name.as_str()) && is_order(value))
}

fn direction_of(order: &str) -> Result<Direction, Problem> {
    match order.to_ascii_lowercase().as_str() {
        "asc" | "ascending" | "up" => Ok(Direction::Ascending),
        "desc" | "descending" | "down" => Ok(Direction::Descending),
        _ => Err(Problem::unknown("order", order, ["asc", "desc"])),
    }
}

fn keys_of_settings(item: &Value, table: &Table) -> Result<Vec<(String, Direction)>, Problem> {
    let arguments = Arguments::new("sort", item, &["field", "descending", "order"], &SETTINGS)?;
    let fields = arguments.required_texts(&["field", "fields", "by", "sort_by", "order_by", "key"])?;
    let is_up = |flag: &Value| flag.as_bool();
    // pandas' way: a flag for each field.
    if let Some(Value::Array(flags)) = arguments.first_of(&["ascending"]) {
        let flags = flags.iter().map(is_up).collect::<Option<Vec<bool>>>();
        let flags = flags.filter(|flags| flags.len() == fields.len());
        let flags = flags.ok_or_else(|| {
            Problem::new("\"ascending\" must be true or false, or a list with one of them for each field")
                .hint(EXAMPLE)
        })?;
        let direction = |is_up: bool| if is_up { Direction::Ascending } else { Direction::Descending };
        return Ok(fields.into_iter().zip(flags.into_iter().map(direction)).collect());
    }
    let direction = match arguments.text(&["order", "direction"])? {
        Some(order) => direction_of(order)?,
        None => {
            let is_down = arguments.flag(&["descending", "desc", "reverse"])?
                || (arguments.first_of(&["ascending"]).is_some() && !arguments.flag(&["ascending"])?);
            if is_down { Direction::Descending } else { Direction::Ascending }
        }
    };
    // A sign before a name says the same as in a list of names.
    let key = |field: String| match field.strip_prefix('-') {
        Some(rest) if !table.has(&field) => (rest.to_owned(), Direction::Descending),
        Some(_) | None => (field, direction),
    };
    Ok(fields.into_iter().map(key).collect())
}

/// The first rows: `{"limit": 10}`, or `{"limit": {"count": 10, "offset": 20}}`.
pub(super) fn limit(body: &Value, table: &Table) -> Result<Table, Problem> {
    let (count, offset) = match body {
        Value::Object(_) => {
            let accepted = ["limit", "n", "rows", "size", "skip"];
            let arguments = Arguments::new("limit", body, &["count", "offset"], &accepted)?;
            let count = arguments.count(&["count", "limit", "n", "rows", "size"])?;
            (count, arguments.count(&["offset", "skip"])?.unwrap_or(0))
        }
        other => (count_of(other), 0),
    };
    let Some(count) = count else {
        return Err(Problem::new("limit takes a whole number, 0 or more")
            .hint("example: {\"limit\": 10}, or {\"limit\": {\"count\": 10, \"offset\": 20}}"));
    };
    Ok(table.slice(offset, count))
}
