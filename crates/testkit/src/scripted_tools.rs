//! Tools that do what a test says.

use std::path::Path;
use std::sync::Arc;

use gristmill_gateway::domain::ToolAnswer;
use gristmill_gateway::domain::catalogue::{Lookup, Server, Tool};
use gristmill_gateway::domain::policy::Decision;
use gristmill_gateway::domain::validate::ArgumentCheck;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{
    BoxFuture, CallWatcher, DefinitionTokens, SkillOffer, ToolCall, ToolFailure, ToolSearch, Tools,
};
use gristmill_gateway::upstream::NoTools;
use serde_json::Value;

type Outcome = Result<ToolAnswer, ToolFailure>;
type CallScript = Arc<dyn Fn(ToolCall) -> BoxFuture<'static, Outcome> + Send + Sync>;
type SearchScript = Arc<dyn Fn(&ToolSearch) -> Result<Value, ToolFailure> + Send + Sync>;
type ResourceScript = Arc<dyn Fn(&str) -> Outcome + Send + Sync>;

/// Tools by script. What a test does not script is as in a gateway without tools.
///
/// ```
/// # use gristmill_testkit::ScriptedTools;
/// # use serde_json::json;
/// let tools = ScriptedTools::new(|call| async move { Ok(json!({ "called": call.name }).into()) });
/// ```
#[derive(Clone)]
pub struct ScriptedTools {
    call: CallScript,
    search: Option<SearchScript>,
    resource: Option<ResourceScript>,
    lookup: Option<Arc<Lookup>>,
}

impl ScriptedTools {
    /// Every call goes to this function.
    pub fn new<F>(call: impl Fn(ToolCall) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let call: CallScript = Arc::new(move |asked| Box::pin(call(asked)));
        Self { call, search: None, resource: None, lookup: None }
    }

    /// Every search goes to this function.
    pub fn searches(
        self,
        search: impl Fn(&ToolSearch) -> Result<Value, ToolFailure> + Send + Sync + 'static,
    ) -> Self {
        Self { search: Some(Arc::new(search)), ..self }
    }

    /// Resources are read from this function, by their URIs.
    pub fn resources(self, read: impl Fn(&str) -> Outcome + Send + Sync + 'static) -> Self {
        Self { resource: Some(Arc::new(read)), ..self }
    }

    /// Tools are known by name.
    pub fn lookup(self, lookup: Lookup) -> Self {
        Self { lookup: Some(Arc::new(lookup)), ..self }
    }
}

impl Tools for ScriptedTools {
    fn call<'a>(&'a self, _caller: &'a Caller, call: ToolCall) -> BoxFuture<'a, Outcome> {
        (self.call)(call)
    }

    fn read_resource<'a>(
        &'a self,
        caller: &'a Caller,
        uri: &'a str,
        watcher: CallWatcher,
    ) -> BoxFuture<'a, Outcome> {
        match &self.resource {
            Some(read) => Box::pin(async move { read(uri) }),
            None => NoTools.read_resource(caller, uri, watcher),
        }
    }

    fn search<'a>(
        &'a self,
        caller: &'a Caller,
        search: &'a ToolSearch,
        skills: &'a SkillOffer,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        match &self.search {
            Some(script) => Box::pin(async move { script(search) }),
            None => NoTools.search(caller, search, skills),
        }
    }

    fn definition_tokens(&self, name: &str) -> Option<DefinitionTokens> {
        NoTools.definition_tokens(name)
    }

    fn lookup(&self) -> Option<&Lookup> {
        self.lookup.as_deref()
    }

    fn is_certainly_unknown(&self, _server: Option<&str>, _tool: Option<&str>) -> bool {
        self.lookup.is_some()
    }

    fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        let name = format!("{}.{}", server.folder, tool.stem);
        Some(Arc::new(ArgumentCheck::new(&name, &tool.definition.input_schema)))
    }

    fn decision_about(&self, _caller: &Caller, _server: &Server, _tool: &Tool) -> Decision {
        Decision::Allow
    }

    fn is_shown(&self, _server: &Server, _tool: &Tool) -> bool {
        true
    }

    fn holds_writes(&self) -> bool {
        false
    }

    fn tree(&self) -> Option<&Path> {
        None
    }
}
