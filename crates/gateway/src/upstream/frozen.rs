//! The tools of one execution: a snapshot, and the servers behind it.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::join_all;
use gristmill_domain::catalogue::{Lookup, Resolved, fold};
use gristmill_domain::search::Answer;
use gristmill_domain::{Code, ToolAnswer};
use serde_json::{Value, json};

use super::calls::{self, CheckedCall};
use super::server::Server;
use super::snapshot::Snapshot;
use super::tree_store::TreeLease;
use super::{Inner, ResourceFailure, Upstreams};
use crate::ports::{BoxFuture, DefinitionTokens, ToolCall, ToolFailure, ToolSearch, Tools};
use crate::skills::SkillOffer;

/// See the module.
pub(super) struct FrozenTools {
    inner: Arc<Inner>,
    snapshot: Arc<Snapshot>,
    tree: Option<Arc<TreeLease>>,
}

impl FrozenTools {
    pub(super) fn new(inner: Arc<Inner>, snapshot: Arc<Snapshot>, tree: Option<Arc<TreeLease>>) -> Self {
        Self { inner, snapshot, tree }
    }

    async fn resolve_and_call(&self, call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
        let awaited = self.awaited(&call.name);
        // The ordinary case: every server has been heard of.
        if awaited.is_empty() || !matches!(self.snapshot.lookup().resolve(&call.name), Resolved::None(_)) {
            return self.call_in(&self.snapshot, call).await;
        }
        join_all(awaited.into_iter().map(|server| server.first_look())).await;
        self.call_in(&self.inner.snapshot(), call).await
    }

    /// Servers of which nothing is known yet, and that may have this tool.
    fn awaited(&self, name: &str) -> Vec<&Arc<Server>> {
        let awaited: Vec<&Arc<Server>> =
            self.inner.servers().iter().filter(|server| server.is_awaited()).collect();
        let named = |server: &&Arc<Server>| {
            let mut splits = name.match_indices(['.', '/']);
            splits.any(|(at, _)| fold(&name[..at]) == fold(&server.settings.name))
        };
        match awaited.iter().copied().find(named) {
            Some(server) => vec![server],
            // With a server's name in it, it is of no other server.
            None if name.contains(['.', '/']) => Vec::new(),
            None => awaited,
        }
    }

    async fn call_in(&self, snapshot: &Snapshot, call: ToolCall) -> Result<ToolAnswer, ToolFailure> {
        let ToolCall { name, mut arguments, progress, asker } = call;
        let (server, tool) = match snapshot.lookup().resolve(&name) {
            Resolved::One(server, tool) => (server, tool),
            Resolved::Several(candidates) => return Err(ToolFailure::Ambiguous { name, candidates }),
            Resolved::None(nearest) => return Err(self.unknown(name, nearest)),
        };
        let Some(upstream) = self.inner.server(&server.offer.name) else {
            return Err(ToolFailure::Unknown { name, nearest: Vec::new() });
        };
        let definition = Arc::clone(&tool.definition);
        let check = snapshot.check_of(&format!("{}.{}", server.folder, tool.stem), &definition);
        check.fit(&mut arguments);
        check.check(&arguments).map_err(|error| ToolFailure::BadArguments(error.to_string()))?;
        calls::call(&self.inner, upstream, CheckedCall { definition, arguments, progress, asker }).await
    }

    /// Why a tool that was asked for is not among those that can be called.
    fn unknown(&self, name: String, nearest: Vec<String>) -> ToolFailure {
        for upstream in self.inner.servers() {
            let held_back = upstream.held_back();
            if let Some(tool) = held_back.iter().find(|tool| means(&name, &upstream.settings.name, tool)) {
                return calls::held_back(upstream, tool);
            }
        }
        let server = name.split_once(['.', '/']).map_or("", |(server, _)| server);
        let unreached = self.inner.unreached().find(|(known, _)| fold(&known.settings.name) == fold(server));
        match unreached {
            Some((upstream, failure)) => calls::unreached(upstream, &failure),
            None => ToolFailure::Unknown { name, nearest },
        }
    }
}

/// Whether a name as it was written is that of a tool, with its server or without.
fn means(name: &str, server: &str, tool: &str) -> bool {
    let mut splits = name.match_indices(['.', '/']);
    fold(name) == fold(tool)
        || splits.any(|(at, _)| fold(&name[..at]) == fold(server) && fold(&name[at + 1..]) == fold(tool))
}

impl Tools for FrozenTools {
    fn call(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolAnswer, ToolFailure>> {
        Box::pin(self.resolve_and_call(call))
    }

    fn read_resource<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        Box::pin(async move {
            let upstreams = Upstreams { inner: Arc::clone(&self.inner) };
            let result = upstreams.read_resource(uri).await.map_err(|failure| match failure {
                ResourceFailure::Unknown { .. } | ResourceFailure::BadUri { .. } => {
                    ToolFailure::BadArguments(failure.to_string())
                }
                ResourceFailure::Upstream { code: Code::Tool, message } => ToolFailure::Said(message),
                // Reading does nothing that could be done twice.
                ResourceFailure::Upstream { code, message } => {
                    ToolFailure::Upstream { code, message, retry_safe: true }
                }
            })?;
            Ok(ToolAnswer { json: result.to_string(), files: Vec::new() })
        })
    }

    fn definition_tokens(&self, name: &str) -> Option<DefinitionTokens> {
        // A server that was first heard of while the program ran is in the newer one only.
        let newer = || self.inner.snapshot().definition_tokens(name);
        self.snapshot.definition_tokens(name).or_else(newer)
    }

    fn lookup(&self) -> Option<&Lookup> {
        Some(self.snapshot.lookup())
    }

    fn search(&self, search: &ToolSearch, skills: &SkillOffer) -> Result<Value, ToolFailure> {
        let answer = self.snapshot.search(search, skills);
        let answer = answer.map_err(|error| ToolFailure::BadArguments(error.to_string()))?;
        let mut text = self.snapshot.rendered(&answer);
        for (server, failure) in self.inner.down() {
            text.push_str(&format!("\n{} is down: {failure}", server.settings.name));
        }
        // One file for all servers.
        if let Some(problem) = self.inner.servers().iter().find_map(|server| server.pins_problem()) {
            text.push_str(&format!("\n{problem}"));
        }
        Ok(found(&answer, &text))
    }

    fn tree(&self) -> Option<&Path> {
        self.tree.as_ref().map(|tree| tree.path())
    }
}

/// What a program's `search_tools` reads.
pub(crate) fn found(answer: &Answer, text: &str) -> Value {
    json!({ "text": text, "shown": answer.shown, "total": answer.total, "hits": hits(answer) })
}

/// The hits, or the servers where those were browsed.
fn hits(answer: &Answer) -> Vec<Value> {
    let servers = answer.servers.iter().map(|server| {
        json!({ "server": server.server, "tools": server.tools, "category": server.category, "description": server.summary })
    });
    let tools = answer.hits.iter().map(|hit| {
        let name = hit.tool.strip_prefix(&hit.server).and_then(|rest| rest.strip_prefix('.'));
        json!({
            "tool": hit.tool,
            "server": hit.server,
            "name": name.unwrap_or(&hit.tool),
            "signature": hit.signature,
            "description": hit.description.as_deref().unwrap_or(&hit.summary),
        })
    });
    servers.chain(tools).collect()
}
