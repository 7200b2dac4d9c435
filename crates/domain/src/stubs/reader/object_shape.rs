//! The fields of an object, wherever a schema has put them.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::Reader;
use crate::stubs::Language;
use crate::stubs::caps::{NAME_BYTES_MAX, PARAMETERS_MAX};
use crate::stubs::inert_text::string;
use crate::stubs::reference;
use crate::stubs::variants::variants;

/// The fields of an object, merged from `properties`, `$ref` and `allOf`.
#[derive(Clone, Debug, Default)]
pub(in crate::stubs) struct Shape<'a> {
    /// In the order in which they are met.
    pub fields: Vec<(String, &'a Value)>,
    pub required: BTreeSet<String>,
    /// The schema of keys that are not among the fields.
    pub others: Option<&'a Value>,
    /// Other keys may be there, it does not say what they hold.
    pub is_open: bool,
    /// The first `anyOf` or `oneOf` beside the fields.
    pub variants: Option<&'a [Value]>,
    known: HashSet<String>,
}

const NESTING_MAX: usize = 16;

/// The schema of a field that is required and described nowhere.
static ANYTHING: Value = Value::Bool(true);

impl<'a> Shape<'a> {
    /// Adds what the schema says about fields.
    pub fn collect(&mut self, reader: &mut Reader<'a>, schema: &'a Map<String, Value>) {
        self.collect_nested(reader, schema, NESTING_MAX.min(reader.caps.depth_max + 2));
        for name in self.required.clone() {
            // Required, but described nowhere.
            if !self.known.contains(&name) && self.variants.is_none() {
                self.add(name, &ANYTHING);
            }
        }
    }

    fn collect_nested(&mut self, reader: &mut Reader<'a>, schema: &'a Map<String, Value>, nesting: usize) {
        if nesting == 0 || reader.nodes_left == 0 {
            return;
        }
        reader.nodes_left -= 1;
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, property) in properties {
                // Never allowed, so never shown.
                if property != &Value::Bool(false) {
                    self.add(name.clone(), property);
                }
            }
        }
        if let Some(Value::Array(names)) = schema.get("required") {
            let names = names.iter().filter_map(Value::as_str).filter(|name| is_name(name));
            self.required.extend(names.take(PARAMETERS_MAX).map(str::to_owned));
        }
        self.collect_others(schema);
        let target = reference::target(schema).and_then(|target| reference::resolve(reader.root, target));
        if let Some(Value::Object(target)) = target {
            self.collect_nested(reader, target, nesting - 1);
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            for part in parts.iter().filter_map(Value::as_object) {
                self.collect_nested(reader, part, nesting - 1);
            }
        }
        if self.variants.is_none() {
            self.variants = variants(schema).map(Vec::as_slice);
        }
    }

    fn collect_others(&mut self, schema: &'a Map<String, Value>) {
        match schema.get("additionalProperties") {
            Some(Value::Bool(true)) => self.is_open = true,
            Some(Value::Object(other)) if other.is_empty() => self.is_open = true,
            Some(other @ Value::Object(_)) => self.others = Some(other),
            _ => {}
        }
        let Some(Value::Object(patterns)) = schema.get("patternProperties") else { return };
        match patterns.values().next() {
            Some(only @ Value::Object(_)) if patterns.len() == 1 && self.others.is_none() => {
                self.others = Some(only);
            }
            Some(_) => self.is_open = true,
            None => {}
        }
    }

    fn add(&mut self, name: String, schema: &'a Value) {
        if !is_name(&name) || self.fields.len() >= PARAMETERS_MAX {
            self.is_open = true;
            return;
        }
        if self.known.insert(name.clone()) {
            self.fields.push((name, schema));
        }
    }

    /// All variants as one: their fields are optional unless each of them requires it.
    pub fn merge_variants(&mut self, reader: &mut Reader<'a>) {
        let Some(variants) = self.variants.take() else { return };
        let mut required_by_all: Option<BTreeSet<String>> = None;
        for variant in variants.iter().filter_map(Value::as_object).take(reader.caps.variants_max) {
            let mut shape = Shape::default();
            shape.collect_nested(reader, variant, NESTING_MAX);
            for (name, schema) in shape.fields {
                self.add(name, schema);
            }
            required_by_all = Some(match required_by_all {
                Some(names) => &names & &shape.required,
                None => shape.required,
            });
        }
        self.required.extend(required_by_all.unwrap_or_default());
        for name in self.required.clone() {
            self.add(name, &ANYTHING);
        }
    }
}

/// Whether a stub can spell it out.
fn is_name(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX && string(Language::Python, name).len() <= NAME_BYTES_MAX
}
