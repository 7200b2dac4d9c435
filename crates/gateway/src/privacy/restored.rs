//! Values that servers have been sent in the place of tokens. A server may give one back in a text in which no
//! rule recognizes it, such as `<ann@example.com@x>`; whoever has only the token must not have it then.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
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

    /// Puts tokens in the place of values that were sent, wherever they are in a text. `within` is how a value is
    /// written in it.
    pub fn hide(&self, scope: &Scope, text: &mut String, within: impl Fn(&str) -> String) {
        let values = self.scopes.lock().get(scope).cloned().unwrap_or_default();
        for pair in values {
            let value = Zeroizing::new(within(&pair.0));
            if text.contains(value.as_str()) {
                *text = text.replace(value.as_str(), &within(&pair.1));
            }
        }
    }
}
