//! `sort` and `limit`.

use serde_json::Value;

use crate::arguments::{Arguments, json_kind};
use crate::outcome::Problem;
use crate::row_order::{Direction, row_order};
use crate::table::Table;
use crate::text_dates;
use crate::values::Values;

const EXAMPLE: &str =
    r#"for example {"sort": [{"field": "price", "descending": true}, "name"]}, or {"sort": "-price"}"#;

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
        Value::Object(_) => {
            let arguments =
                Arguments::new("sort", item, &["field", "fields", "by", "descending", "order", "direction"])?;
            let order = arguments.text(&["order", "direction"])?;
            let is_descending = match order.map(str::to_ascii_lowercase).as_deref() {
                None => arguments.flag(&["descending"])?,
                Some("asc" | "ascending") => false,
                Some("desc" | "descending") => true,
                Some(other) => return Err(Problem::unknown("order", other, ["asc", "desc"])),
            };
            let direction = if is_descending { Direction::Descending } else { Direction::Ascending };
            let fields = arguments.required_texts(&["field", "fields", "by"])?;
            Ok(fields.into_iter().map(|field| (field, direction)).collect())
        }
        other => Err(Problem::new(format!("sort takes fields, not {}", json_kind(other))).hint(EXAMPLE)),
    }
}

/// The first rows: `{"limit": 10}`, or `{"limit": {"count": 10, "offset": 20}}`.
pub(super) fn limit(body: &Value, table: &Table) -> Result<Table, Problem> {
    let (count, offset) = match body {
        Value::Number(number) => (number.as_u64().and_then(|count| usize::try_from(count).ok()), 0),
        Value::Object(_) => {
            let arguments = Arguments::new("limit", body, &["count", "limit", "n", "rows", "offset"])?;
            (arguments.count(&["count", "limit", "n", "rows"])?, arguments.count(&["offset"])?.unwrap_or(0))
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => (None, 0),
    };
    let Some(count) = count else {
        return Err(Problem::new("limit takes a whole number that is not negative")
            .hint("for example {\"limit\": 10}, or {\"limit\": {\"count\": 10, \"offset\": 20}}"));
    };
    Ok(table.slice(offset, count))
}
