//! One upstream server: what is known of it, and the connection to it, made when it is needed and
//! made again when it is lost.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use gristmill_domain::ServerSettings;
use gristmill_domain::catalogue::{Review, ServerOffer, ToolDefinition, Waiting};
use tokio::sync::{Notify, Semaphore, watch};

use super::kept_offers::KeptOffer;
use super::pin_file::{PinError, nothing_usable};
use super::rate::Rate;
use super::{Inner, ServerLog, ServerState, ServerStatus};
use crate::ports::{BoxFuture, ConnectRequest, ServerFacts, Upstream, UpstreamFailure};

/// The first pause after a failure; each further one doubles it.
const PAUSE_FIRST: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// A call waits this long for the next attempt, otherwise it is told to come back.
const WAIT_FOR_ATTEMPT_MAX: Duration = Duration::from_secs(2);

/// A connection that lasted so long was a good one.
const GOOD_AFTER: Duration = Duration::from_secs(30);

/// So many failures in a row, and it is no longer restarted by itself, only when it is needed.
const RESTARTS_MAX: u32 = 5;

/// Between two looks at tools that a server says have changed.
const RELIST_PAUSE: Duration = Duration::from_millis(200);

/// Lines of a server's log that go into a status.
const LOG_LINES: usize = 10;

/// See the module.
pub(crate) struct Server {
    pub settings: Arc<ServerSettings>,
    pub permits: Semaphore,
    pub rate: Rate,
    log: Arc<ServerLog>,
    known: RwLock<Known>,
    current: RwLock<Option<Arc<dyn Upstream>>>,
    attempts: tokio::sync::Mutex<Attempts>,
    /// Whether anything is known, or was tried to be.
    looked: watch::Sender<bool>,
    watcher: Mutex<Option<tokio::task::AbortHandle>>,
    closed: AtomicBool,
}

#[derive(Default)]
struct Known {
    facts: Option<ServerFacts>,
    raw: Vec<String>,
    offered: Vec<Arc<ToolDefinition>>,
    unreadable: Vec<String>,
    usable: Vec<Arc<ToolDefinition>>,
    waiting: Vec<Waiting>,
    pins: Option<PinError>,
    failure: Option<UpstreamFailure>,
}

#[derive(Default)]
struct Attempts {
    failed: u32,
    not_before: Option<Instant>,
}

impl Server {
    pub(super) fn new(settings: ServerSettings, kept: Option<KeptOffer>, log: ServerLog) -> Self {
        let parallel = usize::try_from(settings.limits.parallel_calls).unwrap_or(usize::MAX);
        let mut known = Known::default();
        let is_known = kept.is_some();
        if let Some(kept) = kept {
            known.take(kept.facts, kept.tools);
        }
        Self {
            permits: Semaphore::new(parallel.clamp(1, Semaphore::MAX_PERMITS)),
            rate: Rate::new(settings.limits.calls_per_minute),
            log: Arc::new(log),
            known: RwLock::new(known),
            current: RwLock::default(),
            attempts: tokio::sync::Mutex::default(),
            looked: watch::Sender::new(is_known),
            watcher: Mutex::default(),
            closed: AtomicBool::new(false),
            settings: Arc::new(settings),
        }
    }

    /// The connection, made if there is none.
    pub(super) async fn live(
        self: &Arc<Self>,
        inner: &Arc<Inner>,
    ) -> Result<Arc<dyn Upstream>, UpstreamFailure> {
        match self.current() {
            Some(upstream) => Ok(upstream),
            None => self.connect_in_turn(inner).await,
        }
    }

    /// Boxed: a connection is watched, and whoever watches it may have to connect again.
    fn connect_in_turn<'a>(
        self: &'a Arc<Self>,
        inner: &'a Arc<Inner>,
    ) -> BoxFuture<'a, Result<Arc<dyn Upstream>, UpstreamFailure>> {
        Box::pin(self.take_turn(inner))
    }

    async fn take_turn(self: &Arc<Self>, inner: &Arc<Inner>) -> Result<Arc<dyn Upstream>, UpstreamFailure> {
        let mut attempts = self.attempts.lock().await;
        // Someone else may have made it while we waited.
        if let Some(upstream) = self.current() {
            return Ok(upstream);
        }
        if self.closed.load(Ordering::Relaxed) {
            return Err(UpstreamFailure::Down("the gateway is closing".to_owned()));
        }
        self.wait_for_turn(&attempts).await?;
        let outcome = self.connect(inner).await;
        match &outcome {
            Ok(_) => {
                attempts.not_before = None;
                self.write().failure = None;
                inner.offered(self);
            }
            Err(failure) => {
                attempts.failed += 1;
                attempts.not_before = Some(Instant::now() + pause(attempts.failed));
                self.write().failure = Some(failure.clone());
                inner.renew();
            }
        }
        // Last: whoever waits for it looks at what was found.
        self.looked.send_replace(true);
        outcome
    }

    async fn wait_for_turn(&self, attempts: &Attempts) -> Result<(), UpstreamFailure> {
        let Some(left) = attempts.not_before.and_then(|at| at.checked_duration_since(Instant::now())) else {
            return Ok(());
        };
        if left <= WAIT_FOR_ATTEMPT_MAX {
            tokio::time::sleep(left).await;
            return Ok(());
        }
        let seconds = left.as_secs() + 1;
        match self.last_failure() {
            Some(UpstreamFailure::LoginNeeded(why)) => Err(UpstreamFailure::LoginNeeded(why)),
            Some(failure) => {
                Err(UpstreamFailure::Down(format!("{failure}; it is tried again in {seconds} s")))
            }
            None => Err(UpstreamFailure::Down(format!("it is tried again in {seconds} s"))),
        }
    }

    async fn connect(self: &Arc<Self>, inner: &Arc<Inner>) -> Result<Arc<dyn Upstream>, UpstreamFailure> {
        let changed = Arc::new(Notify::new());
        let tell = Arc::clone(&changed);
        let request = ConnectRequest {
            settings: Arc::clone(&self.settings),
            remembered: self.read().facts.as_ref().map(|facts| facts.protocol.clone()),
            tools_changed: Arc::new(move || tell.notify_one()),
            log: Arc::clone(&self.log),
        };
        let upstream = inner.connector().connect(request).await?;
        let tools = match upstream.list_tools().await {
            Ok(tools) => tools,
            Err(failure) => {
                upstream.close().await;
                return Err(failure);
            }
        };
        self.write().take(upstream.facts().clone(), tools);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&upstream));
        let watch = watch(Arc::downgrade(self), Arc::downgrade(inner), Arc::clone(&upstream), changed);
        let watcher = tokio::spawn(watch).abort_handle();
        let before = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).replace(watcher);
        // One that still waits to restart is not needed any more.
        drop(before);
        Ok(upstream)
    }

    fn current(&self) -> Option<Arc<dyn Upstream>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until something is known, or could not be found out.
    pub(super) async fn first_look(&self) {
        let _ = self.looked.subscribe().wait_for(|looked| *looked).await;
    }

    pub(super) fn is_known(&self) -> bool {
        self.read().facts.is_some()
    }

    pub(super) fn last_failure(&self) -> Option<UpstreamFailure> {
        self.read().failure.clone()
    }

    pub(super) fn offered(&self) -> Vec<Arc<ToolDefinition>> {
        self.read().offered.clone()
    }

    pub(super) fn waiting(&self) -> Vec<Waiting> {
        self.read().waiting.clone()
    }

    /// The tool as it may be called now, if it may.
    pub(super) fn usable(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        self.read().usable.iter().find(|tool| tool.name == name).cloned()
    }

    /// Whether a tool is there, but held back.
    pub(super) fn is_held_back(&self, name: &str) -> bool {
        let known = self.read();
        known.pins.is_some() || known.waiting.iter().any(|waiting| waiting.offered.name == name)
    }

    /// Why nothing of this server can be approved, if that is so.
    pub(super) fn pins_problem(&self) -> Option<String> {
        self.read().pins.as_ref().map(ToString::to_string)
    }

    pub(super) fn reviewed(&self, outcome: Result<Review, PinError>) {
        let mut known = self.write();
        let (review, pins) = match outcome {
            Ok(review) => (review, None),
            Err(error) => (nothing_usable(), Some(error)),
        };
        (known.usable, known.waiting, known.pins) = (review.usable, review.waiting, pins);
    }

    /// What it offers to the catalogue.
    pub(super) fn offer(&self) -> ServerOffer {
        let known = self.read();
        let facts = known.facts.clone().unwrap_or_default();
        ServerOffer {
            name: self.settings.name.clone(),
            title: facts.title,
            version: facts.version,
            description: self.settings.description.clone().or(facts.instructions),
            category: self.settings.category.clone(),
            tools: known.usable.clone(),
        }
    }

    pub(super) fn to_keep(&self) -> Option<KeptOffer> {
        let known = self.read();
        Some(KeptOffer { facts: known.facts.clone()?, tools: known.raw.clone() })
    }

    pub(super) fn status(&self) -> ServerStatus {
        let up = self.current().is_some();
        let known = self.read();
        let state = match (&known.failure, up) {
            (_, true) => ServerState::Up,
            (Some(UpstreamFailure::LoginNeeded(why)), false) => ServerState::LoginNeeded(why.clone()),
            (Some(failure), false) => ServerState::Down(failure.to_string()),
            (None, false) => ServerState::Idle,
        };
        let mut unreadable = known.unreadable.clone();
        unreadable.extend(known.pins.as_ref().map(ToString::to_string));
        ServerStatus {
            name: self.settings.name.clone(),
            state,
            facts: known.facts.clone(),
            tools: known.usable.len(),
            waiting: known.waiting.len(),
            unreadable,
            took: None,
            log: self.log.last(LOG_LINES),
        }
    }

    /// Ends the connection for good.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        // Whoever is about to connect comes first, and is closed then.
        let _attempts = self.attempts.lock().await;
        self.stop_watching();
        let current = self.current.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(upstream) = current {
            upstream.close().await;
        }
        self.looked.send_replace(true);
    }

    fn stop_watching(&self) {
        if let Some(watcher) = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take() {
            watcher.abort();
        }
    }

    fn lost(&self, upstream: &Arc<dyn Upstream>, why: String) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, upstream)) {
            *current = None;
        }
        drop(current);
        self.write().failure = Some(UpstreamFailure::Down(why));
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The watcher holds the connection, and with it the server's process.
        self.stop_watching();
    }
}

impl Known {
    fn take(&mut self, facts: ServerFacts, raw: Vec<String>) {
        self.facts = Some(facts);
        self.offered.clear();
        self.unreadable.clear();
        for text in &raw {
            match ToolDefinition::from_text(text) {
                Ok(definition) => self.offered.push(Arc::new(definition)),
                Err(error) => self.unreadable.push(error.to_string()),
            }
        }
        self.raw = raw;
    }
}

/// Stays with a connection: looks again when its tools change, and restarts it when it is lost.
async fn watch(server: Weak<Server>, inner: Weak<Inner>, upstream: Arc<dyn Upstream>, changed: Arc<Notify>) {
    let began = Instant::now();
    let why = loop {
        tokio::select! {
            why = upstream.lost() => break why,
            () = changed.notified() => {
                tokio::time::sleep(RELIST_PAUSE).await;
                if let (Ok(tools), Some(server), Some(inner)) =
                    (upstream.list_tools().await, server.upgrade(), inner.upgrade())
                {
                    server.write().take(upstream.facts().clone(), tools);
                    inner.offered(&server);
                }
            }
        }
    };
    let Some(lost) = server.upgrade() else { return };
    lost.lost(&upstream, why);
    let failed = {
        let mut attempts = lost.attempts.lock().await;
        attempts.failed = if began.elapsed() > GOOD_AFTER { 1 } else { attempts.failed + 1 };
        attempts.not_before = Some(Instant::now() + pause(attempts.failed));
        attempts.failed
    };
    drop(lost);
    upstream.close().await;
    drop(upstream);
    restart(server, inner, failed).await;
}

async fn restart(server: Weak<Server>, inner: Weak<Inner>, mut failed: u32) {
    while failed <= RESTARTS_MAX {
        tokio::time::sleep(pause(failed)).await;
        let (Some(server), Some(inner)) = (server.upgrade(), inner.upgrade()) else { return };
        if server.closed.load(Ordering::Relaxed) || server.current().is_some() {
            return;
        }
        // Its own watcher takes over from here.
        if server.live(&inner).await.is_ok() {
            return;
        }
        failed += 1;
    }
}

/// Grows with each failure; a quarter of it is left to chance, so that many do not come at once.
fn pause(failed: u32) -> Duration {
    let doubled = PAUSE_FIRST.saturating_mul(1 << failed.saturating_sub(1).min(10));
    let chance = RandomState::new().build_hasher().finish() % 1000;
    let jitter = 0.75 + 0.5 * (chance as f64 / 1000.0);
    doubled.min(PAUSE_MAX).mul_f64(jitter)
}
