//! `unnest`: a row for each item of a list.

use polars_core::prelude::*;
use serde_json::Value;

use super::Context;
use super::groups::index;
use crate::arguments::Arguments;
use crate::bounds::COLUMNS_MAX;
use crate::outcome::Problem;
use crate::read::read_lists;
use crate::table::{Kind, NESTED, Table, engine_problem};

/// The column that items without members are read into.
const VALUE: &str = "value";

/// Items that are objects become columns `list.member`; others stay under the list's name. A row whose list
/// is empty or missing is left out, unless `keep_empty` is set.
pub(super) fn unnest(body: &Value, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let (field, keeps_empty) = match body {
        Value::String(field) => (field.as_str(), false),
        other => {
            let arguments = Arguments::new("unnest", other, &["field", "keep_empty"])?;
            (arguments.required_text(&["field"])?, arguments.flag(&["keep_empty"])?)
        }
    };
    let column = table.column(field)?;
    if Kind::of(column) == Kind::Nothing {
        return Ok(if keeps_empty { table.clone() } else { table.with_frame(table.frame.slice(0, 0)) });
    }
    if !table.is_list(field) {
        let message = format!("field {field:?} holds {}, not lists", Kind::of(column).as_str());
        let lists: Vec<String> = table.lists.iter().map(|list| crate::table::shown(list)).collect();
        let hint = if lists.is_empty() {
            "the table has no lists".to_owned()
        } else {
            format!("lists: {}", lists.join(", "))
        };
        return Err(Problem::new(message).hint(hint).field(field));
    }
    let name = column.name().to_string();
    let texts = column.str().map_err(engine_problem)?;
    let lists = texts.iter().enumerate().filter_map(|(row, text)| text.map(|text| (index(row), text)));
    let (items, parents) = read_lists(lists, &mut context.notes)?;
    if keeps_empty {
        with_empty(table, &name, &items, &parents)
    } else {
        joined(
            table,
            &name,
            &items,
            &parents
                .into_iter()
                .map(Some)
                .zip(0..)
                .map(|(parent, item)| (parent, Some(item)))
                .collect::<Vec<_>>(),
        )
    }
}

/// Rows without items stay, with missing items.
fn with_empty(table: &Table, name: &str, items: &Table, parents: &[IdxSize]) -> Result<Table, Problem> {
    let mut pairs = Vec::with_capacity(parents.len());
    let mut next = 0;
    for row in 0..index(table.rows()) {
        let before = next;
        while parents.get(next) == Some(&row) {
            pairs.push((Some(row), Some(index(next))));
            next += 1;
        }
        if before == next {
            pairs.push((Some(row), None));
        }
    }
    joined(table, name, items, &pairs)
}

fn joined(
    table: &Table,
    name: &str,
    items: &Table,
    pairs: &[(Option<IdxSize>, Option<IdxSize>)],
) -> Result<Table, Problem> {
    let rows = IdxCa::from_iter_options(PlSmallStr::EMPTY, pairs.iter().map(|(parent, _)| *parent));
    let picks = IdxCa::from_iter_options(PlSmallStr::EMPTY, pairs.iter().map(|(_, item)| *item));
    let mut columns =
        table.frame.drop(name).map_err(engine_problem)?.take(&rows).map_err(engine_problem)?.into_columns();
    let mut lists = table.lists.clone();
    lists.remove(name);
    for column in items.frame.columns() {
        let own = column.name().to_string();
        let full = if own == VALUE && items.frame.width() == 1 {
            name.to_owned()
        } else {
            format!("{name}{NESTED}{own}")
        };
        if items.lists.contains(&own) {
            lists.insert(full.clone());
        }
        columns.push(column.take(&picks).map_err(engine_problem)?.with_name(full.into()));
    }
    if columns.len() > COLUMNS_MAX {
        return Err(Problem::new(format!("there would be more than {COLUMNS_MAX} columns"))
            .hint("select fewer columns first"));
    }
    Ok(Table { lists, ..Table::new(pairs.len(), columns)? })
}
