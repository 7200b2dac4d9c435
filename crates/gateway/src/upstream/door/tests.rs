use std::sync::{Arc, Mutex};
use std::time::Duration;

use gristmill_domain::catalogue::Resolved as Found;
use gristmill_domain::policy::{Decided, Mark, Marks};
use gristmill_domain::resource_uri::to_ours;
use gristmill_domain::{Code, ServerSettings};
use gristmill_testkit::TestFolder;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use crate::ids::{Caller, Client, ExecutionId, Owner, SessionId, TokenRef, TraceContext};
use crate::learned::Learner;
use crate::ports::{
    Asker, BoxFuture, CallEnd, CallFacts, CallObserver, CallWatch, CallWatcher, Needed, ProgressSink,
    RequestKind, ToolCall, ToolFailure, ToolSource, Writes,
};
use crate::upstream::{
    ConnectRequest, Connection, Connector, DoorRequest, Guard, Refresh, ServerFacts, Startup, Upstream,
    UpstreamCall, UpstreamFailure, UpstreamFolders, Upstreams,
};

/// Remembers everything that came to the door.
#[derive(Default)]
struct Seen(Mutex<Vec<CallFacts>>);

impl CallObserver for Seen {
    fn passed(&self, facts: &Arc<CallFacts>) {
        self.0.lock().unwrap().push(CallFacts::clone(facts));
    }
}

impl Seen {
    /// What was recorded since the last look; times differ and are left out.
    fn take(&self) -> Vec<CallFacts> {
        let seen = std::mem::take(&mut *self.0.lock().unwrap());
        seen.into_iter().map(|facts| CallFacts { took: Duration::ZERO, ..facts }).collect()
    }
}

/// A server with the tools `echo`, `hang`, `look`, which reads, and `wipe`, which destroys, and with every resource, of which it lists
/// one, and one prompt.
#[derive(Clone, Default)]
struct Scripted {
    /// How long it takes to start.
    starts_in: Duration,
    facts: ServerFacts,
    hangs: Arc<Notify>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    fn hear(&self, what: &str) {
        self.heard.lock().unwrap().push(what.to_owned());
    }
}

impl Connector for Scripted {
    fn connect(&self, _request: ConnectRequest) -> BoxFuture<'_, Result<Connection, UpstreamFailure>> {
        let connection = Connection::new(self.clone());
        let starts_in = self.starts_in;
        Box::pin(async move {
            tokio::time::sleep(starts_in).await;
            Ok(connection)
        })
    }
}

type Listed<'a> = BoxFuture<'a, Result<Vec<String>, UpstreamFailure>>;
type Raw<'a> = BoxFuture<'a, Result<String, UpstreamFailure>>;

fn listed(items: Vec<Value>) -> Listed<'static> {
    Box::pin(async move { Ok(items.iter().map(Value::to_string).collect()) })
}

impl Upstream for Scripted {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    fn list_tools(&self) -> Listed<'_> {
        let schema =
            json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
        listed(vec![
            json!({ "name": "echo", "inputSchema": schema }),
            json!({ "name": "hang", "inputSchema": { "type": "object" } }),
            json!({ "name": "look", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } }),
            json!({ "name": "wipe", "inputSchema": { "type": "object" }, "annotations": { "destructiveHint": true } }),
        ])
    }

    fn list_resources(&self) -> Listed<'_> {
        listed(vec![json!({ "uri": "x:notes", "name": "notes" })])
    }

    fn list_resource_templates(&self) -> Listed<'_> {
        listed(vec![json!({ "uriTemplate": "x:{name}", "name": "any" })])
    }

    fn list_prompts(&self) -> Listed<'_> {
        listed(vec![json!({ "name": "greet" })])
    }

    fn call(&self, call: UpstreamCall) -> Raw<'_> {
        self.hear(&format!("call {} {}", call.tool, call.arguments));
        Box::pin(async move {
            if call.tool == "hang" {
                self.hangs.notify_one();
                std::future::pending::<()>().await;
            }
            if call.arguments.contains("misfit") {
                return Err(UpstreamFailure::Refused {
                    code: -32602,
                    message: "did you mean fit?".to_owned(),
                });
            }
            Ok(json!({ "content": [{ "type": "text", "text": "heard" }] }).to_string())
        })
    }

    fn read_resource<'a>(&'a self, uri: &'a str, _trace: Option<&'a TraceContext>) -> Raw<'a> {
        self.hear(&format!("read {uri}"));
        Box::pin(async move {
            match uri {
                "x:lost" => Err(UpstreamFailure::Refused { code: -32002, message: "no such".to_owned() }),
                _ => Ok(json!({ "contents": [{ "uri": uri, "text": "t" }] }).to_string()),
            }
        })
    }

    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        _asker: Asker,
        _trace: Option<&'a TraceContext>,
    ) -> Raw<'a> {
        self.hear(&format!("prompt {name} {arguments}"));
        Box::pin(async { Ok(json!({ "messages": [] }).to_string()) })
    }

    fn lost(&self) -> BoxFuture<'_, String> {
        Box::pin(std::future::pending())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// One scripted server, `a`, whose door is watched.
pub(super) struct World {
    pub upstreams: Upstreams,
    scripted: Scripted,
    seen: Arc<Seen>,
    folder: TestFolder,
}

impl World {
    async fn start() -> Self {
        let world = Self::begin(Scripted::default(), Refresh::InBackground, TestFolder::new("door"));
        world.upstreams.known().await;
        world
    }

    /// With a policy.
    pub async fn guarded(guard: Guard) -> Self {
        let (scripted, folder) = (Scripted::default(), TestFolder::new("door"));
        let world = Self::begin_with(scripted, Refresh::InBackground, folder, Some(Arc::new(guard)));
        world.upstreams.known().await;
        world
    }

    /// The same server under several names, with these marks.
    pub async fn of_servers(guard: Guard, servers: &[(&str, &[Mark])]) -> Self {
        let (scripted, folder) = (Scripted::default(), TestFolder::new("door"));
        let servers = servers.iter().map(|(name, marks)| ServerSettings {
            marks: Marks::of(marks.iter().copied()),
            ..scripted_server(name)
        });
        let world = Self::begin_of(
            scripted,
            Refresh::InBackground,
            folder,
            (Some(Arc::new(guard)), servers.collect()),
        );
        world.upstreams.known().await;
        world
    }

    /// The same server in the place of other ones.
    pub async fn of_settings(guard: Option<Guard>, settings: Vec<ServerSettings>) -> Self {
        let (scripted, folder) = (Scripted::default(), TestFolder::new("door"));
        let world = Self::begin_of(scripted, Refresh::InBackground, folder, (guard.map(Arc::new), settings));
        world.upstreams.known().await;
        world
    }

    /// What was recorded since the last look.
    pub fn recorded(&self) -> Vec<CallFacts> {
        self.seen.take()
    }

    /// The same server with its offer known from before and its process not there.
    async fn start_again(self, scripted: Scripted) -> Self {
        self.upstreams.close().await;
        Self::begin(scripted, Refresh::WhenUsed, self.folder)
    }

    fn begin(scripted: Scripted, refresh: Refresh, folder: TestFolder) -> Self {
        Self::begin_with(scripted, refresh, folder, None)
    }

    fn begin_with(
        scripted: Scripted,
        refresh: Refresh,
        folder: TestFolder,
        guard: Option<Arc<Guard>>,
    ) -> Self {
        Self::begin_of(scripted, refresh, folder, (guard, vec![scripted_server("a")]))
    }

    fn begin_of(
        scripted: Scripted,
        refresh: Refresh,
        folder: TestFolder,
        (guard, settings): (Option<Arc<Guard>>, Vec<ServerSettings>),
    ) -> Self {
        let startup = Startup { refresh, guard, ..Startup::default() };
        Self::begin_as(scripted, folder, settings, startup)
    }

    /// With somebody who learns.
    pub async fn learning(learner: Learner) -> Self {
        Self::learning_guarded(learner, None).await
    }

    /// The same with a policy.
    pub async fn learning_guarded(learner: Learner, guard: Option<Arc<Guard>>) -> Self {
        let startup = Startup { learner: Some(learner), guard, ..Startup::from(Refresh::InBackground) };
        let (scripted, folder) = (Scripted::default(), TestFolder::new("door"));
        let world = Self::begin_as(scripted, folder, vec![scripted_server("a")], startup);
        world.upstreams.known().await;
        world
    }

    fn begin_as(
        scripted: Scripted,
        folder: TestFolder,
        settings: Vec<ServerSettings>,
        startup: Startup,
    ) -> Self {
        let seen = Arc::<Seen>::default();
        let folders =
            UpstreamFolders { data: folder.path().join("data"), cache: folder.path().join("cache") };
        let observer: Arc<dyn CallObserver> = Arc::clone(&seen) as Arc<dyn CallObserver>;
        let startup = Startup { observer: Some(observer), ..startup };
        let upstreams = Upstreams::start(settings, Arc::new(scripted.clone()), &folders, startup);
        Self { upstreams, scripted, seen, folder }
    }

    /// What was decided since the last look.
    pub fn decided(&self) -> Vec<Decided> {
        self.seen.take().into_iter().filter_map(|facts| facts.decision).collect()
    }

    /// How requests ended since the last look.
    pub fn ends(&self) -> Vec<CallEnd> {
        self.seen.take().into_iter().map(|facts| facts.end).collect()
    }

    pub fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.scripted.heard.lock().unwrap())
    }
}

fn scripted_server(name: &str) -> ServerSettings {
    ServerSettings::program(name, "scripted", &[])
}

pub(super) fn tool_call(name: &str, arguments: Value) -> ToolCall {
    let arguments = arguments.as_object().cloned().unwrap();
    ToolCall {
        name: name.to_owned(),
        arguments,
        progress: ProgressSink::default(),
        asker: Asker::none(),
        watcher: CallWatcher::none(),
        writes: Writes::Sent,
    }
}

/// A program that a client with a token has run.
pub(super) fn program() -> Caller {
    Caller {
        level: None,
        owner: Owner::of_token("t1"),
        token: Some(TokenRef { name: "alice".to_owned(), identity: "t1".to_owned(), limits: None }),
        client: Some(Client { name: "claude-code".to_owned(), version: "2.1".to_owned() }),
        session: None,
        session_name: None,
        execution: None,
        trace: None,
        is_debugged: false,
    }
    .in_execution(ExecutionId::new().unwrap(), SessionId::read("abcdefghijkmnpqrstuv"))
}

fn facts(caller: &Caller, kind: RequestKind, name: &str, bytes: (usize, usize), end: CallEnd) -> CallFacts {
    CallFacts {
        caller: caller.clone(),
        line: None,
        kind,
        server: Some("a".to_owned()),
        name: name.to_owned(),
        decision: Some(Decided::without_policy()),
        request_bytes: bytes.0 as u64,
        arguments: None,
        restored: Vec::new(),
        answer_bytes: bytes.1 as u64,
        answer_shape: 0,
        took: Duration::ZERO,
        web: None,
        end,
    }
}

const TOOL_ANSWER: usize = r#"{"content":[{"type":"text","text":"heard"}]}"#.len();
const RESOURCE_ANSWER: usize = r#"{"contents":[{"uri":"x:y","text":"t"}]}"#.len();

#[tokio::test]
async fn every_kind_of_request_passes_the_door_with_the_caller_it_came_with() {
    let world = World::start().await;
    let (program, person) = (program(), Caller::local());
    let tools = world.upstreams.freeze(None, Needed::Every).await;
    // A program calls and reads through the tools that it was given; a client and a person come by themselves.
    tools.call(&program, tool_call("a.echo", json!({ "text": "x" }))).await.unwrap();
    tools.read_resource(&program, &to_ours("a", "x:y"), CallWatcher::none()).await.unwrap();
    let requests = [
        DoorRequest::CallTool(tool_call("echo", json!({ "text": "yz" }))),
        DoorRequest::ReadResource { uri: to_ours("a", "x:y"), watcher: CallWatcher::none() },
        DoorRequest::GetPrompt { name: "a.greet".to_owned(), arguments: Map::new(), asker: Asker::none() },
    ];
    for request in requests {
        world.upstreams.pass(&person, request).await.unwrap();
    }
    let heard = [
        "call echo {\"text\":\"x\"}",
        "read x:y",
        "call echo {\"text\":\"yz\"}",
        "read x:y",
        "prompt greet {}",
    ];
    assert_eq!(world.heard(), heard);
    let (tool, resource, prompt) = (RequestKind::CallTool, RequestKind::ReadResource, RequestKind::GetPrompt);
    let expected = [
        facts(&program, tool, "echo", (12, TOOL_ANSWER), CallEnd::Answered),
        facts(&program, resource, "x:y", (3, RESOURCE_ANSWER), CallEnd::Answered),
        facts(&person, tool, "echo", (13, TOOL_ANSWER), CallEnd::Answered),
        facts(&person, resource, "x:y", (3, RESOURCE_ANSWER), CallEnd::Answered),
        facts(&person, prompt, "greet", (2, r#"{"messages":[]}"#.len()), CallEnd::Answered),
    ];
    assert_eq!(world.seen.take(), expected);
}

#[tokio::test]
async fn what_is_refused_or_fails_is_recorded_as_what_it_is() {
    let world = World::start().await;
    let caller = program();
    let pass = async |request| world.upstreams.pass(&caller, request).await.unwrap_err();
    let call = |name: &str| DoorRequest::CallTool(tool_call(name, json!({})));
    let read = |uri: &str| DoorRequest::ReadResource { uri: uri.to_owned(), watcher: CallWatcher::none() };
    assert!(matches!(pass(call("a.ecko")).await, ToolFailure::Unknown { .. }));
    assert!(matches!(pass(call("a.echo")).await, ToolFailure::Unfit { .. }));
    assert!(matches!(pass(read("file:///x")).await, ToolFailure::BadUri { .. }));
    assert!(matches!(pass(read("gristmill://b/x")).await, ToolFailure::UnknownOffer { .. }));
    assert_eq!(world.heard(), Vec::<String>::new(), "nothing was sent");
    assert_eq!(pass(read("gristmill://a/x%3Alost")).await, ToolFailure::Said("`a` says: no such".to_owned()));
    let (tool, resource) = (RequestKind::CallTool, RequestKind::ReadResource);
    let refused = |code| CallEnd::Failed { code, was_sent: false };
    let unresolved = |kind, name, code| CallFacts {
        server: None,
        decision: None,
        ..facts(&caller, kind, name, (0, 0), refused(code))
    };
    let said = CallEnd::Failed { code: Code::Tool, was_sent: true };
    let expected = [
        unresolved(tool, "a.ecko", Code::UnknownTool),
        CallFacts { decision: None, ..facts(&caller, tool, "echo", (0, 0), refused(Code::BadCall)) },
        unresolved(resource, "file:///x", Code::BadCall),
        unresolved(resource, "gristmill://b/x", Code::BadCall),
        facts(&caller, resource, "x:lost", (6, 0), said),
    ];
    assert_eq!(world.seen.take(), expected);
}

#[tokio::test]
async fn a_request_that_is_taken_back_is_recorded_too() {
    let world = World::start().await;
    let caller = program();
    let tools = world.upstreams.freeze(None, Needed::Every).await;
    tokio::select! {
        answer = tools.call(&caller, tool_call("a.hang", json!({}))) => panic!("it hangs: {answer:?}"),
        () = world.scripted.hangs.notified() => {}
    }
    let expected =
        facts(&caller, RequestKind::CallTool, "hang", (2, 0), CallEnd::Cancelled { was_sent: true });
    assert_eq!(world.seen.take(), [expected]);
}

/// Remembers what a call's maker was told.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn note(&self, what: &str) {
        self.0.lock().unwrap().push(what.to_owned());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl CallWatch for Told {
    fn starting(&self, server: &str) -> Box<dyn Send> {
        self.note(&format!("starting {server}"));
        let started = StartedNote(self.clone());
        Box::new(started)
    }

    fn holding(&self) {
        self.note("holding");
    }

    fn sending(&self) {
        self.note("sending");
    }

    fn held(&self) {
        self.note("held");
    }
}

struct StartedNote(Told);

impl Drop for StartedNote {
    fn drop(&mut self) {
        self.0.note("no longer starting");
    }
}

fn watched(call: ToolCall, told: &Told) -> ToolCall {
    ToolCall { watcher: CallWatcher::new(told.clone()), ..call }
}

#[tokio::test(start_paused = true)]
async fn whoever_calls_is_told_that_the_server_starts_and_when_the_call_is_sent() {
    let slow = Scripted { starts_in: Duration::from_secs(8), ..Scripted::default() };
    let world = World::start().await.start_again(slow).await;
    let tools = world.upstreams.freeze(None, Needed::ByProgram("a.echo(text='x')")).await;
    let (told, echo) = (Told::default(), || tool_call("a.echo", json!({ "text": "x" })));
    tools.call(&program(), watched(echo(), &told)).await.unwrap();
    assert_eq!(told.take(), ["holding", "starting a", "no longer starting", "sending"]);
    tools.call(&program(), watched(echo(), &told)).await.unwrap();
    assert_eq!(told.take(), ["holding", "sending"], "it is there now");
}

#[tokio::test(start_paused = true)]
async fn a_program_waits_for_the_servers_that_it_names_and_for_no_other() {
    let hangs = || Scripted { starts_in: Duration::from_secs(3600), ..Scripted::default() };
    let took = async |program: &str| {
        let world = World::begin(hangs(), Refresh::InBackground, TestFolder::new("door"));
        let began = tokio::time::Instant::now();
        drop(world.upstreams.freeze(None, Needed::ByProgram(program)).await);
        began.elapsed().as_secs()
    };
    assert_eq!(took("1 + 1").await, 0);
    assert_eq!(took("data = [1]; print(max(data))").await, 0, "a letter is no name");
    for program in ["search_tools('x')", "os.listdir('/servers')", "list_directory(\"servers/\")"] {
        assert_eq!(took(program).await, 5, "{program}");
    }
    assert_eq!(took("from servers.other import x").await, 0);
    for program in ["await a.echo(text='x')", "from servers.a import echo", "await mcp__a__echo()"] {
        assert_eq!(took(program).await, 10, "{program}");
    }
    let slow = Scripted { starts_in: Duration::from_secs(3), ..Scripted::default() };
    let world = World::begin(slow, Refresh::InBackground, TestFolder::new("door"));
    let tools = world.upstreams.freeze(None, Needed::ByProgram("await a.echo(text='x')")).await;
    assert!(tools.lookup().is_some_and(|lookup| matches!(lookup.resolve("a.echo"), Found::One(..))));
}
