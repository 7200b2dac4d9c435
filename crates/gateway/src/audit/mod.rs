//! The audit: what an auditor may ask about later, in the order in which it happened, so that nobody can
//! change, drop or move any of it unnoticed.
//!
//! Events are lines of JSON in the database. Each is linked to the one before by its hash; every few seconds
//! and every thousand events the last hash is signed with a key of the data folder, and a mark beside that
//! key says how far. Every process that uses the data folder appends to the same chain.
//!
//! Walls: no secret and nothing of what programs and tools say to each other is in it, but for digests that
//! are made with a key. Whatever waits to be written is bounded. What cannot be recorded ends no program: its
//! report says so.

mod call_event;
mod calls;
mod chain;
mod executions;
mod keys;
mod verify;
mod violations;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use gristmill_domain::utc_text_ms;
use parking_lot::Mutex;

use crate::alive::Alive;
use crate::ports::{AuditLog, CallObserver};
use crate::store::{AuditKeep, Store, StoreError};
use keys::Keys;
use verify::Walk;
use waiting::{Noted, Waiting, lost_text};

pub use crate::ports::{ApprovedHow, AuditEvent, AuditKind, ConfigChange};
pub use crate::store::{AuditFilter, AuditRecord, AuditSize};
pub use executions::AuditedExecution;
pub use keys::{AuditError, KEY_FILE, MARK_FILE};
pub use verify::{Fault, Verification};
pub use violations::{AuditReport, Count, Place};

/// How often the last hash is signed, while anything happens.
const SIGNED_EVERY: Duration = Duration::from_secs(10);

/// And after how many events at the latest.
const SIGNED_AFTER: u64 = 1_000;

/// Calls wait this long for others to be written with.
const GATHERED_FOR: Duration = Duration::from_millis(200);

/// So many of them are written at once.
const GATHERED_MAX: usize = 256;

/// How often what is too old or too much is let go of.
const SWEPT_EVERY: Duration = Duration::from_secs(60 * 60);

/// Events that are weighed before others have their turn at the database.
const WEIGHED_AT_ONCE: usize = 2_000;

/// More than anyone reads at once.
pub const LISTED_MAX: usize = 100_000;

/// What is kept, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditSettings {
    /// Whether arguments of calls are kept, cut to 4 KB each; otherwise only their digests are.
    pub arguments: bool,
    pub keep: Duration,
    /// How much of it, in bytes.
    pub bytes_max: u64,
}

impl Default for AuditSettings {
    /// A year is what most rules ask for.
    fn default() -> Self {
        Self { arguments: false, keep: Duration::from_secs(365 * 24 * 60 * 60), bytes_max: 512 << 20 }
    }
}

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Audit {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    settings: AuditSettings,
    waiting: Arc<Waiting>,
    /// Held by a gateway, whose executions are lost when it is gone.
    alive: Mutex<Option<Alive>>,
    is_gathering: AtomicBool,
}

impl Audit {
    /// In the data folder of this database, with its keys, which are made if there are none. Blocks on the
    /// disk.
    pub fn open(store: &Store, settings: AuditSettings) -> Result<Self, AuditError> {
        let keys = Keys::open(store.folder().ok_or(AuditError::NoFolder)?)?;
        let waiting = Arc::new(Waiting::new(keys, store.clock().clone(), settings.arguments));
        store.write_along(Arc::clone(&waiting) as Arc<_>);
        let (store, alive, is_gathering) = (store.clone(), Mutex::default(), AtomicBool::new(false));
        Ok(Self { inner: Arc::new(Inner { store, settings, waiting, alive, is_gathering }) })
    }

    /// For a gateway, whose executions are told from those of others from here on. Writes the final events of
    /// those that gateways left open which are gone.
    pub async fn serve(&self) -> Result<(), StoreError> {
        let Inner { store, waiting, alive, .. } = &*self.inner;
        let taken = Alive::take(store.folder()).map_err(|error| StoreError::Folder {
            folder: store.folder().map(ToOwned::to_owned).unwrap_or_default(),
            why: error.to_string(),
        })?;
        waiting.is_gateway(&taken.gateway);
        let gone = taken.gone_among(store.gateways_in_audit().await?);
        *alive.lock() = Some(taken);
        self.close_lost(gone).await
    }

    async fn close_lost(&self, gone: Vec<String>) -> Result<(), StoreError> {
        if gone.is_empty() {
            return Ok(());
        }
        // What they wrote down isn't lost. If that can't be read now, nothing is called so.
        if self.inner.store.write_left().await.is_err() {
            return Ok(());
        }
        let now = self.inner.store.now();
        let last = move |execution: &str, begun: Option<&str>| lost_text(now, execution, begun);
        self.inner.store.close_audit_of(gone, last).await
    }

    /// Who hears of every request that reaches a server.
    pub fn observer(&self) -> Arc<dyn CallObserver> {
        Arc::new(self.clone())
    }

    /// Who hears of what is approved without a person.
    pub fn log(&self) -> Arc<dyn AuditLog> {
        Arc::new(self.clone())
    }

    pub fn settings(&self) -> &AuditSettings {
        &self.inner.settings
    }

    /// The same for the same bytes; without the key nobody can tell of which.
    pub fn digest(&self, bytes: &[u8]) -> String {
        self.inner.waiting.keys.digest(bytes)
    }

    /// Notes an event, which is written at once while nobody waits for it.
    fn note_now(&self, noted: impl Into<Noted>) {
        self.inner.waiting.put(noted.into());
        self.write_later();
    }

    /// Notes an event that is written with others, soon.
    fn note_soon(&self, noted: impl Into<Noted>) {
        let Inner { waiting, is_gathering, .. } = &*self.inner;
        if waiting.put(noted.into()) >= GATHERED_MAX {
            return self.write_later();
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return self.write_later();
        };
        if !is_gathering.swap(true, Ordering::Relaxed) {
            let inner = Arc::downgrade(&self.inner);
            runtime.spawn(async move {
                tokio::time::sleep(GATHERED_FOR).await;
                if let Some(inner) = inner.upgrade() {
                    inner.is_gathering.store(false, Ordering::Relaxed);
                    Self { inner }.write_later();
                }
            });
        }
    }

    /// Everything that was noted is on the disk afterwards.
    pub async fn settle(&self) -> Result<(), StoreError> {
        let Inner { store, waiting, .. } = &*self.inner;
        store.append_audit(Arc::clone(waiting) as Arc<_>).await?;
        self.sign_if_due();
        Ok(())
    }

    /// Events that are noted and not on the disk yet.
    pub fn events_waiting(&self) -> usize {
        self.inner.waiting.count() + self.inner.store.events_in_journal().0
    }

    /// How long the oldest of them has waited.
    pub fn lag(&self) -> Duration {
        self.inner.waiting.lag().max(self.inner.store.events_in_journal().1)
    }

    /// Whether what waits is written with executions of this database.
    pub(crate) fn goes_along(&self, store: &Store) -> bool {
        store.writes_along(&self.inner.waiting)
    }

    /// Beside the answer: to sign waits for the disk.
    pub(crate) fn sign_if_due(&self) {
        let Inner { store, waiting, .. } = &*self.inner;
        if waiting.is_written_due(SIGNED_EVERY, SIGNED_AFTER) {
            store.sign_audit_later(Arc::clone(waiting) as Arc<_>);
        }
    }

    /// What waits is written when there is time for it.
    fn write_later(&self) {
        let Inner { store, waiting, .. } = &*self.inner;
        store.append_audit_later(Arc::clone(waiting) as Arc<_>);
    }

    /// The same, and signed.
    pub async fn sign(&self) -> Result<(), StoreError> {
        let Inner { store, waiting, .. } = &*self.inner;
        store.append_audit(Arc::clone(waiting) as Arc<_>).await?;
        store.sign_audit(Arc::clone(waiting) as Arc<_>).await.map(drop)
    }

    /// Whether an event waits, or was written since something was signed.
    fn has_unsigned(&self) -> bool {
        let waiting = &self.inner.waiting;
        waiting.count() > 0 || waiting.is_written_due(Duration::ZERO, 1)
    }

    /// Signs every few seconds and sweeps every hour, as long as the audit is used by anyone else.
    pub fn tidy_in_background(&self) {
        let inner = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            let mut swept: Option<tokio::time::Instant> = None;
            let mut signed_at = None;
            while let Some(inner) = inner.upgrade() {
                // What fails now may work the next time; whoever records hears of it.
                let audit = Self { inner };
                if swept.is_none_or(|at| at.elapsed() >= SWEPT_EVERY) {
                    swept = Some(tokio::time::Instant::now());
                    let _ = audit.sweep().await;
                }
                // Also what others left: a command, or a gateway that was killed.
                if audit.has_unsigned() || audit.inner.store.last_written() != signed_at {
                    let _ = audit.sign().await;
                    signed_at = audit.inner.store.last_written();
                }
                drop(audit);
                tokio::time::sleep(SIGNED_EVERY).await;
            }
        });
    }

    /// Lets go of what is too old or too much, as far as the rest can be proven without it; gives how many
    /// events went.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let Inner { store, settings, waiting, .. } = &*self.inner;
        let before = store.now().checked_sub(settings.keep).unwrap_or(SystemTime::UNIX_EPOCH);
        let beyond = store.audit_beyond(settings.bytes_max, WEIGHED_AT_ONCE).await?;
        let keep = AuditKeep { before: utc_text_ms(before), beyond };
        store.cut_audit(keep, Arc::clone(waiting) as Arc<_>).await
    }

    /// Nothing more will be noted by this gateway. Writes what waits, signed.
    pub async fn close(&self) {
        // What fails now is missed by the next gateway, which writes that it is.
        let _ = self.sign().await;
        if let Some(alive) = self.inner.alive.lock().take() {
            alive.leave();
        }
    }

    /// The newest first.
    pub async fn find(&self, filter: &AuditFilter, limit: usize) -> Result<Vec<AuditRecord>, StoreError> {
        self.inner.store.find_audit(filter.clone(), limit.min(LISTED_MAX)).await
    }

    /// Those of one execution, the oldest first.
    pub async fn of_execution(&self, id: &str, limit: usize) -> Result<Vec<AuditRecord>, StoreError> {
        self.inner.store.audit_of_execution(id, limit.min(LISTED_MAX)).await
    }

    /// Those after a number, the oldest first.
    pub async fn after(&self, number: u64, limit: usize) -> Result<Vec<AuditRecord>, StoreError> {
        self.inner.store.audit_after(number, limit.min(LISTED_MAX)).await
    }

    /// What was tried that may not be done.
    pub async fn report(&self, filter: &AuditFilter) -> Result<AuditReport, StoreError> {
        Ok(violations::report(&self.find(filter, LISTED_MAX).await?))
    }

    pub async fn size(&self) -> Result<AuditSize, StoreError> {
        self.inner.store.audit_size().await
    }

    /// Reads all of it and says whether it is whole.
    pub async fn verify(&self) -> Result<Verification, StoreError> {
        let Inner { store, waiting, .. } = &*self.inner;
        // Before the walk: what is signed meanwhile is beyond it.
        let mark = waiting.keys.mark().ok().flatten();
        let keys = Arc::clone(waiting);
        let walk = store.walk_audit(
            move |signed| Walk::begin(signed, mark, &keys.keys),
            |walk, record| walk.visit(&record),
        );
        Ok(walk.await?.end())
    }
}

impl AuditLog for Audit {
    /// Written at once, and signed unless something was just now: few commands and no program come here.
    fn note(&self, event: AuditEvent) {
        self.note_now(event);
        let Inner { store, waiting, .. } = &*self.inner;
        if waiting.is_due(u64::MAX, SIGNED_EVERY, u64::MAX) {
            store.sign_audit_later(Arc::clone(waiting) as Arc<_>);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // What still waits is written before the database is closed.
        self.store.append_audit_later(Arc::clone(&self.waiting) as Arc<_>);
    }
}

#[cfg(test)]
mod tests;
