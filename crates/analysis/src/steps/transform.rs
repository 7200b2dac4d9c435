//! `transform`: several changes of rows and columns in one step, in the order in which they are written.

use serde_json::Value;

use super::columns::inside;
use super::{Context, Outcome, StepName, run};
use crate::arguments::json_kind;
use crate::outcome::Problem;
use crate::spellings::plain;
use crate::table::Table;

/// What can stand inside.
const INSIDE: [StepName; 12] = [
    StepName::Select,
    StepName::Drop,
    StepName::Rename,
    StepName::Compute,
    StepName::Cast,
    StepName::Sort,
    StepName::Limit,
    StepName::Distinct,
    StepName::Unnest,
    StepName::Join,
    StepName::Filter,
    StepName::Aggregate,
];

pub(super) fn transform(body: &Value, mut table: Table, context: &mut Context) -> Result<Table, Problem> {
    let inner = inside(body, &["operations", "steps", "changes"]).unwrap_or(body);
    match inner {
        Value::Object(changes) => {
            for (name, change) in changes {
                table = apply_change(name, change, table, context)?;
            }
            Ok(table)
        }
        Value::Array(items) => {
            for item in items {
                table = transform_one(item, table, context)?;
            }
            Ok(table)
        }
        other => Err(Problem::new(format!(
            "transform takes an object or a list of changes, not {}",
            json_kind(other)
        ))
        .hint(example())),
    }
}

fn transform_one(item: &Value, mut table: Table, context: &mut Context) -> Result<Table, Problem> {
    let Value::Object(object) = item else {
        return Err(
            Problem::new(format!("a change must be an object, not {}", json_kind(item))).hint(example())
        );
    };
    for naming in ["type", "operation"] {
        if let Some(Value::String(name)) = object.get(naming) {
            let mut rest = object.clone();
            rest.shift_remove(naming);
            return apply_change(name, &Value::Object(rest), table, context);
        }
    }
    for (name, change) in object {
        table = apply_change(name, change, table, context)?;
    }
    Ok(table)
}

fn apply_change(name: &str, change: &Value, table: Table, context: &mut Context) -> Result<Table, Problem> {
    let known = || INSIDE.iter().map(|step| step.as_str());
    // New names for fields, as `rename` takes them.
    let name = if matches!(plain(name).as_str(), "mappings" | "mapping") { "rename" } else { name };
    let step = StepName::parse(name).ok().filter(|step| INSIDE.contains(step));
    let Some(step) = step else { return Err(Problem::unknown("change of transform", name, known())) };
    match run(step, change, table, context)? {
        Outcome::Table(table) => Ok(table),
        Outcome::Report(_) => Err(Problem::unknown("change of transform", name, known())),
    }
}

fn example() -> &'static str {
    r#"example: {"transform": {"compute": {"total": "price * quantity"}, "sort": "-total", "limit": 10}}"#
}
