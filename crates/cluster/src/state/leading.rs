//! The gateway that leads: what changes in its data folder is taken to the log, many changes at once, and whoever waits
//! hears when it's there.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gristmill_files::FileLock;
use gristmill_gateway::ports::{BoxFuture, NotShared, SharedState};
use gristmill_replica::database::{self, DatabaseError, PageSource, Pages};
use gristmill_replica::entry::Entry;
use gristmill_replica::kept::Scope;
use gristmill_replica::manifest::Changes;
use gristmill_replica::tree::{Scanner, StoredContent};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::contents::blocking;
use super::error::StateError;
use super::folder::SharedFolder;
use super::log::AppendError;
use super::log_entries::{Enveloped, LogEntries};
use super::scopes::Scopes;
use super::snapshots::Latest;
use super::standing_by::{StandBy, now_ms};
use super::timing::{
    APPENDED_WITHIN, LEADS_FOR, LEFT_WITHIN, SAID_EVERY, SETTLED_WITHIN, TAKEN_EVERY, TRIED_FOR,
};
use crate::bus::LOG_AREA;

/// A snapshot is made after so many bytes of changes, and entries.
const SNAPSHOT_BYTES: u64 = 64 << 20;
const SNAPSHOT_ENTRIES: u64 = 5_000;

/// A file that changes while it's taken is looked at so often.
const SCANS_MAX: usize = 3;

/// While another process holds the database.
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// From here on the database's log is copied into its file.
const LOG_BYTES_LONG: u64 = 8 << 20;

/// A gateway that leads. It goes on until it's overtaken, or leaves.
pub struct Lead {
    shared: Arc<Shared>,
    /// Whoever opens the database here looks whether this is held.
    _lock: FileLock,
    leave: CancellationToken,
    taking: JoinHandle<()>,
}

struct Shared {
    began: Instant,
    /// Until when it may act, in milliseconds since then.
    leads_until_ms: AtomicU64,
    overtaken: CancellationToken,
    /// It's about to say that anyone may lead.
    is_leaving: AtomicBool,
    scopes: Mutex<Scopes>,
    waiting: Mutex<Vec<oneshot::Sender<()>>>,
    asked: Notify,
}

impl SharedState for Shared {
    fn changed(&self, path: &str) {
        self.scopes.lock().changed(path);
    }

    fn settle(&self) -> BoxFuture<'_, Result<(), NotShared>> {
        let (done, settled) = oneshot::channel();
        self.waiting.lock().push(done);
        self.asked.notify_one();
        Box::pin(async move {
            let unreachable = |why: &str| NotShared::Unreachable(why.to_owned());
            tokio::select! {
                biased;
                settled = settled => settled.map_err(|_| NotShared::Overtaken),
                () = self.overtaken.cancelled() => Err(NotShared::Overtaken),
                () = tokio::time::sleep(SETTLED_WITHIN) => Err(unreachable("the bus doesn't answer")),
            }
        })
    }

    fn leads(&self) -> bool {
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let may = !self.overtaken.is_cancelled() && !self.is_leaving.load(Ordering::Acquire);
        may && now_ms < self.leads_until_ms.load(Ordering::Acquire)
    }
}

impl Shared {
    /// What was sent at that moment was taken.
    fn was_heard(&self, sent: Instant) {
        let until = sent.saturating_duration_since(self.began) + LEADS_FOR;
        let until_ms = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        self.leads_until_ms.fetch_max(until_ms, Ordering::AcqRel);
    }
}

impl Lead {
    /// The entry that says so is in the log; it was sent at that moment. The database is the copy's, and nobody has
    /// opened it but this source.
    pub(super) fn begin(from: StandBy, (lock, pages): (FileLock, PageSource), sent: Instant) -> Self {
        let StandBy { folder, entries, latest, position, scanner, .. } = from;
        let shared = Arc::new(Shared {
            began: sent,
            leads_until_ms: AtomicU64::new(0),
            overtaken: CancellationToken::new(),
            is_leaving: AtomicBool::new(false),
            scopes: Mutex::new(Scopes::all()),
            waiting: Mutex::default(),
            asked: Notify::new(),
        });
        shared.was_heard(sent);
        let taking = Taking {
            folder,
            entries,
            shared: Arc::clone(&shared),
            source: Some(Source { pages, scanner }),
            position,
            said: sent,
            latest,
            is_latest: false,
            since_snapshot: (0, 0),
            snapshot: None,
        };
        let leave = CancellationToken::new();
        let taking = tokio::spawn(taking.run(leave.clone()));
        Self { shared, _lock: lock, leave, taking }
    }

    /// For the gateway that is built on this.
    pub fn state(&self) -> Arc<dyn SharedState> {
        Arc::clone(&self.shared) as Arc<dyn SharedState>
    }

    /// Another gateway leads; this one must not go on.
    pub fn overtaken(&self) -> CancellationToken {
        self.shared.overtaken.clone()
    }

    /// Takes what is left, and says that anyone may lead. The gateway has ended.
    pub async fn leave(mut self) {
        self.leave.cancel();
        // With the bus away, the others find out by themselves; what wasn't safe was told to nobody.
        if tokio::time::timeout(LEFT_WITHIN, &mut self.taking).await.is_err() {
            tracing::warn!(target: LOG_AREA, "the bus doesn't answer: what was changed last isn't shared");
            self.taking.abort();
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.taking.abort();
    }
}

/// Where changes come from.
struct Source {
    pages: PageSource,
    scanner: Scanner,
}

struct Taking {
    folder: Arc<SharedFolder>,
    entries: LogEntries,
    shared: Arc<Shared>,
    /// Away while somebody blocks on the disk with it.
    source: Option<Source>,
    /// The last entry in the log.
    position: u64,
    /// When the last one was sent.
    said: Instant,
    latest: Latest,
    /// Whether that is the latest one: one that stands by hears of none that comes later.
    is_latest: bool,
    /// Bytes and entries.
    since_snapshot: (u64, u64),
    snapshot: Option<JoinHandle<Result<(Latest, u64), StateError>>>,
}

/// What has changed, and isn't in the log.
struct Taken {
    files: Changes,
    pages: Option<Pages>,
}

/// Nothing more is taken.
enum End {
    Overtaken,
    Failed(StateError),
}

impl From<StateError> for End {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Append(AppendError::Overtaken { .. }) => End::Overtaken,
            error => End::Failed(error),
        }
    }
}

impl Taking {
    async fn run(mut self, leave: CancellationToken) {
        loop {
            let is_leaving = tokio::select! {
                biased;
                () = self.shared.asked.notified() => false,
                () = leave.cancelled() => true,
                () = tokio::time::sleep(TAKEN_EVERY) => false,
            };
            if let Err(end) = self.turn(is_leaving).await {
                match end {
                    End::Overtaken => tracing::warn!(target: LOG_AREA, "another gateway leads now"),
                    End::Failed(error) => {
                        tracing::error!(target: LOG_AREA, %error, "the state can't be shared any more");
                    }
                }
                self.shared.overtaken.cancel();
                return;
            }
            if is_leaving {
                // Whoever still waits for something came too late.
                self.shared.overtaken.cancel();
                return;
            }
        }
    }

    /// Takes what has changed, once.
    async fn turn(&mut self, is_leaving: bool) -> Result<(), End> {
        // Whoever came before this is served by what is taken now.
        let waiting = std::mem::take(&mut *self.shared.waiting.lock());
        let taken = self.take().await?;
        let entry = match (taken.is_nothing(), self.said.elapsed() >= SAID_EVERY) {
            (false, _) => Some(Entry::Changes { files: taken.files.clone(), pages: taken.pages.clone() }),
            (true, true) => Some(Entry::Alive { at_ms: now_ms() }),
            (true, false) => None,
        };
        if let Some(entry) = entry {
            let entries = self.entries.clone();
            let enveloped = self.meanwhile(enveloped(&entries, &entry)).await??;
            self.append_enveloped(&enveloped).await?;
        }
        for waits in waiting {
            let _ = waits.send(());
        }
        self.commit(taken).await?;
        if is_leaving {
            self.shared.is_leaving.store(true, Ordering::Release);
            return self.append(&Entry::Leaves).await;
        }
        self.keep_snapshot().await
    }

    async fn take(&mut self) -> Result<Taken, End> {
        // Files first: the mark of the audit must not be ahead of the database.
        let scopes = self.shared.scopes.lock().take();
        let mut files = Changes::default();
        for scope in scopes {
            files.nodes.extend(self.files_of(scope).await?.nodes);
        }
        Ok(Taken { files, pages: self.pages().await? })
    }

    async fn pages(&mut self) -> Result<Option<Pages>, End> {
        loop {
            let pages = self.read(|source| match source.pages.is_long(LOG_BYTES_LONG) {
                true => match source.pages.begin_anew() {
                    Err(DatabaseError::Busy) => source.pages.take(),
                    taken => taken,
                },
                false => source.pages.take(),
            });
            match pages.await? {
                // Somebody else's transaction is long: whoever waits for this one's pages can't be told yet.
                Err(DatabaseError::Busy) => self.meanwhile(tokio::time::sleep(BUSY_PAUSE)).await?,
                pages => return Ok(pages.map_err(StateError::from)?),
            }
        }
    }

    /// What changed in a part of the data folder, once its contents are kept.
    async fn files_of(&mut self, scope: Scope) -> Result<Changes, End> {
        for _ in 0..SCANS_MAX {
            let (seal, looked_at) = (Arc::clone(self.entries.seal()), scope.clone());
            let scanned = self.read(move |source| source.scanner.scan(&looked_at, &seal)).await?;
            let scanned = scanned.map_err(|error| StateError::Files(error.to_string()))?;
            let mut is_changing = false;
            for content in &scanned.contents {
                let entries = self.entries.clone();
                match self.meanwhile(kept(&entries, content)).await? {
                    Ok(()) => {}
                    Err(StateError::Changing(_)) => is_changing = true,
                    Err(error) => return Err(error.into()),
                }
            }
            if !is_changing {
                if !scanned.skipped.is_empty() {
                    self.shared.scopes.lock().again(scope);
                }
                return Ok(scanned.changes);
            }
        }
        // A program that goes on in the background writes all the time: it's taken when it pauses.
        self.shared.scopes.lock().again(scope);
        Ok(Changes::default())
    }

    /// Blocks on the disk elsewhere.
    async fn read<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Source) -> T + Send + 'static,
    ) -> Result<T, End> {
        let gone = || StateError::Damaged("the data folder isn't read any more".to_owned());
        let mut source = self.source.take().ok_or_else(gone)?;
        let reading = tokio::task::spawn_blocking(move || {
            let read = work(&mut source);
            (source, read)
        });
        let (source, read) = self.meanwhile(reading).await?.map_err(|_| gone())?;
        self.source = Some(source);
        Ok(read)
    }

    /// Says that it's there, as long as some work takes: a large file must not cost the lead.
    async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> Result<T, End> {
        tokio::pin!(work);
        loop {
            let said_at = self.said + SAID_EVERY;
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                () = tokio::time::sleep_until(said_at.into()) => {
                    self.append(&Entry::Alive { at_ms: now_ms() }).await?;
                }
            }
        }
    }

    /// One that is small.
    async fn append(&mut self, entry: &Entry) -> Result<(), End> {
        let enveloped = enveloped(&self.entries, entry).await?;
        self.append_enveloped(&enveloped).await
    }

    /// Until it's there, or another gateway leads.
    async fn append_enveloped(&mut self, enveloped: &Enveloped) -> Result<(), End> {
        let sealed = self.entries.sealed(self.position, enveloped)?;
        let sent = Instant::now();
        // In one go: tried anew, one that was stored after all would be taken for another gateway's.
        match self.entries.append(self.position, sealed, sent + APPENDED_WITHIN).await {
            Ok(sequence) => {
                (self.position, self.said) = (sequence, sent);
                self.since_snapshot.0 += enveloped.bytes;
                self.since_snapshot.1 += 1;
                self.shared.was_heard(sent);
                Ok(())
            }
            Err(error) => Err(StateError::Append(error).into()),
        }
    }

    /// What was taken is in the log.
    async fn commit(&mut self, taken: Taken) -> Result<(), End> {
        if let Some(source) = &mut self.source {
            source.scanner.commit(&taken.files);
        }
        let Some(pages) = taken.pages else { return Ok(()) };
        let copy = self.folder.copy();
        let applied = blocking(move || database::apply(&copy, &pages).map_err(io::Error::other));
        let applied = self.meanwhile(applied).await?;
        applied.map_err(|error| End::Failed(StateError::Files(error.to_string())))
    }

    /// In its own time; one at once.
    async fn keep_snapshot(&mut self) -> Result<(), End> {
        if let Some(snapshot) = self.snapshot.take_if(|snapshot| snapshot.is_finished()) {
            match snapshot.await {
                Ok(Ok((latest, _))) => self.latest = latest,
                Ok(Err(StateError::Append(AppendError::Overtaken { .. }))) => return Err(End::Overtaken),
                Ok(Err(error)) => tracing::warn!(target: LOG_AREA, %error, "no snapshot was kept"),
                Err(error) => tracing::warn!(target: LOG_AREA, %error, "no snapshot was kept"),
            }
        }
        let (bytes, entries) = self.since_snapshot;
        if self.snapshot.is_some() || (bytes < SNAPSHOT_BYTES && entries < SNAPSHOT_ENTRIES) {
            return Ok(());
        }
        if !self.is_latest {
            let Ok(found) = self.entries.log.snapshot().await else { return Ok(()) };
            self.latest.revision = found.map_or(0, |(revision, _)| revision);
            self.is_latest = true;
        }
        let Some(source) = &self.source else { return Ok(()) };
        let (manifest, as_of) = (source.scanner.manifest().clone(), self.position);
        let (copy, still) = (self.folder.copy(), self.folder.copy().with_extension("snapshot"));
        let copied = blocking({
            let still = still.clone();
            move || if copy.exists() { std::fs::copy(&copy, &still).map(drop) } else { Ok(()) }
        });
        let copied = self.meanwhile(copied).await?;
        copied.map_err(|error| End::Failed(StateError::Files(error.to_string())))?;
        self.since_snapshot = (0, 0);
        self.entries.contents.needed().begin_anew().await;
        let (entries, latest, shared) = (self.entries.clone(), self.latest.clone(), Arc::clone(&self.shared));
        self.snapshot = Some(tokio::spawn(async move {
            let kept = entries.keep_snapshot(&latest.state, latest.revision, (as_of, manifest, &still)).await;
            let _ = std::fs::remove_file(&still);
            let (latest, named) = kept?;
            entries.trim(as_of, &named, || shared.leads()).await?;
            Ok((latest, as_of))
        }));
        Ok(())
    }
}

impl Taken {
    fn is_nothing(&self) -> bool {
        self.files.is_empty() && self.pages.is_none()
    }
}

/// Tried until the bus takes what has to be stored.
async fn enveloped(entries: &LogEntries, entry: &Entry) -> Result<Enveloped, StateError> {
    loop {
        match entries.enveloped(entry, Instant::now() + TRIED_FOR).await {
            Err(error @ (StateError::Content(_) | StateError::Log(_))) => {
                tracing::warn!(target: LOG_AREA, %error, "a change can't be shared; trying again");
                tokio::time::sleep(SAID_EVERY).await;
            }
            enveloped => return enveloped,
        }
    }
}

/// A content is tried until the bus takes it.
async fn kept(entries: &LogEntries, content: &StoredContent) -> Result<(), StateError> {
    loop {
        match entries.contents.keep_file(content, Instant::now() + TRIED_FOR).await {
            Err(error @ (StateError::Content(_) | StateError::Log(_))) => {
                tracing::warn!(target: LOG_AREA, %error, "a file can't be shared; trying again");
                tokio::time::sleep(SAID_EVERY).await;
            }
            kept => return kept,
        }
    }
}
