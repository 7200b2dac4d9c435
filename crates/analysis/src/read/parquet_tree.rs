//! The schema of a Parquet file as a tree, and how the values below a list become JSON again.

use parquet::basic::{ConvertedType, LogicalType, Repetition};
use parquet::schema::types::Type;
use serde_json::{Map, Value};

use super::parquet_leaf::Leaf;
use crate::bounds::{COLUMNS_MAX, DEPTH_MAX};
use crate::outcome::Problem;
use crate::values::{Cell, json_number};

/// A place in the schema.
pub(super) struct Node {
    pub(super) name: String,
    /// The definition level from which on it is there.
    definition: i16,
    /// The first of the file's columns below it.
    first_leaf: usize,
    pub(super) shape: Shape,
}

pub(super) enum Shape {
    /// One of the file's columns, by its number.
    Leaf(usize),
    Members(Vec<Node>),
    Items(Items),
}

/// What a list holds.
pub(super) struct Items {
    item: Box<Node>,
    /// The definition level of a list that is not empty.
    definition: i16,
    /// The repetition level of each item but the first.
    repetition: i16,
}

/// The members of the schema's root.
pub(super) fn nodes_of(schema: &Type) -> Result<Vec<Node>, Problem> {
    let mut walk = Walk { leaves: 0 };
    schema.get_fields().iter().map(|field| walk.node(field, 0, 0, 0)).collect()
}

struct Walk {
    leaves: usize,
}

impl Walk {
    fn node(
        &mut self,
        field: &Type,
        definition: i16,
        repetition: i16,
        depth: usize,
    ) -> Result<Node, Problem> {
        if depth > DEPTH_MAX || self.leaves > COLUMNS_MAX {
            return Err(Problem::new(format!(
                "the data has more than {COLUMNS_MAX} columns, or is nested too deep"
            )));
        }
        let first_leaf = self.leaves;
        let name = field.name().to_owned();
        match repetition_of(field) {
            // A list without a mark of its own: it is there as soon as its parent is.
            Repetition::REPEATED => {
                let item = self.present(field, definition + 1, repetition + 1, depth + 1)?;
                let items =
                    Items { item: Box::new(item), definition: definition + 1, repetition: repetition + 1 };
                Ok(Node { name, definition, first_leaf, shape: Shape::Items(items) })
            }
            Repetition::OPTIONAL => self.present(field, definition + 1, repetition, depth),
            Repetition::REQUIRED => self.present(field, definition, repetition, depth),
        }
    }

    /// A node that is there from this definition level on.
    fn present(
        &mut self,
        field: &Type,
        definition: i16,
        repetition: i16,
        depth: usize,
    ) -> Result<Node, Problem> {
        let first_leaf = self.leaves;
        let shape = if field.is_primitive() {
            self.leaves += 1;
            Shape::Leaf(first_leaf)
        } else {
            match (is_list(field), field.get_fields()) {
                (true, [repeated]) if repetition_of(repeated) == Repetition::REPEATED => {
                    let (definition, repetition) = (definition + 1, repetition + 1);
                    let item = match inner_item(field, repeated) {
                        Some(inner) => self.node(inner, definition, repetition, depth + 1)?,
                        None => self.present(repeated, definition, repetition, depth + 1)?,
                    };
                    Shape::Items(Items { item: Box::new(item), definition, repetition })
                }
                (_, members) => {
                    let nodes =
                        members.iter().map(|member| self.node(member, definition, repetition, depth + 1));
                    Shape::Members(nodes.collect::<Result<_, _>>()?)
                }
            }
        };
        Ok(Node { name: field.name().to_owned(), definition, first_leaf, shape })
    }
}

fn repetition_of(field: &Type) -> Repetition {
    let info = field.get_basic_info();
    if info.has_repetition() { info.repetition() } else { Repetition::REQUIRED }
}

/// Lists, and maps, which are lists of keys and values.
fn is_list(field: &Type) -> bool {
    let info = field.get_basic_info();
    matches!(info.logical_type_ref(), Some(LogicalType::List | LogicalType::Map))
        || matches!(
            info.converted_type(),
            ConvertedType::LIST | ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE
        )
}

/// The item inside the repeated part of a list; `None` where that part is the item itself, as in older files.
fn inner_item<'a>(list: &Type, repeated: &'a Type) -> Option<&'a Type> {
    if repeated.is_primitive() {
        return None;
    }
    match repeated.get_fields() {
        [only] if repeated.name() != "array" && repeated.name() != format!("{}_tuple", list.name()) => {
            Some(only)
        }
        _ => None,
    }
}

impl Node {
    /// The file's columns below it.
    pub(super) fn leaves(&self) -> Vec<usize> {
        match &self.shape {
            Shape::Leaf(index) => vec![*index],
            Shape::Members(members) => members.iter().flat_map(Node::leaves).collect(),
            Shape::Items(items) => items.item.leaves(),
        }
    }

    /// The next value, of which every column below gives its part.
    fn value(&self, cursors: &mut Cursors<'_>) -> Value {
        if cursors.definition(self.first_leaf) < self.definition {
            self.skip(cursors);
            return Value::Null;
        }
        match &self.shape {
            Shape::Leaf(index) => cursors.next(*index),
            Shape::Members(members) => {
                let mut object = Map::new();
                for member in members {
                    object.insert(member.name.clone(), member.value(cursors));
                }
                Value::Object(object)
            }
            Shape::Items(items) => {
                let mut list = Vec::new();
                if cursors.definition(self.first_leaf) < items.definition {
                    self.skip(cursors);
                    return list.into();
                }
                loop {
                    list.push(items.item.value(cursors));
                    if cursors.repetition(self.first_leaf) < items.repetition {
                        return list.into();
                    }
                }
            }
        }
    }

    /// Steps over the entry that says that nothing is there.
    fn skip(&self, cursors: &mut Cursors<'_>) {
        for leaf in self.leaves() {
            cursors.next(leaf);
        }
    }
}

/// The lists of a column as JSON texts, from the file's columns below it.
pub(super) fn list_texts(node: &Node, leaves: &[(usize, Leaf)]) -> Vec<Option<String>> {
    let mut cursors =
        Cursors(leaves.iter().map(|(index, leaf)| Cursor { index: *index, leaf, position: 0 }).collect());
    let first = leaves.first().map(|(_, leaf)| leaf.levels.repetition.as_slice()).unwrap_or_default();
    let rows = first.iter().filter(|level| **level == 0).count();
    let text = |value: Value| (!value.is_null()).then(|| value.to_string());
    (0..rows).map(|_| text(node.value(&mut cursors))).collect()
}

/// Where each column is being read.
struct Cursors<'a>(Vec<Cursor<'a>>);

struct Cursor<'a> {
    index: usize,
    leaf: &'a Leaf,
    position: usize,
}

impl Cursors<'_> {
    /// The definition level of the next entry; behind the last one nothing is there.
    fn definition(&self, leaf: usize) -> i16 {
        self.level(leaf, |cursor| &cursor.leaf.levels.definition)
    }

    fn repetition(&self, leaf: usize) -> i16 {
        self.level(leaf, |cursor| &cursor.leaf.levels.repetition)
    }

    fn level<'b>(&'b self, leaf: usize, levels: impl Fn(&'b Cursor<'_>) -> &'b Vec<i16>) -> i16 {
        let cursor = self.0.iter().find(|cursor| cursor.index == leaf);
        cursor.and_then(|cursor| levels(cursor).get(cursor.position).copied()).unwrap_or(0)
    }

    fn next(&mut self, leaf: usize) -> Value {
        let Some(cursor) = self.0.iter_mut().find(|cursor| cursor.index == leaf) else { return Value::Null };
        let cell = cursor.leaf.values.cell(cursor.position);
        cursor.position += 1;
        match cell {
            Cell::Missing => Value::Null,
            Cell::Boolean(value) => value.into(),
            Cell::Integer(value) => value.into(),
            Cell::Number(value) => json_number(value),
            Cell::Text(text) => text.into(),
            Cell::Date(_) | Cell::Datetime(_) => cell.text().into(),
        }
    }
}
