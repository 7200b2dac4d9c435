//! What is kept of executions, and for how long.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::ExecutionId;
use super::entry::Entry;

/// How much is kept of what has ended. The oldest go first.
#[derive(Clone, Copy, Debug)]
pub struct KeepLimits {
    /// How many.
    pub count: usize,
    /// How long.
    pub age: Duration,
    /// Bytes of all reports together.
    pub bytes: usize,
}

impl Default for KeepLimits {
    /// An agent asks again within minutes, if it does.
    fn default() -> Self {
        Self { count: 256, age: Duration::from_secs(15 * 60), bytes: 64 << 20 }
    }
}

/// See the module.
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
        let mut gone = Vec::new();
        for id in self.order.iter().rev() {
            let Some((at, weight)) = self.entries.get(id).and_then(|entry| entry.ended_with()) else {
                continue;
            };
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
