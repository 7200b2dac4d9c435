//! What the database gets a moment later: what executions say of themselves, which the journal has at once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::{Connection, Transaction};

use super::audit_chain::{append, in_transaction};
use super::audit_rows::AuditBatch;
use super::journal::{self, Entry, Fact, Journal};
use super::{Inner, Reply, Store, StoreError};

/// How long the database goes without what the journal has. Most programs begin and end within this, and are
/// written in one transaction; nobody who looks from outside notices.
const BEHIND: Duration = Duration::from_millis(20);

/// After it could not be written, it is tried again so much later.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// What a log's filter calls this.
const LOG_AREA: &str = "gristmill::store";

pub(super) struct Behind {
    /// Where a journal can be; `None` for a database in memory.
    folder: Option<PathBuf>,
    /// Begun with the first execution: most commands have none. `None` inside where there can be none.
    journal: OnceLock<Option<Journal>>,
    /// What waits of the audit, which is written along with executions: one transaction for both.
    audit: OnceLock<Arc<dyn AuditBatch>>,
    /// When the database last refused what the journal has; `None` if it has taken it since.
    failed: Mutex<Option<Instant>>,
    /// Whether somebody sees to it that the database catches up.
    is_seen_to: AtomicBool,
}

impl Behind {
    pub fn new(folder: Option<PathBuf>) -> Self {
        let (journal, audit, failed, is_seen_to) = Default::default();
        Self { folder, journal, audit, failed, is_seen_to }
    }

    /// The first one is.
    pub fn is_audited_by(&self, waiting: Arc<dyn AuditBatch>) {
        let _ = self.audit.set(waiting);
    }

    pub fn audit(&self) -> Option<Arc<dyn AuditBatch>> {
        self.audit.get().cloned()
    }

    /// Writes what the database does not have yet.
    pub fn write_down(&self, connection: &mut Connection) -> Result<(), StoreError> {
        let Some(journal) = self.begun() else { return Ok(()) };
        let written = journal.write_down(connection);
        *self.failed.lock() = written.is_err().then(Instant::now);
        if let (Some(head), Some(audit)) = (written?, self.audit.get()) {
            audit.written(&head);
        }
        Ok(())
    }

    /// The same for whoever comes next. If it cannot be, it is tried again, but not by everyone: many only read.
    pub fn catch_up(&self, connection: &mut Connection) {
        if self.failed.lock().is_some_and(|failed| failed.elapsed() < AGAIN_AFTER) {
            return;
        }
        if let Err(error) = self.write_down(connection) {
            tracing::warn!(target: LOG_AREA, %error, "executions wait in the journal");
        }
    }

    fn is_empty(&self) -> bool {
        self.begun().is_none_or(Journal::is_empty)
    }

    /// If there is one already.
    fn begun(&self) -> Option<&Journal> {
        self.journal.get()?.as_ref()
    }

    /// Nothing more comes.
    pub fn end(&self, connection: &mut Connection) {
        // What cannot be written stays in the files.
        let _ = self.write_down(connection);
        if let Some(journal) = self.begun() {
            journal.end();
        }
    }

    pub fn journal(&self) -> Option<&Journal> {
        self.journal.get_or_init(|| Journal::begin(self.folder.as_ref()?).ok()).as_ref()
    }
}

impl Store {
    /// Writes down what is said of an execution, with what waits of the audit about it; whether that could be.
    pub(super) fn in_journal(&self, execution: &str, fact: Fact) -> bool {
        let Behind { audit, .. } = &*self.inner.behind;
        let Some(journal) = self.inner.behind.journal() else { return false };
        let events = match audit.get() {
            None => Some(Vec::new()),
            Some(audit) => audit.take_of(execution),
        };
        let Some(events) = events else { return false };
        match journal.add(Entry { fact, audit: events }) {
            // A job that does nothing: before each of them the database catches up.
            Ok(true) => self.later(|_| Ok(())),
            Ok(false) => {}
            Err(entry) => {
                if let Some(audit) = audit.get() {
                    audit.put_back(entry.audit);
                }
                return false;
            }
        }
        self.catch_up_soon();
        true
    }

    fn catch_up_soon(&self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return self.later(|_| Ok(())) };
        if !self.inner.behind.is_seen_to.swap(true, Ordering::AcqRel) {
            runtime.spawn(see_to_it(Arc::downgrade(&self.inner)));
        }
    }

    /// Events of the audit that only the journal has, and how long the oldest entry there waits for the database.
    pub(crate) fn events_in_journal(&self) -> (usize, Duration) {
        self.inner.behind.begun().map(Journal::waiting).unwrap_or_default()
    }

    pub(super) fn behind(&self) -> Arc<Behind> {
        Arc::clone(&self.inner.behind)
    }

    /// Writes what processes left in their journals that are gone.
    pub(crate) fn write_left(&self) -> Reply<()> {
        let folder = self.inner.folder.clone();
        self.run(move |connection| match folder {
            Some(folder) => journal::write_left(connection, &folder),
            None => Ok(()),
        })
    }
}

/// Until the database has everything, or is closed.
async fn see_to_it(inner: Weak<Inner>) {
    let mut pause = BEHIND;
    loop {
        tokio::time::sleep(pause).await;
        let Some(caught_up) = inner.upgrade().map(|inner| inner.run(|_| Ok(()))) else { return };
        let is_open = caught_up.await.is_ok();
        let Some(inner) = inner.upgrade().filter(|_| is_open) else { return };
        let Behind { failed, is_seen_to, .. } = &*inner.behind;
        pause = if failed.lock().is_some() { AGAIN_AFTER } else { BEHIND };
        is_seen_to.store(false, Ordering::Release);
        // Whoever came before that relied on us.
        if inner.behind.is_empty() || is_seen_to.swap(true, Ordering::AcqRel) {
            return;
        }
    }
}

/// One transaction for a job and for what waits of the audit. If it fails, neither is written, and the
/// audit's events wait again.
pub(super) fn with_audit(
    connection: &mut Connection,
    behind: &Behind,
    job: impl FnOnce(&Transaction<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    match behind.audit() {
        None => in_transaction(connection, job),
        Some(batch) => write_with(connection, behind, &*batch, job),
    }
}

pub(super) fn write_with(
    connection: &mut Connection,
    behind: &Behind,
    batch: &dyn AuditBatch,
    job: impl FnOnce(&Transaction<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let rows = batch.take();
    let mut last = None;
    // What the journal has of these executions came before: no end without its beginning.
    let written = behind.write_down(connection).and_then(|()| {
        in_transaction(connection, |transaction| {
            job(transaction)?;
            if !rows.is_empty() {
                last = Some(append(transaction, &rows)?);
            }
            Ok(())
        })
    });
    match (&written, last) {
        (Ok(()), Some(head)) => batch.written(&head),
        (Ok(()), None) => {}
        (Err(_), _) => batch.put_back(rows),
    }
    batch.is_settled();
    written
}
