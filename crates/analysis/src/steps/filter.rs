//! `filter`: the rows in which a condition holds.

use serde_json::Value;

use super::Context;
use super::condition::Condition;
use crate::outcome::Problem;
use crate::table::Table;

pub(super) fn filter(body: &Value, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let condition = Condition::parse(body)?;
    Ok(table.filter(&condition.holds(table, &mut context.notes)?))
}
