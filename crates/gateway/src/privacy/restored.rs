//! Values that servers have been sent in the place of tokens. A server may give one back in a text in which no
//! rule recognizes it, such as `<ann@example.com@x>`; whoever has only the token must not have it then.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::marks::Scope;

/// Of one scope; the oldest goes first.
const VALUES_MAX: usize = 1_000;

/// Beyond these, all are forgotten: it is a second wall.
const SCOPES_MAX: usize = 1_000;

/// Shorter values stand in many texts by chance.
const BYTES_MIN: usize = 5;

/// A value, and the token that it stands for.
pub(super) type Pair = (Zeroizing<String>, String);

#[derive(Default)]
pub(super) struct RestoredValues {
    scopes: Mutex<HashMap<Scope, VecDeque<Arc<Pair>>>>,
}

impl RestoredValues {
    pub fn add(&self, scope: &Scope, value: &str, token: &str) {
        if value.len() < BYTES_MIN {
            return;
        }
        let mut scopes = self.scopes.lock();
        if scopes.len() >= SCOPES_MAX && !scopes.contains_key(scope) {
            scopes.clear();
        }
        let values = scopes.entry(scope.clone()).or_default();
        if values.iter().any(|pair| pair.1 == token) {
            return;
        }
        if values.len() >= VALUES_MAX {
            values.pop_front();
        }
        values.push_back(Arc::new((Zeroizing::new(value.to_owned()), token.to_owned())));
    }

    /// Puts tokens in the place of values that were sent, wherever they are in a text.
    pub fn hide(&self, scope: &Scope, text: &mut String) {
        hide_in(&self.of(scope), text);
    }

    /// The same in a JSON document: in texts, in keys, and for whole numbers. Whether there was something.
    pub fn hide_value(&self, scope: &Scope, value: &mut Value) -> bool {
        let pairs = self.of(scope);
        !pairs.is_empty() && hide_in_value(&pairs, value)
    }

    fn of(&self, scope: &Scope) -> VecDeque<Arc<Pair>> {
        self.scopes.lock().get(scope).cloned().unwrap_or_default()
    }
}

fn hide_in(pairs: &VecDeque<Arc<Pair>>, text: &mut String) -> bool {
    let mut is_changed = false;
    for (value, token) in pairs.iter().map(|pair| &**pair) {
        if text.contains(value.as_str()) {
            *text = text.replace(value.as_str(), token);
            is_changed = true;
        }
    }
    is_changed
}

/// Depth is bounded by whatever read the document.
fn hide_in_value(pairs: &VecDeque<Arc<Pair>>, value: &mut Value) -> bool {
    match value {
        Value::String(text) => hide_in(pairs, text),
        Value::Number(number) => {
            let written = number.to_string();
            let token = pairs.iter().find(|pair| *pair.0 == written).map(|pair| pair.1.clone());
            let is_changed = token.is_some();
            if let Some(token) = token {
                *value = Value::String(token);
            }
            is_changed
        }
        Value::Array(items) => {
            let mut is_changed = false;
            for item in items {
                is_changed |= hide_in_value(pairs, item);
            }
            is_changed
        }
        Value::Object(members) => {
            let mut is_changed = false;
            let all = std::mem::take(members).into_iter().map(|(mut key, mut value)| {
                is_changed |= hide_in(pairs, &mut key);
                is_changed |= hide_in_value(pairs, &mut value);
                (key, value)
            });
            *members = all.collect();
            is_changed
        }
        Value::Null | Value::Bool(_) => false,
    }
}
