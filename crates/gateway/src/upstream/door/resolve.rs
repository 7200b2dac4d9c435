//! Resolve: a name or a URI of ours becomes one thing of one server.

use std::sync::Arc;

use futures_util::future::join_all;
use gristmill_domain::catalogue::{
    ItemKind, Reserved, ReservedName, Resolved as Found, Server as CatalogueServer, ToolDefinition, fold,
};
use gristmill_domain::validate::ArgumentCheck;
use gristmill_domain::{nearest, one_line, resource_uri};
use serde_json::{Map, Value};

use super::failure::{down, excluded, held_back, out_of_use, unreached};
use super::request::DoorRequest;
use crate::ports::{Asker, CallWatcher, ProgressSink, ToolCall, ToolFailure, Writes};
use crate::upstream::registry::Registry;
use crate::upstream::server::Server;
use crate::upstream::snapshot::Snapshot;

/// Names that are suggested for one that is not there.
const NEAREST_MAX: usize = 3;

/// What is given back of a name that is not there.
const NAME_CHARS_MAX: usize = 200;

/// A request whose server is known.
pub(super) struct Resolved {
    pub server: Arc<Server>,
    pub target: Target,
    pub watcher: CallWatcher,
}

/// What is asked of that server.
pub(super) enum Target {
    Tool(ToolTarget),
    /// By its own URI.
    Resource(String),
    Prompt(PromptTarget),
}

pub(super) struct PromptTarget {
    /// Its own name.
    pub name: String,
    pub arguments: Map<String, Value>,
    pub asker: Asker,
}

pub(super) struct ToolTarget {
    /// As the caller saw it.
    pub definition: Arc<ToolDefinition>,
    pub check: Arc<ArgumentCheck>,
    pub arguments: Map<String, Value>,
    pub progress: ProgressSink,
    pub asker: Asker,
    pub writes: Writes,
}

impl Target {
    /// What it is called by its server.
    pub fn name(&self) -> &str {
        match self {
            Target::Tool(tool) => &tool.definition.name,
            Target::Resource(uri) => uri,
            Target::Prompt(prompt) => &prompt.name,
        }
    }
}

/// Whether a caller may be told of a server, or of a prompt of it.
pub(super) type MayName<'a> = dyn Fn(&str, Option<&str>) -> bool + Send + Sync + 'a;

/// Finds the server of a request. Tools are looked for in what the caller has seen.
pub(super) async fn resolve(
    registry: &Registry,
    seen: &Snapshot,
    request: DoorRequest,
    may_name: &MayName<'_>,
) -> Result<Resolved, ToolFailure> {
    match request {
        DoorRequest::CallTool(call) => tool(registry, seen, call).await,
        DoorRequest::ReadResource { uri, watcher } => resource(registry, &uri, watcher, may_name),
        DoorRequest::GetPrompt { name, arguments, asker } => {
            registry.known_soon().await;
            prompt(registry, &name, (arguments, asker), may_name)
        }
    }
}

async fn tool(registry: &Registry, seen: &Snapshot, call: ToolCall) -> Result<Resolved, ToolFailure> {
    let undiscovered = undiscovered(registry, &call.name);
    let lookup = seen.lookup();
    // A server that was not there when the caller looked may have it, and had it before any other.
    let is_of_another = lookup.may_mean_one_not_reached(&call.name);
    // The ordinary case: every server has been heard of, or the name is that of a tool which is there.
    if !is_of_another && (undiscovered.is_empty() || !matches!(lookup.resolve(&call.name), Found::None(_))) {
        return tool_in(registry, seen, call);
    }
    let starting: Vec<_> = undiscovered.iter().map(|server| call.watcher.starting(server.name())).collect();
    join_all(undiscovered.into_iter().map(|server| server.wait_until_discovered())).await;
    drop(starting);
    tool_in(registry, &registry.snapshot(), call)
}

fn tool_in(registry: &Registry, snapshot: &Snapshot, call: ToolCall) -> Result<Resolved, ToolFailure> {
    let ToolCall { name, arguments, progress, asker, watcher, writes } = call;
    let (offered_by, tool) = match snapshot.lookup().resolve(&name) {
        Found::One(server, tool) => (server, tool),
        Found::Reserved(server, tool) => return Err(not_callable(registry, server, tool)),
        Found::Several(candidates) => return Err(ToolFailure::Ambiguous { name, candidates }),
        Found::None(nearest) => return Err(unknown_tool(registry, name, nearest)),
    };
    let Some(server) = registry.server(&offered_by.offer.name) else {
        return Err(ToolFailure::Unknown { name, nearest: Vec::new() });
    };
    let definition = Arc::clone(&tool.definition);
    let check = snapshot.check_of(&format!("{}.{}", offered_by.folder, tool.stem), &definition);
    let target = Target::Tool(ToolTarget { definition, check, arguments, progress, asker, writes });
    Ok(Resolved { server: Arc::clone(server), target, watcher })
}

/// Servers of which nothing is known yet, and that may have this tool.
fn undiscovered<'a>(registry: &'a Registry, name: &str) -> Vec<&'a Arc<Server>> {
    let all: Vec<&Arc<Server>> =
        registry.servers().iter().filter(|server| server.is_undiscovered()).collect();
    let named = |server: &&Arc<Server>| {
        let mut splits = name.match_indices(['.', '/']);
        splits.any(|(at, _)| fold(&name[..at]) == fold(server.name()))
    };
    match all.iter().copied().find(named) {
        Some(server) => vec![server],
        // With a server's name in it, it is of no other server.
        None if name.contains(['.', '/']) => Vec::new(),
        None => all,
    }
}

/// Why a tool cannot be called that is only a name.
fn not_callable(registry: &Registry, owner: &CatalogueServer, tool: &ReservedName) -> ToolFailure {
    let name = &owner.offer.name;
    let Some(server) = registry.server(name) else { return out_of_use(name, &tool.name) };
    match tool.why {
        Reserved::HeldBack | Reserved::New => held_back(server, ItemKind::Tool, &tool.name),
        Reserved::OutOfUse => out_of_use(name, &tool.name),
        Reserved::Excluded | Reserved::NotIncluded => excluded(name, &tool.name),
        Reserved::NotReached => match server.last_failure() {
            Some(failure) => unreached(server, &failure),
            None => down(server, "it's still starting"),
        },
    }
}

/// Why a tool that was asked for is not among those that are known.
fn unknown_tool(registry: &Registry, name: String, nearest: Vec<String>) -> ToolFailure {
    let named = name.split_once(['.', '/']).map_or("", |(server, _)| server);
    match registry.unreached().find(|(server, _)| fold(server.name()) == fold(named)) {
        Some((server, failure)) => unreached(server, &failure),
        None => ToolFailure::Unknown { name, nearest },
    }
}

fn resource(
    registry: &Registry,
    uri: &str,
    watcher: CallWatcher,
    may_name: &MayName<'_>,
) -> Result<Resolved, ToolFailure> {
    let shown = || one_line(uri, NAME_CHARS_MAX);
    let asked = resource_uri::from_ours(uri).map_err(|why| ToolFailure::BadUri { uri: shown(), why })?;
    let Some(server) = registry.server(&asked.server) else {
        let names = registry.servers().iter().map(|server| server.name());
        let names = names.filter(|&name| may_name(name, None));
        let near = nearest(&asked.server, names.map(|name| (name, name)), NEAREST_MAX);
        let nearest = near.into_iter().map(|name| format!("{}{name}/…", resource_uri::SCHEME)).collect();
        return Err(ToolFailure::UnknownOffer { name: shown(), nearest });
    };
    Ok(Resolved { server: Arc::clone(server), target: Target::Resource(asked.uri), watcher })
}

fn prompt(
    registry: &Registry,
    name: &str,
    (arguments, asker): (Map<String, Value>, Asker),
    may_name: &MayName<'_>,
) -> Result<Resolved, ToolFailure> {
    let found = registry.servers().iter().find_map(|server| {
        let own = name.strip_prefix(server.name())?.strip_prefix('.')?;
        server.has_prompt(own).then(|| (server, own.to_owned()))
    });
    let Some((server, own)) = found else {
        let known = registry.servers().iter().flat_map(|server| {
            let names = server.prompt_names().into_iter();
            // Behind the server's name and a dot is its own.
            names.filter(move |name| may_name(server.name(), name.get(server.name().len() + 1..)))
        });
        let known: Vec<String> = known.collect();
        let near = nearest(name, known.iter().map(|name| (name.as_str(), name.as_str())), NEAREST_MAX);
        let nearest = near.into_iter().map(str::to_owned).collect();
        return Err(ToolFailure::UnknownOffer { name: one_line(name, NAME_CHARS_MAX), nearest });
    };
    let target = Target::Prompt(PromptTarget { name: own, arguments, asker });
    Ok(Resolved { server: Arc::clone(server), target, watcher: CallWatcher::none() })
}
