//! Values that only their tokens may stand for: what servers have been sent in the place of tokens, and what
//! servers with a stricter mode have said. Another server or a program may give one back in a text in which no
//! rule recognizes it, such as `<ann@example.com@x>`; whoever has only the token must not have it then.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use gristmill_domain::PrivacyMode;
use parking_lot::Mutex;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::marks::Scope;

/// Of one scope; the oldest goes first.
const VALUES_MAX: usize = 1_000;
const SCOPE_BYTES_MAX: usize = 1 << 20;

/// Beyond these, all are forgotten: it is a second wall.
const SCOPES_MAX: usize = 1_000;
const ALL_BYTES_MAX: usize = 32 << 20;

/// Shorter values stand in many texts by chance.
const BYTES_MIN: usize = 5;

/// A value, and the token that it stands for.
pub(super) struct Pair {
    value: Zeroizing<String>,
    token: String,
    /// The strictest among the servers that it came from.
    mode: PrivacyMode,
}

impl Pair {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.value.len() + self.token.len()
    }
}

#[derive(Default)]
pub(super) struct RestoredValues {
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// The vault's, as it was then: whatever is wiped there is forgotten here.
    generation: u64,
    scopes: HashMap<Scope, Values>,
    bytes: usize,
}

#[derive(Default)]
struct Values {
    pairs: VecDeque<Arc<Pair>>,
    bytes: usize,
}

impl Held {
    fn of_generation(&mut self, generation: u64) -> &mut Self {
        if self.generation != generation {
            *self = Self { generation, ..Self::default() };
        }
        self
    }
}

impl RestoredValues {
    pub fn add(&self, generation: u64, scope: &Scope, value: &str, token: &str, mode: PrivacyMode) {
        let mut held = self.held.lock();
        let held = held.of_generation(generation);
        let pair = Pair { value: Zeroizing::new(value.to_owned()), token: token.to_owned(), mode };
        let bytes = pair.bytes();
        if value.len() < BYTES_MIN || bytes > SCOPE_BYTES_MAX {
            return;
        }
        let is_new = !held.scopes.contains_key(scope);
        if is_new && held.scopes.len() >= SCOPES_MAX || held.bytes + bytes > ALL_BYTES_MAX {
            (held.scopes, held.bytes) = (HashMap::new(), 0);
        }
        let values = held.scopes.entry(scope.clone()).or_default();
        if let Some(known) = values.pairs.iter_mut().find(|known| known.token == token) {
            if known.mode < mode {
                *known = Arc::new(pair);
            }
            return;
        }
        values.pairs.push_back(Arc::new(pair));
        values.bytes += bytes;
        held.bytes += bytes;
        while values.pairs.len() > VALUES_MAX || values.bytes > SCOPE_BYTES_MAX {
            let gone = values.pairs.pop_front().map_or(0, |gone| gone.bytes());
            values.bytes = values.bytes.saturating_sub(gone);
            held.bytes = held.bytes.saturating_sub(gone);
        }
    }

    /// What is remembered of a scope from this mode on, the longest first: one may be a part of another.
    pub fn of(&self, generation: u64, scopes: &[Scope], from: PrivacyMode) -> Vec<Arc<Pair>> {
        let mut held = self.held.lock();
        let held = held.of_generation(generation);
        let pairs = scopes.iter().filter_map(|scope| held.scopes.get(scope)).flat_map(|values| &values.pairs);
        let mut pairs: Vec<Arc<Pair>> = pairs.filter(|pair| pair.mode >= from).cloned().collect();
        pairs.sort_by_key(|pair| Reverse(pair.value.len()));
        pairs
    }
}

/// Puts tokens in the place of values, wherever they are in a text. Whether there was one.
pub(super) fn hide_in(pairs: &[Arc<Pair>], text: &mut String) -> bool {
    let mut is_changed = false;
    for pair in pairs {
        if text.contains(pair.value.as_str()) {
            *text = text.replace(pair.value.as_str(), &pair.token);
            is_changed = true;
        }
    }
    is_changed
}

/// The same in a JSON document: in texts, in keys, and for whole numbers. Depth is bounded by whatever read the
/// document.
pub(super) fn hide_in_value(pairs: &[Arc<Pair>], value: &mut Value) -> bool {
    if pairs.is_empty() {
        return false;
    }
    match value {
        Value::String(text) => hide_in(pairs, text),
        Value::Number(number) => {
            let written = number.to_string();
            let token = pairs.iter().find(|pair| *pair.value == written).map(|pair| pair.token.clone());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Owner;

    fn scope(client: &str) -> Scope {
        Scope::Client { owner: Owner::local(), client: client.to_owned() }
    }

    fn known(values: &RestoredValues, generation: u64, client: &str) -> usize {
        values.of(generation, &[scope(client)], PrivacyMode::Off).len()
    }

    #[test]
    fn what_is_remembered_has_a_bound_in_bytes() {
        let values = RestoredValues::default();
        let long = "x".repeat(60 << 10);
        for number in 0..100 {
            let (value, token) = (format!("{long}{number}"), format!("[EMAIL_{number}]"));
            values.add(1, &scope("one"), &value, &token, PrivacyMode::Boundary);
        }
        assert_eq!(known(&values, 1, "one"), 17, "the last megabyte of a scope");
        for number in 0..1_000 {
            let value = format!("{long}{number}");
            values.add(1, &scope(&number.to_string()), &value, "[EMAIL_a]", PrivacyMode::Boundary);
        }
        assert!(values.held.lock().bytes <= ALL_BYTES_MAX);
        assert_eq!(known(&values, 1, "999"), 1, "the last one is always there");
    }

    #[test]
    fn what_the_vault_has_forgotten_is_forgotten_here() {
        let values = RestoredValues::default();
        values.add(1, &scope("one"), "ann@example.com", "[EMAIL_a]", PrivacyMode::Boundary);
        assert_eq!(known(&values, 1, "one"), 1);
        assert_eq!(known(&values, 2, "one"), 0);
        assert_eq!(known(&values, 1, "one"), 0);
    }

    #[test]
    fn a_longer_value_is_hidden_before_one_that_is_a_part_of_it() {
        let values = RestoredValues::default();
        values.add(1, &scope("one"), "ann@example.com", "[EMAIL_a]", PrivacyMode::Output);
        values.add(1, &scope("one"), "joann@example.com", "[EMAIL_b]", PrivacyMode::Boundary);
        let mut text = "to joann@example.com, ann@example.com".to_owned();
        hide_in(&values.of(1, &[scope("one")], PrivacyMode::Off), &mut text);
        assert_eq!(text, "to [EMAIL_b], [EMAIL_a]");
        let guarded = values.of(1, &[scope("one")], PrivacyMode::Boundary);
        assert_eq!(guarded.len(), 1);
    }
}
