//! `distinct`: the first row of each kind.

use serde_json::Value;

use super::groups::Groups;
use crate::arguments::{kind_word, texts_of};
use crate::outcome::Problem;
use crate::table::{Table, engine_problem};

/// By the named fields, or by all.
pub(super) fn distinct(body: &Value, table: &Table) -> Result<Table, Problem> {
    let inner = body.get("fields").or_else(|| body.get("by")).unwrap_or(body);
    let mut fields = match inner {
        Value::Bool(true) | Value::Null => Vec::new(),
        Value::Object(object) if object.is_empty() => Vec::new(),
        other => texts_of(other).ok_or_else(|| {
            Problem::new(format!("distinct takes a list of fields, not {}", kind_word(other)))
                .hint("for example {\"distinct\": [\"name\"]}")
        })?,
    };
    if fields.is_empty() {
        fields = table.names();
    }
    if fields.is_empty() {
        return Ok(table.clone());
    }
    let groups = Groups::by(table, &fields)?;
    let frame = table.frame.take(&groups.firsts()).map_err(engine_problem)?;
    Ok(table.with_frame(frame))
}
