//! `sort` and `limit`.

use polars_core::prelude::*;
use serde_json::Value;

use super::groups::index;
use crate::arguments::{Arguments, kind_word};
use crate::outcome::Problem;
use crate::table::{Table, engine_problem};
use crate::text_dates;
use crate::values::Values;

/// The column of row numbers beside the keys.
const ROW: &str = "row";
const EXAMPLE: &str =
    r#"for example {"sort": [{"field": "price", "descending": true}, "name"]}, or {"sort": "-price"}"#;

/// By one field or several; equal rows keep their order, missing values come last.
pub(super) fn sort(body: &Value, table: &Table) -> Result<Table, Problem> {
    let mut by: Vec<(String, bool)> = Vec::new();
    match body {
        Value::Array(items) => {
            for item in items {
                by.extend(keys_of(item, table)?);
            }
        }
        single => by.extend(keys_of(single, table)?),
    }
    let mut names = Vec::new();
    let mut descending = Vec::new();
    for (field, is_descending) in by {
        let Some(name) = table.find(&field) else { return Err(table.no_field(&field)) };
        names.push(name.to_owned());
        descending.push(is_descending);
    }
    if names.is_empty() {
        return Err(Problem::new("sort needs a field").hint(EXAMPLE));
    }
    let options = SortMultipleOptions::new()
        .with_order_descending_multi(descending)
        .with_nulls_last(true)
        .with_maintain_order(true);
    let frame = match keys_with_dates(table, &names)? {
        None => table.frame.sort(names, options).map_err(engine_problem)?,
        Some(keys) => {
            let by: Vec<String> = (0..names.len()).map(|place| place.to_string()).collect();
            let sorted = keys.sort(by, options).map_err(engine_problem)?;
            let order = sorted.column(ROW).map_err(engine_problem)?.idx().map_err(engine_problem)?;
            table.frame.take(order).map_err(engine_problem)?
        }
    };
    Ok(table.with_frame(frame))
}

/// The keys under their numbers, texts that are dates as their moments, and the number of each row.
/// `None` where no key is such a text.
fn keys_with_dates(table: &Table, names: &[String]) -> Result<Option<DataFrame>, Problem> {
    let mut columns = Vec::with_capacity(names.len() + 1);
    let mut has_dates = false;
    for (place, name) in names.iter().enumerate() {
        let column = table.frame.column(name).map_err(engine_problem)?;
        let place = place.to_string();
        columns.push(match text_dates::moments(column) {
            None => column.clone().with_name(place.as_str().into()),
            Some(moments) => {
                has_dates = true;
                Values::Integers(moments).into_column(&place)?
            }
        });
    }
    if !has_dates {
        return Ok(None);
    }
    let rows = IdxCa::from_iter_values(ROW.into(), 0..index(table.rows()));
    columns.push(rows.into_series().into());
    DataFrame::new(table.rows(), columns).map(Some).map_err(engine_problem)
}

fn keys_of(item: &Value, table: &Table) -> Result<Vec<(String, bool)>, Problem> {
    match item {
        Value::String(field) => Ok(vec![match field.strip_prefix('-') {
            Some(rest) if !table.has(field) => (rest.to_owned(), true),
            Some(_) | None => (field.clone(), false),
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
            let fields = arguments.required_texts(&["field", "fields", "by"])?;
            Ok(fields.into_iter().map(|field| (field, is_descending)).collect())
        }
        other => Err(Problem::new(format!("sort takes fields, not {}", kind_word(other))).hint(EXAMPLE)),
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
    let offset = i64::try_from(offset.min(table.rows())).unwrap_or(i64::MAX);
    Ok(table.with_frame(table.frame.slice(offset, count)))
}
