//! What was learned, as it is shown, by owner. Read when it is first asked for, and again when it has changed,
//! in this process or in another.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gristmill_domain::catalogue::{ToolDefinition, ToolHash};
use gristmill_domain::learned::{Learned, shown_calls};
use parking_lot::Mutex;

use crate::ids::Owner;
use crate::store::{LearnedRecord, LearnedStamp, Store};

/// Owners whose types are kept at hand. Those of others are read again.
const OWNERS_MAX: usize = 64;

/// What other processes have learned or forgotten is looked for so often.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// What is shown to one owner. Never changes: more that is learned makes a new one.
#[derive(Debug, Default)]
pub struct LearnedTypes {
    /// Differs whenever what is shown does.
    version: String,
    /// By server and tool.
    types: HashMap<(String, String), Known>,
}

#[derive(Debug)]
struct Known {
    definition: ToolHash,
    learned: Arc<Learned>,
}

impl LearnedTypes {
    fn new(mut rows: Vec<LearnedRecord>) -> Self {
        rows.sort_by(|a, b| (&a.server, &a.tool).cmp(&(&b.server, &b.tool)));
        let mut hasher = blake3::Hasher::new();
        let mut types = HashMap::with_capacity(rows.len());
        for row in rows {
            let Some(definition) = ToolHash::from_hex(&row.definition) else { continue };
            let learned = Learned { schema: row.learned.schema(), calls: shown_calls(row.calls) };
            if !learned.says_something() {
                continue;
            }
            let parts = [
                &row.server,
                &row.tool,
                &row.definition,
                &learned.calls.to_string(),
                &learned.schema.to_string(),
            ];
            for part in parts {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
            types.insert((row.server, row.tool), Known { definition, learned: Arc::new(learned) });
        }
        let version = hasher.finalize().to_hex().to_string();
        Self { version, types }
    }

    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// What was learned of a tool as it is defined now.
    pub fn of(&self, server: &str, tool: &ToolDefinition) -> Option<Arc<Learned>> {
        let known = self.types.get(&(server.to_owned(), tool.name.clone()))?;
        (known.definition == tool.hash).then(|| Arc::clone(&known.learned))
    }
}

pub(super) struct OwnerViews {
    store: Store,
    views: Mutex<HashMap<Owner, View>>,
    /// Counts what made views old.
    outdated: AtomicU64,
}

#[derive(Clone)]
struct View {
    types: Arc<LearnedTypes>,
    stamp: LearnedStamp,
    /// When it was compared with the database; `None` if it must be.
    looked: Option<Instant>,
}

impl OwnerViews {
    pub(super) fn new(store: Store) -> Self {
        Self { store, views: Mutex::default(), outdated: AtomicU64::new(0) }
    }

    /// More was learned.
    pub(super) fn outdate(&self, owner: &Owner) {
        let mut views = self.views.lock();
        self.outdated.fetch_add(1, Ordering::Relaxed);
        if let Some(view) = views.get_mut(owner) {
            view.looked = None;
        }
    }

    /// If the database can't be read, what is known already.
    pub(super) async fn of(&self, owner: &Owner) -> Arc<LearnedTypes> {
        let known = self.views.lock().get(owner).cloned();
        if let Some(view) = &known
            && view.looked.is_some_and(|looked| looked.elapsed() < LOOK_AGAIN)
        {
            return Arc::clone(&view.types);
        }
        let before = self.outdated.load(Ordering::Relaxed);
        let read = self.read(owner, known.as_ref()).await;
        let Some(mut view) = read.or(known) else { return Arc::default() };
        let types = Arc::clone(&view.types);
        let mut views = self.views.lock();
        if self.outdated.load(Ordering::Relaxed) != before {
            // It was read while more was learned.
            view.looked = None;
        }
        if views.len() >= OWNERS_MAX && !views.contains_key(owner) {
            views.clear();
        }
        views.insert(owner.clone(), view);
        types
    }

    async fn read(&self, owner: &Owner, known: Option<&View>) -> Option<View> {
        let looked = Some(Instant::now());
        let stamp = self.store.learned_stamp(&owner.0).await.ok()?;
        if let Some(known) = known.filter(|known| known.stamp == stamp) {
            return Some(View { looked, ..known.clone() });
        }
        let rows = self.store.learned_of(&owner.0).await.ok()?;
        let types = tokio::task::spawn_blocking(move || LearnedTypes::new(rows)).await.ok()?;
        // What is shown is the same although more calls were made: whoever has it keeps it.
        let same = known.filter(|known| known.types.version == types.version);
        let types = same.map_or_else(|| Arc::new(types), |known| Arc::clone(&known.types));
        Some(View { types, stamp, looked })
    }
}
