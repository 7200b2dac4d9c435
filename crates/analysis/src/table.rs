//! A table: named columns of one kind each, and how a caller's field names find them.
//!
//! Members of nested objects are columns of their own. Between the parts of such a name stands
//! [`NESTED`], so that a dot inside a key is not taken for a step down; callers write dots for both.

use std::collections::{BTreeSet, HashSet};

use crate::column::{Column, Row, row_index};
use crate::json_keys::list_has_key;
use crate::nearest::nearest;
use crate::outcome::{Problem, listed};

/// Stands between the parts of a nested column's name. No key has it: the reader takes it out.
pub(crate) const NESTED: char = '\u{1f}';

/// Rows and columns, and which of the text columns are lists written as JSON.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<Column>,
    /// Beside the columns: a table without columns has rows too.
    rows: usize,
    /// Internal names of columns whose cells are JSON lists.
    pub(crate) lists: BTreeSet<String>,
}

impl Table {
    /// A table of columns with so many rows each.
    ///
    /// # Errors
    /// Two columns have one name, or one has another number of rows.
    pub(crate) fn new(rows: usize, columns: Vec<Column>) -> Result<Self, Problem> {
        let mut names = HashSet::with_capacity(columns.len());
        for column in &columns {
            if !names.insert(column.name()) {
                return Err(Problem::new(format!(
                    "two columns are called {:?}",
                    display_name(column.name())
                ))
                .hint("rename one of them first"));
            }
            if column.len() != rows {
                return Err(Problem::new(format!(
                    "the data could not be worked on: the column {:?} has {} rows, and others have {rows}",
                    display_name(column.name()),
                    column.len()
                )));
            }
        }
        Ok(Self { columns, rows, lists: BTreeSet::new() })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// A column by its internal name.
    pub(crate) fn by_name(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// These rows in this order.
    pub(crate) fn take(&self, rows: &[Row]) -> Self {
        self.derived(rows.len(), self.columns.iter().map(|column| column.take(rows)).collect())
    }

    /// These rows in this order; `None` gives a row of missing values.
    pub(crate) fn take_or_missing(&self, rows: &[Option<Row>]) -> Self {
        self.derived(rows.len(), self.columns.iter().map(|column| column.take_or_missing(rows)).collect())
    }

    /// The rows that are marked.
    pub(crate) fn filter(&self, mask: &[bool]) -> Self {
        let rows: Vec<Row> = mask
            .iter()
            .enumerate()
            .filter(|(_, is_marked)| **is_marked)
            .map(|(row, _)| row_index(row))
            .collect();
        self.take(&rows)
    }

    /// So many rows from `offset` on, or as many as there are.
    pub(crate) fn slice(&self, offset: usize, count: usize) -> Self {
        let start = offset.min(self.rows);
        let end = start.saturating_add(count).min(self.rows);
        self.take(&(row_index(start)..row_index(end)).collect::<Vec<_>>())
    }

    /// The columns with these internal names, in this order.
    pub(crate) fn select(&self, names: &[String]) -> Self {
        self.derived(self.rows, names.iter().filter_map(|name| self.by_name(name)).cloned().collect())
    }

    /// All columns but those with these internal names.
    pub(crate) fn without(&self, names: &[String]) -> Self {
        let is_kept = |column: &&Column| !names.iter().any(|name| name == column.name());
        self.derived(self.rows, self.columns.iter().filter(is_kept).cloned().collect())
    }

    /// Puts a column in the place of the one with its name, or behind all others.
    pub(crate) fn set_column(&mut self, column: Column) {
        match self.columns.iter_mut().find(|known| known.name() == column.name()) {
            Some(known) => *known = column,
            None => self.columns.push(column),
        }
    }

    /// With those of these lists that it has as columns.
    pub(crate) fn with_lists(mut self, mut lists: BTreeSet<String>) -> Self {
        lists.retain(|name| self.by_name(name).is_some());
        self.lists = lists;
        self
    }

    /// The same lists, other rows or columns.
    fn derived(&self, rows: usize, columns: Vec<Column>) -> Self {
        Self { columns, rows, lists: BTreeSet::new() }.with_lists(self.lists.clone())
    }

    /// The columns' names as callers write them.
    pub(crate) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| display_name(column.name())).collect()
    }

    /// The internal name of a caller's field.
    pub(crate) fn find(&self, field: &str) -> Option<&str> {
        self.resolve(field).map(Column::name)
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.resolve(field).is_some()
    }

    /// The column of a caller's field.
    pub(crate) fn column(&self, field: &str) -> Result<&Column, Problem> {
        self.resolve(field).ok_or_else(|| self.unknown_field(field))
    }

    fn resolve(&self, field: &str) -> Option<&Column> {
        self.by_name(field).or_else(|| self.columns.iter().find(|column| is_written_as(column.name(), field)))
    }

    pub(crate) fn is_list(&self, field: &str) -> bool {
        self.find(field).is_some_and(|name| self.lists.contains(name))
    }

    /// The values of a field that has to be numeric.
    pub(crate) fn numbers(&self, field: &str) -> Result<Vec<Option<f64>>, Problem> {
        let column = self.column(field)?;
        if !column.kind().is_numeric() {
            let hint = format!("cast it first: {{\"cast\": {{\"{field}\": \"number\"}}}}");
            let message =
                format!("field {field:?} has type {}, but this needs numbers", self.type_name(column));
            return Err(Problem::new(message).hint(hint).field(field));
        }
        Ok(column.values().numbers())
    }

    /// The nested columns under a field: `user` for `user.name` and `user.id`.
    pub(crate) fn members(&self, field: &str) -> Vec<String> {
        let prefix = format!("{field}.");
        self.columns
            .iter()
            .filter(|column| display_name(column.name()).starts_with(&prefix))
            .map(|column| column.name().to_string())
            .collect()
    }

    /// What a column holds, in a word.
    pub(crate) fn type_name(&self, column: &Column) -> &'static str {
        if self.lists.contains(column.name()) { "list" } else { column.kind().as_str() }
    }

    /// How to reach a field that the objects of a list have.
    fn list_hint(&self, field: &str) -> Option<String> {
        let key = field.split('.').next().unwrap_or_default();
        let has_key = |name: &&String| {
            let texts = self.by_name(name).and_then(Column::texts);
            texts.and_then(|texts| texts.iter().flatten().next()).is_some_and(|list| list_has_key(list, key))
        };
        let list = display_name(self.lists.iter().find(has_key)?);
        Some(if self.rows() == 1 {
            format!("the objects in the list {list:?} have it; to use them set data_field: {list:?}")
        } else {
            format!(
                "the objects in the list {list:?} have it; unnest it first: {{\"unnest\": {list:?}}}, then use \"{list}.{field}\""
            )
        })
    }

    pub(crate) fn unknown_field(&self, field: &str) -> Problem {
        let names = self.names();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let problem = Problem::new(format!("unknown field {field:?}")).field(field);
        let members = self.members(field);
        if !members.is_empty() {
            let shown: Vec<String> = members.iter().map(|name| display_name(name)).collect();
            let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
            return problem.hint(format!("it's an object; use one of its members: {}", listed(&shown)));
        }
        let list = known.iter().find(|name| field.starts_with(&format!("{name}.")) && self.is_list(name));
        if let Some(list) = list {
            return problem.hint(format!("{list:?} is a list; unnest it first: {{\"unnest\": \"{list}\"}}"));
        }
        if known.is_empty() {
            return problem.hint("the table has no columns: the data is empty");
        }
        let with_kinds: Vec<String> = self
            .columns
            .iter()
            .map(|column| format!("{} ({})", display_name(column.name()), self.type_name(column)))
            .collect();
        let with_kinds: Vec<&str> = with_kinds.iter().map(String::as_str).collect();
        if let Some(way) = self.list_hint(field) {
            return problem.hint(format!("{way}; fields: {}", listed(&with_kinds)));
        }
        match nearest(field, known.iter().copied()) {
            Some(near) => problem.hint(format!("did you mean {near:?}? fields: {}", listed(&with_kinds))),
            None => problem.hint(format!("fields: {}", listed(&with_kinds))),
        }
    }
}

/// A column's name as callers write it.
pub(crate) fn display_name(name: &str) -> String {
    name.replace(NESTED, ".")
}

fn is_written_as(name: &str, field: &str) -> bool {
    name.len() == field.len() && name.chars().map(|c| if c == NESTED { '.' } else { c }).eq(field.chars())
}
