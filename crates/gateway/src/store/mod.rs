//! The database: one SQLite file in the data folder, for everything that is remembered beside files.
//!
//! All work on it goes through one thread, job by job, so that nobody waits for a lock of ours, and each job
//! is one transaction or none. What waits for the disk is done by another thread ([`disk`]). Several gateways may use the same file:
//! SQLite keeps them apart, and each waits a bounded time for the other.
//!
//! Walls: no other module names SQL or rusqlite; what leaves here are records.

mod anomalies;
mod approval_askers;
mod approval_watchers;
mod approvals;
mod audit;
mod audit_chain;
mod audit_link;
mod audit_rows;
mod audit_weight;
mod behind;
mod budget_days;
mod database;
mod disk;
mod error;
mod execution_details;
mod execution_pages;
mod execution_record;
mod execution_rows;
mod execution_stats;
mod execution_writes;
mod executions;
mod executions_together;
mod gateways;
mod journal;
mod kept_whole;
mod learned_types;
mod marks;
mod migrations;
mod numbers;
mod plans;
mod results;
mod samples;
mod sessions;
mod shared;
mod skill_origin;
mod skill_proposals;
mod skills;
mod skills_begun;
mod upkeep;
mod vault;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::SystemTime;

use parking_lot::{Mutex, MutexGuard};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::clock::{Clock, unix_ms};
use crate::ports::{AuditEvent, AuditLog, SharedState};

pub use anomalies::ANOMALIES_MAX;
pub(crate) use anomalies::{WatchEvent, WatchMemory};
pub use approval_watchers::APPROVAL_WATCH_MS;
pub use approvals::{ApprovalRecord, ApprovalState};
pub(crate) use audit_link::{BEGINNING, link};
pub(crate) use audit_rows::{AuditBatch, AuditHash, AuditHead, AuditKeep, AuditRow, AuditSigner, RowEffect};
pub use audit_rows::{AuditFilter, AuditRecord, AuditSize, SignedHead};
use behind::Behind;
pub(crate) use budget_days::{DayBudget, DayCount, DayTaken};
use disk::{Disk, Upkeep};
pub(crate) use disk::{LastWritten, Safe};
pub use error::StoreError;
pub use execution_details::LeftResult;
pub use execution_pages::{ExecutionPage, ExecutionQuery, LatestCall, PageFrom, PeriodFigures, PeriodPart};
pub use execution_record::{
    ExecutionRecord, ExecutionSummary, KeptText, RecordedCall, RecordedError, RecordedOutcome, RecordedStage,
};
pub(crate) use execution_rows::{BegunRow, EndedRow};
pub use execution_rows::{Found, HistoryFilter};
pub use execution_stats::{DirectCalls, Stats, ToolStats};
pub use gateways::GatewayRecord;
pub use learned_types::{LEARNED_KEPT_MS, LearnedRecord};
pub(crate) use learned_types::{LearnedStamp, ObservedAnswer};
pub(crate) use marks::MarkedResult;
pub use plans::{PLAN_KEPT_MS, PlanRecord, PlanState};
pub use results::ResultsHeld;
pub(crate) use results::{ResultRecord, ResultRoom, Room, StoredFile};
pub use samples::sample_id;
pub(crate) use sessions::{Inserted, Put, SessionCounts, SessionRecord, VARIABLES_RESET};
pub use shared::{LEADS_LOCK, MEMBER_FILE, check_leads, check_leads_beside};
pub use skill_origin::SkillOrigin;
pub(crate) use skill_proposals::PROPOSALS_MAX;
pub use skill_proposals::SkillProposal;
pub use skills::{SavedHow, SkillVersion};
pub(crate) use skills_begun::BegunSave;
pub use upkeep::{BackupError, Health};
pub(crate) use vault::{VAULT_USE_NOTED, VaultCount, VaultKeyId, VaultOf, VaultRows};

/// The file's name in the data folder.
pub const FILE_NAME: &str = "gristmill.db";

/// Jobs that wait for the thread. Beyond this whoever asks waits.
const JOBS_MAX: usize = 1024;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// What a job comes to; it begins when somebody waits for this. Its size and its code are the same for
/// whoever waits: the statements are compiled here alone.
pub type Reply<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

/// See the module. Cheap to clone; the file is closed with the last clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    /// By which rows are dated.
    clock: Clock,
    /// Who hears of changes that an auditor may ask about.
    audit: Option<Arc<dyn AuditLog>>,
    /// Where what is written is kept, too; `None` if this gateway's state is its own.
    shared: Option<Arc<dyn SharedState>>,
}

struct Inner {
    folder: Option<PathBuf>,
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    behind: Arc<Behind>,
    disk: Disk,
    /// Counts what may have been written; how much of it is known to be safe where the state is shared.
    touched: Arc<AtomicU64>,
    settled: AtomicU64,
}

impl Store {
    /// The database of a data folder; both are made if they are not there. Blocks on the disk.
    pub fn open(data_folder: &Path) -> Result<Self, StoreError> {
        shared::check_leads(data_folder)?;
        let connection = Self::opened(data_folder)?;
        // It may be shared since that moment.
        shared::check_leads(data_folder)?;
        Ok(Self::around(connection, Some(data_folder.to_owned()), Some(data_folder.to_owned())))
    }

    /// The same for the gateway that leads those that share it. Executions are written into the database at once: a
    /// journal beside it would be on this machine alone.
    pub fn open_shared(data_folder: &Path, shared: Arc<dyn SharedState>) -> Result<Self, StoreError> {
        let store = Self::around(Self::opened(data_folder)?, Some(data_folder.to_owned()), None);
        Ok(Self { shared: Some(shared), ..store })
    }

    fn opened(data_folder: &Path) -> Result<Connection, StoreError> {
        let mut connection = database::open(data_folder)?;
        // What can't be written now stays where it is, and others may read.
        let _ = journal::write_left(&mut connection, data_folder);
        Ok(connection)
    }

    /// One that is forgotten with the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        Ok(Self::around(database::open_in_memory()?, None, None))
    }

    fn around(connection: Connection, folder: Option<PathBuf>, journal: Option<PathBuf>) -> Self {
        let (jobs, waiting) = mpsc::channel(JOBS_MAX);
        let disk = Disk::of(folder.as_deref());
        let upkeep = Upkeep::new(disk.clone());
        let behind = Arc::new(Behind::new(journal));
        let writing = Arc::clone(&behind);
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || work(connection, waiting, &writing, upkeep))
            .ok();
        // Without a thread the channel is closed, and every job says so.
        let (jobs, thread) = (Mutex::new(Some(jobs)), Mutex::new(thread));
        let (touched, settled) = Default::default();
        let inner = Inner { folder, jobs, thread, behind, disk, touched, settled };
        Self { inner: Arc::new(inner), clock: Clock::system(), audit: None, shared: None }
    }

    /// The same database, with rows dated by this clock.
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// The same database, with what an auditor may ask about noted there.
    pub fn with_audit(self, audit: Arc<dyn AuditLog>) -> Self {
        Self { audit: Some(audit), ..self }
    }

    /// What waits there is written along with executions from here on. The first one is.
    pub(crate) fn write_along(&self, waiting: Arc<dyn AuditBatch>) {
        self.inner.behind.is_audited_by(waiting);
    }

    /// Whether it is this one.
    pub(crate) fn writes_along<T: AuditBatch>(&self, waiting: &Arc<T>) -> bool {
        self.audit_waiting().is_some_and(|along| std::ptr::addr_eq(Arc::as_ptr(&along), Arc::as_ptr(waiting)))
    }

    fn audit_waiting(&self) -> Option<Arc<dyn AuditBatch>> {
        self.inner.behind.audit()
    }

    /// Notes something that an auditor may ask about, if anybody does.
    pub(crate) fn note(&self, event: AuditEvent) {
        if let Some(audit) = &self.audit {
            audit.note(event);
        }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// This moment, for rows and for what is too old.
    pub(crate) fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// The same as rows have it.
    pub(crate) fn now_ms(&self) -> i64 {
        unix_ms(self.now())
    }

    /// The data folder that it is in; `None` for one in memory.
    pub fn folder(&self) -> Option<&Path> {
        self.inner.folder.as_deref()
    }

    /// When anybody last wrote, as the file system tells it; `None` if it doesn't. Asks nobody else.
    pub(crate) fn last_written(&self) -> Option<LastWritten> {
        self.inner.disk.last_written()
    }

    /// Does one job on the database. Once begun it is done to its end, whether the caller still
    /// waits or not.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<T> {
        let touched = Arc::clone(&self.inner.touched);
        self.inner.run(move |connection| {
            let outcome = job(connection);
            // Before anybody hears of it.
            touched.fetch_add(1, Ordering::Release);
            outcome
        })
    }

    /// Does a job when its turn comes; nobody hears of it. Left out if very many wait already.
    pub(crate) fn later(&self, job: impl FnOnce(&mut Connection) -> Result<(), StoreError> + Send + 'static) {
        if let Some(jobs) = self.lock_jobs().as_ref() {
            let job: Job = Box::new(move |connection: &mut Connection| drop(job(connection)));
            let _ = jobs.try_send(job);
            self.inner.touched.fetch_add(1, Ordering::Release);
        }
    }

    /// One transaction, which is taken back if the job fails.
    pub(crate) fn change<T: Send + 'static>(
        &self,
        job: impl FnOnce(&rusqlite::Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<T> {
        self.run(|connection| {
            // At once a writer: one that begins as a reader could find itself overtaken.
            let behavior = rusqlite::TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(behavior)?;
            let outcome = job(&transaction)?;
            transaction.commit()?;
            Ok(outcome)
        })
    }

    /// Finishes what was asked for and closes the file. Later jobs are refused.
    pub async fn close(&self) {
        let thread = self.inner.end();
        if let Some(thread) = thread {
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    fn lock_jobs(&self) -> MutexGuard<'_, Option<mpsc::Sender<Job>>> {
        self.inner.jobs.lock()
    }
}

impl Inner {
    fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<T> {
        let (done, outcome) = oneshot::channel();
        let jobs = self.jobs.lock().clone();
        let job: Job = Box::new(move |connection| {
            // Nobody waits any more: the work is done all the same.
            let _ = done.send(job(connection));
        });
        Box::pin(async move {
            jobs.ok_or(StoreError::Closed)?.send(job).await.map_err(|_| StoreError::Closed)?;
            outcome.await.map_err(|_| StoreError::Closed)?
        })
    }

    fn end(&self) -> Option<JoinHandle<()>> {
        self.jobs.lock().take();
        self.thread.lock().take()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Jobs that were asked for are done before the process may end.
        if let Some(thread) = self.end() {
            let _ = thread.join();
        }
    }
}

fn work(mut connection: Connection, mut waiting: mpsc::Receiver<Job>, behind: &Behind, mut upkeep: Upkeep) {
    while let Some(job) = waiting.blocking_recv() {
        // Whoever asks finds everything that was said before.
        behind.catch_up(&mut connection);
        job(&mut connection);
        upkeep.after_job();
    }
    behind.end(&mut connection);
    upkeep.end();
    // Else the next to open it begins with a statistic that is never brought up to date.
    let _ = connection.execute_batch("PRAGMA optimize");
}

#[cfg(test)]
mod tests;
