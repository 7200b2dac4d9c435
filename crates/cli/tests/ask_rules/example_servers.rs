//! The example servers as the tools of a gateway, without a protocol between them.

use std::path::Path;
use std::sync::{Arc, Mutex};

use gristmill_example_servers::{Answer, ExampleServer, NAMES, Options, by_name};
use gristmill_gateway::domain::ToolAnswer;
use gristmill_gateway::domain::catalogue::{
    Catalogue, Lookup, Resolved, Server, ServerOffer, Tool, ToolDefinition,
};
use gristmill_gateway::domain::policy::Decision;
use gristmill_gateway::domain::tree::{States, files};
use gristmill_gateway::domain::validate::ArgumentCheck;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{
    BoxFuture, CallWatcher, DefinitionTokens, SkillOffer, ToolCall, ToolFailure, ToolSearch, Tools,
};
use gristmill_gateway::upstream::NoTools;
use gristmill_testkit::TestFolder;
use serde_json::Value;

/// All example servers, with the catalogue and the tree that programs see.
#[derive(Clone)]
pub struct ExampleServers(Arc<Shared>);

struct Shared {
    servers: Mutex<Vec<Box<dyn ExampleServer>>>,
    lookup: Lookup,
    tree: TestFolder,
}

impl ExampleServers {
    pub fn start() -> Self {
        let servers = Vec::from(NAMES.map(server));
        let catalogue = Arc::new(Catalogue::new(servers.iter().map(|server| offer(&**server)).collect()));
        let tree = TestFolder::new("ask-rules");
        for file in files(&catalogue, &States::default()) {
            let path = tree.path().join(&file.path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a test may do this");
            std::fs::write(path, file.content).expect("a test may do this");
        }
        Self(Arc::new(Shared { servers: Mutex::new(servers), lookup: Lookup::new(catalogue), tree }))
    }

    pub fn catalogue(&self) -> &Arc<Catalogue> {
        self.0.lookup.catalogue()
    }

    /// Whatever an earlier program changed is as it was at the start.
    pub fn begin_again(&self) {
        let mut servers = self.0.servers.lock().expect("no test panics inside");
        for one in servers.iter_mut().filter(|one| matches!(one.name(), "crm" | "filesystem")) {
            *one = server(one.name());
        }
    }

    fn answer(&self, call: &ToolCall) -> Result<Value, ToolFailure> {
        let Resolved::One(server, tool) = self.0.lookup.resolve(&call.name) else {
            return Err(ToolFailure::Unknown { name: call.name.clone(), nearest: Vec::new() });
        };
        let servers = self.0.servers.lock().expect("no test panics inside");
        let found =
            servers.iter().find(|one| one.name() == server.offer.name).expect("a server of the catalogue");
        match found.call(&tool.definition.name, &call.arguments) {
            Ok(Answer::Structured(value)) => Ok(value),
            Ok(Answer::Text(text)) => Ok(Value::from(text)),
            Ok(Answer::Image { .. }) => Err(ToolFailure::Said("there are no pictures here".to_owned())),
            Err(said) => Err(ToolFailure::Said(said)),
        }
    }
}

fn server(name: &str) -> Box<dyn ExampleServer> {
    by_name(name, &Options::default()).expect("an example server")
}

fn offer(server: &dyn ExampleServer) -> ServerOffer {
    let tools = server.tools();
    let definition =
        |tool: &Value| Arc::new(ToolDefinition::from_text(&tool.to_string()).expect("a definition"));
    ServerOffer {
        name: server.name().to_owned(),
        title: Some(server.title().to_owned()),
        description: Some(server.instructions().to_owned()),
        tools: tools.iter().map(definition).collect(),
        ..ServerOffer::default()
    }
}

impl Tools for ExampleServers {
    fn call<'a>(
        &'a self,
        _caller: &'a Caller,
        call: ToolCall,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        Box::pin(async move { self.answer(&call).map(ToolAnswer::from) })
    }

    fn read_resource<'a>(
        &'a self,
        caller: &'a Caller,
        uri: &'a str,
        watcher: CallWatcher,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        NoTools.read_resource(caller, uri, watcher)
    }

    fn search<'a>(
        &'a self,
        caller: &'a Caller,
        search: &'a ToolSearch,
        skills: &'a SkillOffer,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        NoTools.search(caller, search, skills)
    }

    fn definition_tokens(&self, name: &str) -> Option<DefinitionTokens> {
        NoTools.definition_tokens(name)
    }

    fn lookup(&self) -> Option<&Lookup> {
        Some(&self.0.lookup)
    }

    fn is_certainly_unknown(&self, _server: Option<&str>, _tool: Option<&str>) -> bool {
        false
    }

    fn decision_about(&self, _caller: &Caller, _server: &Server, _tool: &Tool) -> Decision {
        Decision::Allow
    }

    fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        let name = format!("{}.{}", server.folder, tool.stem);
        Some(Arc::new(ArgumentCheck::new(&name, &tool.definition.input_schema)))
    }

    fn is_shown(&self, _server: &Server, _tool: &Tool) -> bool {
        true
    }

    fn holds_writes(&self) -> bool {
        false
    }

    fn tree(&self) -> Option<&Path> {
        Some(self.0.tree.path())
    }
}
