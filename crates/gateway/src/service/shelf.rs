//! What is kept of executions, and for how long.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::entry::Entry;
use super::{ExecutionId, Owner};

/// How much is kept of what has ended. The oldest go first.
#[derive(Clone, Copy, Debug)]
pub struct KeepLimits {
    pub count: usize,
    /// How many of one owner.
    pub count_of_one: usize,
    pub age: Duration,
    /// Bytes of all reports together.
    pub bytes: usize,
}

impl Default for KeepLimits {
    /// An agent asks again within minutes, if it does.
    fn default() -> Self {
        Self { count: 256, count_of_one: 64, age: Duration::from_secs(15 * 60), bytes: 64 << 20 }
    }
}

pub(super) struct Shelf {
    limits: KeepLimits,
    entries: HashMap<ExecutionId, Arc<Entry>>,
    /// The oldest first.
    order: VecDeque<ExecutionId>,
}

impl Shelf {
    pub fn new(limits: KeepLimits) -> Self {
        Self { limits, entries: HashMap::new(), order: VecDeque::new() }
    }

    pub fn put(&mut self, entry: Arc<Entry>, now: Instant) {
        self.tidy(now);
        self.order.push_back(entry.id.clone());
        self.entries.insert(entry.id.clone(), entry);
    }

    pub fn find(&mut self, id: &ExecutionId) -> Option<Arc<Entry>> {
        self.tidy(Instant::now());
        self.entries.get(id).cloned()
    }

    /// The newest first.
    pub fn all(&self) -> impl Iterator<Item = Arc<Entry>> {
        self.order.iter().rev().filter_map(|id| self.entries.get(id).cloned())
    }

    pub fn forget(&mut self, id: &ExecutionId) {
        if self.entries.get(id).is_some_and(|entry| entry.has_ended()) {
            self.entries.remove(id);
            self.order.retain(|kept| kept != id);
        }
    }

    /// Lets go of what is too old or too much. What runs stays.
    pub fn tidy(&mut self, now: Instant) {
        let (mut count, mut bytes) = (0, 0);
        let mut of_each: HashMap<&Owner, usize> = HashMap::new();
        let mut gone = Vec::new();
        for id in self.order.iter().rev() {
            let Some(entry) = self.entries.get(id) else { continue };
            let Some((at, weight)) = entry.ended_with() else { continue };
            let of_this = of_each.entry(&entry.owner).or_default();
            *of_this += 1;
            if *of_this > self.limits.count_of_one {
                gone.push(id.clone());
                continue;
            }
            count += 1;
            bytes += weight;
            let old = now.saturating_duration_since(at) > self.limits.age;
            if old || count > self.limits.count || bytes > self.limits.bytes {
                gone.push(id.clone());
            }
        }
        for id in &gone {
            self.entries.remove(id);
        }
        if !gone.is_empty() {
            self.order.retain(|id| self.entries.contains_key(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer;
    use crate::report::Report;
    use gristmill_domain::Code;

    fn limits(count: usize, bytes: usize) -> KeepLimits {
        KeepLimits { count, count_of_one: count, bytes, age: Duration::from_secs(60) }
    }

    fn running() -> Arc<Entry> {
        Arc::new(Entry::new(Owner("a".to_owned())).unwrap())
    }

    #[test]
    fn one_owner_pushes_out_its_own_answers_only() {
        let limits = KeepLimits { count_of_one: 2, ..KeepLimits::default() };
        let other = Arc::new(Entry::new(Owner("b".to_owned())).unwrap());
        end(&other, String::new());
        let ours: Vec<Arc<Entry>> = (0..5).map(|_| ended(10)).collect();
        let mut shelf = shelf(limits, &[&other, &ours[0], &ours[1], &ours[2], &ours[3], &ours[4]]);
        shelf.tidy(Instant::now());
        let kept: Vec<&ExecutionId> = [&other].into_iter().chain(&ours).map(|entry| &entry.id).collect();
        let is_kept: Vec<bool> = kept.into_iter().map(|id| shelf.find(id).is_some()).collect();
        assert_eq!(is_kept, [true, false, false, false, true, true]);
    }

    /// Its report weighs about as much as its message.
    fn ended(bytes: usize) -> Arc<Entry> {
        let entry = running();
        end(&entry, "x".repeat(bytes));
        entry
    }

    fn end(entry: &Entry, message: String) {
        let report = Report::refused(Code::Busy, message, None, Duration::ZERO);
        entry.end(report, Some(answer::refused(Code::Busy, "", None)));
    }

    fn shelf(limits: KeepLimits, entries: &[&Arc<Entry>]) -> Shelf {
        let mut shelf = Shelf::new(limits);
        for entry in entries {
            shelf.put(Arc::clone(entry), Instant::now());
        }
        shelf.tidy(Instant::now());
        shelf
    }

    fn kept(shelf: &Shelf) -> Vec<ExecutionId> {
        shelf.all().map(|entry| entry.id.clone()).collect()
    }

    fn ids(entries: &[&Arc<Entry>]) -> Vec<ExecutionId> {
        entries.iter().map(|entry| entry.id.clone()).collect()
    }

    #[test]
    fn the_oldest_go_first_and_what_runs_stays() {
        let (first, old, middle, new) = (running(), ended(0), ended(0), ended(0));
        let shelf = shelf(limits(2, 1 << 20), &[&first, &old, &middle, &new]);
        assert_eq!(kept(&shelf), ids(&[&new, &middle, &first]));
    }

    #[test]
    fn all_reports_together_weigh_no_more_than_they_may() {
        let (old, new) = (ended(50_000), ended(50_000));
        assert_eq!(kept(&shelf(limits(10, 110_000), &[&old, &new])), ids(&[&new, &old]));
        assert_eq!(kept(&shelf(limits(10, 90_000), &[&old, &new])), ids(&[&new]));
        let none: Vec<ExecutionId> = Vec::new();
        assert_eq!(kept(&shelf(limits(10, 10_000), &[&old, &new])), none);
    }

    #[test]
    fn what_has_ended_goes_when_it_is_old() {
        let (over, going) = (ended(0), running());
        let mut shelf = shelf(limits(10, 1 << 20), &[&over, &going]);
        shelf.tidy(Instant::now() + Duration::from_secs(59));
        assert_eq!(kept(&shelf), ids(&[&going, &over]));
        shelf.tidy(Instant::now() + Duration::from_secs(61));
        assert_eq!(kept(&shelf), ids(&[&going]));
        assert_eq!(shelf.entries.len(), 1, "nothing is left in the other place");
    }

    #[test]
    fn only_what_has_ended_is_forgotten() {
        let (over, going) = (ended(0), running());
        let mut shelf = shelf(limits(10, 1 << 20), &[&over, &going]);
        for id in ids(&[&over, &going]) {
            shelf.forget(&id);
        }
        assert_eq!(kept(&shelf), ids(&[&going]));
        assert!(shelf.find(&over.id).is_none() && shelf.find(&going.id).is_some());
    }
}
