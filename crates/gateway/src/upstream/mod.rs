//! Upstream servers: what each offers, whether it is there, and the one door to it.
//!
//! What a server offered last time is kept on disk, so that programs and searches are answered at
//! once; a server is started when something of it is needed, or in the background, to see what is new.
//! What it offers is compared with what was approved before any of it can be called.
//!
//! Walls: nothing is sent to a server but through [`Upstreams::pass`] and the tools of an execution,
//! which both lead through `door`, and not without a [`Caller`]. Listing what a server offers is nobody's
//! call and stays in here.

mod attempts;
mod blobs;
mod connection;
mod door;
mod frozen;
mod guard;
mod known;
mod learned_snapshots;
mod listing;
mod meaning;
mod no_tools;
mod offer_cache;
mod parameter_headers;
mod pin_file;
mod rate;
mod raw_offer;
mod registry;
mod search_answer;
mod seen;
mod server;
mod server_log;
mod snapshot;
mod startup;
mod status;
mod supervisor;
mod tree_store;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use gristmill_domain::catalogue::{Approve, Waiting};
use gristmill_domain::{ServerSettings, ToolAnswer};
use tokio::sync::watch;

use crate::ids::{Caller, Owner};
use crate::ports::{BoxFuture, CallObserver, Needed, ToolFailure, ToolSource, Tools};
use door::Door;
use frozen::FrozenTools;
use learned_snapshots::LearnedSnapshots;
use meaning::{Meanings, UseObserver};
use registry::Registry;
use server::Server;

pub use blobs::Blobs;
pub use connection::{
    ConnectRequest, Connection, Connector, ServerFacts, Upstream, UpstreamCall, UpstreamFailure,
};
pub use door::DoorRequest;
pub use guard::{
    ALWAYS_FILE, AlwaysApproval, AlwaysApprovals, AlwaysError, Guard, GuardSettings, note_answer,
};
pub use no_tools::NoTools;
pub use pin_file::{ApproveError, PinError, forget_approvals};
pub use registry::log_path;
pub use seen::Seen;
pub use server_log::ServerLog;
pub use snapshot::{SearchFailure, Snapshot};
pub use startup::{Refresh, SearchSettings, Startup, UpstreamFolders};
pub use status::{ServerState, ServerStatus};
pub use tree_store::remove_trees;
pub(crate) use tree_store::{TreeLease, TreeStore};

/// All upstream servers. Cheap to clone.
#[derive(Clone)]
pub struct Upstreams {
    registry: Arc<Registry>,
    door: Door,
    /// With what was learned, if anything is.
    learned: Option<Arc<LearnedSnapshots>>,
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
        let Startup { refresh, can_ask, observer, audit, guard, privacy, learner, search } = startup.into();
        // Whoever is here for a moment only uses what others made.
        let makes_vectors = refresh == Refresh::InBackground;
        let meanings = Meanings::new(&folders.cache, search, makes_vectors);
        let uses = meanings.as_ref().and_then(|meanings| meanings.uses.clone());
        let observer = match uses {
            Some(uses) => Some(Arc::new(UseObserver { uses, next: observer }) as Arc<dyn CallObserver>),
            None => observer,
        };
        let has_meanings = meanings.is_some();
        let store = guard.as_ref().and_then(|guard| guard.store());
        let kept = (folders, store);
        let registry = Registry::open(settings, connector, can_ask, kept, privacy.as_ref(), meanings, audit);
        let registry = Arc::new(registry);
        if makes_vectors && has_meanings {
            tokio::spawn(meaning::keep_up(Arc::downgrade(&registry), registry.changes()));
        }
        for server in registry.servers() {
            let is_reached = match refresh {
                Refresh::Never => false,
                Refresh::WhenUsed => !server.is_known(),
                Refresh::InBackground => true,
            };
            if is_reached {
                supervisor::reach_in_background(&registry, server);
            }
        }
        let learned = learner.clone().map(|learner| LearnedSnapshots::start(learner, &registry));
        let door = Door::new(Arc::clone(&registry), observer, guard, privacy, learner);
        Self { door, registry, learned }
    }

    /// The one way to have something sent to a server outside of a program: as whoever asks for it, and
    /// among the tools that can be called now. Dropping the future takes the request back.
    pub async fn pass(&self, caller: &Caller, request: DoorRequest) -> Result<ToolAnswer, ToolFailure> {
        if let DoorRequest::CallTool(_) = request {
            self.registry.known_soon().await;
            supervisor::retry_unreached(&self.registry);
        }
        self.door.pass(caller, &self.registry.snapshot(), request).await
    }

    /// How each server is, as far as is known. Nothing is reached.
    pub fn statuses(&self) -> Vec<ServerStatus> {
        self.registry.servers().iter().map(|server| server.status()).collect()
    }

    /// Reaches every server, all at once, and says how each is.
    pub async fn check(&self) -> Vec<ServerStatus> {
        join_all(self.registry.servers().iter().map(|server| self.check_server(server))).await
    }

    /// Reaches one server. `None` if there is none of that name.
    pub async fn check_one(&self, name: &str) -> Option<ServerStatus> {
        let server = self.registry.server(name)?;
        Some(self.check_server(server).await)
    }

    async fn check_server(&self, server: &Arc<Server>) -> ServerStatus {
        let began = Instant::now();
        if supervisor::live(&self.registry, server).await.is_ok() {
            // Someone else may have reached it just now, and still be looking at its tools.
            server.wait_until_discovered().await;
        }
        ServerStatus { took: Some(began.elapsed()), ..server.status() }
    }

    /// Waits until something is known of every server, or it is known to be down.
    pub async fn known(&self) {
        self.registry.known().await;
    }

    /// The same, but not for long: a server that hangs must not keep programs waiting that have
    /// nothing to do with it. Whoever calls a tool of such a server waits for that server.
    pub async fn known_soon(&self) {
        self.registry.known_soon().await;
    }

    /// The same within a time of the caller's choosing: at once if something is known of each.
    pub async fn known_within(&self, limit: Duration) {
        let _ = tokio::time::timeout(limit, self.registry.known()).await;
    }

    /// Which tools of a snapshot a caller may ever call: what it is told of, and what it finds.
    pub fn seen(&self, caller: &Caller, snapshot: &Snapshot) -> Seen {
        self.door.seen(caller, snapshot)
    }

    /// Why there is no tree of the tools, if there is none: imports do not work then.
    pub fn tree_problem(&self) -> Option<String> {
        self.registry.snapshot().tree_problem()
    }

    /// The tools that can be called now, as their servers declare them.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.registry.snapshot()
    }

    /// The same with what an owner's calls have taught about their results.
    pub async fn snapshot_for(&self, owner: &Owner) -> Arc<Snapshot> {
        let snapshot = self.registry.snapshot();
        match &self.learned {
            Some(learned) => learned.of(owner, snapshot).await,
            None => snapshot,
        }
    }

    /// Whether what answers teach is shown.
    pub fn learns(&self) -> bool {
        self.learned.is_some()
    }

    /// Waits until every answer so far has been learned from.
    pub async fn learned(&self) {
        if let Some(learned) = &self.learned {
            learned.learner().idle().await;
        }
    }

    /// Counts up whenever what is offered changes: tools, resources or prompts.
    pub fn offers_changed(&self) -> watch::Receiver<u64> {
        self.registry.changes()
    }

    /// What waits for a review, by server.
    pub fn waiting(&self) -> Vec<(String, Vec<Waiting>)> {
        let waiting = |server: &Arc<Server>| (server.name().to_owned(), server.waiting());
        self.registry.servers().iter().map(waiting).filter(|(_, waiting)| !waiting.is_empty()).collect()
    }

    /// Approves what a server offers now.
    pub fn approve(&self, server: &str, what: Approve<'_>) -> Result<Vec<String>, ApproveError> {
        self.registry.approve(server, what)
    }
}

impl ToolSource for Upstreams {
    fn freeze<'a>(&'a self, caller: Option<&'a Caller>, needed: Needed<'a>) -> BoxFuture<'a, Arc<dyn Tools>> {
        Box::pin(async move {
            match needed {
                Needed::Every => self.registry.known_soon().await,
                Needed::ByProgram(program) => self.registry.known_for(program).await,
            }
            supervisor::retry_unreached(&self.registry);
            let snapshot = match caller {
                Some(caller) => self.snapshot_for(&caller.owner).await,
                None => self.registry.snapshot(),
            };
            let seen = caller.map(|caller| self.seen(caller, &snapshot)).unwrap_or_default();
            let tree = snapshot.tree(&seen).await;
            let (door, registry) = (self.door.clone(), Arc::clone(&self.registry));
            let frozen: Arc<dyn Tools> = Arc::new(FrozenTools { door, registry, snapshot, seen, tree });
            frozen
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            join_all(self.registry.servers().iter().map(|server| server.close())).await;
            self.door.close().await;
        })
    }
}
