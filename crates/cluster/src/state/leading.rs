//! The gateway that leads: what changes in its data folder is taken to the log, many changes at once, and whoever waits
//! hears when it's there.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gristmill_files::FileLock;
use gristmill_gateway::ports::{BoxFuture, NotShared, SharedState};
use gristmill_replica::database::{self, DatabaseError, PageSource, Pages};
use gristmill_replica::entry::{Entry, LogPlace};
use gristmill_replica::kept::Scope;
use gristmill_replica::manifest::Changes;
use gristmill_replica::tree::{Scanned, Scanner, SkippedWhy, StoredContent, TreePath};
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
    APPENDED_WITHIN, APPLIED_WITHIN, LEADS_FOR, LEFT_WITHIN, SAID_EVERY, SETTLED_WITHIN, TAKEN_EVERY,
    TRIED_FOR,
};
use crate::bus::LOG_AREA;

/// A snapshot is made after so many bytes of changes, and entries.
const SNAPSHOT_BYTES: u64 = 64 << 20;
const SNAPSHOT_ENTRIES: u64 = 5_000;

/// A file that changes while it's taken is looked at so often.
const SCANS_MAX: usize = 3;

/// While another process holds the database.
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// What fails on this machine, such as descriptors that run out, is tried again so often, for so long.
const LOCAL_PAUSE: Duration = Duration::from_millis(200);
const LOCAL_TRIED_FOR: Duration = Duration::from_secs(30);

/// A snapshot that couldn't be made is tried again so much later.
const SNAPSHOT_AGAIN_AFTER: Duration = Duration::from_secs(60);

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
    /// Until when it may act, by [`awake_or_not_ms`].
    leads_until_ms: AtomicU64,
    overtaken: CancellationToken,
    /// Why this gateway can't lead any more, if no other one does.
    failure: OnceLock<String>,
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
        let may = !self.overtaken.is_cancelled() && !self.is_leaving.load(Ordering::Acquire);
        may && awake_or_not_ms() < self.leads_until_ms.load(Ordering::Acquire)
    }
}

impl Shared {
    /// What was sent at that moment was taken.
    fn was_heard(&self, sent_ms: u64) {
        let until_ms = sent_ms + u64::try_from(LEADS_FOR.as_millis()).unwrap_or(u64::MAX);
        self.leads_until_ms.fetch_max(until_ms, Ordering::AcqRel);
    }
}

/// Milliseconds that go on while this machine sleeps: others don't sleep with it.
pub(super) fn awake_or_not_ms() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    seconds * 1_000 + u64::try_from(now.tv_nsec / 1_000_000).unwrap_or_default()
}

impl Lead {
    /// The entry that says so is in the log; it was sent at that moment, by both clocks. The database is the copy's, and
    /// nobody has opened it but this source.
    pub(super) fn begin(
        from: StandBy,
        (lock, pages): (FileLock, PageSource),
        (sent, sent_ms): (Instant, u64),
    ) -> Self {
        let StandBy { folder, entries, latest, position, scanner, .. } = from;
        let shared = Arc::new(Shared {
            leads_until_ms: AtomicU64::new(0),
            overtaken: CancellationToken::new(),
            failure: OnceLock::new(),
            is_leaving: AtomicBool::new(false),
            scopes: Mutex::new(Scopes::all()),
            waiting: Mutex::default(),
            asked: Notify::new(),
        });
        shared.was_heard(sent_ms);
        folder.stamp_lead();
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
            snapshot_from: sent,
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

    /// Another gateway leads, or this one can't; it must not go on.
    pub fn overtaken(&self) -> CancellationToken {
        self.shared.overtaken.clone()
    }

    /// Why it can't, if no other one leads.
    pub fn failure(&self) -> Option<&str> {
        self.shared.failure.get().map(String::as_str)
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
    position: LogPlace,
    /// When the last one was sent.
    said: Instant,
    latest: Latest,
    /// Whether that is the latest one: one that stands by hears of none that comes later.
    is_latest: bool,
    /// Bytes and entries, with contents beside the log.
    since_snapshot: (u64, u64),
    /// No snapshot is made before.
    snapshot_from: Instant,
    snapshot: Option<JoinHandle<Result<Latest, StateError>>>,
}

/// What has changed, and isn't in the log.
struct Taken {
    files: Changes,
    pages: Option<Pages>,
}

/// A file that changed, or went, while it was being taken.
struct Moved(TreePath);

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
                        let _ = self.shared.failure.set(error.to_string());
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
            (false, _) => Some(Entry::Changes { files: taken.files, pages: taken.pages }),
            (true, true) => Some(Entry::Alive { at_ms: now_ms() }),
            (true, false) => None,
        };
        let entry = entry.map(Arc::new);
        if let Some(entry) = &entry {
            let entries = self.entries.clone();
            let enveloped = self.meanwhile(enveloped(&entries, entry)).await??;
            self.append_enveloped(&enveloped).await?;
        }
        for waits in waiting {
            let _ = waits.send(());
        }
        if let Some(entry) = entry {
            self.commit(entry).await?;
        }
        if is_leaving {
            self.shared.is_leaving.store(true, Ordering::Release);
            return self.append(Entry::Leaves).await;
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
        let until = Instant::now() + LOCAL_TRIED_FOR;
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
                // Nothing was taken, and it may be otherwise in a moment.
                Err(error @ (DatabaseError::Log(_) | DatabaseError::Sqlite(_))) if Instant::now() < until => {
                    tracing::warn!(target: LOG_AREA, %error, "the database can't be read; trying again");
                    self.meanwhile(tokio::time::sleep(LOCAL_PAUSE)).await?;
                }
                pages => return Ok(pages.map_err(StateError::from)?),
            }
        }
    }

    /// What changed in a part of the data folder, once its contents are kept. A file that goes on changing is left out:
    /// nobody was told of it who isn't changing it still, and it's taken when it rests.
    async fn files_of(&mut self, scope: Scope) -> Result<Changes, End> {
        let mut scans = 1;
        loop {
            let scanned = self.scan(&scope).await?;
            let mut moved = Vec::new();
            for content in &scanned.contents {
                moved.extend(self.keep(content).await?);
            }
            let mut changes = scanned.changes;
            if moved.is_empty() || scans == SCANS_MAX {
                let mut scopes = self.shared.scopes.lock();
                for Moved(path) in &moved {
                    changes.nodes.retain(|(changed, _)| changed != path);
                    scopes.again(path);
                }
                // What can't be taken for another reason is looked at with everything else.
                let changing = scanned.skipped.iter().filter(|skipped| skipped.why == SkippedWhy::Changing);
                changing.for_each(|skipped| scopes.again(&skipped.path));
                return Ok(changes);
            }
            scans += 1;
        }
    }

    /// Tried for a while: files are passing, and descriptors may run out.
    async fn scan(&mut self, scope: &Scope) -> Result<Scanned, End> {
        let until = Instant::now() + LOCAL_TRIED_FOR;
        loop {
            let (seal, looked_at) = (Arc::clone(self.entries.seal()), scope.clone());
            let scanned = self.read(move |source| source.scanner.scan(&looked_at, &seal));
            match scanned.await? {
                Err(error) if Instant::now() < until => {
                    tracing::warn!(target: LOG_AREA, %error, "files can't be looked at; trying again");
                    self.meanwhile(tokio::time::sleep(LOCAL_PAUSE)).await?;
                }
                scanned => return scanned.map_err(|error| End::Failed(StateError::Files(error.to_string()))),
            }
        }
    }

    /// Keeps a file's content where it isn't yet.
    async fn keep(&mut self, content: &StoredContent) -> Result<Option<Moved>, End> {
        let entries = self.entries.clone();
        match self.meanwhile(kept(&entries, content)).await? {
            Ok(bytes) => {
                self.since_snapshot.0 += bytes;
                Ok(None)
            }
            Err(StateError::Changing(_)) => Ok(Some(Moved(content.path.clone()))),
            Err(error) => Err(error.into()),
        }
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
                    self.append(Entry::Alive { at_ms: now_ms() }).await?;
                }
            }
        }
    }

    /// One that is small.
    async fn append(&mut self, entry: Entry) -> Result<(), End> {
        let enveloped = enveloped(&self.entries, &Arc::new(entry)).await?;
        self.append_enveloped(&enveloped).await
    }

    /// Until it's there, or another gateway leads.
    async fn append_enveloped(&mut self, enveloped: &Enveloped) -> Result<(), End> {
        let sealed = self.entries.sealed(self.position, enveloped)?;
        let (sent, sent_ms) = (Instant::now(), awake_or_not_ms());
        // In one go: tried anew, one that was stored after all would be taken for another gateway's.
        match self.entries.append(self.position, sealed, sent + APPENDED_WITHIN).await {
            Ok(place) => {
                (self.position, self.said) = (place, sent);
                self.since_snapshot.0 += enveloped.bytes;
                self.since_snapshot.1 += 1;
                self.shared.was_heard(sent_ms);
                self.folder.stamp_lead();
                Ok(())
            }
            Err(error) => Err(StateError::Append(error).into()),
        }
    }

    /// What was taken is in the log.
    async fn commit(&mut self, entry: Arc<Entry>) -> Result<(), End> {
        let Entry::Changes { files, pages } = &*entry else { return Ok(()) };
        if let Some(source) = &mut self.source {
            source.scanner.commit(files);
        }
        if pages.is_none() {
            return Ok(());
        }
        // The disk may be full for a moment, and applying them twice does no harm.
        let until = Instant::now() + APPLIED_WITHIN;
        loop {
            let (copy, entry) = (self.folder.copy(), Arc::clone(&entry));
            let applied = blocking(move || match &*entry {
                Entry::Changes { pages: Some(pages), .. } => {
                    database::apply(&copy, pages).map_err(io::Error::other)
                }
                _ => Ok(()),
            });
            match self.meanwhile(applied).await? {
                Err(error) if Instant::now() < until => {
                    tracing::warn!(target: LOG_AREA, %error, "the copy can't be written; trying again");
                    self.meanwhile(tokio::time::sleep(LOCAL_PAUSE)).await?;
                }
                applied => {
                    return applied.map_err(|error| End::Failed(StateError::Files(error.to_string())));
                }
            }
        }
    }

    /// In its own time; one at once.
    async fn keep_snapshot(&mut self) -> Result<(), End> {
        if let Some(snapshot) = self.snapshot.take_if(|snapshot| snapshot.is_finished()) {
            let kept = snapshot.await.map_err(|error| error.to_string());
            match kept.and_then(|kept| kept.map_err(|error| error.to_string())) {
                Ok(latest) => self.latest = latest,
                Err(error) => {
                    // It may be there for all that: the next one asks first. Whether another gateway leads, the log says.
                    self.is_latest = false;
                    tracing::warn!(target: LOG_AREA, %error, "no snapshot was kept");
                }
            }
        }
        let (bytes, entries) = self.since_snapshot;
        let is_due =
            (bytes >= SNAPSHOT_BYTES || entries >= SNAPSHOT_ENTRIES) && Instant::now() >= self.snapshot_from;
        if self.snapshot.is_some() || !is_due {
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
        if let Err(error) = self.meanwhile(copied).await? {
            // A disk without room for it.
            let _ = std::fs::remove_file(&still);
            self.snapshot_from = Instant::now() + SNAPSHOT_AGAIN_AFTER;
            tracing::warn!(target: LOG_AREA, %error, "no snapshot can be made, and so the log grows; trying again");
            return Ok(());
        }
        self.since_snapshot = (0, 0);
        self.entries.contents.needed().begin_anew().await;
        let (entries, latest, shared) = (self.entries.clone(), self.latest.clone(), Arc::clone(&self.shared));
        self.snapshot = Some(tokio::spawn(async move {
            let kept = entries.keep_snapshot(&latest.state, latest.revision, (as_of, manifest, &still)).await;
            let _ = std::fs::remove_file(&still);
            let (latest, named) = kept?;
            if let Err(error) = entries.trim(as_of.sequence, &named, || shared.leads()).await {
                tracing::warn!(target: LOG_AREA, %error, "what is old stays on the bus until the next snapshot");
            }
            Ok(latest)
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
async fn enveloped(entries: &LogEntries, entry: &Arc<Entry>) -> Result<Enveloped, StateError> {
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
async fn kept(entries: &LogEntries, content: &StoredContent) -> Result<u64, StateError> {
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
