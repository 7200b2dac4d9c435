//! One upstream server: what is known of it, and the connection to it, made when it is needed and
//! made again when it is lost.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use gristmill_domain::ServerSettings;
use gristmill_domain::catalogue::{Review, ServerOffer, ToolDefinition, Waiting, WaitingKind};
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::kept_offers::KeptOffer;
use super::known::Known;
use super::offer::{RawOffer, look};
use super::pin_file::{PinError, nothing_usable};
use super::rate::Rate;
use super::watch::{pause, watch as stay_with};
use super::{Inner, ServerLog, ServerState, ServerStatus};
use crate::ports::{BoxFuture, ConnectRequest, Upstream, UpstreamFailure};

/// A call waits this long for the next attempt, otherwise it is told to come back.
const WAIT_FOR_ATTEMPT_MAX: Duration = Duration::from_secs(2);

/// A connection that lasted so long was a good one.
const GOOD_AFTER: Duration = Duration::from_secs(30);

/// Lines of a server's log that go into a status.
const LOG_LINES: usize = 10;

/// See the module.
pub(crate) struct Server {
    pub settings: Arc<ServerSettings>,
    pub permits: Semaphore,
    pub rate: Rate,
    log: Arc<ServerLog>,
    known: RwLock<Known>,
    current: RwLock<Option<Current>>,
    attempts: tokio::sync::Mutex<Attempts>,
    /// Whether anything is known, or was tried to be.
    looked: watch::Sender<bool>,
    watcher: Mutex<Option<tokio::task::AbortHandle>>,
    closing: CancellationToken,
}

struct Current {
    upstream: Arc<dyn Upstream>,
    since: Instant,
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
            known.take(kept.facts, kept.offer);
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
            closing: CancellationToken::new(),
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
        self.unless_closing(self.wait_for_turn(&attempts)).await?;
        let outcome = match self.unless_closing(self.connect(inner)).await {
            Ok(upstream) => {
                attempts.not_before = None;
                Ok(upstream)
            }
            Err(failure) => {
                attempts.failed += 1;
                attempts.not_before = Some(Instant::now() + pause(attempts.failed));
                self.write().failure = Some(failure.clone());
                inner.renew();
                Err(failure)
            }
        };
        // Whoever waits for this finds what was found out.
        self.looked.send_replace(true);
        outcome
    }

    async fn unless_closing<T>(
        &self,
        work: impl Future<Output = Result<T, UpstreamFailure>>,
    ) -> Result<T, UpstreamFailure> {
        tokio::select! {
            biased;
            () = self.closing.cancelled() => Err(UpstreamFailure::Down("the gateway is closing".to_owned())),
            outcome = work => outcome,
        }
    }

    /// Has it tried again behind, if its time has come: a program that begins later may find it.
    pub(super) fn try_again_behind(self: &Arc<Self>, inner: &Arc<Inner>) {
        let now = Instant::now();
        let is_due = |attempts: &Attempts| attempts.not_before.is_none_or(|at| at <= now);
        // Someone else is at it if the lock is taken.
        if self.is_wanted() && self.attempts.try_lock().is_ok_and(|attempts| is_due(&attempts)) {
            let (server, inner) = (Arc::clone(self), Arc::clone(inner));
            tokio::spawn(async move {
                let _ = server.live(&inner).await;
            });
        }
    }

    /// Whether there is no connection and may be one.
    pub(super) fn is_wanted(&self) -> bool {
        self.current().is_none() && !self.closing.is_cancelled()
    }

    /// How often it failed in a row, and when it is tried again.
    pub(super) async fn next_attempt(&self) -> (u32, Option<Instant>) {
        let attempts = self.attempts.lock().await;
        (attempts.failed, attempts.not_before)
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
            can_ask: inner.can_ask(),
            offer_changed: Arc::new(move || tell.notify_one()),
            log: Arc::clone(&self.log),
        };
        let upstream = inner.connector().connect(request).await?;
        let offer = match look(upstream.as_ref(), &self.log, self.last_offer()).await {
            Ok(offer) => offer,
            Err(failure) => {
                upstream.close().await;
                return Err(failure);
            }
        };
        self.write().take(upstream.facts().clone(), offer);
        self.write().failure = None;
        // Before anyone can see that it is there: with its tools, or not at all.
        inner.offered(self);
        let current = Current { upstream: Arc::clone(&upstream), since: Instant::now() };
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(current);
        let stay = stay_with(Arc::downgrade(self), Arc::downgrade(inner), Arc::clone(&upstream), changed);
        let watcher = tokio::spawn(stay).abort_handle();
        let before = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).replace(watcher);
        // One that still waits to restart is not needed any more.
        drop(before);
        Ok(upstream)
    }

    fn current(&self) -> Option<Arc<dyn Upstream>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().map(|current| Arc::clone(&current.upstream))
    }

    /// Waits until something is known, or could not be found out.
    pub(super) async fn first_look(&self) {
        let _ = self.looked.subscribe().wait_for(|looked| *looked).await;
    }

    /// Whether it was never heard of, and is being reached for the first time.
    pub(super) fn is_awaited(&self) -> bool {
        !*self.looked.borrow()
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

    /// Whether and why a tool waits for its user.
    pub(super) fn waits(&self, name: &str) -> Option<WaitingKind> {
        let known = self.read();
        let waiting = known.waiting.iter().find(|waiting| waiting.offered.name == name);
        waiting.map(|waiting| waiting.kind.clone())
    }

    /// Names of the tools that it offers and that cannot be called.
    pub(super) fn held_back(&self) -> Vec<String> {
        let known = self.read();
        let offered = known.offered.iter().filter(|_| known.pins.is_some()).map(|tool| tool.name.clone());
        offered.chain(known.waiting.iter().map(|waiting| waiting.offered.name.clone())).collect()
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
            resources: Arc::clone(&known.resources),
            resource_templates: Arc::clone(&known.resource_templates),
            prompts: Arc::clone(&known.prompts),
        }
    }

    pub(super) fn to_keep(&self) -> Option<KeptOffer> {
        let known = self.read();
        Some(KeptOffer { facts: known.facts.clone()?, offer: known.raw.clone() })
    }

    pub(super) fn status(&self) -> ServerStatus {
        let up = self.current().is_some();
        let known = self.read();
        let state = match (&known.failure, up) {
            (_, true) => ServerState::Up,
            (Some(UpstreamFailure::LoginNeeded(why)), false) => ServerState::LoginNeeded(why.clone()),
            (Some(failure), false) => ServerState::Down(failure.to_string()),
            (None, false) if self.is_awaited() => ServerState::Starting,
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
        self.closing.cancel();
        // Whoever is about to connect gives up first.
        let _attempts = self.attempts.lock().await;
        self.stop_watching();
        let current = self.current.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(current) = current {
            current.upstream.close().await;
        }
        self.looked.send_replace(true);
    }

    fn stop_watching(&self) {
        if let Some(watcher) = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take() {
            watcher.abort();
        }
    }

    /// A connection is lost. Whoever notices first says it, and only once it counts.
    pub(super) async fn lost(&self, upstream: &Arc<dyn Upstream>, why: String) {
        let mut attempts = self.attempts.lock().await;
        let lost = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            current.take_if(|current| Arc::ptr_eq(&current.upstream, upstream))
        };
        let Some(lost) = lost else { return };
        self.write().failure = Some(UpstreamFailure::Down(why));
        attempts.failed = if lost.since.elapsed() > GOOD_AFTER { 1 } else { attempts.failed + 1 };
        attempts.not_before = Some(Instant::now() + pause(attempts.failed));
    }

    /// It has listed what it offers again.
    pub(super) fn listed(&self, upstream: &Arc<dyn Upstream>, offer: RawOffer) {
        self.write().take(upstream.facts().clone(), offer);
    }

    /// What it listed last.
    pub(super) fn last_offer(&self) -> RawOffer {
        self.read().raw.clone()
    }

    pub(super) fn log(&self) -> Arc<ServerLog> {
        Arc::clone(&self.log)
    }

    /// The names under which its prompts are offered.
    pub(super) fn prompt_names(&self) -> Vec<String> {
        self.read().prompts.iter().map(|prompt| prompt.full_name(&self.settings.name)).collect()
    }

    pub(super) fn read(&self) -> std::sync::RwLockReadGuard<'_, Known> {
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
