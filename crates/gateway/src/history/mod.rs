//! What happened: every execution, who asked for it, what it did and what it took.
//!
//! An execution is noted when it begins and completed before its answer goes out, so that what was
//! answered is known even if the gateway is killed in the next moment. What a gateway had running
//! when it was killed is marked as lost by the next one.
//!
//! Walls: everything that is kept of an execution is bounded, and so is everything together, in age
//! and size. What cannot be recorded ends no program: its report says so.

mod gateways;
mod kept_errors;
mod recording;
mod told_stats;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use gristmill_domain::Level;
use parking_lot::{Mutex, MutexGuard};

use crate::alive::Alive;
use crate::clock::unix_ms;
use crate::ids::{ExecutionId, Owner};
use crate::pool::Pool;
use crate::request::{Capabilities, ExecuteRequest};
use crate::store::{BegunRow, EndedRow, Store, StoreError};
use crate::tokens;
use told_stats::StatsOf;

pub use crate::report::{TokenAccount, Verdict};
pub use crate::store::{
    DirectCalls, ExecutionPage, ExecutionQuery, ExecutionRecord, ExecutionSummary, Found, GatewayRecord,
    HistoryFilter, KeptText, LatestCall, LeftResult, PageFrom, PeriodFigures, PeriodPart, RecordedCall,
    RecordedError, RecordedOutcome, RecordedStage, Stats, ToolStats,
};
pub use recording::{Beginning, Recording};
pub use told_stats::nothing_ran_in;

/// How often what is too old or too much is let go of.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);

/// Rows that are removed in one go: others want to write, too.
const SWEPT_AT_ONCE: usize = 200;

/// A sweep also comes when this part of what may be kept is new since the last.
const SWEEP_AFTER_PART: u64 = 8;

/// Ends that could not be written wait for the next sweep, in so many bytes at most: a full disk must
/// not fill the memory as well.
const UNWRITTEN_BYTES_MAX: usize = 16 << 20;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Days of use by which tools are called the most used ones.
const USED_DAYS: i64 = 30;

/// More than anyone reads at once.
pub const LISTED_MAX: usize = 10_000;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistorySettings {
    pub keep: Duration,
    /// How much of it, in bytes.
    pub bytes_max: u64,
    /// Whether programs, variables, outputs, results and words of errors are kept; without them only
    /// hashes, names and figures are.
    pub content: bool,
}

impl Default for HistorySettings {
    /// A month is what people remember that there was something.
    fn default() -> Self {
        Self { keep: Duration::from_secs(30 * 24 * 60 * 60), bytes_max: 256 << 20, content: true }
    }
}

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct History {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    settings: HistorySettings,
    alive: Alive,
    began: SystemTime,
    /// What this gateway does, and whether the database has it.
    role: Mutex<String>,
    is_introduced: AtomicBool,
    /// What was recorded since the last sweep.
    unswept_bytes: AtomicU64,
    /// Ends that could not be written yet.
    unwritten: Mutex<Vec<Arc<EndedRow>>>,
}

impl History {
    /// In this database. Marks as lost what gateways that are gone had running.
    pub async fn open(store: Store, settings: HistorySettings) -> Result<Self, StoreError> {
        let alive = Alive::take(store.folder()).map_err(|error| StoreError::Folder {
            folder: store.folder().map(ToOwned::to_owned).unwrap_or_default(),
            why: error.to_string(),
        })?;
        // The first count brings up the tables, which takes longer than most programs.
        tokio::task::spawn_blocking(|| tokens::count(""));
        let (unswept_bytes, unwritten) = (AtomicU64::new(0), Mutex::default());
        let (began, is_introduced) = (store.now(), AtomicBool::new(false));
        let role = Mutex::new(gateways::COMMAND_ROLE.to_owned());
        let inner = Inner { store, settings, alive, began, role, is_introduced, unswept_bytes, unwritten };
        let history = Self { inner: Arc::new(inner) };
        history.mark_lost().await?;
        Ok(history)
    }

    /// Sweeps now and every hour, as long as the history is used by anyone else.
    pub fn tidy_in_background(&self) {
        let inner = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            while let Some(inner) = inner.upgrade() {
                // What fails now may work the next time; whoever records hears of it.
                let history = Self { inner };
                let _ = history.mark_lost().await;
                let _ = history.sweep().await;
                drop(history);
                tokio::time::sleep(SWEEP_EVERY).await;
            }
        });
    }

    /// Nothing more will be recorded here. Finishes what was begun and closes the database.
    pub async fn close(&self) {
        self.inner.store.close().await;
        self.inner.alive.leave();
    }

    /// How much is kept.
    pub fn settings(&self) -> &HistorySettings {
        &self.inner.settings
    }

    /// Takes note of what is about to run. From here on the tokens of its calls are counted.
    pub fn about_to_run(
        &self,
        id: &ExecutionId,
        owner: &Owner,
        request: &mut ExecuteRequest,
        level: Level,
    ) -> Beginning {
        Beginning::of(self, id, owner, request, level)
    }

    /// One execution, by its name or the beginning of it. `owner` finds only its own.
    pub async fn find(&self, beginning: &str, owner: Option<&Owner>) -> Result<Found, StoreError> {
        self.inner.store.find_execution(beginning.to_owned(), owner.map(|owner| owner.0.clone())).await
    }

    /// The newest first.
    pub async fn list(
        &self,
        filter: &HistoryFilter,
        limit: usize,
    ) -> Result<Vec<ExecutionSummary>, StoreError> {
        self.inner.store.list_executions(filter.clone(), limit.min(LISTED_MAX)).await
    }

    /// A page of them, the newest first. However much is kept, a bounded part of it is looked at.
    pub async fn page(&self, query: ExecutionQuery, limit: usize) -> Result<ExecutionPage, StoreError> {
        self.inner.store.execution_page(query, limit.min(LISTED_MAX)).await
    }

    /// What those of everyone come to since a moment, in so many parts of the time until now.
    pub async fn period(&self, since: Duration, parts: u32) -> Result<PeriodFigures, StoreError> {
        let store = &self.inner.store;
        let begin = store.now().checked_sub(since).map_or(0, unix_ms);
        store.period_figures(begin, unix_ms(store.now()), parts).await
    }

    /// Calls of the newest executions of everyone.
    pub async fn latest_calls(&self) -> Result<Vec<LatestCall>, StoreError> {
        self.inner.store.latest_calls().await
    }

    /// The tools that an owner's programs called in most executions of the last month, the most called first, by
    /// the names that programs used. Today doesn't count: the answer stays the same for a day.
    pub async fn most_called(&self, owner: &Owner, limit: usize) -> Result<Vec<String>, StoreError> {
        let end = i64::try_from(self.today()).unwrap_or(i64::MAX).saturating_mul(DAY_MS);
        let period = end.saturating_sub(USED_DAYS * DAY_MS)..end;
        self.inner.store.most_called(owner.0.clone(), period, limit).await
    }

    /// Days since 1970, in UTC.
    pub fn today(&self) -> u64 {
        u64::try_from(unix_ms(self.inner.store.now()) / DAY_MS).unwrap_or_default()
    }

    /// What they come to together.
    pub async fn stats(&self, filter: &HistoryFilter) -> Result<Stats, StoreError> {
        self.inner.store.execution_stats(filter.clone()).await
    }

    /// Lets a program of this owner ask what the owner's programs took and saved.
    pub(crate) fn offer_to(&self, capabilities: &mut Capabilities, owner: &Owner, pool: &Arc<Pool>) {
        let stats = StatsOf {
            history: self.clone(),
            owner: owner.clone(),
            pool: Arc::clone(pool),
            asked: AtomicU32::new(0),
        };
        capabilities.stats = Some(Arc::new(stats));
    }

    /// Completes what could not be completed at its time, then removes what is too old or too much;
    /// gives how many.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        self.write_unwritten().await;
        let Inner { store, settings, unswept_bytes, .. } = &*self.inner;
        unswept_bytes.store(0, Ordering::Relaxed);
        let oldest = store.now().checked_sub(settings.keep).map_or(0, unix_ms);
        let mut removed = 0;
        loop {
            let now = store.remove_executions(oldest, settings.bytes_max, SWEPT_AT_ONCE).await?;
            removed += now;
            if now < SWEPT_AT_ONCE {
                break;
            }
        }
        if removed > 0 {
            store.remove_unused_programs().await?;
            store.forget_gateways(self.inner.alive.all_alive()).await?;
        }
        Ok(removed)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    fn gateway(&self) -> &str {
        &self.inner.alive.gateway
    }

    /// Notes a beginning when there is time for it.
    fn note(&self, row: Arc<BegunRow>) {
        self.introduce_once();
        self.inner.store.begin_execution(row);
    }

    async fn complete(&self, row: EndedRow) -> Result<(), StoreError> {
        let Inner { store, settings, unswept_bytes, .. } = &*self.inner;
        let (weight, row) = (row.weight as u64, Arc::new(row));
        if let Err(error) = store.end_execution(Arc::clone(&row)).await {
            self.keep_for_later(row);
            return Err(error);
        }
        let unswept = unswept_bytes.fetch_add(weight, Ordering::Relaxed) + weight;
        if unswept > settings.bytes_max / SWEEP_AFTER_PART {
            unswept_bytes.store(0, Ordering::Relaxed);
            let history = self.clone();
            tokio::spawn(async move { history.sweep().await });
        }
        Ok(())
    }

    fn keep_for_later(&self, row: Arc<EndedRow>) {
        let mut unwritten = self.unwritten();
        let bytes: usize = unwritten.iter().map(|row| row.weight).sum();
        if bytes + row.weight <= UNWRITTEN_BYTES_MAX {
            unwritten.push(row);
        }
    }

    async fn write_unwritten(&self) {
        let rows = std::mem::take(&mut *self.unwritten());
        for row in rows {
            if self.inner.store.end_execution(Arc::clone(&row)).await.is_err() {
                self.keep_for_later(row);
            }
        }
    }

    fn unwritten(&self) -> MutexGuard<'_, Vec<Arc<EndedRow>>> {
        self.inner.unwritten.lock()
    }

    async fn mark_lost(&self) -> Result<(), StoreError> {
        let Inner { store, alive, .. } = &*self.inner;
        // What those wrote down that are gone isn't lost. If that can't be read now, nothing is called so.
        if store.write_left().await.is_err() {
            return Ok(());
        }
        let gone = alive.gone_among(store.gateways_with_running().await?);
        match gone.is_empty() {
            true => Ok(()),
            false => {
                // One of them may have gone since.
                match store.write_left().await {
                    Ok(()) => store.mark_lost(gone).await,
                    Err(_) => Ok(()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
