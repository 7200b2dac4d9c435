//! Upstream servers: what each offers, whether it is there, and the calls that go to it.
//!
//! What a server offered last time is kept on disk, so that programs and searches are answered at
//! once; a server is started when something of it is needed, or behind, to see what is new. What
//! it offers is compared with what was approved before any of it can be called.

mod calls;
mod frozen;
mod kept_offers;
mod known;
mod offer;
mod parameter_headers;
mod pin_file;
mod rate;
mod readables;
mod server;
mod server_log;
mod snapshot;
mod status;
mod tree_store;
mod watch;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::future::join_all;
use gristmill_domain::catalogue::{Approve, NotOffered, Waiting};
use gristmill_domain::{ServerSettings, ToolAnswer};
use tokio::sync::watch as watch_channel;

use crate::ports::{BoxFuture, Connector, ToolCall, ToolFailure, ToolSource, Tools, UpstreamFailure};
use frozen::FrozenTools;
pub(crate) use frozen::found;
use kept_offers::KeptOffers;
use pin_file::PinFile;
use server::Server;

pub use pin_file::PinError;
pub use readables::ResourceFailure;
pub use server_log::ServerLog;
pub use snapshot::{SearchFailure, Snapshot};
pub use status::{ServerState, ServerStatus};
pub use tree_store::remove_trees;
pub(crate) use tree_store::{TreeLease, TreeStore};

/// How long programs and searches wait for servers of which nothing is known yet.
const FIRST_LOOK_WAIT: Duration = Duration::from_secs(10);

/// When servers are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    /// Not by itself, not even one of which nothing is known.
    Never,
    /// When a call needs one; at once, if nothing is known of it.
    #[default]
    WhenUsed,
    /// At once, all of them, while nobody waits.
    Behind,
}

/// How upstreams are started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Startup {
    /// When servers are reached.
    pub refresh: Refresh,
    /// Whether servers are told that they may ask questions. Without it they are told that nobody is
    /// there to answer.
    pub can_ask: bool,
}

impl From<Refresh> for Startup {
    fn from(refresh: Refresh) -> Self {
        Self { refresh, can_ask: false }
    }
}

/// Where upstreams keep what they know.
#[derive(Clone, Debug)]
pub struct UpstreamFolders {
    /// What must last: approvals.
    pub data: PathBuf,
    /// What can be made again: offers, trees, logs.
    pub cache: PathBuf,
}

/// All upstream servers. Cheap to clone.
#[derive(Clone)]
pub struct Upstreams {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    connector: Arc<dyn Connector>,
    can_ask: bool,
    servers: Vec<Arc<Server>>,
    by_name: HashMap<String, Arc<Server>>,
    offers: KeptOffers,
    pins: PinFile,
    trees: Arc<TreeStore>,
    snapshot: RwLock<Arc<Snapshot>>,
    /// Counts the changes of what is offered.
    changes: watch_channel::Sender<u64>,
}

impl Upstreams {
    /// Reads what is known of each server, and reaches those of which nothing is. Needs a tokio
    /// runtime.
    pub fn start(
        settings: Vec<ServerSettings>,
        connector: Arc<dyn Connector>,
        folders: &UpstreamFolders,
        startup: impl Into<Startup>,
    ) -> Self {
        let Startup { refresh, can_ask } = startup.into();
        let offers = KeptOffers::new(folders.cache.join("offers"));
        let logs = folders.cache.join("logs");
        let enabled = settings.into_iter().filter(|settings| settings.enabled).collect();
        let servers = in_parallel(enabled, |settings: ServerSettings| {
            let log =
                ServerLog::in_file(logs.join(format!("{}.log", kept_offers::file_stem(&settings.name))));
            let kept = offers.read(&settings);
            Arc::new(Server::new(settings, kept, log))
        });
        let by_name =
            servers.iter().map(|server| (server.settings.name.clone(), Arc::clone(server))).collect();
        let inner = Arc::new(Inner {
            connector,
            can_ask,
            by_name,
            offers,
            pins: PinFile::new(folders.data.join("pins.json")),
            trees: Arc::new(TreeStore::new(folders.cache.join("trees"))),
            snapshot: RwLock::default(),
            changes: watch_channel::Sender::new(0),
            servers,
        });
        inner.review_what_is_kept();
        inner.renew();
        for server in &inner.servers {
            let is_reached = match refresh {
                Refresh::Never => false,
                Refresh::WhenUsed => !server.is_known(),
                Refresh::Behind => true,
            };
            if is_reached {
                let (inner, server) = (Arc::clone(&inner), Arc::clone(server));
                tokio::spawn(async move {
                    if server.live(&inner).await.is_err() {
                        let (server, inner) = (Arc::downgrade(&server), Arc::downgrade(&inner));
                        watch::restart(server, inner).await;
                    }
                });
            }
        }
        Self { inner }
    }

    /// How each server is, as far as is known. Nothing is reached.
    pub fn statuses(&self) -> Vec<ServerStatus> {
        self.inner.servers.iter().map(|server| server.status()).collect()
    }

    /// Reaches every server, all at once, and says how each is.
    pub async fn check(&self) -> Vec<ServerStatus> {
        join_all(self.inner.servers.iter().map(|server| self.check_server(server))).await
    }

    /// Reaches one server. `None` if there is none of that name.
    pub async fn check_one(&self, name: &str) -> Option<ServerStatus> {
        let server = self.inner.by_name.get(name)?;
        Some(self.check_server(server).await)
    }

    async fn check_server(&self, server: &Arc<Server>) -> ServerStatus {
        let began = std::time::Instant::now();
        if server.live(&self.inner).await.is_ok() {
            // Someone else may have reached it just now, and still be looking at its tools.
            server.first_look().await;
        }
        ServerStatus { took: Some(began.elapsed()), ..server.status() }
    }

    /// Waits until something is known of every server, or it is known to be down.
    pub async fn known(&self) {
        join_all(self.inner.servers.iter().map(|server| server.first_look())).await;
    }

    /// The same, but not for long: a server that hangs must not keep programs waiting that have
    /// nothing to do with it. Whoever calls a tool of such a server waits for that server.
    pub async fn known_soon(&self) {
        let _ = tokio::time::timeout(FIRST_LOOK_WAIT, self.known()).await;
    }

    /// Why there is no tree of the tools, if there is none: imports do not work then.
    pub fn tree_problem(&self) -> Option<String> {
        self.inner.snapshot().tree_problem()
    }

    /// The tools that can be called now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.snapshot()
    }

    /// Calls a tool outside of any program.
    pub async fn call(&self, call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
        self.known_soon().await;
        self.inner.try_unreached_again();
        FrozenTools::new(Arc::clone(&self.inner), self.inner.snapshot(), None).call(call).await
    }

    /// Counts up whenever what is offered changes: tools, resources or prompts.
    pub fn offers_changed(&self) -> watch_channel::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// What waits for a review, by server.
    pub fn waiting(&self) -> Vec<(String, Vec<Waiting>)> {
        let waiting = |server: &Arc<Server>| (server.settings.name.clone(), server.waiting());
        self.inner.servers.iter().map(waiting).filter(|(_, waiting)| !waiting.is_empty()).collect()
    }

    /// Approves what a server offers now.
    pub fn approve(&self, server: &str, what: Approve<'_>) -> Result<Vec<String>, ApproveError> {
        let known = self.inner.by_name.get(server);
        let known = known.ok_or_else(|| ApproveError::NoServer(server.to_owned()))?;
        let offered = known.offered();
        let approved = self.inner.pins.approve(server, what, &offered)?;
        self.inner.review(known);
        self.inner.renew();
        Ok(approved)
    }
}

/// Reading many offers is a matter of parsing: all cores do it.
fn in_parallel<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let each = items.len().div_ceil(cores).max(1);
    let mut items = items.into_iter();
    let work = &work;
    std::thread::scope(|scope| {
        let mut parts = Vec::new();
        loop {
            let part: Vec<T> = items.by_ref().take(each).collect();
            if part.is_empty() {
                break;
            }
            parts.push(scope.spawn(move || part.into_iter().map(work).collect::<Vec<R>>()));
        }
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// An approval that did not happen. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// Not configured, or not enabled.
    #[error("there is no server `{0}`")]
    NoServer(String),
    /// Not a tool of it.
    #[error(transparent)]
    NotOffered(#[from] NotOffered),
    /// The approvals cannot be written.
    #[error(transparent)]
    Pins(#[from] PinError),
}

impl Inner {
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes what all servers offer into a new snapshot, if any of it changed.
    pub(crate) fn renew(&self) {
        let mut current = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        let new = Snapshot::of(&self.servers, Arc::clone(&self.trees));
        if new.is_same_as(&current) {
            return;
        }
        let offers_the_same = new.offers_the_same_as(&current);
        *current = Arc::new(new);
        drop(current);
        if !offers_the_same {
            self.changes.send_modify(|count| *count += 1);
        }
    }

    /// Compares what a server offers with what was approved.
    pub(crate) fn review(&self, server: &Server) {
        let reviewed = self.pins.review(&server.settings.name, &server.offered(), server.settings.accept);
        server.reviewed(reviewed);
    }

    fn review_what_is_kept(&self) {
        for server in self.servers.iter().filter(|server| server.is_known()) {
            self.review(server);
        }
    }

    /// A server has told us what it offers.
    pub(crate) fn offered(&self, server: &Server) {
        self.review(server);
        self.renew();
        if let Some(offer) = server.to_keep() {
            self.offers.write(&server.settings, &offer);
        }
    }

    pub(crate) fn connector(&self) -> &dyn Connector {
        self.connector.as_ref()
    }

    pub(crate) fn can_ask(&self) -> bool {
        self.can_ask
    }

    pub(crate) fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    pub(crate) fn server(&self, name: &str) -> Option<&Arc<Server>> {
        self.by_name.get(name)
    }

    /// Servers that have no tools because they could not be reached yet, and why.
    pub(crate) fn unreached(&self) -> impl Iterator<Item = (&Arc<Server>, UpstreamFailure)> {
        let unknown = self.servers.iter().filter(|server| !server.is_known());
        unknown.filter_map(|server| Some((server, server.last_failure()?)))
    }

    /// Servers that are not there now, as far as is known, whatever was known of them before.
    pub(crate) fn down(&self) -> impl Iterator<Item = (&Arc<Server>, UpstreamFailure)> {
        let gone = self.servers.iter().filter(|server| server.is_wanted());
        gone.filter_map(|server| Some((server, server.last_failure()?)))
    }

    /// Nobody calls their tools, so that no call would bring them back.
    fn try_unreached_again(self: &Arc<Self>) {
        for (server, _) in self.unreached() {
            server.try_again_behind(self);
        }
    }
}

impl ToolSource for Upstreams {
    fn freeze(&self) -> BoxFuture<'_, Arc<dyn Tools>> {
        Box::pin(async move {
            self.known_soon().await;
            self.inner.try_unreached_again();
            let snapshot = self.inner.snapshot();
            let tree = snapshot.tree().await;
            let frozen: Arc<dyn Tools> = Arc::new(FrozenTools::new(Arc::clone(&self.inner), snapshot, tree));
            frozen
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            join_all(self.inner.servers.iter().map(|server| server.close())).await;
        })
    }
}
