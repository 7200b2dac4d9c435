//! A gateway without any tool.

use std::path::Path;
use std::sync::Arc;

use gristmill_domain::ToolAnswer;
use gristmill_domain::catalogue::{Lookup, Server, Tool};
use gristmill_domain::policy::Decision;
use gristmill_domain::validate::ArgumentCheck;
use serde_json::Value;

use super::search_answer::search_answer;
use super::snapshot::Snapshot;
use crate::ids::Caller;
use crate::ports::{
    BoxFuture, CallWatcher, DefinitionTokens, SkillOffer, ToolCall, ToolFailure, ToolSearch, Tools,
};

/// Knows no tool and no resource; skills are found all the same.
pub struct NoTools;

impl Tools for NoTools {
    fn call<'a>(
        &'a self,
        _caller: &'a Caller,
        call: ToolCall,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        Box::pin(async move { Err(ToolFailure::Unknown { name: call.name, nearest: Vec::new() }) })
    }

    fn read_resource<'a>(
        &'a self,
        _caller: &'a Caller,
        _uri: &'a str,
        _watcher: CallWatcher,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        Box::pin(async { Err(ToolFailure::BadArguments("no resources here".to_owned())) })
    }

    fn search<'a>(
        &'a self,
        caller: &'a Caller,
        search: &'a ToolSearch,
        skills: &'a SkillOffer,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        Box::pin(async move {
            if skills.is_empty() {
                return Err(ToolFailure::BadArguments("these tools can't be searched".to_owned()));
            }
            let nothing_else = Snapshot::default();
            let answer = nothing_else.search(&caller.owner, search, skills).await;
            let answer = answer.map_err(|error| ToolFailure::BadArguments(error.to_string()))?;
            Ok(search_answer(&answer, &nothing_else.rendered(&answer), search.with_nearness))
        })
    }

    fn definition_tokens(&self, _name: &str) -> Option<DefinitionTokens> {
        None
    }

    fn lookup(&self) -> Option<&Lookup> {
        None
    }

    fn is_certainly_unknown(&self, _server: Option<&str>, _tool: Option<&str>) -> bool {
        false
    }

    fn argument_check(&self, _server: &Server, _tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        None
    }

    fn decision_about(&self, _caller: &Caller, _server: &Server, _tool: &Tool) -> Decision {
        Decision::Allow
    }

    fn is_shown(&self, _server: &Server, _tool: &Tool) -> bool {
        true
    }

    fn holds_writes(&self) -> bool {
        true
    }

    fn tree(&self) -> Option<&Path> {
        None
    }
}
