//! The tools that programs call, and where each execution gets them from.

use std::path::Path;
use std::sync::Arc;

use gristmill_domain::ToolAnswer;
use gristmill_domain::catalogue::{Lookup, Server, Tool};
use gristmill_domain::policy::Decision;
use gristmill_domain::validate::ArgumentCheck;
use serde_json::{Map, Value};

use super::box_future::BoxFuture;
use super::call_watch::CallWatcher;
use super::progress::ProgressSink;
use super::questions::Asker;
use super::skill_offer::SkillOffer;
use super::tool_failure::ToolFailure;
use super::writes::Writes;
use crate::ids::Caller;

/// Where an execution gets its tools from. Every method is to be written out, here and in [`Tools`]:
/// what is left out by somebody who wraps another would be lost without a word.
pub trait ToolSource: Send + Sync + 'static {
    /// The tools as they are now, with those of servers that are needed and being reached for the first
    /// time. They do not change under the execution that got them. If a caller is given, they show what its
    /// calls have taught, and nothing that it may never call.
    fn freeze<'a>(&'a self, caller: Option<&'a Caller>, needed: Needed<'a>) -> BoxFuture<'a, Arc<dyn Tools>>;

    /// Lets go of every server, and waits until that is done.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Which servers are worth waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed<'a> {
    /// All, but not for long.
    Every,
    /// Those that this program names.
    ByProgram(&'a str),
}

/// The tools that a program can call.
pub trait Tools: Send + Sync + 'static {
    /// Calls one. Dropping the future cancels the call.
    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        call: ToolCall,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>>;

    /// Reads a resource by a URI of ours. The answer is the whole result, as JSON.
    fn read_resource<'a>(
        &'a self,
        caller: &'a Caller,
        uri: &'a str,
        watcher: CallWatcher,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>>;

    /// Looks for some, and for skills beside them. The answer is what a program's `search_tools` reads.
    fn search<'a>(
        &'a self,
        caller: &'a Caller,
        search: &'a ToolSearch,
        skills: &'a SkillOffer,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>>;

    /// What the definition of the tool comes to that is called by this name, where that is known.
    /// Counted once, and not before somebody asks.
    fn definition_tokens(&self, name: &str) -> Option<DefinitionTokens>;

    /// Every tool by name, where that is known.
    fn lookup(&self) -> Option<&Lookup>;

    /// Whether no server has this tool or, without a tool, whether there is no such server: neither now, nor
    /// held back, nor once a server that can't be reached now is there again.
    fn is_certainly_unknown(&self, server: Option<&str>, tool: Option<&str>) -> bool;

    /// The check that the arguments of a tool go through, where there is one.
    fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>>;

    /// What the rules say of a caller's calls of a tool, as far as that doesn't depend on their arguments. Nothing is
    /// counted and nobody asked.
    fn decision_about(&self, caller: &Caller, server: &Server, tool: &Tool) -> Decision;

    /// Whether the caller that they were frozen for may ever call a tool. One that it may not is named in no advice.
    fn is_shown(&self, server: &Server, tool: &Tool) -> bool;

    /// Whether [`ToolCall::writes`] is heeded. Without it there are no dry runs.
    fn holds_writes(&self) -> bool;

    /// The folder that programs see as `/servers`, if there is one.
    fn tree(&self) -> Option<&Path>;
}

/// What a model that calls a tool directly has before it all the time: see
/// [`count_definition`](crate::tokens::count_definition).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionTokens {
    /// The tool, the same however it was called.
    pub tool: String,
    pub tokens: usize,
    /// Whether that was too long to be counted whole.
    pub estimated: bool,
}

/// Tools that never change are their own source.
pub struct FixedTools(pub Arc<dyn Tools>);

impl ToolSource for FixedTools {
    fn freeze<'a>(
        &'a self,
        _caller: Option<&'a Caller>,
        _needed: Needed<'a>,
    ) -> BoxFuture<'a, Arc<dyn Tools>> {
        let tools = Arc::clone(&self.0);
        Box::pin(async move { tools })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// What a program searches for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSearch {
    /// Words; none to browse.
    #[serde(default)]
    pub query: String,
    /// Only this server.
    #[serde(default)]
    pub server: Option<String>,
    /// Only servers of this category.
    #[serde(default)]
    pub category: Option<String>,
    /// `names`, `summary` or `full`.
    #[serde(default)]
    pub detail: Option<String>,
    /// How many at most.
    #[serde(default)]
    pub limit: Option<usize>,
    /// How many to skip.
    #[serde(default)]
    pub offset: Option<usize>,
    /// Where in the program it is made.
    #[serde(default)]
    pub line: Option<u64>,
    /// Whether hits say how near they are, from 0 to 1, beside the best. Not for programs.
    #[serde(skip)]
    pub with_nearness: bool,
}

/// One call of a tool, as a program wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// `tool` or `server.tool`.
    pub name: String,
    pub arguments: Map<String, Value>,
    /// Where the tool's progress goes.
    pub progress: ProgressSink,
    /// Who answers the server's questions.
    pub asker: Asker,
    /// Who learns whether it was sent.
    pub watcher: CallWatcher,
    /// What becomes of it if it is a write.
    pub writes: Writes,
}
