//! The tools of one execution: a snapshot, and the door to the servers behind it.

use std::path::Path;
use std::sync::Arc;

use gristmill_domain::ToolAnswer;
use gristmill_domain::catalogue::{Lookup, Resolved, Server as CatalogueServer, Tool, fold};
use gristmill_domain::policy::Decision;
use gristmill_domain::validate::ArgumentCheck;
use serde_json::Value;

use super::door::{Door, DoorRequest};
use super::registry::Registry;
use super::search_answer::search_answer;
use super::seen::Seen;
use super::server::Server;
use super::snapshot::Snapshot;
use super::tree_store::TreeLease;
use crate::ids::Caller;
use crate::ports::{
    BoxFuture, CallWatcher, DefinitionTokens, SkillOffer, ToolCall, ToolFailure, ToolSearch, Tools,
};

/// Servers that hold something back are named, but not a whole page of them.
const HELD_BACK_MAX: usize = 8;

pub(super) struct FrozenTools {
    pub door: Door,
    pub registry: Arc<Registry>,
    pub snapshot: Arc<Snapshot>,
    /// What its caller is shown of them.
    pub seen: Seen,
    pub tree: Option<Arc<TreeLease>>,
}

impl Tools for FrozenTools {
    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        call: ToolCall,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        Box::pin(self.door.pass(caller, &self.snapshot, DoorRequest::CallTool(call)))
    }

    fn read_resource<'a>(
        &'a self,
        caller: &'a Caller,
        uri: &'a str,
        watcher: CallWatcher,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        let request = DoorRequest::ReadResource { uri: uri.to_owned(), watcher };
        Box::pin(self.door.pass(caller, &self.snapshot, request))
    }

    fn search<'a>(
        &'a self,
        caller: &'a Caller,
        search: &'a ToolSearch,
        skills: &'a SkillOffer,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        Box::pin(self.found(caller, search, skills))
    }

    fn definition_tokens(&self, name: &str) -> Option<DefinitionTokens> {
        // A server that was first heard of while the program ran is in the newer one only.
        let newer = || self.registry.snapshot().definition_tokens(name);
        self.snapshot.definition_tokens(name).or_else(newer)
    }

    fn lookup(&self) -> Option<&Lookup> {
        Some(self.snapshot.lookup())
    }

    fn is_certainly_unknown(&self, server: Option<&str>, tool: Option<&str>) -> bool {
        let catalogue = self.snapshot.catalogue();
        let is_meant = |server: &str, name: &str| fold(name) == fold(server);
        let by_identifier = |wanted: &str| {
            let found = catalogue.all_servers().find(|known| is_meant(wanted, &known.identifier));
            found.map_or_else(|| wanted.to_owned(), |known| known.offer.name.clone())
        };
        let server = server.map(by_identifier);
        let is_named = |name: &str| server.as_deref().is_none_or(|server| is_meant(server, name));
        let mut meant = self.registry.servers().iter().filter(|known| is_named(known.name())).peekable();
        let Some(tool) = tool else { return meant.peek().is_none() };
        // Of one that is held back, the name is known.
        // One that has just told what it offers isn't in any catalogue yet.
        let is_settled = |known: &Server| known.is_known() && !known.is_undiscovered();
        let lacks = |known: &Server| is_settled(known) && known.pins_problem().is_none();
        let whole = server.as_ref().map_or_else(|| tool.to_owned(), |server| format!("{server}.{tool}"));
        meant.all(|known| lacks(known))
            && matches!(self.registry.snapshot().lookup().resolve(&whole), Resolved::None(_))
    }

    fn argument_check(&self, server: &CatalogueServer, tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        Some(self.snapshot.check_of(&format!("{}.{}", server.folder, tool.stem), &tool.definition))
    }

    fn decision_about(&self, caller: &Caller, server: &CatalogueServer, tool: &Tool) -> Decision {
        self.door.decision_about(caller, &server.offer.name, &tool.definition)
    }

    fn is_shown(&self, server: &CatalogueServer, tool: &Tool) -> bool {
        self.seen.shows(server, tool)
    }

    fn holds_writes(&self) -> bool {
        true
    }

    fn tree(&self) -> Option<&Path> {
        self.tree.as_ref().map(|tree| tree.path())
    }
}

impl FrozenTools {
    async fn found(
        &self,
        caller: &Caller,
        search: &ToolSearch,
        skills: &SkillOffer,
    ) -> Result<Value, ToolFailure> {
        let seen = self.door.seen(caller, &self.snapshot);
        let answer = self.snapshot.search_seen(&caller.owner, search, skills, &seen).await;
        let answer = answer.map_err(|error| ToolFailure::BadArguments(error.to_string()))?;
        let mut text = self.snapshot.rendered(&answer);
        let is_known = |name: &str| caller.may_know_of(name);
        for (server, failure) in self.registry.down().filter(|(server, _)| is_known(server.name())) {
            text.push_str(&format!("\n{} is down: {failure}", server.name()));
        }
        for (server, words) in
            self.registry.held_back().filter(|(name, _)| is_known(name)).take(HELD_BACK_MAX)
        {
            let command = format!("gristmill tools review {server}");
            text.push_str(&format!(
                "\n{server} holds back until the user approves with `{command}`: {words}"
            ));
        }
        // One file for all servers.
        if let Some(problem) = self.registry.servers().iter().find_map(|server| server.pins_problem()) {
            text.push_str(&format!("\n{problem}"));
        }
        Ok(search_answer(&answer, &text, search.with_nearness))
    }
}
