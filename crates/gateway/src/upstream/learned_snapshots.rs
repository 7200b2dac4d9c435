//! Snapshots with what was learned: one for each owner whose calls have taught anything.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::registry::Registry;
use super::snapshot::Snapshot;
use crate::ids::Owner;
use crate::learned::Learner;

/// Owners whose snapshots are kept. Those of others are made again.
const OWNERS_MAX: usize = 64;

pub(super) struct LearnedSnapshots {
    learner: Learner,
    made: Mutex<HashMap<Owner, Made>>,
}

struct Made {
    /// What it was made from.
    plain: Weak<Snapshot>,
    learned: String,
    snapshot: Arc<Snapshot>,
}

impl LearnedSnapshots {
    /// Needs a tokio runtime.
    pub(super) fn start(learner: Learner, registry: &Arc<Registry>) -> Arc<Self> {
        let learned = learner.learned();
        let made = Arc::new(Self { learner, made: Mutex::default() });
        tokio::spawn(prepare(Arc::downgrade(&made), Arc::downgrade(registry), learned));
        made
    }

    pub(super) fn learner(&self) -> &Learner {
        &self.learner
    }

    /// The tools with what this owner's calls have taught.
    pub(super) async fn of(&self, owner: &Owner, plain: Arc<Snapshot>) -> Arc<Snapshot> {
        let types = self.learner.types(owner).await;
        if types.is_empty() {
            self.made.lock().remove(owner);
            return plain;
        }
        let mut all = self.made.lock();
        if let Some(made) = all.get(owner)
            && made.learned == types.version()
            && std::ptr::eq(made.plain.as_ptr(), Arc::as_ptr(&plain))
        {
            return Arc::clone(&made.snapshot);
        }
        let snapshot = plain.with_learned(&types).map_or_else(|| Arc::clone(&plain), Arc::new);
        if let Some(older) = all.get(owner)
            && std::ptr::eq(older.plain.as_ptr(), Arc::as_ptr(&plain))
            && !Arc::ptr_eq(&older.snapshot, &snapshot)
        {
            snapshot.seen.take_over(&older.snapshot.seen);
        }
        if all.len() >= OWNERS_MAX && !all.contains_key(owner) {
            all.clear();
        }
        let (plain, learned) = (Arc::downgrade(&plain), types.version().to_owned());
        all.insert(owner.clone(), Made { plain, learned, snapshot: Arc::clone(&snapshot) });
        snapshot
    }

    fn owners(&self) -> Vec<Owner> {
        self.made.lock().keys().cloned().collect()
    }
}

/// Writes the trees of what was learned before a program needs them.
async fn prepare(made: Weak<LearnedSnapshots>, registry: Weak<Registry>, mut learned: watch::Receiver<u64>) {
    while learned.changed().await.is_ok() {
        let (Some(made), Some(registry)) = (made.upgrade(), registry.upgrade()) else { return };
        for owner in made.owners() {
            let snapshot = made.of(&owner, registry.snapshot()).await;
            for seen in snapshot.seen.all() {
                snapshot.tree(&seen).await;
            }
        }
    }
}
