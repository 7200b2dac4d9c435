//! All servers, what is approved of them, and the snapshot that is made of what they offer.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use gristmill_domain::catalogue::{
    Approve, Reserved, ReservedTool, ServerOffer, ToolDefinition, fold, waiting_words,
};
use gristmill_domain::{ServerSettings, Transport};
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

use super::connection::{Connector, UpstreamFailure};
use super::meaning::Meanings;
use super::offer_cache::{OfferCache, file_stem};
use super::pin_file::{ApproveError, PinFile};
use super::server::Server;
use super::server_log::ServerLog;
use super::snapshot::Snapshot;
use super::startup::UpstreamFolders;
use super::tree_store::TreeStore;
use crate::ports::AuditLog;
use crate::privacy::Privacy;
use crate::store::Store;

/// How long programs and searches wait for servers of which nothing is known yet.
const DISCOVERY_WAIT: Duration = Duration::from_secs(10);

/// The same for what a program does not name, but may come upon.
const LOOK_WAIT: Duration = Duration::from_secs(5);

/// By what a program looks around, in the tree or by asking. Skills may name servers that it does not.
const LOOKS_AROUND: &[&str] = &["search_tools", "list_tools", "list_servers", "servers/index", "skills"];

/// Where a server's log is, below the folder of caches.
pub fn log_path(cache: &Path, server: &str) -> PathBuf {
    cache.join("logs").join(format!("{}.log", file_stem(server)))
}

pub(super) struct Registry {
    connector: Arc<dyn Connector>,
    can_ask: bool,
    servers: Vec<Arc<Server>>,
    by_name: HashMap<String, Arc<Server>>,
    /// Servers that are not connected: no other server gets their names.
    out_of_use: Vec<ServerOffer>,
    offers: OfferCache,
    pins: PinFile,
    /// Who hears of what is approved without a person.
    audit: Option<Arc<dyn AuditLog>>,
    trees: Arc<TreeStore>,
    /// `None` if words alone decide.
    meanings: Option<Arc<Meanings>>,
    snapshot: RwLock<Arc<Snapshot>>,
    /// Counts the changes of what is offered.
    changes: watch::Sender<u64>,
}

impl Registry {
    /// Reads what is known of each server that is enabled, and the names of the others.
    pub(super) fn open(
        settings: Vec<ServerSettings>,
        connector: Arc<dyn Connector>,
        can_ask: bool,
        (folders, store): (&UpstreamFolders, Option<&Store>),
        privacy: Option<&Privacy>,
        meanings: Option<Arc<Meanings>>,
        audit: Option<Arc<dyn AuditLog>>,
    ) -> Self {
        let offers = OfferCache::new(folders.cache.join("offers"));
        let pins = PinFile::in_folder(&folders.data).telling(store.cloned());
        if let Some(privacy) = privacy {
            privacy.learn(&settings);
        }
        let (enabled, disabled): (Vec<_>, Vec<_>) =
            settings.into_iter().partition(|settings| settings.enabled);
        let out_of_use = disabled.iter().map(|settings| names_of(settings, &offers, &pins)).collect();
        let read = |settings: ServerSettings| {
            let mut log = ServerLog::in_file(log_path(&folders.cache, &settings.name));
            if let Some(privacy) = privacy.cloned() {
                let settings = settings.clone();
                log = log.hiding(move |line| privacy.without_values(&settings, line));
            }
            let kept = offers.read(&settings);
            Arc::new(Server::new(settings, kept, log))
        };
        // The approvals are as large as all offers together.
        let servers = std::thread::scope(|scope| {
            scope.spawn(|| pins.read_ahead());
            in_parallel(enabled, read)
        });
        let by_name = servers.iter().map(|server| (server.name().to_owned(), Arc::clone(server))).collect();
        let registry = Self {
            connector,
            can_ask,
            by_name,
            out_of_use,
            offers,
            pins,
            audit,
            trees: Arc::new(TreeStore::new(folders.cache.join("trees"))),
            meanings,
            snapshot: RwLock::default(),
            changes: watch::Sender::new(0),
            servers,
        };
        for server in &registry.servers {
            match server.is_known() {
                true => registry.review(server),
                false => server.keep_names(registry.pins.tools_of(server.name()).unwrap_or_default()),
            }
        }
        registry.renew();
        registry
    }

    pub(super) fn connector(&self) -> &dyn Connector {
        self.connector.as_ref()
    }

    pub(super) fn can_ask(&self) -> bool {
        self.can_ask
    }

    pub(super) fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    pub(super) fn server(&self, name: &str) -> Option<&Arc<Server>> {
        self.by_name.get(name)
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read())
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Waits until something is known of every server, or it is known to be down.
    pub(super) async fn known(&self) {
        join_all(self.servers.iter().map(|server| server.wait_until_discovered())).await;
    }

    /// The same, but not for long: a server that hangs must not keep programs waiting that have
    /// nothing to do with it. Whoever calls a tool of such a server waits for that server.
    pub(super) async fn known_soon(&self) {
        let _ = tokio::time::timeout(DISCOVERY_WAIT, self.known()).await;
    }

    /// Waits for the servers that a program names, and for no other: one that hangs has nothing to do with
    /// it. A program that looks around finds those that are there soon.
    pub(super) async fn known_for(&self, program: &str) {
        let undiscovered: Vec<_> = self.servers.iter().filter(|server| server.is_undiscovered()).collect();
        // The ordinary case: every server has been heard of.
        if undiscovered.is_empty() {
            return;
        }
        let words = folded_words(program);
        // Hosts are there at once, and no program has to name them.
        let is_named = |server: &&Arc<Server>| {
            words.contains(&fold(server.name())) || matches!(server.settings.transport, Transport::Hosts(_))
        };
        let (named, others): (Vec<_>, Vec<_>) = undiscovered.into_iter().partition(is_named);
        let others = if looks_around(program) || names_no_server(program) { others } else { Vec::new() };
        tokio::join!(discovered_within(DISCOVERY_WAIT, named), discovered_within(LOOK_WAIT, others));
    }

    /// Makes what all servers offer into a new snapshot, if any of it changed.
    pub(super) fn renew(&self) {
        let mut current = self.snapshot.write();
        let new =
            Snapshot::of(&self.servers, &self.out_of_use, Arc::clone(&self.trees), self.meanings.clone());
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

    /// A server has told us what it offers.
    pub(super) fn offered(&self, server: &Server) {
        self.review(server);
        self.renew();
        if let Some(offer) = server.to_cache() {
            self.offers.write(&server.settings, &offer);
        }
    }

    pub(super) fn approve(&self, server: &str, what: Approve<'_>) -> Result<Vec<String>, ApproveError> {
        let known = self.server(server).ok_or_else(|| ApproveError::NoServer(server.to_owned()))?;
        let approved = self.pins.approve(server, what, &known.offered())?;
        self.review(known);
        self.renew();
        Ok(approved)
    }

    /// Compares what a server offers with what was approved.
    fn review(&self, server: &Server) {
        let reviewed = self.pins.review(server.name(), &server.offered(), server.settings.accept);
        server.reviewed(reviewed.map(|(review, taken)| {
            if let Some(audit) = &self.audit {
                taken.iter().for_each(|taken| audit.note(taken.event(server.name())));
            }
            review
        }));
    }

    /// Servers that have no tools because they could not be reached yet, and why.
    pub(super) fn unreached(&self) -> impl Iterator<Item = (&Arc<Server>, UpstreamFailure)> {
        let unknown = self.servers.iter().filter(|server| !server.is_known());
        unknown.filter_map(|server| Some((server, server.last_failure()?)))
    }

    /// What waits for its user, by server, in words that are fit for a model.
    pub(super) fn held_back(&self) -> impl Iterator<Item = (&str, String)> {
        let words = self.servers.iter().map(|server| (server.name(), waiting_words(&server.waiting())));
        words.filter(|(_, words)| !words.is_empty())
    }

    /// Servers that are not there now, as far as is known, whatever was known of them before.
    pub(super) fn down(&self) -> impl Iterator<Item = (&Arc<Server>, UpstreamFailure)> {
        let gone = self.servers.iter().filter(|server| server.is_disconnected());
        gone.filter_map(|server| Some((server, server.last_failure()?)))
    }
}

/// The names of a server that is not connected: of the tools that were approved, as far as it still
/// offered them when it was heard last.
fn names_of(settings: &ServerSettings, offers: &OfferCache, pins: &PinFile) -> ServerOffer {
    let kept = offers.read(settings).map(|kept| kept.offer.tools);
    let offered = kept.map(|texts| -> HashSet<String> {
        texts.iter().filter_map(|text| Some(ToolDefinition::from_text(text).ok()?.name)).collect()
    });
    let mut names = match (pins.tools_of(&settings.name), offered) {
        (Some(mut pinned), Some(offered)) => {
            pinned.retain(|name| offered.contains(name));
            pinned
        }
        (Some(pinned), None) => pinned,
        (None, offered) => offered.into_iter().flatten().collect(),
    };
    names.sort_unstable();
    let reserved = names.into_iter().map(|name| ReservedTool { name, why: Reserved::OutOfUse });
    ServerOffer {
        name: settings.name.clone(),
        reserved: reserved.collect(),
        is_out_of_use: true,
        ..ServerOffer::default()
    }
}

/// Reading many offers is a matter of parsing: all cores do it, each the next one that is left.
fn in_parallel<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = cores.min(items.len());
    let left = Mutex::new(items.into_iter().enumerate());
    let work_on = || {
        let next = || left.lock().next();
        std::iter::from_fn(next).map(|(place, item)| (place, work(item))).collect::<Vec<_>>()
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work_on)).collect();
        let mut done = work_on();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

async fn discovered_within(limit: Duration, servers: Vec<&Arc<Server>>) {
    let known = join_all(servers.into_iter().map(|server| server.wait_until_discovered()));
    let _ = tokio::time::timeout(limit, known).await;
}

/// Whether a program asks what there is, or reads the folder of all servers.
fn looks_around(program: &str) -> bool {
    let mut folders = program.match_indices("servers").map(|(at, word)| &program[at + word.len()..]);
    let is_whole_folder = |rest: &str| rest.trim_start_matches('/').starts_with(['"', '\'']);
    LOOKS_AROUND.iter().any(|word| program.contains(word)) || folders.any(is_whole_folder)
}

/// Whether a program calls a tool without saying whose it is: by its name alone, or by one that it computes.
fn names_no_server(program: &str) -> bool {
    program.split("callMCPTool(").skip(1).any(|rest| {
        let rest = rest.trim_start();
        let literal = rest.strip_prefix(['"', '\'']).and_then(|text| text.split(['"', '\'']).next());
        !literal.is_some_and(|name| name.contains('.') || name.contains("__"))
    })
}

/// Every word of a program that may be a server's name, however it is spelled: `google-drive`,
/// `google_drive`, `mcp__google_drive__get_document`.
fn folded_words(program: &str) -> HashSet<String> {
    let is_within = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let runs = program.split(|c: char| !is_within(c)).filter(|run| !run.is_empty());
    runs.flat_map(|run| std::iter::once(run).chain(run.split("__")).chain(run.split('-'))).map(fold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_by_its_name_alone_may_be_any_servers() {
        let check = |program: &str, expected| assert_eq!(names_no_server(program), expected, "{program}");
        check("await callMCPTool('evaluate', expression='1')", true);
        check("await callMCPTool( \"evaluate\", { expression: '1' })", true);
        check("callMCPTool(name)", true);
        check("callMCPTool('crm.find'); callMCPTool('find')", true);
        check("callMCPTool('crm.find', id='a')", false);
        check("callMCPTool(\"mcp__crm__find\", {})", false);
        check("from servers.crm import find\nawait find(id='a')", false);
        check("callMCPTool", false);
    }
}
