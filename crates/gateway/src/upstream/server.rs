//! One upstream server: its settings, what is known of it, and the connection to it, if there is one.
//! Whoever makes connections is in `supervisor.rs`.

use std::sync::Arc;
use std::time::Instant;

use gristmill_domain::ServerSettings;
use gristmill_domain::catalogue::{
    ItemKind, Offer, Review, ServerOffer, ToolDefinition, Waiting, WaitingKind, plain_version, waiting_words,
};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::attempts::Attempts;
use super::connection::{Connection, UpstreamFailure};
use super::known::Known;
use super::offer_cache::CachedOffer;
use super::pin_file::PinError;
use super::rate::Rate;
use super::raw_offer::RawOffer;
use super::server_log::ServerLog;
use super::status::{ServerState, ServerStatus};

/// Lines of a server's log that go into a status.
const LOG_LINES: usize = 10;

pub(super) struct Server {
    pub settings: Arc<ServerSettings>,
    pub permits: Semaphore,
    pub rate: Rate,
    log: Arc<ServerLog>,
    known: RwLock<Known>,
    current: RwLock<Option<Current>>,
    /// Taken by whoever connects: one at a time.
    pub attempts: tokio::sync::Mutex<Attempts>,
    /// Whether anything is known, or was tried to be.
    discovered: watch::Sender<bool>,
    watcher: Mutex<Option<tokio::task::AbortHandle>>,
    closing: CancellationToken,
}

struct Current {
    connection: Connection,
    since: Instant,
}

impl Server {
    pub(super) fn new(settings: ServerSettings, kept: Option<CachedOffer>, log: ServerLog) -> Self {
        let parallel = usize::try_from(settings.limits.parallel_calls).unwrap_or(usize::MAX);
        let mut known = Known::default();
        let is_known = kept.is_some();
        if let Some(kept) = kept {
            known.take(kept.facts, kept.offer, &settings.tools);
        }
        Self {
            permits: Semaphore::new(parallel.clamp(1, Semaphore::MAX_PERMITS)),
            rate: Rate::new(settings.limits.calls_per_minute),
            log: Arc::new(log),
            known: RwLock::new(known),
            current: RwLock::default(),
            attempts: tokio::sync::Mutex::default(),
            discovered: watch::Sender::new(is_known),
            watcher: Mutex::default(),
            closing: CancellationToken::new(),
            settings: Arc::new(settings),
        }
    }

    pub(super) fn current(&self) -> Option<Connection> {
        let current = self.current.read();
        current.as_ref().map(|current| current.connection.clone())
    }

    /// Calls go through this connection from now on. The task that watches over it ends with it.
    pub(super) fn connected(&self, connection: Connection, watcher: tokio::task::AbortHandle) {
        let current = Current { connection, since: Instant::now() };
        *self.current.write() = Some(current);
        // One that still waits to restart is not needed any more, and ends by itself.
        *self.watcher.lock() = Some(watcher);
    }

    /// Ends with the gateway whatever it waits for.
    pub(super) async fn unless_closing<T>(
        &self,
        work: impl Future<Output = Result<T, UpstreamFailure>>,
    ) -> Result<T, UpstreamFailure> {
        tokio::select! {
            biased;
            () = self.closing.cancelled() => Err(UpstreamFailure::Down("the gateway is closing".to_owned())),
            outcome = work => outcome,
        }
    }

    /// Whether there is no connection and may be one.
    pub(super) fn is_disconnected(&self) -> bool {
        self.current().is_none() && !self.is_closing()
    }

    /// Whether the gateway is being stopped.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// How often it failed in a row, and when it is tried again.
    pub(super) async fn next_attempt(&self) -> (u32, Option<Instant>) {
        let attempts = self.attempts.lock().await;
        (attempts.failed, attempts.not_before)
    }

    /// Something was found out: whoever waits for that goes on.
    pub(super) fn mark_discovered(&self) {
        self.discovered.send_replace(true);
    }

    /// Waits until something is known, or could not be found out.
    pub(super) async fn wait_until_discovered(&self) {
        let _ = self.discovered.subscribe().wait_for(|discovered| *discovered).await;
    }

    /// Whether it was never heard of, and is being reached for the first time.
    pub(super) fn is_undiscovered(&self) -> bool {
        !*self.discovered.borrow()
    }

    pub(super) fn is_known(&self) -> bool {
        self.read().facts.is_some()
    }

    pub(super) fn last_failure(&self) -> Option<UpstreamFailure> {
        self.read().failure.clone()
    }

    pub(super) fn offered(&self) -> Offer {
        self.read().offered.clone()
    }

    /// Names that are kept for its tools until it was reached.
    pub(super) fn keep_names(&self, tools: Vec<String>) {
        self.write().pinned_tools = tools;
    }

    pub(super) fn waiting(&self) -> Vec<Waiting> {
        self.read().waiting.clone()
    }

    /// The tool as it may be called now, if it may.
    pub(super) fn usable(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        self.read().usable.tools().iter().find(|tool| tool.name == name).cloned()
    }

    /// Whether and why an item waits for its user.
    pub(super) fn waits(&self, of: ItemKind, name: &str) -> Option<WaitingKind> {
        self.read().waits(of, name)
    }

    /// The resource or template that waits for its user, if a URI is of one.
    pub(super) fn held_back_of(&self, uri: &str) -> Option<(ItemKind, String)> {
        let known = self.read();
        // Without approvals there is none that could be read.
        if known.pins.is_some() {
            return Some((ItemKind::Resource, uri.to_owned()));
        }
        known.held_back_of(uri).map(|(of, name)| (of, name.to_owned()))
    }

    /// Why nothing of this server can be approved, if that is so.
    pub(super) fn pins_problem(&self) -> Option<String> {
        self.read().pins.as_ref().map(ToString::to_string)
    }

    pub(super) fn reviewed(&self, outcome: Result<Review, PinError>) {
        let mut known = self.write();
        let (review, pins) = match outcome {
            Ok(review) => (review, None),
            // Nothing is usable while the approvals cannot be read.
            Err(error) => (Review::default(), Some(error)),
        };
        (known.usable, known.waiting, known.pins) = (review.usable, review.waiting, pins);
    }

    /// What it offers to the catalogue.
    pub(super) fn offer(&self) -> ServerOffer {
        let known = self.read();
        let version = known.facts.as_ref().and_then(|facts| facts.version.as_deref());
        let about = known.usable.about.clone().unwrap_or_default();
        ServerOffer {
            name: self.settings.name.clone(),
            title: about.title,
            version: version.and_then(plain_version),
            description: self.settings.description.clone().or(about.instructions),
            category: self.settings.category.clone(),
            tools: known.usable.tools().to_vec(),
            resources: known.usable.resources().into(),
            resource_templates: known.usable.resource_templates().into(),
            prompts: known.usable.prompts().into(),
            reserved: known.reserved(),
            is_out_of_use: false,
        }
    }

    pub(super) fn to_cache(&self) -> Option<CachedOffer> {
        let known = self.read();
        Some(CachedOffer { facts: known.facts.clone()?, offer: known.raw.clone() })
    }

    pub(super) fn status(&self) -> ServerStatus {
        let up = self.current().is_some();
        let known = self.read();
        let state = match (&known.failure, up) {
            (_, true) => ServerState::Up,
            (Some(UpstreamFailure::LoginNeeded(why)), false) => ServerState::LoginNeeded(why.clone()),
            (Some(failure), false) => ServerState::Down(failure.to_string()),
            (None, false) if self.is_undiscovered() => ServerState::Starting,
            (None, false) => ServerState::Idle,
        };
        let mut unreadable = known.unreadable.clone();
        unreadable.extend(known.pins.as_ref().map(ToString::to_string));
        ServerStatus {
            name: self.settings.name.clone(),
            state,
            facts: known.facts.clone(),
            tools: known.usable.tools().len(),
            waiting: known.waiting.len(),
            waiting_words: waiting_words(&known.waiting),
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
        let current = self.current.write().take();
        if let Some(current) = current {
            current.connection.upstream().close().await;
        }
        self.mark_discovered();
    }

    fn stop_watching(&self) {
        if let Some(watcher) = self.watcher.lock().take() {
            watcher.abort();
        }
    }

    /// A connection is lost. Whoever notices first says it, and only once it counts.
    pub(super) async fn lost(&self, connection: &Connection, why: String) {
        let mut attempts = self.attempts.lock().await;
        let lost = {
            let mut current = self.current.write();
            current.take_if(|current| current.connection.is_same_as(connection))
        };
        let Some(lost) = lost else { return };
        self.failed(UpstreamFailure::Down(why));
        attempts.lost_after(lost.since.elapsed(), Instant::now());
    }

    pub(super) fn failed(&self, failure: UpstreamFailure) {
        self.write().failure = Some(failure);
    }

    pub(super) fn recovered(&self) {
        self.write().failure = None;
    }

    /// It has listed what it offers, over this connection.
    pub(super) fn listed(&self, connection: &Connection, offer: RawOffer) {
        self.write().take(connection.upstream().facts().clone(), offer, &self.settings.tools);
    }

    /// What it listed last.
    pub(super) fn last_offer(&self) -> RawOffer {
        self.read().raw.clone()
    }

    pub(super) fn log(&self) -> &Arc<ServerLog> {
        &self.log
    }

    /// The protocol that it spoke last time.
    pub(super) fn last_protocol(&self) -> Option<String> {
        self.read().facts.as_ref().map(|facts| facts.protocol.clone())
    }

    pub(super) fn name(&self) -> &str {
        &self.settings.name
    }

    /// The names under which its prompts are offered.
    pub(super) fn prompt_names(&self) -> Vec<String> {
        let known = self.read();
        known.usable.prompts().iter().map(|prompt| prompt.full_name(&self.settings.name)).collect()
    }

    /// Whether it offers a prompt, be it approved or not.
    pub(super) fn has_prompt(&self, own_name: &str) -> bool {
        self.read().offered.prompts().iter().any(|prompt| prompt.name == own_name)
    }

    /// Whether a prompt can be asked for now.
    pub(super) fn is_usable_prompt(&self, own_name: &str) -> bool {
        self.read().usable.prompts().iter().any(|prompt| prompt.name == own_name)
    }

    pub(super) fn read(&self) -> parking_lot::RwLockReadGuard<'_, Known> {
        self.known.read()
    }

    fn write(&self) -> parking_lot::RwLockWriteGuard<'_, Known> {
        self.known.write()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The watcher holds the connection, and with it the server's process.
        self.stop_watching();
    }
}
