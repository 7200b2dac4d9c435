//! What the description of `execute_code` says of the servers' tools, for one caller.
//!
//! It changes with what the servers offer, with what the caller may see, and once a day with what the caller's
//! programs used: prompt caches hold in between. A server that isn't there keeps its tools in it, since what it
//! offered last time is known; only one of which nothing was ever heard joins later.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gristmill_gateway::domain::catalogue::{Resolved, Server, Tool as CatalogueTool, ToolHash};
use gristmill_gateway::domain::learned::Learned;
use gristmill_gateway::domain::{Level, Standing, StandingServer};
use gristmill_gateway::history::History;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::tokens;
use gristmill_gateway::upstream::{Snapshot, Upstreams};
use parking_lot::Mutex;
use rmcp::model::Tool;

use super::tools::{ShownTools, hide_engine};
use super::{GatewayServer, ServerParts};

/// How long the first list waits for servers of which nothing was ever heard.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// Names that are asked for, of the most used tools.
const USED_MAX: usize = 100;
/// Owners whose use is remembered for the day.
const OWNERS_MAX: usize = 1_000;
/// Clients cut descriptions at 2,048 characters. Whoever wants more tokens has one that doesn't.
const CHARS_MAX: usize = 2_000;
const CHARS_PER_TOKEN: usize = 4;

type UsedByOwner = HashMap<String, Arc<[UsedTool]>>;

/// What is known of the tools' use, and how much may be told.
pub(super) struct StandingTools {
    tokens_max: usize,
    servers: Vec<StandingServer>,
    has_waited: AtomicBool,
    /// Of a day: the most used tools of each owner.
    used: Mutex<(u64, UsedByOwner)>,
    /// What the last text of each owner takes.
    told: Mutex<HashMap<String, u64>>,
}

/// A tool that an owner's programs called, with what they had learned of its answers when the day began.
struct UsedTool {
    name: String,
    learned: Option<(ToolHash, Arc<Learned>)>,
}

impl UsedTool {
    fn of(name: String, snapshot: &Snapshot) -> Self {
        let learned = match snapshot.lookup().resolve(&name) {
            Resolved::One(_, tool) => tool.learned.clone().map(|learned| (tool.definition.hash, learned)),
            Resolved::Reserved(..) | Resolved::Several(_) | Resolved::None(_) => None,
        };
        Self { name, learned }
    }

    /// The tool as it is defined now. What was learned of another definition says nothing of this one.
    fn find<'a>(&self, snapshot: &'a Snapshot) -> Option<(&'a Server, CatalogueTool)> {
        let Resolved::One(server, tool) = snapshot.lookup().resolve(&self.name) else { return None };
        let learned = self.learned.as_ref().filter(|(definition, _)| *definition == tool.definition.hash);
        Some((
            server,
            CatalogueTool { learned: learned.map(|(_, learned)| Arc::clone(learned)), ..tool.clone() },
        ))
    }
}

/// The text for one caller, as far as it is known which tools its programs called most.
fn text(
    upstreams: &Upstreams,
    servers: &[StandingServer],
    caller: &Caller,
    used: &[UsedTool],
    tokens_max: usize,
) -> String {
    let snapshot = upstreams.snapshot();
    let (catalogue, seen) = (snapshot.catalogue(), upstreams.seen(caller, &snapshot));
    let found: Vec<(&Server, CatalogueTool)> = used.iter().filter_map(|used| used.find(&snapshot)).collect();
    let chars_max = tokens_max.saturating_mul(CHARS_PER_TOKEN).max(CHARS_MAX);
    let standing = Standing {
        servers,
        catalogue,
        may_reach: &|server| caller.may_know_of(server),
        may_see: &|server, tool| seen.shows(server, tool),
        most_used: &found.iter().map(|(server, tool)| (*server, tool)).collect::<Vec<_>>(),
        tokens_max,
        chars_max: chars_max.saturating_sub(ShownTools::chars_before_tools()),
        count: &tokens::count,
    };
    standing.text()
}

/// What a client that connects for the first time is told of these servers' tools, in tokens.
pub fn standing_tokens(upstreams: &Upstreams, servers: &[StandingServer], tokens_max: usize) -> usize {
    tokens::count(&text(upstreams, servers, &Caller::local(), &[], tokens_max))
}

/// What a connection was told last, and to whom.
pub(super) struct Listed {
    caller: Caller,
    text: String,
}

impl StandingTools {
    pub fn new(parts: &ServerParts) -> Self {
        Self {
            tokens_max: parts.signature_tokens,
            servers: parts.upstreams.as_ref().map(|_| parts.servers.clone()).unwrap_or_default(),
            has_waited: AtomicBool::new(false),
            used: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// Whether anything is told at all.
    pub fn is_told(&self) -> bool {
        self.tokens_max > 0 && !self.servers.is_empty()
    }

    /// What the text takes that an owner was given last.
    pub fn tokens_told(&self, caller: &Caller) -> u64 {
        self.told.lock().get(&caller.owner.0).copied().unwrap_or_default()
    }

    fn note_told(&self, caller: &Caller, text: &str) {
        let tokens = tokens::count(text) as u64;
        let mut told = self.told.lock();
        if told.len() > OWNERS_MAX {
            told.clear();
        }
        told.insert(caller.owner.0.clone(), tokens);
    }

    async fn text(&self, upstreams: &Upstreams, history: Option<&History>, caller: &Caller) -> String {
        if !self.has_waited.swap(true, Ordering::Relaxed) {
            upstreams.known_within(FIRST_WAIT).await;
        }
        let used = match history {
            Some(history) => self.most_used(upstreams, history, caller).await,
            None => Arc::default(),
        };
        text(upstreams, &self.servers, caller, &used, self.tokens_max)
    }

    /// What cannot be read now counts as unused until the next day.
    async fn most_used(&self, upstreams: &Upstreams, history: &History, caller: &Caller) -> Arc<[UsedTool]> {
        let (today, owner) = (history.today(), caller.owner.0.as_str());
        {
            let mut used = self.used.lock();
            if used.0 != today || used.1.len() > OWNERS_MAX {
                *used = (today, HashMap::new());
            }
            if let Some(known) = used.1.get(owner) {
                return Arc::clone(known);
            }
        }
        let names = history.most_called(&caller.owner, USED_MAX).await.unwrap_or_default();
        let snapshot = upstreams.snapshot_for(&caller.owner).await;
        let tools: Arc<[UsedTool]> = names.into_iter().map(|name| UsedTool::of(name, &snapshot)).collect();
        let mut used = self.used.lock();
        if used.0 == today {
            // Whoever was first has told it.
            return Arc::clone(used.1.entry(owner.to_owned()).or_insert(tools));
        }
        tools
    }
}

impl GatewayServer {
    /// Our tools. Whoever may not use the native engine is not told that it can be asked for.
    pub(super) fn own_tools(&self, caller: &Caller) -> Vec<Tool> {
        let mut tools = self.tools.to_vec();
        let gateway = &self.parts.gateway;
        let of_token = caller.token.as_ref().and_then(|token| token.limits.as_ref()?.level);
        let level = gateway.limits().level().max(of_token.unwrap_or(Level::Development));
        let barred = gateway.native().and_then(|native| native.bars(caller, level));
        if barred.is_some() {
            let running = tools.iter_mut().filter(|tool| ShownTools::tells_of_tools(&tool.name));
            running.for_each(hide_engine);
        }
        tools
    }

    /// Our tools, with what is told of the servers' tools.
    pub(super) async fn telling_tools(&self, caller: Caller) -> Vec<Tool> {
        let text = self.standing_text(&caller).await;
        let mut tools = self.own_tools(&caller);
        for tool in tools.iter_mut().filter(|tool| ShownTools::tells_of_tools(&tool.name) && !text.is_empty())
        {
            let description = tool.description.take().unwrap_or_default();
            tool.description = Some(format!("{description}\n\n{text}").into());
        }
        self.standing.note_told(&caller, &text);
        *self.listed.lock() = Some(Listed { caller, text });
        tools
    }

    /// Remembers what whoever subscribes has, if it was not listed on this connection.
    pub(super) async fn begin_telling(&self) {
        if self.listed.lock().is_none() {
            let caller = Caller::local();
            let text = self.standing_text(&caller).await;
            self.listed.lock().get_or_insert(Listed { caller, text });
        }
    }

    /// Whether the list is another one than this connection was given; asked once for each change.
    pub(super) async fn tells_other_tools(&self) -> bool {
        let Some(caller) = self.listed.lock().as_ref().map(|listed| listed.caller.clone()) else {
            return false;
        };
        let now = self.standing_text(&caller).await;
        let mut listed = self.listed.lock();
        match &mut *listed {
            Some(before) if before.text != now => {
                before.text = now;
                true
            }
            Some(_) | None => false,
        }
    }

    async fn standing_text(&self, caller: &Caller) -> String {
        let told = self.parts.upstreams.as_ref().filter(|_| self.standing.is_told());
        match told {
            Some(upstreams) => self.standing.text(upstreams, self.parts.gateway.history(), caller).await,
            None => String::new(),
        }
    }
}
