//! An array of records as a table: what is in its columns.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::column::{Column, Detail};
use super::document::Document;
use super::fit::compact_bytes;
use super::parse::parse;
use super::parts::{NotJson, Parts};
use super::words::not_shown;
use crate::quantity::{counted_grouped, grouped};
use crate::short_text::cut_bytes;

/// Rows that are parsed; a table says so if there are more.
const ROWS_MAX: usize = 100_000;

/// Columns that are looked at.
const COLUMNS_MAX: usize = 64;

/// What the words take that say what is missing in a table.
const MISSING_BYTES: usize = 100;

pub(super) struct Table {
    rows: usize,
    rows_seen: usize,
    /// Items that are not objects.
    others: usize,
    columns: Vec<Shown>,
    /// Cells in columns beyond the bound.
    further: usize,
}

/// A column, ready to be shown in each [`Detail`].
struct Shown {
    name: String,
    looks: Vec<Look>,
}

struct Look {
    value: Value,
    bytes: usize,
}

impl Shown {
    /// What it takes with its name.
    fn bytes(&self, detail: usize) -> usize {
        self.name.len() + 4 + self.looks.get(detail).map_or(0, |look| look.bytes)
    }
}

impl Table {
    /// Measures the rows of an array.
    pub fn of(document: &Document, parts: &Parts) -> Result<Self, NotJson> {
        let mut rows = Rows::default();
        document.each(parts, ROWS_MAX, &mut |member| {
            match parse(member.value.of(document.text)?)?.value {
                Value::Object(row) => rows.take(row),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    rows.others += 1;
                }
            }
            Ok(())
        })?;
        let rows_seen = parts.count.min(ROWS_MAX);
        let Rows { columns, others, further, .. } = rows;
        let columns = columns.into_iter().map(|column| shown(column, rows_seen - others)).collect();
        Ok(Self { rows: parts.count, rows_seen, others, columns, further })
    }

    /// In about `room` bytes, and what is missing then.
    ///
    /// All columns with all that is known if there is room; otherwise as many as there is room for, and
    /// of each of them as much.
    pub fn value(&self, room: usize) -> (Value, Option<String>) {
        let mut made = self.frame();
        let frame = compact_bytes(&Value::Object(made.clone())) + "\"columns\":{},".len();
        let room = room.saturating_sub(frame);
        let most = Detail::ALL.len() - 1;
        let details = match self.columns.iter().map(|column| column.bytes(most)).sum::<usize>() <= room {
            true => vec![most; self.columns.len()],
            false => self.details(room.saturating_sub(MISSING_BYTES)),
        };
        let mut columns = Map::new();
        let mut shortened = 0;
        for (column, detail) in self.columns.iter().zip(&details) {
            let Some(look) = column.looks.get(*detail) else { continue };
            let mut name = column.name.clone();
            while columns.contains_key(&name) {
                name.push('…');
            }
            columns.insert(name, look.value.clone());
            shortened += usize::from(column.bytes(*detail) < column.bytes(most));
        }
        made.insert("columns".to_owned(), Value::Object(columns));
        let missing = self.missing(self.columns.len() - details.len(), shortened);
        if let Some(missing) = &missing {
            made.insert("…".to_owned(), Value::String(missing.clone()));
        }
        (Value::Object(made), missing)
    }

    /// For each column that is shown the number of its detail: every one gets a little before any gets
    /// more.
    fn details(&self, room: usize) -> Vec<usize> {
        let mut left = room;
        let mut details = Vec::new();
        for column in &self.columns {
            let bytes = column.bytes(0);
            // A table without any column says nothing.
            if bytes > left && !details.is_empty() {
                break;
            }
            left = left.saturating_sub(bytes);
            details.push(0);
        }
        for detail in 1..Detail::ALL.len() {
            for (column, chosen) in self.columns.iter().zip(&mut details) {
                let more = column.bytes(detail).saturating_sub(column.bytes(*chosen));
                if more <= left {
                    left -= more;
                    *chosen = detail;
                }
            }
        }
        details
    }

    fn missing(&self, hidden: usize, shortened: usize) -> Option<String> {
        let hidden = (hidden > 0).then(|| not_shown(hidden, self.columns.len(), "column"));
        let shortened = (shortened > 0).then(|| {
            format!("ranges or most frequent values of {} not shown", counted_grouped(shortened, "column"))
        });
        match (hidden, shortened) {
            (Some(hidden), Some(shortened)) => Some(format!("{hidden}; {shortened}")),
            (hidden, shortened) => hidden.or(shortened),
        }
    }

    /// What is told beside the columns.
    fn frame(&self) -> Map<String, Value> {
        let mut made = Map::new();
        made.insert("rows".to_owned(), json!(self.rows));
        if self.rows_seen < self.rows {
            let words = format!("of the first {} rows", grouped(self.rows_seen as u64));
            made.insert("measured".to_owned(), Value::String(words));
        }
        if self.others > 0 {
            made.insert("rows that aren't objects".to_owned(), json!(self.others));
        }
        if self.further > 0 {
            let words =
                format!("{} cells in columns beyond the first {COLUMNS_MAX}", grouped(self.further as u64));
            made.insert("not measured".to_owned(), Value::String(words));
        }
        made
    }
}

fn shown(mut column: Column, rows: usize) -> Shown {
    column.finish();
    let looks = Detail::ALL
        .into_iter()
        .map(|detail| {
            let value = column.value(rows, detail);
            Look { bytes: compact_bytes(&value), value }
        })
        .collect();
    Shown { name: column.name, looks }
}

/// The rows while they are measured.
#[derive(Default)]
struct Rows {
    columns: Vec<Column>,
    known: HashMap<String, usize>,
    others: usize,
    further: usize,
}

impl Rows {
    fn take(&mut self, row: Map<String, Value>) {
        for (name, value) in row {
            let at = match self.known.get(&name) {
                Some(at) => *at,
                None if self.columns.len() >= COLUMNS_MAX => {
                    self.further += 1;
                    continue;
                }
                None => {
                    self.columns.push(Column::new(cut_bytes(&name, 100)));
                    self.known.insert(name, self.columns.len() - 1);
                    self.columns.len() - 1
                }
            };
            if let Some(column) = self.columns.get_mut(at) {
                column.take(&value);
            }
        }
    }
}
