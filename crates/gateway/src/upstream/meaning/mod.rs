//! Search by meaning: every tool as a vector of the sentence encoder, made in the background once for each
//! definition and kept on disk.
//!
//! A search never waits for any of it: as long as a vector is missing or the encoder isn't ready, words alone
//! decide.

mod uses;
mod vector_file;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use gristmill_domain::search::{Index, Nearness, meaning_parts, meaning_query, meaning_text};
use gristmill_encoder::{Definition, Encoder};
use parking_lot::RwLock;
use tokio::sync::{Semaphore, watch};

use super::registry::Registry;
use super::startup::SearchSettings;
use crate::ids::Owner;
pub(super) use uses::UseObserver;
use uses::{Uses, tool_key};
use vector_file::{Key, VectorFile, key_of};

/// How long a search waits for what its words mean. Usually it takes a tenth of that; the rest is for the
/// first search of a process.
const PATIENCE: Duration = Duration::from_millis(100);

/// A catalogue that still changes is not worth the work.
const SETTLED: Duration = Duration::from_secs(3);

/// More tools than this are searched by their words.
const TOOLS_MAX: usize = 20_000;

/// Queries that are encoded at once; more wait, and give up as if the encoder weren't ready.
const ENCODED_AT_ONCE: usize = 2;

/// Vectors that a kill may lose.
const UNSAVED_MAX: usize = 64;

/// An index, and its tools as vectors once there is one for each.
pub(super) struct Searchable {
    pub index: Index,
    vectors: OnceLock<Vec<Definition>>,
    /// The place of each tool, for what was used.
    places: OnceLock<HashMap<Key, usize>>,
}

impl Searchable {
    pub(super) fn new(index: Index) -> Self {
        Self { index, vectors: OnceLock::new(), places: OnceLock::new() }
    }

    fn place_of(&self, tool: &Key) -> Option<usize> {
        let places = || {
            let keys = self.index.tools();
            keys.map(|(server, tool)| tool_key(&server.offer.name, &tool.definition.name)).zip(0..).collect()
        };
        self.places.get_or_init(places).get(tool).copied()
    }
}

/// The encoder, and what it made.
pub(super) struct Meanings {
    file: VectorFile,
    encoder: OnceLock<Option<Encoder>>,
    kept: OnceLock<RwLock<HashMap<Key, Definition>>>,
    /// `None` if nobody wants that.
    pub uses: Option<Arc<Uses>>,
    /// Whether missing vectors are made. Without it, those that others made are used.
    makes_vectors: bool,
    is_working: AtomicBool,
    encoding: Arc<Semaphore>,
}

impl Meanings {
    /// `None` in a build without an encoder, and where nobody wants one. Nothing is read yet.
    pub(super) fn new(cache: &Path, settings: SearchSettings, makes_vectors: bool) -> Option<Arc<Self>> {
        let fingerprint = gristmill_encoder::fingerprint().filter(|_| settings.by_meaning)?;
        let folder = cache.join("meanings");
        // What another encoder made can't be compared.
        let stem = &blake3::hash(fingerprint.as_bytes()).to_hex()[..16];
        Some(Arc::new(Self {
            file: VectorFile::new(&folder, stem),
            uses: settings.by_use.then(|| Arc::new(Uses::new(&folder, stem))),
            encoder: OnceLock::new(),
            kept: OnceLock::new(),
            makes_vectors,
            is_working: AtomicBool::new(false),
            encoding: Arc::new(Semaphore::new(ENCODED_AT_ONCE)),
        }))
    }

    /// How near each tool is to what is asked; `None` as long as that can't be said.
    pub(super) async fn nearness(
        self: &Arc<Self>,
        searchable: &Arc<Searchable>,
        owner: &Owner,
        text: &str,
    ) -> Option<Nearness> {
        let (meanings, tools) = (Arc::clone(self), Arc::clone(searchable));
        let (owner, text) = (owner.clone(), text.to_owned());
        let asked = async {
            let turn = Arc::clone(&self.encoding).acquire_owned().await.ok()?;
            let encoded = tokio::task::spawn_blocking(move || {
                // Held until the work is done, also if nobody waits for it any more.
                let _turn = turn;
                meanings.nearness_now(&tools, &owner, &text)
            });
            encoded.await.ok()?
        };
        tokio::time::timeout(PATIENCE, asked).await.ok()?
    }

    fn nearness_now(
        self: &Arc<Self>,
        searchable: &Arc<Searchable>,
        owner: &Owner,
        text: &str,
    ) -> Option<Nearness> {
        if !self.has_all(searchable) {
            self.make_missing(searchable);
            return None;
        }
        let vectors = searchable.vectors.get()?;
        let asked = self.encoder()?.encode_query(&meaning_query(text));
        let cosines = vectors.iter().map(|definition| asked.cosine(definition)).collect();
        let nearness = Nearness::new(&searchable.index, cosines)?
            .with_closer_look(|place| asked.cosine_by_pieces(&vectors[place]));
        let worth = self.uses.as_ref().map(|uses| uses.asked(owner, &asked.whole)).unwrap_or_default();
        let used = worth.iter().filter_map(|(tool, worth)| Some((searchable.place_of(tool)?, *worth)));
        Some(nearness.with_uses(used))
    }

    fn encoder(&self) -> Option<&Encoder> {
        self.encoder.get_or_init(Encoder::embedded).as_ref()
    }

    fn kept(&self) -> &RwLock<HashMap<Key, Definition>> {
        self.kept.get_or_init(|| RwLock::new(self.file.read()))
    }

    /// Whether every tool has its vector; if so, they are in place.
    fn has_all(&self, searchable: &Searchable) -> bool {
        if searchable.vectors.get().is_some() {
            return true;
        }
        let index = &searchable.index;
        if index.tools().len() > TOOLS_MAX {
            return false;
        }
        let kept = self.kept().read();
        let texts = index.tools().map(|(server, tool)| meaning_text(Some(server), tool));
        let vectors = texts.map(|text| kept.get(&key_of(&text)).cloned());
        let Some(vectors) = vectors.collect::<Option<Vec<_>>>() else { return false };
        let _ = searchable.vectors.set(vectors);
        true
    }

    /// Makes what is missing, on a thread of its own that gives way to others. One at a time.
    pub(super) fn make_missing(self: &Arc<Self>, searchable: &Arc<Searchable>) {
        let is_possible = self.makes_vectors && searchable.index.tools().len() <= TOOLS_MAX;
        if !is_possible || self.is_working.swap(true, Ordering::AcqRel) {
            return;
        }
        let (meanings, tools) = (Arc::downgrade(self), Arc::clone(searchable));
        let thread = std::thread::Builder::new().name("meanings".to_owned());
        let started = thread.spawn(move || {
            // On Linux this is the priority of the thread. A refusal costs others some speed.
            let _ = rustix::process::nice(10);
            make_each(&meanings, &tools);
            if let Some(meanings) = meanings.upgrade() {
                meanings.is_working.store(false, Ordering::Release);
            }
        });
        if started.is_err() {
            self.is_working.store(false, Ordering::Release);
        }
    }

    /// Waits until every tool can be found by its meaning; `false` if that won't come.
    pub(super) async fn ready(self: &Arc<Self>, searchable: &Arc<Searchable>) -> bool {
        const LOOK_EVERY: Duration = Duration::from_millis(50);
        if !self.makes_vectors || searchable.index.tools().len() > TOOLS_MAX {
            return false;
        }
        loop {
            let (meanings, tools) = (Arc::clone(self), Arc::clone(searchable));
            let look = tokio::task::spawn_blocking(move || {
                let has_all = meanings.has_all(&tools);
                if !has_all {
                    meanings.make_missing(&tools);
                }
                has_all && meanings.encoder().is_some()
            });
            match look.await {
                Ok(true) => return true,
                Ok(false) if self.encoder.get().is_some_and(Option::is_none) => return false,
                Ok(false) => tokio::time::sleep(LOOK_EVERY).await,
                Err(_) => return false,
            }
        }
    }
}

/// Ends early if nobody needs it any more.
fn make_each(meanings: &Weak<Meanings>, searchable: &Searchable) {
    let mut unsaved = 0;
    let mut wanted = Vec::with_capacity(searchable.index.tools().len());
    for (server, tool) in searchable.index.tools() {
        let Some(meanings) = meanings.upgrade() else { return };
        let parts = meaning_parts(Some(server), tool);
        let key = key_of(&parts.concat());
        wanted.push(key);
        if meanings.kept().read().contains_key(&key) {
            continue;
        }
        let Some(encoder) = meanings.encoder() else { return };
        let definition = encoder.encode_definition(&parts);
        meanings.kept().write().insert(key, definition);
        unsaved += 1;
        if unsaved >= UNSAVED_MAX {
            meanings.file.write(&meanings.kept().read(), &wanted);
            unsaved = 0;
        }
    }
    if let Some(meanings) = meanings.upgrade().filter(|_| unsaved > 0) {
        meanings.file.write(&meanings.kept().read(), &wanted);
    }
}

/// Makes vectors whenever what is offered has changed, and has been the same for a while.
pub(super) async fn keep_up(registry: Weak<Registry>, mut changes: watch::Receiver<u64>) {
    loop {
        tokio::time::sleep(SETTLED).await;
        if changes.has_changed().unwrap_or(false) {
            changes.mark_unchanged();
            continue;
        }
        let Some(snapshot) = registry.upgrade().map(|registry| registry.snapshot()) else { return };
        let _ = tokio::task::spawn_blocking(move || snapshot.make_meanings()).await;
        if changes.changed().await.is_err() {
            return;
        }
    }
}
