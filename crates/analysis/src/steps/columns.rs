//! `select`, `drop`, `rename` and `compute`: which columns there are, and what they are called.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Context;
use crate::arguments::{json_kind, texts_of};
use crate::bounds::COLUMNS_MAX;
use crate::column::Column;
use crate::expression::Expression;
use crate::outcome::Problem;
use crate::table::{NESTED, Table};

/// The named columns in the named order. An object stands for all its members.
pub(super) fn select(body: &Value, table: &Table) -> Result<Table, Problem> {
    Ok(table.select(&columns_of("select", body, table)?))
}

/// All but the named columns.
pub(super) fn drop(body: &Value, table: &Table) -> Result<Table, Problem> {
    Ok(table.without(&columns_of("drop", body, table)?))
}

/// Internal names, each once.
fn columns_of(step: &str, body: &Value, table: &Table) -> Result<Vec<String>, Problem> {
    let inner = inside(body, &["fields", "columns", "field", "column", "keep"]).unwrap_or(body);
    let Some(fields) = texts_of(inner) else {
        return Err(Problem::new(format!("{step} takes a list of fields, not {}", json_kind(inner)))
            .hint(format!("example: {{\"{step}\": [\"name\", \"price\"]}}")));
    };
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    for field in fields {
        let found = match table.find(&field) {
            Some(name) => vec![name.to_owned()],
            None => table.members(&field),
        };
        if found.is_empty() {
            return Err(table.unknown_field(&field));
        }
        names.extend(found.into_iter().filter(|name| seen.insert(name.clone())));
    }
    Ok(names)
}

/// What an object has under the first of these names.
pub(super) fn inside<'a>(body: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| body.get(*name))
}

/// Columns under new names: `{"old": "new"}`.
pub(super) fn rename(body: &Value, table: &Table) -> Result<Table, Problem> {
    let pairs = renamings(body, table)?;
    let mut renamed = Vec::new();
    for (old, new) in &pairs {
        let Some(name) = table.find(old) else {
            let is_turned = pairs.iter().all(|(old, new)| !table.has(old) && table.has(new));
            return Err(match is_turned {
                true => table.unknown_field(old).hint(format!(
                    "rename takes {{\"old\": \"new\"}}: write {{\"rename\": {{{new:?}: {old:?}}}}}"
                )),
                false => table.unknown_field(old),
            });
        };
        renamed.push((name.to_owned(), new.replace(NESTED, " ")));
    }
    let new_name = |column: &Column| renamed.iter().find(|(old, _)| old == column.name()).map(|(_, new)| new);
    let with_new_name = |column: &Column| match new_name(column) {
        Some(new) => column.clone().renamed(new),
        None => column.clone(),
    };
    let columns: Vec<Column> = table.columns().iter().map(with_new_name).collect();
    let mut seen = BTreeSet::new();
    if let Some(twice) = columns.iter().find(|column| !seen.insert(column.name())) {
        let name = crate::table::display_name(twice.name());
        return Err(Problem::new(format!("two columns would be named {name:?}"))
            .hint("drop one of them first")
            .field(name));
    }
    let lists = table
        .lists
        .iter()
        .map(|list| renamed.iter().find(|(old, _)| old == list).map_or(list.clone(), |(_, new)| new.clone()))
        .collect();
    Ok(Table::new(table.rows(), columns)?.with_lists(lists))
}

/// Old and new names: an object of them, or a list of `{"from": "old", "to": "new"}`.
fn renamings(body: &Value, table: &Table) -> Result<Vec<(String, String)>, Problem> {
    const EXAMPLE: &str = "example: {\"rename\": {\"old\": \"new\"}}";
    let around = ["fields", "columns", "mappings", "mapping", "names"];
    let inner = inside(body, &around).filter(|inner| inner.is_object() || inner.is_array()).unwrap_or(body);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let pair = |item: &Value| {
        let old = text(inside(item, &["from", "old", "old_name", "field", "column", "source"]));
        old.zip(text(inside(item, &["to", "new", "new_name", "as", "target"])))
    };
    match inner {
        // One pair by itself, unless its names are those of columns.
        Value::Object(pairs) if !pairs.keys().any(|name| table.has(name)) && pair(inner).is_some() => {
            Ok(pair(inner).into_iter().collect())
        }
        Value::Object(pairs) => {
            let named = |(old, new): (&String, &Value)| match new {
                Value::String(new) => Ok((old.clone(), new.clone())),
                other => Err(Problem::new(format!(
                    "the new name of {old:?} must be text, not {}",
                    json_kind(other)
                ))
                .hint(EXAMPLE)
                .field(old)),
            };
            pairs.iter().map(named).collect()
        }
        Value::Array(items) if !items.is_empty() => {
            let named = |item: &Value| {
                pair(item).ok_or_else(|| {
                    Problem::new("a list of new names needs \"from\" and \"to\" in each").hint(EXAMPLE)
                })
            };
            items.iter().map(named).collect()
        }
        other => Err(Problem::new(format!(
            "rename takes an object of old and new names, not {}",
            json_kind(other)
        ))
        .hint(EXAMPLE)),
    }
}

/// New columns from expressions: `{"total": "price * quantity"}`, each seeing those before it.
pub(super) fn compute(body: &Value, mut table: Table, context: &mut Context) -> Result<Table, Problem> {
    for (name, expression) in pairs_of(body)? {
        let problem_of =
            |problem: Problem| Problem { message: format!("in {name:?}: {}", problem.message), ..problem };
        let expression = Expression::parse(&expression).map_err(problem_of)?;
        let values = expression.evaluate(&table, &mut context.notes).map_err(problem_of)?;
        let internal = table.find(&name).map_or_else(|| name.replace(NESTED, " "), str::to_owned);
        if table.width() >= COLUMNS_MAX {
            return Err(Problem::new(format!("the table would have more than {COLUMNS_MAX} columns")));
        }
        table.lists.remove(&internal);
        table.set_column(Column::new(internal, values));
    }
    Ok(table)
}

fn pairs_of(body: &Value) -> Result<Vec<(String, String)>, Problem> {
    let wrong = || {
        Problem::new("compute takes an object of names and expressions")
            .hint("example: {\"compute\": {\"total\": \"price * quantity\"}}")
    };
    let around = ["expressions", "fields", "columns", "computed"];
    if let Some(inner) = inside(body, &around).filter(|inner| inner.is_object() || inner.is_array()) {
        return pairs_of(inner);
    }
    match body {
        Value::Object(object) => {
            let name = inside(body, &["name", "as", "field", "column", "new_field"]);
            match (name, inside(body, &["expression", "formula"])) {
                (Some(Value::String(name)), Some(Value::String(expression))) => {
                    Ok(vec![(name.clone(), expression.clone())])
                }
                (Some(_) | None, Some(_) | None) => {
                    let pair = |(name, value): (&String, &Value)| match value {
                        Value::String(text) => Ok((name.clone(), text.clone())),
                        Value::Number(number) => Ok((name.clone(), number.to_string())),
                        Value::Bool(flag) => Ok((name.clone(), flag.to_string())),
                        Value::Null | Value::Array(_) | Value::Object(_) => Err(wrong().field(name.as_str())),
                    };
                    object.iter().map(pair).collect()
                }
            }
        }
        Value::Array(items) => {
            let lists = items.iter().map(pairs_of).collect::<Result<Vec<_>, _>>()?;
            Ok(lists.into_iter().flatten().collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(wrong()),
    }
}
