//! `filter`: the rows in which a condition holds.

use polars_core::prelude::*;
use serde_json::Value;

use super::Context;
use super::condition::Condition;
use crate::outcome::Problem;
use crate::table::{Table, engine_problem};

pub(super) fn filter(body: &Value, table: Table, context: &mut Context) -> Result<Table, Problem> {
    let condition = Condition::parse(body)?;
    let mask = condition.holds(&table, &mut context.notes)?;
    keep(&table, &mask)
}

/// The rows that are marked.
pub(super) fn keep(table: &Table, mask: &[bool]) -> Result<Table, Problem> {
    let mask = BooleanChunked::from_slice(PlSmallStr::EMPTY, mask);
    Ok(table.with_frame(table.frame.filter(&mask).map_err(engine_problem)?))
}
