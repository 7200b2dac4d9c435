//! Something else in the place of findings.

use std::iter::{Peekable, from_fn};
use std::ops::Range;
use std::sync::Arc;

use gristmill_privacy::{Finding, placeholder};
use serde_json::{Map, Value};

/// What is put in the place of one finding. There may be many: it is small, and all of one value share its text.
pub(super) struct Replaced {
    /// As the detector counts them.
    pub node: usize,
    pub span: Range<usize>,
    pub instead: Arc<str>,
}

/// A text with `[EMAIL]` and the like in the place of findings: nothing that could be restored.
pub(super) fn with_labels(text: &str, found: &[Finding]) -> String {
    in_place(text, found.iter().map(|finding| (finding.span.clone(), placeholder(&finding.kind))))
}

/// A text with something else in these places, which do not overlap and are in its order.
pub(super) fn in_place<T: AsRef<str>>(text: &str, places: impl Iterator<Item = (Range<usize>, T)>) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    for (span, instead) in places {
        let Some(before) = text.get(done..span.start) else { continue };
        replaced.push_str(before);
        replaced.push_str(instead.as_ref());
        done = span.end;
    }
    replaced.push_str(text.get(done..).unwrap_or_default());
    replaced
}

/// Puts these into a document, in the order in which it was searched.
pub(super) fn replace(value: &mut Value, found: Vec<Replaced>) {
    Replacing { found: found.into_iter().peekable(), node: 0 }.value(value);
}

/// Walks a document once more. Its depth is bounded by whatever read it.
struct Replacing<I: Iterator<Item = Replaced>> {
    found: Peekable<I>,
    node: usize,
}

impl<I: Iterator<Item = Replaced>> Replacing<I> {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                let mut renamed = Map::with_capacity(members.len());
                for (key, mut value) in std::mem::take(members) {
                    let key = self.text(&key).unwrap_or(key);
                    self.value(&mut value);
                    renamed.insert(unlike(&renamed, key), value);
                }
                *members = renamed;
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::String(text) => {
                if let Some(hidden) = self.text(text) {
                    *text = hidden;
                }
            }
            Value::Number(number) => {
                if let Some(hidden) = self.text(&number.to_string()) {
                    *value = Value::String(hidden);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The next node, if something is replaced in it.
    fn text(&mut self, text: &str) -> Option<String> {
        let node = self.node;
        self.node += 1;
        self.found.peek().filter(|replaced| replaced.node == node)?;
        let here = from_fn(|| self.found.next_if(|replaced| replaced.node == node));
        Some(in_place(text, here.map(|replaced| (replaced.span, replaced.instead))))
    }
}

/// A key that is not there yet: labels without a code may be alike, and no member is lost by that.
pub(super) fn unlike(members: &Map<String, Value>, key: String) -> String {
    if !members.contains_key(&key) {
        return key;
    }
    let mut number = members.len();
    loop {
        let other = format!("{key} {number}");
        if !members.contains_key(&other) {
            return other;
        }
        number += 1;
    }
}
