//! What was used lately, so that a value that comes again costs neither a read nor a write.
//!
//! Two shelves: what is used comes to the young one; when that is full, the old one is emptied and they change
//! places.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use gristmill_privacy::{Code, Kind};

use super::cipher::ScopeKeys;
use super::kept::{Kept, Wanted};
use crate::marks::Scope;
use crate::store::VAULT_USE_NOTED;

/// Of each shelf.
const SHELF_BYTES_MAX: usize = 16 << 20;

/// What a value takes on a shelf beside itself.
const ENTRY_BYTES: usize = 160;

const SCOPES_MAX: usize = 2_000;

/// A scope that is in use. Nothing of it is on the shelves under another number.
#[derive(Clone)]
pub(super) struct OpenScope {
    number: u64,
    pub salt: Vec<u8>,
    pub keys: Arc<ScopeKeys>,
    /// When the database was last asked whether it is still there.
    seen_ms: i64,
}

/// See the module.
#[derive(Default)]
pub(super) struct Memory {
    /// Which key all of this belongs to.
    key: u64,
    scopes: HashMap<Scope, OpenScope>,
    last_number: u64,
    young: Shelf,
    old: Shelf,
    hasher: RandomState,
}

#[derive(Default)]
struct Shelf {
    by_code: HashMap<(u64, u64), Arc<Kept>>,
    by_value: HashMap<(u64, u64), Code>,
    bytes: usize,
}

impl Memory {
    /// Forgets what belongs to another key.
    pub fn of_key(&mut self, key: u64) -> &mut Self {
        if self.key != key {
            *self = Self { key, last_number: self.last_number, ..Self::default() };
        }
        self
    }

    /// The scope, if the database needn't be asked about it.
    pub fn scope(&self, scope: &Scope, now_ms: i64) -> Option<OpenScope> {
        self.scopes.get(scope).filter(|open| is_fresh(open, now_ms)).cloned()
    }

    /// Notes what the database says about a scope now; its values stay if it is still the same.
    pub fn opened(
        &mut self,
        scope: &Scope,
        salt: &[u8],
        now_ms: i64,
        keys: impl FnOnce() -> Option<ScopeKeys>,
    ) -> Option<OpenScope> {
        if let Some(open) = self.scopes.get_mut(scope).filter(|open| open.salt == salt) {
            open.seen_ms = now_ms;
            return Some(open.clone());
        }
        self.forget_idle(now_ms);
        self.last_number += 1;
        let (number, keys) = (self.last_number, Arc::new(keys()?));
        let open = OpenScope { number, salt: salt.to_vec(), keys, seen_ms: now_ms };
        self.scopes.insert(scope.clone(), open.clone());
        Some(open)
    }

    /// The code of a value, if there is nothing to write for it.
    pub fn code(&mut self, scope: &OpenScope, wanted: &Wanted<'_>) -> Option<Code> {
        let place = self.place(scope, wanted.kind, wanted.value);
        let code = *self.young.by_value.get(&place).or_else(|| self.old.by_value.get(&place))?;
        let kept = self.kept(scope, code)?;
        (kept.is(wanted.kind, wanted.value) && kept.is_from(wanted.server)).then_some(code)
    }

    pub fn kept(&mut self, scope: &OpenScope, code: Code) -> Option<Arc<Kept>> {
        let place = (scope.number, code.number());
        if let Some(kept) = self.young.by_code.get(&place) {
            return Some(Arc::clone(kept));
        }
        let kept = self.old.by_code.get(&place).map(Arc::clone)?;
        self.keep(scope, code, Arc::clone(&kept));
        Some(kept)
    }

    pub fn keep(&mut self, scope: &OpenScope, code: Code, kept: Arc<Kept>) {
        if self.young.bytes > SHELF_BYTES_MAX {
            self.old = std::mem::take(&mut self.young);
        }
        let by_value = self.place(scope, &kept.kind, &kept.value);
        let bytes = kept.bytes() + ENTRY_BYTES;
        self.young.by_value.insert(by_value, code);
        let before = self.young.by_code.insert((scope.number, code.number()), kept);
        let freed = before.map_or(0, |before| before.bytes() + ENTRY_BYTES);
        self.young.bytes = (self.young.bytes + bytes).saturating_sub(freed);
    }

    pub fn forget(&mut self) {
        *self = Self { key: self.key, last_number: self.last_number, ..Self::default() };
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.young.bytes + self.old.bytes
    }

    fn place(&self, scope: &OpenScope, kind: &Kind, value: &str) -> (u64, u64) {
        (scope.number, self.hasher.hash_one((kind, value)))
    }

    /// Values of scopes that nobody uses don't stay in memory for long.
    fn forget_idle(&mut self, now_ms: i64) {
        let before = self.scopes.len();
        self.scopes.retain(|_, open| is_fresh(open, now_ms));
        if self.scopes.len() >= SCOPES_MAX {
            self.scopes.clear();
        }
        if self.scopes.len() == before {
            return;
        }
        let numbers: HashSet<u64> = self.scopes.values().map(|open| open.number).collect();
        for shelf in [&mut self.young, &mut self.old] {
            shelf.by_code.retain(|(number, _), _| numbers.contains(number));
            shelf.by_value.retain(|(number, _), _| numbers.contains(number));
            shelf.bytes = shelf.by_code.values().map(|kept| kept.bytes() + ENTRY_BYTES).sum();
        }
    }
}

fn is_fresh(open: &OpenScope, now_ms: i64) -> bool {
    let noted = i64::try_from(VAULT_USE_NOTED.as_millis()).unwrap_or(i64::MAX);
    now_ms.saturating_sub(open.seen_ms) < noted
}
