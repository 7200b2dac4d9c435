//! A table that forgets what was not seen for longest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::limits::cut;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bounded<V> {
    items: BTreeMap<String, (u64, V)>,
}

impl<V> Default for Bounded<V> {
    fn default() -> Self {
        Self { items: BTreeMap::new() }
    }
}

impl<V> Bounded<V> {
    pub fn get(&self, name: &str) -> Option<&V> {
        self.items.get(cut(name)).map(|(_, value)| value)
    }

    /// Makes room: the eighth that was not seen for longest goes, so that a full table isn't searched each time.
    pub fn keep(&mut self, max: usize) {
        if self.items.len() <= max {
            return;
        }
        let mut ages: Vec<u64> = self.items.values().map(|(seen, _)| *seen).collect();
        ages.sort_unstable();
        let kept = max - max / 8;
        let oldest = ages[ages.len() - kept];
        let mut spare = ages.len() - kept;
        self.items.retain(|_, (seen, _)| {
            let goes = spare > 0 && *seen <= oldest;
            spare -= usize::from(goes);
            !goes
        });
    }

    pub fn remove_if(&mut self, mut is_over: impl FnMut(&V) -> bool) {
        self.items.retain(|_, (_, value)| !is_over(value));
    }

    /// What is known under this name; the others make room for it.
    pub fn entry(&mut self, name: &str, at_ms: u64, max: usize) -> &mut V
    where
        V: Default,
    {
        let name = cut(name);
        if !self.items.contains_key(name) {
            self.keep(max.saturating_sub(1));
        }
        let item = self.items.entry(name.to_owned()).or_default();
        item.0 = at_ms;
        &mut item.1
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.items.values_mut().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_forgets_what_was_not_seen_for_longest() {
        let mut table: Bounded<u32> = Bounded::default();
        for at in 0..1000 {
            *table.entry("regular", at, 16) += 1;
            table.entry(&format!("visitor {at}"), at, 16);
            assert!(table.items.len() <= 16);
        }
        assert_eq!(table.get("regular"), Some(&1000));
        assert!(table.get("visitor 999").is_some() && table.get("visitor 900").is_none());
    }
}
