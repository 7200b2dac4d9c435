//! Folders, settings and connections for the cases.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gristmill_gateway::domain::{
    Code, OAuthSettings, SecretText, ServerLimits, ServerSettings, ToolAnswer, Transport,
};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{Asker, CallWatcher, Progress, ProgressSink, ToolCall, ToolFailure, Writes};
use gristmill_gateway::upstream::{
    ConnectRequest, DoorRequest, Refresh, ServerLog, ServerState, Upstream, UpstreamCall, UpstreamFailure,
    UpstreamFolders, Upstreams,
};
use gristmill_mcp::{McpConnector, SecretContext, SupervisorCommand};
use gristmill_testkit::TestFolder;
use serde_json::{Map, Value};
use tokio::sync::Notify;

/// The secret that servers are given, and what is shown for it.
pub const SECRET: &str = "hunter2-hunter2";
pub const SHOWN: &str = "[secret env:GM_SCRIPTED_TOKEN]";

/// A folder that goes with the case.
pub struct Folder(TestFolder);

impl Folder {
    pub fn new() -> Self {
        Self(TestFolder::new("upstreams"))
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// A file in it, as text.
    pub fn path(&self, name: &str) -> String {
        self.root().join(name).to_string_lossy().into_owned()
    }

    pub fn folders(&self) -> UpstreamFolders {
        UpstreamFolders { data: self.root().join("data"), cache: self.root().join("cache") }
    }
}

/// The scripted server under a name, with its behaviors.
pub fn scripted(name: &str, behaviors: &[&str]) -> ServerSettings {
    let program = std::env::current_exe().expect("our own path").to_string_lossy().into_owned();
    let args = ["scripted-server"].iter().chain(behaviors).map(|text| SecretText::plain(*text)).collect();
    let secret = |text: &str| SecretText::parse(text).expect("a text");
    let env = BTreeMap::from([
        ("GIVEN".to_owned(), secret("${env:GM_SCRIPTED_TOKEN}")),
        ("PIN".to_owned(), secret("${env:GM_SCRIPTED_PIN_TOKEN}")),
    ]);
    ServerSettings::new(name, Transport::Stdio { command: SecretText::plain(program), args, env, cwd: None })
}

/// A server over HTTP.
pub fn over_http(name: &str, url: &str) -> ServerSettings {
    let header = SecretText::parse("${env:GM_SCRIPTED_TOKEN}").expect("a text");
    let headers = BTreeMap::from([("X-Ours".to_owned(), header)]);
    ServerSettings::new(
        name,
        Transport::Http { url: SecretText::plain(url), headers, oauth: OAuthSettings::default() },
    )
}

/// The same with other limits.
pub fn limited(mut settings: ServerSettings, change: impl FnOnce(&mut ServerLimits)) -> ServerSettings {
    change(&mut settings.limits);
    settings
}

/// A connector that knows the secrets of every server that the cases name.
pub fn connector() -> McpConnector {
    let program = std::env::current_exe().expect("our own path");
    let variables = HashMap::from([
        ("GM_SCRIPTED_TOKEN".to_owned(), SECRET.to_owned()),
        ("GM_SCRIPTED_PIN_TOKEN".to_owned(), "987654321".to_owned()),
    ]);
    let context = SecretContext { variables, folder: PathBuf::from("/"), ..SecretContext::default() };
    let secrets = ["a", "A", "b", "c"].map(|name| (name.to_owned(), context.clone()));
    let supervisor = SupervisorCommand { program, argument: "supervisor".into(), sandbox: "sandbox".into() };
    McpConnector::new(supervisor, HashMap::from(secrets), PathBuf::from("/nowhere/tokens.json"))
}

/// One connection, without a gateway.
pub struct Connection {
    pub upstream: Arc<dyn Upstream>,
    pub log: Arc<ServerLog>,
    pub changed: Arc<Notify>,
}

pub async fn try_connect(
    settings: ServerSettings,
    remembered: Option<&str>,
) -> (Result<Arc<dyn Upstream>, UpstreamFailure>, Arc<ServerLog>, Arc<Notify>) {
    connect_with(settings, remembered, false).await
}

async fn connect_with(
    settings: ServerSettings,
    remembered: Option<&str>,
    can_ask: bool,
) -> (Result<Arc<dyn Upstream>, UpstreamFailure>, Arc<ServerLog>, Arc<Notify>) {
    let (log, changed) = (Arc::new(ServerLog::in_memory()), Arc::new(Notify::new()));
    let tell = Arc::clone(&changed);
    let request = ConnectRequest {
        settings: Arc::new(settings),
        remembered: remembered.map(str::to_owned),
        can_ask,
        offer_changed: Arc::new(move || tell.notify_one()),
        log: Arc::clone(&log),
    };
    (connector().open_directly(request).await, log, changed)
}

/// A connection to a server that is told that it may ask questions.
pub async fn connect_to_ask(settings: ServerSettings) -> Connection {
    let (upstream, log, changed) = connect_with(settings, None, true).await;
    Connection { upstream: upstream.expect("a connection"), log, changed }
}

pub async fn connect(settings: ServerSettings) -> Connection {
    let (upstream, log, changed) = try_connect(settings, None).await;
    Connection { upstream: upstream.expect("a connection"), log, changed }
}

impl Connection {
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<String, UpstreamFailure> {
        self.upstream.call(call_of(tool, &arguments)).await
    }

    /// The structured value of an answer.
    pub async fn value(&self, tool: &str, arguments: Value) -> Value {
        let raw = self.call(tool, arguments).await.expect("an answer");
        let result: Value = serde_json::from_str(&raw).expect("JSON");
        result["structuredContent"].clone()
    }

    /// The structured value of an answer to a call whose questions this one answers.
    pub async fn value_with(&self, asker: &Asker, tool: &str, arguments: Value) -> Value {
        let call = UpstreamCall { asker: asker.clone(), ..call_of(tool, &arguments) };
        let raw = self.upstream.call(call).await.expect("an answer");
        let result: Value = serde_json::from_str(&raw).expect("JSON");
        result["structuredContent"].clone()
    }

    /// Has the server print lines. `$ID` stands for the call's id.
    pub async fn print(&self, lines: &[&str]) -> Result<String, UpstreamFailure> {
        self.call("print", serde_json::json!({ "lines": lines })).await
    }
}

pub fn call_of(tool: &str, arguments: &Value) -> UpstreamCall {
    UpstreamCall {
        tool: tool.to_owned(),
        arguments: arguments.to_string(),
        headers: Vec::new(),
        progress: ProgressSink::default(),
        asker: Asker::none(),
        trace: None,
    }
}

/// Keeps what a tool said about its progress.
#[derive(Clone, Default)]
pub struct Steps(Arc<Mutex<Vec<Progress>>>);

impl Steps {
    pub fn sink(&self) -> ProgressSink {
        let steps = Arc::clone(&self.0);
        ProgressSink::new(move |step| steps.lock().expect("no panic").push(step))
    }

    pub fn all(&self) -> Vec<Progress> {
        self.0.lock().expect("no panic").clone()
    }
}

/// A gateway's servers, with everything that they keep.
pub struct World {
    pub folder: Folder,
    pub upstreams: Upstreams,
}

impl World {
    pub fn start(settings: Vec<ServerSettings>) -> Self {
        Self::start_in(Folder::new(), settings, Refresh::WhenUsed)
    }

    /// With what was kept before.
    pub fn start_in(folder: Folder, settings: Vec<ServerSettings>, refresh: Refresh) -> Self {
        let upstreams = Upstreams::start(settings, Arc::new(connector()), &folder.folders(), refresh);
        Self { folder, upstreams }
    }

    /// Ends it, and gives back what is kept.
    pub async fn stop(self) -> Folder {
        use gristmill_gateway::ports::ToolSource;
        self.upstreams.close().await;
        self.folder
    }

    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolAnswer, ToolFailure> {
        self.upstreams.pass(&Caller::local(), DoorRequest::CallTool(tool_call(name, arguments))).await
    }

    /// The whole result of reading a resource.
    pub async fn read_resource(&self, uri: &str) -> Result<Value, ToolFailure> {
        self.document(DoorRequest::ReadResource { uri: uri.to_owned(), watcher: CallWatcher::none() }).await
    }

    /// The whole result of filling in a prompt.
    pub async fn get_prompt(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, ToolFailure> {
        self.document(DoorRequest::GetPrompt { name: name.to_owned(), arguments, asker: Asker::none() }).await
    }

    async fn document(&self, request: DoorRequest) -> Result<Value, ToolFailure> {
        let answer = self.upstreams.pass(&Caller::local(), request).await?;
        Ok(serde_json::from_str(&answer.json).expect("JSON"))
    }

    pub async fn json(&self, name: &str, arguments: Value) -> String {
        self.call(name, arguments).await.expect("an answer").json
    }

    pub fn state(&self, name: &str) -> ServerState {
        let statuses = self.upstreams.statuses();
        statuses.into_iter().find(|status| status.name == name).expect("a server of that name").state
    }

    /// Names of the tools that can be called.
    pub fn tools(&self) -> Vec<String> {
        let snapshot = self.upstreams.snapshot();
        let servers = &snapshot.catalogue().servers;
        let names = servers.iter().flat_map(|server| server.tools.iter());
        names.map(|tool| tool.definition.name.clone()).collect()
    }
}

pub fn tool_call(name: &str, arguments: Value) -> ToolCall {
    let arguments: Map<String, Value> = arguments.as_object().cloned().expect("an object");
    ToolCall {
        name: name.to_owned(),
        arguments,
        progress: ProgressSink::default(),
        asker: Asker::none(),
        watcher: CallWatcher::none(),
        writes: Writes::Sent,
    }
}

/// An upstream failure as (code, message, retry_safe).
pub fn parts(failure: ToolFailure) -> (Code, String, bool) {
    match failure {
        ToolFailure::Upstream { code, message, retry_safe } => (code, message, retry_safe),
        other => panic!("not a failure of a server: {other:?}"),
    }
}

/// Looks again and again until something is so: for what happens in other processes or in tasks
/// that nobody can wait for.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never happened: {what}");
}
