//! Calls of a day, kept over a restart and shared with every process that uses the same data folder.
//!
//! Walls: only calls that count against a budget of a day wait for the database, where each is counted before it is
//! sent, and only if every process together has room for it. Where nothing can be written a process goes by what it
//! knows, and writes that with a later call.

use std::sync::Arc;

use gristmill_domain::policy::Decided;

use super::budgets::{Budgets, Counted};
use crate::store::{DayCount, DayTaken, Store};

pub(super) struct DayCounts {
    budgets: Arc<Budgets>,
    store: Store,
}

impl DayCounts {
    pub fn new(budgets: Arc<Budgets>, store: Store) -> Self {
        Self { budgets, store }
    }

    /// Counts a call for every process. The refusal, if one of its budgets is used up by now: then it counts against
    /// none of any span.
    pub async fn count(&self, counted: &Counted) -> Option<Decided> {
        let wanted = counted.days();
        if wanted.is_empty() {
            return None;
        }
        let unsaved = self.budgets.take_unsaved(counted.day);
        match self.store.take_of_day(counted.day, unsaved.clone(), wanted.clone()).await {
            Ok(DayTaken { used_up, counts }) => {
                if used_up.is_some() {
                    self.budgets.take_back(counted);
                }
                self.budgets.take_over(counted.day, counts);
                used_up.and_then(|place| counted.used_up(place))
            }
            Err(_) => {
                self.budgets.put_back(counted.day, unsaved);
                let made = wanted.into_iter().map(|of| DayCount { rule: of.rule, owner: of.owner, calls: 1 });
                self.budgets.put_back(counted.day, made.collect());
                None
            }
        }
    }

    /// What could not be written before is on the disk afterwards, if it can be.
    pub async fn save(&self, day: u64) {
        if self.budgets.has_unsaved() {
            let unsaved = self.budgets.take_unsaved(day);
            let _ = self.store.take_of_day(day, unsaved, Vec::new()).await;
        }
    }
}
