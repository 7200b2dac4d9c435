//! A client of our own: one JSON-RPC message a line, every wait with an end, nothing of the code under test.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// More than any answer takes on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

pub const LEGACY: &str = "2025-11-25";
pub const MODERN: &str = "2026-07-28";

/// How a client speaks, and what it says it can do.
#[derive(Clone)]
pub struct Manners {
    pub is_modern: bool,
    pub capabilities: Value,
}

pub fn legacy() -> Manners {
    Manners { is_modern: false, capabilities: json!({}) }
}

pub fn modern() -> Manners {
    Manners { is_modern: true, capabilities: json!({}) }
}

impl Manners {
    pub fn can(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// A request's parameters, with what every request of the modern era carries.
    pub fn params(&self, params: Value) -> Value {
        let mut params = params.as_object().cloned().unwrap_or_default();
        if self.is_modern {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
        }
        Value::Object(params)
    }

    /// What a client of the older era opens with.
    pub fn greeting(&self) -> Value {
        json!({
            "protocolVersion": LEGACY,
            "capabilities": self.capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        })
    }
}

/// A gateway's process, and the only one who talks to it. Many threads may, at the same time.
pub struct Client {
    child: Mutex<Child>,
    input: Mutex<Option<ChildStdin>>,
    inbox: Arc<Inbox>,
    manners: Manners,
    next_id: AtomicU64,
    promises: OnceLock<HashMap<String, Validator>>,
}

#[derive(Default)]
struct Inbox {
    heard: Mutex<Heard>,
    news: Condvar,
}

#[derive(Default)]
struct Heard {
    answers: HashMap<u64, Value>,
    notifications: Vec<Value>,
    requests: VecDeque<Value>,
    stderr: String,
    has_ended: bool,
}

impl Client {
    /// Starts a gateway and says nothing.
    pub fn mute(mut command: Command, manners: Manners) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let inbox = Arc::new(Inbox::default());
        let (output, said) = (child.stdout.take().expect("its output"), child.stderr.take());
        let (for_output, for_errors) = (Arc::clone(&inbox), Arc::clone(&inbox));
        std::thread::spawn(move || for_output.listen(output));
        std::thread::spawn(move || for_errors.overhear(said.expect("its errors")));
        Self {
            input: Mutex::new(child.stdin.take()),
            child: Mutex::new(child),
            inbox,
            manners,
            next_id: AtomicU64::new(1),
            promises: OnceLock::new(),
        }
    }

    /// Starts a gateway and, in the older era, shakes hands.
    pub fn start(command: Command, manners: Manners) -> Self {
        let client = Self::mute(command, manners);
        if !client.manners.is_modern {
            let answer = client.request("initialize", client.manners.greeting());
            assert_eq!(answer["result"]["protocolVersion"], LEGACY, "{answer}");
            client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        client
    }

    pub fn pid(&self) -> u32 {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).id()
    }

    pub fn send(&self, message: &Value) {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let input = input.as_mut().expect("its input is open");
        writeln!(input, "{message}").and_then(|()| input.flush()).expect("it reads its input");
    }

    /// Sends a request without waiting.
    pub fn begin(&self, method: &str, params: Value) -> u64 {
        self.begin_as(&self.manners, method, params)
    }

    /// The same, as somebody else would.
    pub fn begin_as(&self, manners: &Manners, method: &str, params: Value) -> u64 {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let params = manners.params(params);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The whole answer to a request.
    pub fn answer(&self, id: u64) -> Value {
        self.inbox.wait(&format!("an answer to request {id}"), |heard| heard.answers.remove(&id))
    }

    pub fn request(&self, method: &str, params: Value) -> Value {
        self.answer(self.begin(method, params))
    }

    pub fn request_as(&self, manners: &Manners, method: &str, params: Value) -> Value {
        self.answer(self.begin_as(manners, method, params))
    }

    /// Its result; panics if it is refused.
    pub fn result(&self, method: &str, params: Value) -> Value {
        result_in(self.request(method, params))
    }

    /// Begins a tool's call without waiting.
    pub fn begin_call(&self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool. What is structured in the answer must be as promised.
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        self.called(tool, id)
    }

    /// The answer to a call, held against the tool's promise.
    pub fn called(&self, tool: &str, id: u64) -> Value {
        let result = result_in(self.answer(id));
        self.is_as_promised(tool, &result);
        result
    }

    fn is_as_promised(&self, tool: &str, result: &Value) {
        let promises = self.promises.get_or_init(|| {
            let tools = self.result("tools/list", json!({}))["tools"].take();
            let validator = |tool: &Value| {
                let name = tool["name"].as_str().expect("a name").to_owned();
                (name, jsonschema::validator_for(&tool["outputSchema"]).expect("a schema"))
            };
            tools.as_array().expect("tools").iter().map(validator).collect()
        });
        let Some(promise) = promises.get(tool) else { return };
        match result.get("structuredContent") {
            Some(structured) => {
                let broken: Vec<String> =
                    promise.iter_errors(structured).map(|error| error.to_string()).collect();
                assert!(broken.is_empty(), "{tool} broke its promise: {broken:?}\n{structured:#}");
            }
            // Only what failed may leave it out.
            None => assert_eq!(result["isError"], true, "{tool} has no structured answer: {result:#}"),
        }
    }

    /// The structured part of an answer.
    pub fn structured(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments)["structuredContent"].take()
    }

    /// Notifications of a method so far.
    pub fn notified(&self, method: &str) -> Vec<Value> {
        let heard = self.inbox.heard();
        heard.notifications.iter().filter(|told| told["method"] == method).cloned().collect()
    }

    /// Waits until notifications are as wanted.
    pub fn until_notified<T>(&self, what: &str, mut wanted: impl FnMut(&[Value]) -> Option<T>) -> T {
        self.inbox.wait(what, |heard| wanted(&heard.notifications))
    }

    /// What the gateway has said beside its protocol so far.
    pub fn said(&self) -> String {
        self.inbox.heard().stderr.clone()
    }

    /// Waits until the gateway has said something beside its protocol.
    pub fn until_said(&self, what: &str) -> String {
        self.inbox.wait(what, |heard| {
            let at = heard.stderr.find(what)?;
            let line = heard.stderr[at..].split_once('\n')?.0;
            Some(line.to_owned())
        })
    }

    /// What the gateway asks its client.
    pub fn next_question(&self) -> Value {
        self.inbox.wait("a question", |heard| heard.requests.pop_front())
    }

    pub fn has_question(&self) -> bool {
        !self.inbox.heard().requests.is_empty()
    }

    /// Whether an answer has come so far.
    pub fn has_answer(&self, id: u64) -> bool {
        self.inbox.heard().answers.contains_key(&id)
    }

    pub fn cancel(&self, id: u64) {
        let params = json!({"requestId": id, "reason": "changed my mind"});
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }

    /// No more requests will come.
    pub fn close_input(&self) {
        self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// How the process ended.
    pub fn ended(&self) -> ExitStatus {
        let started = Instant::now();
        loop {
            let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(status) = child.try_wait().expect("it can be waited for") {
                return status;
            }
            drop(child);
            assert!(started.elapsed() < PATIENCE, "it did not end");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// A result; panics on a refusal.
pub fn result_in(mut answer: Value) -> Value {
    assert!(answer.get("error").is_none(), "refused: {answer}");
    answer["result"].take()
}

/// An answer without the id of its execution, which is another one each time, and its figures.
pub fn without_id(mut result: Value) -> Value {
    if let Some(members) = result.as_object_mut()
        && let Some(meta) = members.remove("_meta")
    {
        let id = meta["gristmill/execution"].as_str().unwrap_or_default();
        let all = ["gristmill/execution", "gristmill/time_ms", "gristmill/calls", "gristmill/tokens"];
        // Only a program in which something was found has this.
        let known = self::members(&meta).into_iter().filter(|name| *name != "gristmill/findings");
        assert_eq!(known.collect::<Vec<_>>(), all, "{meta}");
        assert_eq!(id.len(), 20, "{meta}");
    }
    result
}

/// What a model reads of an answer.
pub fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

/// The names of an object's members.
pub fn members(value: &Value) -> Vec<&str> {
    value.as_object().map(Map::keys).into_iter().flatten().map(String::as_str).collect()
}

impl Inbox {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, output: ChildStdout) {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let message: Value = serde_json::from_str(&line).expect("nothing but messages on its output");
            let mut heard = self.heard();
            match (message.get("method").is_some(), message["id"].as_u64()) {
                (false, Some(id)) => drop(heard.answers.insert(id, message)),
                (true, None) if message.get("id").is_none() => heard.notifications.push(message),
                _ => heard.requests.push_back(message),
            }
            drop(heard);
            self.news.notify_all();
        }
        self.heard().has_ended = true;
        self.news.notify_all();
    }

    fn overhear(&self, mut errors: impl Read) {
        let mut buffer = [0; 1024];
        while let Ok(count) = errors.read(&mut buffer) {
            if count == 0 {
                return;
            }
            self.heard().stderr.push_str(&String::from_utf8_lossy(&buffer[..count]));
            self.news.notify_all();
        }
    }

    fn wait<T>(&self, what: &str, mut look: impl FnMut(&mut Heard) -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        let mut heard = self.heard();
        loop {
            if let Some(found) = look(&mut heard) {
                return found;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "not within {} s: {what}\n{}", PATIENCE.as_secs(), heard.stderr);
            assert!(!heard.has_ended, "it ended before: {what}\n{}", heard.stderr);
            heard = self.news.wait_timeout(heard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
