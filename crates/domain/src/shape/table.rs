//! An array of records as a table: what is in its columns.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::column::{Column, TOP_MAX};
use super::document::Document;
use super::parse::parse;
use super::parts::{NotJson, Parts};
use super::shaper::compact_bytes;
use super::words::{cut, thousands};

/// Rows that are parsed; a table says so if there are more.
const ROWS_MAX: usize = 100_000;

/// Columns that are looked at.
const COLUMNS_MAX: usize = 64;

/// How many columns and frequent values are shown, from all to hardly any.
const LOOKS: [(usize, usize); 9] = [
    (COLUMNS_MAX, TOP_MAX),
    (COLUMNS_MAX, 5),
    (COLUMNS_MAX, 3),
    (COLUMNS_MAX, 0),
    (24, 3),
    (24, 0),
    (10, 0),
    (4, 0),
    (1, 0),
];

/// What was measured.
pub(super) struct Table {
    rows: usize,
    rows_seen: usize,
    /// Items that are not objects.
    others: usize,
    columns: Vec<Column>,
    /// Cells in columns beyond the bound.
    further: usize,
}

/// An array in about `room` bytes; none if it does not hold records.
pub(super) fn of_records(document: &Document, parts: &Parts, room: usize) -> Result<Option<Value>, NotJson> {
    if parts.count < 2 || document.records(parts)?.is_none() {
        return Ok(None);
    }
    let table: Rc<Table> = document.table(parts)?;
    let mut made = Value::Null;
    for (columns_max, top_max) in LOOKS {
        made = table.value(columns_max, top_max);
        if compact_bytes(&made) <= room {
            break;
        }
    }
    Ok(Some(made))
}

impl Table {
    /// Measures the rows of an array.
    pub fn of(document: &Document, parts: &Parts) -> Result<Self, NotJson> {
        let mut table = Self {
            rows: parts.count,
            rows_seen: parts.count.min(ROWS_MAX),
            others: 0,
            columns: Vec::new(),
            further: 0,
        };
        let mut known: HashMap<String, usize> = HashMap::new();
        document.each(parts, ROWS_MAX, &mut |member| {
            match parse(member.value.of(document.text)?)?.value {
                Value::Object(row) => table.take(row, &mut known),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    table.others += 1;
                }
            }
            Ok(())
        })?;
        table.columns.iter_mut().for_each(Column::finish);
        Ok(table)
    }

    fn take(&mut self, row: Map<String, Value>, known: &mut HashMap<String, usize>) {
        for (name, value) in row {
            let at = match known.get(&name) {
                Some(at) => *at,
                None if self.columns.len() >= COLUMNS_MAX => {
                    self.further += 1;
                    continue;
                }
                None => {
                    self.columns.push(Column::new(cut(&name, 100)));
                    known.insert(name, self.columns.len() - 1);
                    self.columns.len() - 1
                }
            };
            if let Some(column) = self.columns.get_mut(at) {
                column.take(&value);
            }
        }
    }

    fn value(&self, columns_max: usize, top_max: usize) -> Value {
        let mut made = Map::new();
        made.insert("rows".to_owned(), json!(self.rows));
        if self.rows_seen < self.rows {
            let words = format!("of the first {} rows", thousands(self.rows_seen as u64));
            made.insert("measured".to_owned(), Value::String(words));
        }
        if self.others > 0 {
            made.insert("rows that are no objects".to_owned(), json!(self.others));
        }
        let mut columns = Map::new();
        for column in self.columns.iter().take(columns_max) {
            let mut name = column.name.clone();
            while columns.contains_key(&name) {
                name.push('…');
            }
            columns.insert(name, column.value(self.rows_seen - self.others, top_max));
        }
        made.insert("columns".to_owned(), Value::Object(columns));
        let hidden = self.columns.len().saturating_sub(columns_max);
        if hidden > 0 {
            let all = thousands(self.columns.len() as u64);
            made.insert(
                "…".to_owned(),
                json!(format!("{} of {all} columns not shown", thousands(hidden as u64))),
            );
        }
        if self.further > 0 {
            let words =
                format!("{} cells in columns beyond the first {COLUMNS_MAX}", thousands(self.further as u64));
            made.insert("not measured".to_owned(), Value::String(words));
        }
        Value::Object(made)
    }
}
