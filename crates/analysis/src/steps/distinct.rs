//! `distinct`: the first row of each kind.

use serde_json::Value;

use super::columns::inside;
use super::groups::Groups;
use crate::arguments::{json_kind, texts_of};
use crate::outcome::Problem;
use crate::table::Table;

/// By the named fields, or by all.
pub(super) fn distinct(body: &Value, table: &Table) -> Result<Table, Problem> {
    let inner = inside(body, &["fields", "by", "columns", "field", "column", "subset", "on"]).unwrap_or(body);
    let mut fields = match inner {
        Value::Bool(true) | Value::Null => Vec::new(),
        Value::Object(object) if object.is_empty() => Vec::new(),
        other => texts_of(other).ok_or_else(|| {
            Problem::new(format!("distinct takes a list of fields, not {}", json_kind(other)))
                .hint("example: {\"distinct\": [\"name\"]}")
        })?,
    };
    if fields.is_empty() {
        fields = table.names();
    }
    if fields.is_empty() {
        return Ok(table.clone());
    }
    Ok(table.take(&Groups::by(table, &fields)?.first_rows()))
}
