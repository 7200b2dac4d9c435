//! The shape of one answer.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::choices::{Choices, is_word, names_a_case};
use super::data_keys::is_data;
use super::formats::Formats;
use super::shape::{FieldShape, ListShape, ObjectShape, Scalars, Shape, TextShape, Together};

/// What is deeper is anything.
const DEPTH_MAX: usize = 8;

/// Of a longer list, so many items are looked at, spread over all of it.
const ITEMS_MAX: usize = 300;

/// Keys and values that are looked at in one answer. What comes after them is anything.
const NODES_MAX: usize = 50_000;

/// What an object says that stands for a file.
const FILE_KEY: &str = "$file";

/// Knows what is personal.
pub trait Personal {
    /// Whether a key is, or has in it, something that is personal.
    fn is_key(&self, key: &str) -> bool;

    /// Whether the text of this field may be.
    fn is_word(&self, field: &str, text: &str) -> bool;
}

/// Takes nothing for personal: for answers that were made up.
#[derive(Clone, Copy, Debug)]
pub struct NothingPersonal;

impl Personal for NothingPersonal {
    fn is_key(&self, _key: &str) -> bool {
        false
    }

    fn is_word(&self, _field: &str, _text: &str) -> bool {
        false
    }
}

/// The shape of an answer as its program gets it, as JSON; `None` if it can't be read.
pub fn observe(json: &str, personal: &dyn Personal) -> Option<Shape> {
    let answer: Value = serde_json::from_str(json).ok()?;
    let mut observer = Observer { personal, data_keys: HashMap::new(), nodes_left: NODES_MAX };
    let mut shape = observer.value(&answer, None, 0);
    shape.prune();
    Some(shape)
}

struct Observer<'p> {
    personal: &'p dyn Personal,
    /// Whether keys are data: records of a list have the same ones.
    data_keys: HashMap<String, bool>,
    nodes_left: usize,
}

impl Observer<'_> {
    /// `field` is the name of the field whose value it is.
    fn value(&mut self, value: &Value, field: Option<&str>, depth: usize) -> Shape {
        if self.nodes_left == 0 || (depth >= DEPTH_MAX && (value.is_array() || value.is_object())) {
            return Shape::anything();
        }
        self.nodes_left -= 1;
        match value {
            Value::Null => Shape::scalar(Scalars::NULL),
            Value::Bool(_) => Shape::scalar(Scalars::BOOLEAN),
            Value::Number(number) => Shape::scalar(kind_of(number)),
            Value::String(text) => Shape { text: Some(self.text(text, field)), ..Shape::default() },
            Value::Array(items) => Shape { list: Some(self.list(items, depth)), ..Shape::default() },
            Value::Object(members) if members.contains_key(FILE_KEY) => Shape::anything(),
            Value::Object(members) => Shape { object: Some(self.object(members, depth)), ..Shape::default() },
        }
    }

    fn text(&self, text: &str, field: Option<&str>) -> TextShape {
        let choices = field.filter(|field| names_a_case(field)).map(|field| {
            let is_fit = is_word(text) && !self.personal.is_word(field, text);
            Choices::of(text, is_fit)
        });
        TextShape { formats: Formats::of(text), choices }
    }

    fn list(&mut self, items: &[Value], depth: usize) -> ListShape {
        let step = items.len().div_ceil(ITEMS_MAX).max(1);
        let mut merged: Option<Shape> = None;
        for item in items.iter().step_by(step) {
            let shape = self.value(item, None, depth + 1);
            merged = Some(match merged {
                Some(merged) => merged.merge_as(shape, Together::InOneAnswer),
                None => shape,
            });
        }
        ListShape { items: merged.map(Box::new) }
    }

    fn is_data(&mut self, key: &str) -> bool {
        if let Some(known) = self.data_keys.get(key) {
            return *known;
        }
        let is_data = is_data(key) || self.personal.is_key(key);
        self.data_keys.insert(key.to_owned(), is_data);
        is_data
    }

    fn object(&mut self, members: &Map<String, Value>, depth: usize) -> ObjectShape {
        let mut made = ObjectShape::default();
        for (key, member) in members {
            if self.is_data(key) {
                let shape = self.value(member, None, depth + 1);
                made.others = Some(Box::new(match made.others.take() {
                    Some(others) => others.merge_as(shape, Together::InOneAnswer),
                    None => shape,
                }));
                continue;
            }
            let value = self.value(member, Some(key), depth + 1);
            made.fields.insert(key.clone(), FieldShape { is_optional: false, value });
        }
        made.generalize(Together::InOneAnswer);
        made
    }
}

fn kind_of(number: &Number) -> u8 {
    let is_whole = number.as_str().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_whole { Scalars::INTEGER } else { Scalars::NUMBER }
}
