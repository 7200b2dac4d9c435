//! A table: named columns of one kind each, and how a caller's field names find them.
//!
//! Members of nested objects are columns of their own. Between the parts of such a name stands
//! [`NESTED`], so that a dot inside a key is not taken for a step down; callers write dots for both.

use std::collections::BTreeSet;

use polars_core::prelude::*;

use crate::nearest::nearest;
use crate::outcome::{Problem, listed};
use crate::read::list_has_key;
use crate::values::Values;

/// Stands between the parts of a nested column's name. No key has it: the reader takes it out.
pub(crate) const NESTED: char = '\u{1f}';

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean,
    Integer,
    Number,
    Text,
    Date,
    Datetime,
    /// Nothing but missing values.
    Nothing,
}

impl Kind {
    pub(crate) fn of(column: &Column) -> Kind {
        match column.dtype() {
            DataType::Boolean => Kind::Boolean,
            DataType::Int64 => Kind::Integer,
            DataType::Float64 => Kind::Number,
            DataType::Date => Kind::Date,
            DataType::Datetime(..) => Kind::Datetime,
            DataType::Null => Kind::Nothing,
            // Whatever is read is brought to these kinds first.
            _ => Kind::Text,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Kind::Boolean => "boolean",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Text => "text",
            Kind::Date => "date",
            Kind::Datetime => "datetime",
            Kind::Nothing => "nothing (only missing values)",
        }
    }

    pub(crate) fn is_numeric(self) -> bool {
        matches!(self, Kind::Integer | Kind::Number | Kind::Nothing)
    }
}

/// Rows and columns, and which of the text columns are lists written as JSON.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) frame: DataFrame,
    /// Internal names of columns whose cells are JSON lists.
    pub(crate) lists: BTreeSet<String>,
}

impl Table {
    pub(crate) fn new(rows: usize, columns: Vec<Column>) -> Result<Self, Problem> {
        let frame = DataFrame::new(rows, columns).map_err(engine_problem)?;
        Ok(Self { frame, lists: BTreeSet::new() })
    }

    pub(crate) fn rows(&self) -> usize {
        self.frame.height()
    }

    /// The same lists, other rows or columns.
    pub(crate) fn with_frame(&self, frame: DataFrame) -> Self {
        let lists =
            self.lists.iter().filter(|name| frame.get_column_index(name).is_some()).cloned().collect();
        Self { frame, lists }
    }

    /// The columns' names as callers write them.
    pub(crate) fn names(&self) -> Vec<String> {
        self.frame.columns().iter().map(|column| shown(column.name())).collect()
    }

    /// The internal name of a caller's field.
    pub(crate) fn find(&self, field: &str) -> Option<&str> {
        let columns = self.frame.columns();
        let exact = columns.iter().find(|column| column.name().as_str() == field);
        exact
            .or_else(|| columns.iter().find(|column| is_called(column.name(), field)))
            .map(|column| column.name().as_str())
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.find(field).is_some()
    }

    pub(crate) fn column(&self, field: &str) -> Result<&Column, Problem> {
        let Some(name) = self.find(field) else { return Err(self.no_field(field)) };
        self.frame.column(name).map_err(engine_problem)
    }

    pub(crate) fn is_list(&self, field: &str) -> bool {
        self.find(field).is_some_and(|name| self.lists.contains(name))
    }

    /// The values of a field that has to be numeric.
    pub(crate) fn numbers(&self, field: &str) -> Result<Vec<Option<f64>>, Problem> {
        let column = self.column(field)?;
        let kind = Kind::of(column);
        if !kind.is_numeric() {
            let hint = format!("cast it first: {{\"cast\": {{\"{field}\": \"number\"}}}}");
            let message = format!("field {field:?} holds {}, and this needs numbers", self.kind_word(column));
            return Err(Problem::new(message).hint(hint).field(field));
        }
        Ok(Values::of(column)?.into_numbers())
    }

    /// The nested columns under a field: `user` for `user.name` and `user.id`.
    pub(crate) fn members(&self, field: &str) -> Vec<String> {
        let prefix = format!("{field}.");
        let columns = self.frame.columns().iter();
        columns
            .filter(|column| shown(column.name()).starts_with(&prefix))
            .map(|column| column.name().to_string())
            .collect()
    }

    /// What a column holds, in a word.
    pub(crate) fn kind_word(&self, column: &Column) -> &'static str {
        if self.lists.contains(column.name().as_str()) { "list" } else { Kind::of(column).as_str() }
    }

    /// How to reach a field that the objects of a list have.
    fn way_into_list(&self, field: &str) -> Option<String> {
        let key = field.split('.').next().unwrap_or_default();
        let has_key = |name: &&String| {
            let texts = self.frame.column(name).ok().and_then(|column| column.str().ok());
            texts.and_then(|texts| texts.iter().flatten().next()).is_some_and(|list| list_has_key(list, key))
        };
        let list = shown(self.lists.iter().find(has_key)?);
        Some(if self.rows() == 1 {
            format!("the objects in the list {list:?} have it; to work on them set data_field: {list:?}")
        } else {
            format!(
                "the objects in the list {list:?} have it; take it apart first: {{\"unnest\": {list:?}}}, then it is \"{list}.{field}\""
            )
        })
    }

    pub(crate) fn no_field(&self, field: &str) -> Problem {
        let names = self.names();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let problem = Problem::new(format!("there is no field {field:?}")).field(field);
        let members = self.members(field);
        if !members.is_empty() {
            let shown: Vec<String> = members.iter().map(|name| shown(name)).collect();
            let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
            return problem.hint(format!("it is an object; name one of its members: {}", listed(&shown)));
        }
        let list = known.iter().find(|name| field.starts_with(&format!("{name}.")) && self.is_list(name));
        if let Some(list) = list {
            return problem
                .hint(format!("{list:?} is a list; take it apart first: {{\"unnest\": \"{list}\"}}"));
        }
        if known.is_empty() {
            return problem.hint("the table has no columns: the data is empty");
        }
        let with_kinds: Vec<String> = self
            .frame
            .columns()
            .iter()
            .map(|column| format!("{} ({})", shown(column.name()), self.kind_word(column)))
            .collect();
        let with_kinds: Vec<&str> = with_kinds.iter().map(String::as_str).collect();
        if let Some(way) = self.way_into_list(field) {
            return problem.hint(format!("{way}; fields: {}", listed(&with_kinds)));
        }
        match nearest(field, known.iter().copied()) {
            Some(near) => problem.hint(format!("did you mean {near:?}? fields: {}", listed(&with_kinds))),
            None => problem.hint(format!("fields: {}", listed(&with_kinds))),
        }
    }
}

/// A column's name as callers write it.
pub(crate) fn shown(name: &str) -> String {
    name.replace(NESTED, ".")
}

fn is_called(name: &str, field: &str) -> bool {
    name.len() == field.len() && name.chars().map(|c| if c == NESTED { '.' } else { c }).eq(field.chars())
}

/// What the columns' library could not do.
pub(crate) fn engine_problem(error: PolarsError) -> Problem {
    let text = error.to_string();
    let short: String = text.lines().next().unwrap_or_default().chars().take(300).collect();
    Problem::new(format!("the data could not be worked on: {short}"))
}
