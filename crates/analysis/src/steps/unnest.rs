//! `unnest`: a row for each item of a list.

use serde_json::Value;

use super::Context;
use crate::arguments::Arguments;
use crate::bounds::COLUMNS_MAX;
use crate::column::{Column, Row, row_index};
use crate::kind::Kind;
use crate::outcome::Problem;
use crate::read::read_lists;
use crate::table::{NESTED, Table};

/// The column that items without members are read into.
const VALUE: &str = "value";

/// Items that are objects become columns `list.member`; others stay under the list's name. A row whose list
/// is empty or missing is left out, unless `keep_empty` is set.
pub(super) fn unnest(body: &Value, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let (field, keeps_empty) = match body {
        Value::String(field) => (field.as_str(), false),
        other => {
            let arguments = Arguments::new("unnest", other, &["field", "keep_empty"], &["path"])?;
            (arguments.required_text(&["field", "path"])?, arguments.flag(&["keep_empty"])?)
        }
    };
    let column = table.column(field)?;
    if column.kind() == Kind::Null {
        return Ok(if keeps_empty { table.clone() } else { table.slice(0, 0) });
    }
    if !table.is_list(field) {
        let message = format!("field {field:?} has type {}, not a list", column.kind().as_str());
        let lists: Vec<String> = table.lists.iter().map(|list| crate::table::display_name(list)).collect();
        let hint = if lists.is_empty() {
            "the table has no lists".to_owned()
        } else {
            format!("lists: {}", lists.join(", "))
        };
        return Err(Problem::new(message).hint(hint).field(field));
    }
    let name = column.name();
    let texts = column.texts().into_iter().flat_map(|texts| texts.iter().enumerate());
    let lists = texts.filter_map(|(row, text)| text.map(|text| (row_index(row), text)));
    let (items, parents) = read_lists(lists, &mut context.notes)?;
    if keeps_empty {
        with_empty(table, name, &items, &parents)
    } else {
        let picks: Vec<Option<Row>> = (0..row_index(items.rows())).map(Some).collect();
        with_items(table, name, &items, &parents, &picks)
    }
}

/// Rows without items stay, with missing items.
fn with_empty(table: &Table, name: &str, items: &Table, parents: &[Row]) -> Result<Table, Problem> {
    let (mut rows, mut picks) = (Vec::with_capacity(parents.len()), Vec::with_capacity(parents.len()));
    let mut next = 0;
    for row in 0..row_index(table.rows()) {
        let before = next;
        while parents.get(next) == Some(&row) {
            rows.push(row);
            picks.push(Some(row_index(next)));
            next += 1;
        }
        if before == next {
            rows.push(row);
            picks.push(None);
        }
    }
    with_items(table, name, items, &rows, &picks)
}

/// The rows of `table` without the list, beside the items that were picked for them.
fn with_items(
    table: &Table,
    name: &str,
    items: &Table,
    rows: &[Row],
    picks: &[Option<Row>],
) -> Result<Table, Problem> {
    let mut columns: Vec<Column> = table.without(&[name.to_owned()]).take(rows).columns().to_vec();
    let mut lists = table.lists.clone();
    lists.remove(name);
    for column in items.columns() {
        let own = column.name();
        let full =
            if own == VALUE && items.width() == 1 { name.to_owned() } else { format!("{name}{NESTED}{own}") };
        if items.lists.contains(own) {
            lists.insert(full.clone());
        }
        columns.push(column.take_or_missing(picks).renamed(full));
    }
    if columns.len() > COLUMNS_MAX {
        return Err(Problem::new(format!("the table would have more than {COLUMNS_MAX} columns"))
            .hint("select fewer columns first"));
    }
    Ok(Table::new(rows.len(), columns)?.with_lists(lists))
}
