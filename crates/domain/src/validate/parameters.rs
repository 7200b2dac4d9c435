//! The names that a tool takes: known before, and without, any compiled schema.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::bad_arguments::{Problem, name_list};
use super::references;
use super::words::{expectation, summary};
use crate::catalogue::{fold, parameter_identifier};
use crate::nearest::nearest;
use crate::visible_text::one_line;

/// Names that are compared, and wrong names that are looked at.
const KNOWN_MAX: usize = 2_000;
const UNKNOWN_MAX: usize = 20;
/// Parts of the schema's top that are read for names.
const PARTS_MAX: usize = 64;

/// What the top of a schema says about names.
pub(super) struct Parameters<'a> {
    root: &'a Value,
    known: Vec<(&'a str, &'a Value)>,
    required: HashSet<&'a str>,
    /// Other names are forbidden.
    closed: bool,
    /// Other names are expressly allowed, or not all of it can be read.
    open: bool,
}

impl<'a> Parameters<'a> {
    /// Of the whole schema.
    pub(super) fn of(root: &'a Value) -> Self {
        let mut made = Self { root, known: Vec::new(), required: HashSet::new(), closed: false, open: false };
        let mut names = HashSet::new();
        let mut parts = vec![(root, true)];
        let mut next = 0;
        while let Some(&(part, always)) = parts.get(next) {
            next += 1;
            if let Some(Value::String(reference)) = part.get("$ref") {
                match references::resolve(root, reference) {
                    Some(target) => parts.push((target, always)),
                    None => made.open = true,
                }
            }
            let list = |keyword: &str| part.get(keyword).and_then(Value::as_array).into_iter().flatten();
            parts.extend(list("allOf").map(|inner| (inner, always)));
            parts.extend(["anyOf", "oneOf"].into_iter().flat_map(list).map(|inner| (inner, false)));
            for (name, schema) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
                if made.known.len() < KNOWN_MAX && names.insert(name.as_str()) {
                    made.known.push((name, schema));
                }
            }
            if always {
                made.required.extend(list("required").filter_map(Value::as_str).take(KNOWN_MAX));
            }
            match part.get("additionalProperties") {
                Some(Value::Bool(false)) => {
                    made.closed |= always && part.get("patternProperties").is_none();
                }
                Some(_) => made.open = true,
                None => {}
            }
            made.open |= part.get("patternProperties").is_some();
            if parts.len() > PARTS_MAX {
                break;
            }
        }
        let all_read = parts.len() <= PARTS_MAX && made.known.len() < KNOWN_MAX;
        made.open |= made.known.is_empty() || !all_read;
        made.closed &= all_read;
        made
    }

    pub(super) fn known(&self) -> impl Iterator<Item = &'a str> {
        self.known.iter().map(|(name, _)| *name)
    }

    pub(super) fn required(&self) -> impl Iterator<Item = &'a str> {
        self.required.iter().copied()
    }

    fn is_known(&self, name: &str) -> bool {
        self.known.iter().any(|(known, _)| *known == name)
    }

    fn not_given(&self, arguments: &Map<String, Value>) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.known.iter().copied().filter(|(name, _)| !arguments.contains_key(*name))
    }

    /// The spellings to correct, as given and as the schema has it.
    pub(super) fn respelled(&self, arguments: &Map<String, Value>) -> Vec<(String, &'a str)> {
        let unknown: Vec<&String> =
            arguments.keys().filter(|name| !self.is_known(name)).take(UNKNOWN_MAX).collect();
        if unknown.is_empty() {
            return Vec::new();
        }
        let mut written: HashMap<String, Vec<&'a str>> = HashMap::new();
        let mut folded: HashMap<String, Vec<&'a str>> = HashMap::new();
        for (name, _) in self.not_given(arguments) {
            written.entry(parameter_identifier(name)).or_default().push(name);
            folded.entry(fold(name)).or_default().push(name);
        }
        let mut respelled: Vec<(String, &'a str)> = Vec::new();
        for given in unknown {
            let meant = match written.get(given).map(Vec::as_slice) {
                Some([one]) => Some(*one),
                Some(_) => None,
                None => match folded.get(&fold(given)).map(Vec::as_slice) {
                    Some([one]) if !fold(given).is_empty() => Some(*one),
                    Some(_) | None => None,
                },
            };
            respelled.extend(meant.map(|meant| (given.clone(), meant)));
        }
        // Two spellings of one name: no telling which was meant.
        let mut uses: HashMap<&str, usize> = HashMap::new();
        respelled.iter().for_each(|(_, meant)| *uses.entry(meant).or_default() += 1);
        respelled.retain(|(_, meant)| uses.get(meant) == Some(&1));
        respelled
    }

    /// The optional parameters given as null whose schema knows no null.
    pub(super) fn needless_nulls(&self, arguments: &Map<String, Value>) -> Vec<&'a str> {
        let nulls = self.known.iter().filter(|(name, schema)| {
            arguments.get(*name).is_some_and(Value::is_null)
                && !self.required.contains(name)
                && !allows_null(self.root, schema, 0)
        });
        nulls.map(|(name, _)| *name).collect()
    }

    /// Wrong names first, then missing ones.
    pub(super) fn problems(&self, tool: &str, arguments: &Map<String, Value>) -> Vec<Problem> {
        let mut missing: Vec<&str> =
            self.required.iter().copied().filter(|name| !arguments.contains_key(*name)).collect();
        let mut problems = Vec::new();
        if self.closed || !self.open {
            let unknown = arguments.keys().filter(|name| !self.is_known(name));
            let any_missing = !missing.is_empty();
            for name in unknown.take(UNKNOWN_MAX) {
                let candidates = self.not_given(arguments).map(|(known, _)| (known, known));
                let near = nearest(name, candidates, 1).first().copied();
                if self.closed || near.is_some() || any_missing {
                    missing.retain(|missing| Some(*missing) != near);
                    problems.push(Problem::unknown_argument(tool, name, near, &self.takes()));
                }
            }
        }
        let place = |name: &str| self.known.iter().position(|(known, _)| *known == name);
        missing.sort_by_key(|name| (place(name).unwrap_or(usize::MAX), *name));
        problems.extend(missing.into_iter().map(|name| {
            let schema = self.known.iter().find(|(known, _)| *known == name).map(|(_, schema)| *schema);
            missing_field(self.root, &one_line(name, 80), schema)
        }));
        problems
    }

    fn takes(&self) -> String {
        let (required, optional): (Vec<_>, Vec<_>) =
            self.known.iter().map(|(name, _)| *name).partition(|name| self.required.contains(name));
        let required = required.into_iter().map(|name| format!("{} (required)", one_line(name, 60)));
        name_list(required.chain(optional.into_iter().map(|name| one_line(name, 60))))
    }
}

/// A field that is not there.
pub(super) fn missing_field(root: &Value, path: &str, schema: Option<&Value>) -> Problem {
    let words = schema.and_then(|schema| expectation(root, schema));
    let summary = schema.and_then(|schema| summary(root, schema));
    let about = match (words, summary) {
        (Some(words), Some(summary)) => format!(": {words} ({summary})"),
        (Some(words), None) => format!(": {words}"),
        (None, Some(summary)) => format!(": {summary}"),
        (None, None) => String::new(),
    };
    Problem::missing(path, format!("`{path}` is missing{about}"))
}

/// Whether null fits; yes where that is hard to tell.
fn allows_null(root: &Value, schema: &Value, depth: usize) -> bool {
    const DEPTH_MAX: usize = 8;
    if depth > DEPTH_MAX {
        return true;
    }
    let Value::Object(keywords) = references::followed(root, schema) else {
        return schema != &Value::Bool(false);
    };
    let parts = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
    let inner = |part: &Value| allows_null(root, part, depth + 1);
    let by_type = match keywords.get("type") {
        Some(Value::String(name)) => name == "null",
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        _ => true,
    };
    by_type
        && parts("enum").is_none_or(|values| values.contains(&Value::Null))
        && keywords.get("const").is_none_or(Value::is_null)
        && parts("anyOf").is_none_or(|parts| parts.iter().take(64).any(inner))
        && parts("oneOf").is_none_or(|parts| parts.iter().take(64).any(inner))
        && parts("allOf").is_none_or(|parts| parts.iter().take(64).all(inner))
}
