//! The shape of values: which types and fields there are, and how often.

use std::collections::HashMap;

use serde_json::{Number, Value};

use super::document::{Document, Kind};
use super::parts::{NotJson, Span};
use super::words::{Notes, Path};
use crate::quantity::grouped;
use crate::short_text::cut_bytes;

/// Items of one array that are looked at; a shape says so if there are more.
pub(super) const ITEMS_MAX: usize = 100_000;

/// Fields in one shape, all levels together: names may be data, and as many as that.
const FIELDS_MAX: usize = 10_000;

/// Larger parts are not parsed in one piece.
const PARSED_BYTES_MAX: usize = 1 << 20;

/// Levels of large parts that are looked into.
const LEVELS_MAX: usize = 24;

/// What an example may take.
const EXAMPLE_BYTES_MAX: usize = 40;

/// See the module: what was found in one place, over all values that stood there.
#[derive(Default)]
pub(super) struct Found {
    pub nulls: usize,
    pub booleans: usize,
    pub integers: usize,
    pub fractions: usize,
    pub texts: usize,
    pub arrays: usize,
    /// Items in these arrays.
    pub items: usize,
    /// Those that were looked at.
    pub items_seen: usize,
    pub of: Option<Box<Found>>,
    pub objects: usize,
    pub fields: Vec<Field>,
    known: HashMap<String, usize>,
    /// Members whose names found no place.
    pub further: usize,
    /// The first value that says something.
    pub example: Option<Value>,
}

/// One field of the objects in a place.
pub(super) struct Field {
    pub name: String,
    pub found: Found,
    /// In how many of the objects it is.
    pub count: usize,
}

/// What can still be noted.
pub(super) struct Room {
    fields: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { fields: FIELDS_MAX }
    }
}

impl Found {
    /// The shape of a part of a document.
    pub fn of_part(document: &Document, span: Span) -> Result<Self, NotJson> {
        let mut found = Self::default();
        found.take_part(document, span, &mut Room::default(), 0)?;
        Ok(found)
    }

    fn take_part(
        &mut self,
        document: &Document,
        span: Span,
        room: &mut Room,
        level: usize,
    ) -> Result<(), NotJson> {
        let kind = document.kind(span)?;
        if span.bytes() <= PARSED_BYTES_MAX || matches!(kind, Kind::Word | Kind::Number) {
            let value = document.parse(span, level, &Path::Root, &mut Notes::default())?;
            self.take(&value, room);
            return Ok(());
        }
        match kind {
            Kind::Text | Kind::Word | Kind::Number => self.texts += 1,
            Kind::Array => {
                let parts = document.parts(span)?;
                self.arrays += 1;
                self.items += parts.count;
                if level < LEVELS_MAX {
                    self.items_seen += parts.count.min(ITEMS_MAX);
                    let of = self.of.get_or_insert_default();
                    document.each(&parts, ITEMS_MAX, &mut |member| {
                        of.take_part(document, member.value, room, level + 1)
                    })?;
                }
            }
            Kind::Object => {
                let parts = document.parts(span)?;
                self.objects += 1;
                if level < LEVELS_MAX {
                    self.further += parts.count.saturating_sub(ITEMS_MAX);
                    document.each(&parts, ITEMS_MAX, &mut |member| {
                        let name = document.name(member)?;
                        match self.field(&name, room) {
                            Some(field) => field.take_part(document, member.value, room, level + 1),
                            None => Ok(()),
                        }
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Takes one more value into account.
    pub fn take(&mut self, value: &Value, room: &mut Room) {
        match value {
            Value::Null => self.nulls += 1,
            Value::Bool(_) => self.booleans += 1,
            Value::Number(number) if is_integer(number) => self.integers += 1,
            Value::Number(_) => self.fractions += 1,
            Value::String(_) => self.texts += 1,
            Value::Array(items) => {
                self.arrays += 1;
                self.items += items.len();
                self.items_seen += items.len();
                let of = self.of.get_or_insert_default();
                items.iter().for_each(|item| of.take(item, room));
            }
            Value::Object(members) => {
                self.objects += 1;
                for (name, value) in members {
                    if let Some(field) = self.field(name, room) {
                        field.take(value, room);
                    }
                }
            }
        }
        if self.example.is_none() && !value.is_null() && !value.is_array() && !value.is_object() {
            self.example = Some(short(value));
        }
    }

    fn field(&mut self, name: &str, room: &mut Room) -> Option<&mut Found> {
        let at = match self.known.get(name) {
            Some(at) => *at,
            None if room.fields == 0 => {
                self.further += 1;
                return None;
            }
            None => {
                room.fields -= 1;
                self.known.insert(name.to_owned(), self.fields.len());
                let name = cut_bytes(name, 100);
                self.fields.push(Field { name, found: Found::default(), count: 0 });
                self.fields.len() - 1
            }
        };
        let field = self.fields.get_mut(at)?;
        field.count += 1;
        Some(&mut field.found)
    }

    /// All values that were seen here.
    pub fn seen(&self) -> usize {
        self.kinds().iter().map(|(_, count)| count).sum()
    }

    /// The types that were found, with how often.
    pub fn kinds(&self) -> Vec<(&'static str, usize)> {
        let numbers = match self.fractions {
            0 => [("integer", self.integers), ("number", 0)],
            _ => [("integer", 0), ("number", self.integers + self.fractions)],
        };
        let others = [
            ("text", self.texts),
            ("boolean", self.booleans),
            ("array", self.arrays),
            ("object", self.objects),
            ("null", self.nulls),
        ];
        numbers.into_iter().chain(others).filter(|(_, count)| *count > 0).collect()
    }

    /// `integer`, `text or null`.
    pub fn kinds_text(&self) -> String {
        let names: Vec<&str> = self.kinds().iter().map(|(name, _)| *name).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(" or ") }
    }

    /// `text (9,990) or null (10)`: with counts where there are several.
    pub fn kinds_counted(&self) -> String {
        let kinds = self.kinds();
        if kinds.len() < 2 {
            return self.kinds_text();
        }
        let words: Vec<String> =
            kinds.iter().map(|(name, count)| format!("{name} ({})", grouped(*count as u64))).collect();
        words.join(" or ")
    }
}

/// Whether a number is written without fraction and exponent.
pub(super) fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || !number.to_string().contains(['.', 'e', 'E'])
}

fn short(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut_bytes(text, EXAMPLE_BYTES_MAX)),
        Value::Number(number) if number.to_string().len() > EXAMPLE_BYTES_MAX => {
            Value::String(cut_bytes(&number.to_string(), EXAMPLE_BYTES_MAX))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.clone(),
    }
}
