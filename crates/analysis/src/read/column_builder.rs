//! One column on its way in: takes values of any kind, and decides at the end what it holds.
//!
//! Whole numbers and fractions make a column of numbers. Other mixtures become text, with a note that
//! says what was mixed: nothing is changed or dropped in silence.

use crate::column::Column;
use crate::json_scanner::{Number, Scalar};
use crate::outcome::Notes;
use crate::table::display_name;
use crate::texts::TextsBuilder;
use crate::values::{Values, number_text};

/// How often each kind of value came.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    booleans: usize,
    integers: usize,
    bigs: usize,
    floats: usize,
    texts: usize,
    lists: usize,
}

/// What has come so far, as narrow as it can be.
enum Storage {
    Empty,
    Booleans(Vec<Option<bool>>),
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(TextsBuilder),
}

/// Collects the values of one column, row by row.
pub(super) struct ColumnBuilder {
    name: String,
    rows: usize,
    counts: Counts,
    storage: Storage,
    has_duplicates: bool,
}

impl ColumnBuilder {
    pub(super) fn new(name: String) -> Self {
        Self { name, rows: 0, counts: Counts::default(), storage: Storage::Empty, has_duplicates: false }
    }

    /// The value of one row. Rows between were missing; of two values for one row the first counts.
    pub(super) fn put(&mut self, row: usize, value: Scalar<'_>) {
        if row < self.rows {
            self.has_duplicates = true;
            return;
        }
        self.pad(row);
        match value {
            Scalar::Null => self.push_missing(),
            Scalar::Boolean(value) => self.put_boolean(value),
            Scalar::Number(Number::Integer(value)) => self.put_integer(value),
            Scalar::Number(Number::Float(value)) => self.put_float(value),
            Scalar::Number(Number::Big(text)) => {
                self.counts.bigs += 1;
                self.push_text(text);
            }
            Scalar::Text(text) => {
                self.counts.texts += 1;
                self.push_text(&text);
            }
            Scalar::List(text) => {
                self.counts.lists += 1;
                self.push_text(&text);
            }
        }
        self.rows += 1;
    }

    /// The column, with so many rows; whether its cells are lists.
    pub(super) fn finish(mut self, rows: usize, notes: &mut Notes) -> (Column, bool) {
        self.pad(rows);
        self.add_notes(notes);
        let is_list = self.counts.lists > 0 && self.kinds().len() == 1;
        let values = match self.storage {
            Storage::Empty => Values::Null(rows),
            Storage::Booleans(list) => Values::Booleans(list),
            Storage::Integers(list) => Values::Integers(list),
            Storage::Numbers(list) => Values::Numbers(list),
            Storage::Texts(builder) => Values::Texts(builder.finish()),
        };
        (Column::new(self.name, values), is_list)
    }

    fn put_boolean(&mut self, value: bool) {
        self.counts.booleans += 1;
        match &mut self.storage {
            Storage::Empty => {
                let mut list = vec![None; self.rows];
                list.push(Some(value));
                self.storage = Storage::Booleans(list);
            }
            Storage::Booleans(list) => list.push(Some(value)),
            Storage::Integers(_) | Storage::Numbers(_) | Storage::Texts(_) => {
                self.push_text(if value { "true" } else { "false" })
            }
        }
    }

    fn put_integer(&mut self, value: i64) {
        self.counts.integers += 1;
        match &mut self.storage {
            Storage::Empty => {
                let mut list = vec![None; self.rows];
                list.push(Some(value));
                self.storage = Storage::Integers(list);
            }
            Storage::Integers(list) => list.push(Some(value)),
            Storage::Numbers(list) => list.push(Some(as_number(value))),
            Storage::Booleans(_) | Storage::Texts(_) => self.push_text(&value.to_string()),
        }
    }

    fn put_float(&mut self, value: f64) {
        self.counts.floats += 1;
        match &mut self.storage {
            Storage::Empty => {
                let mut list = vec![None; self.rows];
                list.push(Some(value));
                self.storage = Storage::Numbers(list);
            }
            Storage::Integers(list) => {
                let mut list: Vec<Option<f64>> = list.iter().map(|value| value.map(as_number)).collect();
                list.push(Some(value));
                self.storage = Storage::Numbers(list);
            }
            Storage::Numbers(list) => list.push(Some(value)),
            Storage::Booleans(_) | Storage::Texts(_) => self.push_text(&number_text(value)),
        }
    }

    fn push_text(&mut self, text: &str) {
        if let Storage::Texts(builder) = &mut self.storage {
            builder.push(Some(text));
            return;
        }
        let mut builder = TextsBuilder::default();
        match &self.storage {
            Storage::Empty | Storage::Texts(_) => builder = TextsBuilder::after_missing(self.rows),
            Storage::Booleans(list) => {
                list.iter().for_each(|value| builder.push(value.map(|value| value.to_string()).as_deref()))
            }
            Storage::Integers(list) => {
                list.iter().for_each(|value| builder.push(value.map(|value| value.to_string()).as_deref()))
            }
            Storage::Numbers(list) => {
                list.iter().for_each(|value| builder.push(value.map(number_text).as_deref()))
            }
        }
        builder.push(Some(text));
        self.storage = Storage::Texts(builder);
    }

    fn push_missing(&mut self) {
        match &mut self.storage {
            Storage::Empty => {}
            Storage::Booleans(list) => list.push(None),
            Storage::Integers(list) => list.push(None),
            Storage::Numbers(list) => list.push(None),
            Storage::Texts(builder) => builder.push(None),
        }
    }

    fn pad(&mut self, rows: usize) {
        while self.rows < rows {
            self.push_missing();
            self.rows += 1;
        }
    }

    /// The kinds that came, with their counts; whole numbers and fractions are one kind.
    fn kinds(&self) -> Vec<String> {
        let counts = &self.counts;
        let numbers = counts.integers + counts.floats;
        let all = [
            (counts.booleans, "boolean"),
            (numbers, "number"),
            (counts.bigs, "integer too large for 64 bits"),
            (counts.texts, "text"),
            (counts.lists, "list"),
        ];
        all.into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, kind)| format!("{count} {kind}"))
            .collect()
    }

    fn add_notes(&self, notes: &mut Notes) {
        let field = display_name(&self.name);
        let kinds = self.kinds();
        let counts = &self.counts;
        let only_whole =
            counts.bigs > 0 && counts.booleans + counts.floats + counts.texts + counts.lists == 0;
        if only_whole {
            notes.add(format!(
                "field {field:?} has {} integers too large for 64 bits; the field is read as text, so == and in are exact; cast it to number to calculate (about 16 digits)",
                counts.bigs
            ));
        } else if kinds.len() > 1 {
            notes.add(format!("field {field:?} mixes {}; it's read as text", kinds.join(", ")));
        }
        if self.has_duplicates {
            notes.add(format!("field {field:?} appears twice in one object; the first one is used"));
        }
    }
}

fn as_number(value: i64) -> f64 {
    value as f64
}
