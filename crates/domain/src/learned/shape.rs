//! What values have in common. Merging is symmetric: which of two comes first makes no difference.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::choices::Choices;
use super::formats::Formats;

/// An object with more fields is a map.
pub(super) const FIELDS_MAX: usize = 48;

/// So many fields of one kind, none of which is always there, are keys of a map.
const VARYING_KEYS_MIN: usize = 6;

/// What a shape may hold in all. What is deepest goes first.
const NODES_MAX: usize = 400;

/// Deeper than any shape.
const DEPTH_MAX: usize = 16;

/// Whether merged values are of one answer or of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Together {
    InOneAnswer,
    OverAnswers,
}

/// What some values have in common. The default is that of no value at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Whether nothing is said about it: it is too deep, or is no value of JSON.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) any: bool,
    #[serde(default, skip_serializing_if = "Scalars::is_empty")]
    pub(super) scalars: Scalars,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<TextShape>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) list: Option<ListShape>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) object: Option<ObjectShape>,
}

/// A set of `null`, `boolean`, `integer` and `number`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Scalars(pub u8);

impl Scalars {
    pub(super) const NULL: u8 = 1;
    pub(super) const BOOLEAN: u8 = 2;
    pub(super) const INTEGER: u8 = 4;
    /// With a fraction or an exponent.
    pub(super) const NUMBER: u8 = 8;

    pub(super) fn has(self, one: u8) -> bool {
        self.0 & one != 0
    }

    fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextShape {
    /// Those that all texts have.
    #[serde(default, skip_serializing_if = "Formats::is_empty")]
    pub formats: Formats,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Choices>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListShape {
    /// `None` as long as all lists were empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Shape>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ObjectShape {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, FieldShape>,
    /// Of the values under keys that are data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Box<Shape>>,
    /// Whether all keys are data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_map: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FieldShape {
    #[serde(default, skip_serializing_if = "std::ops::Not::not", rename = "optional")]
    pub is_optional: bool,
    pub value: Shape,
}

impl Shape {
    pub(super) fn anything() -> Self {
        Self { any: true, ..Self::default() }
    }

    pub(super) fn scalar(one: u8) -> Self {
        Self { scalars: Scalars(one), ..Self::default() }
    }

    /// What answers of this shape and of another have in common.
    pub fn merge(self, other: Self) -> Self {
        let mut merged = self.merge_as(other, Together::OverAnswers);
        merged.prune();
        merged
    }

    /// Whether it is that of no value.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn merge_as(self, other: Self, together: Together) -> Self {
        if self.any || other.any {
            return Self::anything();
        }
        Self {
            any: false,
            scalars: Scalars(self.scalars.0 | other.scalars.0),
            text: both(self.text, other.text, |one, other| one.merge(other, together)),
            list: both(self.list, other.list, |one, other| ListShape {
                items: both(one.items, other.items, |one, other| Box::new(one.merge_as(*other, together))),
            }),
            object: both(self.object, other.object, |one, other| one.merge(other, together)),
        }
    }

    /// Forgets texts that aren't settled.
    pub(super) fn settle(&mut self) {
        if let Some(choices) = self.text.as_mut().and_then(|text| text.choices.as_mut()) {
            choices.settle();
        }
        self.below_mut().for_each(Self::settle);
    }

    /// Leaves out what is deepest until the rest is small enough.
    pub(super) fn prune(&mut self) {
        let mut depth = DEPTH_MAX;
        while depth > 1 && self.nodes() > NODES_MAX {
            depth -= 1;
            self.cut(depth);
        }
    }

    fn nodes(&self) -> usize {
        1 + self.below().map(Self::nodes).sum::<usize>()
    }

    fn cut(&mut self, depth: usize) {
        if depth == 0 {
            let holds_others = self.list.is_some() || self.object.is_some();
            if holds_others {
                *self = Self::anything();
            }
            return;
        }
        self.below_mut().for_each(|below| below.cut(depth - 1));
    }

    fn below(&self) -> impl Iterator<Item = &Self> {
        let items = self.list.iter().filter_map(|list| list.items.as_deref());
        let fields = self.object.iter().flat_map(|object| object.fields.values().map(|field| &field.value));
        let others = self.object.iter().filter_map(|object| object.others.as_deref());
        items.chain(fields).chain(others)
    }

    fn below_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        let items = self.list.iter_mut().filter_map(|list| list.items.as_deref_mut());
        let (fields, others) = match &mut self.object {
            Some(object) => (Some(&mut object.fields), object.others.as_deref_mut()),
            None => (None, None),
        };
        let fields = fields.into_iter().flat_map(|fields| fields.values_mut().map(|field| &mut field.value));
        items.chain(fields).chain(others)
    }

    /// What kinds of values there are, `null` aside.
    fn kinds(&self) -> [bool; 6] {
        [
            self.any,
            self.scalars.has(Scalars::BOOLEAN),
            self.scalars.has(Scalars::INTEGER | Scalars::NUMBER),
            self.text.is_some(),
            self.list.is_some(),
            self.object.is_some(),
        ]
    }
}

impl TextShape {
    fn merge(self, other: Self, together: Together) -> Self {
        Self {
            formats: self.formats.and(other.formats),
            choices: both(self.choices, other.choices, |one, other| one.merge(other, together)),
        }
    }
}

impl ObjectShape {
    fn merge(mut self, other: Self, together: Together) -> Self {
        let ObjectShape { fields, others, is_map } = other;
        for (name, field) in &mut self.fields {
            field.is_optional |= !fields.contains_key(name);
        }
        for (name, field) in fields {
            match self.fields.remove(&name) {
                Some(own) => {
                    let is_optional = own.is_optional | field.is_optional;
                    let value = own.value.merge_as(field.value, together);
                    self.fields.insert(name, FieldShape { is_optional, value });
                }
                None => {
                    self.fields.insert(name, FieldShape { is_optional: true, ..field });
                }
            }
        }
        self.others = both(self.others, others, |one, other| Box::new(one.merge_as(*other, together)));
        self.is_map |= is_map;
        self.generalize(together);
        self
    }

    /// Makes a map of it if its keys are data.
    pub(super) fn generalize(&mut self, together: Together) {
        self.is_map |= self.fields.len() > FIELDS_MAX || self.has_varying_keys() || self.has_records();
        if !self.is_map {
            return;
        }
        for field in std::mem::take(&mut self.fields).into_values() {
            let others = self
                .others
                .take()
                .map_or(field.value.clone(), |others| others.merge_as(field.value, together));
            self.others = Some(Box::new(others));
        }
    }

    /// None is always there, and all have one kind of value.
    fn has_varying_keys(&self) -> bool {
        let mut fields = self.fields.values();
        let Some(first) = fields.next().filter(|_| self.fields.len() >= VARYING_KEYS_MIN) else {
            return false;
        };
        let is_alike = |field: &FieldShape| field.is_optional && field.value.kinds() == first.value.kinds();
        is_alike(first) && fields.all(is_alike)
    }

    /// Every value is an object, and they have most of their fields in common: one record each, by key.
    fn has_records(&self) -> bool {
        if self.fields.len() < 2 {
            return false;
        }
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for field in self.fields.values() {
            let is_object = field.value.kinds() == [false, false, false, false, false, true];
            let Some(object) = field.value.object.as_ref().filter(|_| is_object) else { return false };
            if object.fields.is_empty() {
                return false;
            }
            object.fields.keys().for_each(|name| *named.entry(name).or_default() += 1);
        }
        let common = named.values().filter(|count| **count == self.fields.len()).count();
        common * 2 >= named.len()
    }
}

fn both<T>(one: Option<T>, other: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(merge(one, other)),
        (one, other) => one.or(other),
    }
}
