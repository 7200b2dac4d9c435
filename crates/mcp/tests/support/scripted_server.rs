//! An MCP server over stdio that does what it is told: how it begins is said by its arguments, how
//! it answers a call by the call itself. Written by hand, without any of the code under test.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, Read, Write};
use std::os::unix::process::{CommandExt, parent_id};
use std::process::{Command, Stdio, exit};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::scripted_readables::Readables;

const MODERN: &str = "2026-07-28";

/// Serves until its input ends. Each behavior is `name` or `name=value`.
pub fn run(behaviors: &[String]) -> ! {
    let script = behaviors.iter().map(|text| text.split_once('=').unwrap_or((text, "")));
    let script: HashMap<String, String> =
        script.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let readables = Readables { words: script.get("words").cloned(), ..Readables::default() };
    let mut server = Server { script, readables, ..Server::default() };
    server.begin();
    let mut input = std::io::stdin().lock();
    let mut line = String::new();
    while input.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
        let message: Value = serde_json::from_str(&line).expect("one message a line");
        server.heard(message);
        line.clear();
    }
    exit(0)
}

/// Becomes the command: what stands between us and a server, without its duties.
pub fn keep(command: &[String]) -> ! {
    let error = Command::new(&command[0]).args(&command[1..]).exec();
    panic!("{}: {error}", command[0])
}

#[derive(Default)]
struct Server {
    script: HashMap<String, String>,
    greeted: bool,
    listening: bool,
    extra_tools: Option<Vec<Value>>,
    readables: Readables,
    heard: Vec<Value>,
    held: Vec<Value>,
    /// Calls that are answered when a message of that method has come.
    waiting: Vec<(Value, String)>,
    /// Calls that are answered with the client's answer to the question of that id.
    asking: Vec<(Value, Value)>,
}

fn send(text: &str) {
    write_all(format!("{text}\n").as_bytes());
}

fn write_all(bytes: &[u8]) {
    let mut output = std::io::stdout().lock();
    if output.write_all(bytes).and_then(|()| output.flush()).is_err() {
        exit(0);
    }
}

/// Does nothing more, until whoever started it is gone.
fn do_nothing() -> ! {
    let parent = parent_id();
    while parent_id() == parent {
        std::thread::sleep(Duration::from_millis(20));
    }
    exit(0)
}

impl Server {
    fn is(&self, behavior: &str) -> bool {
        self.script.contains_key(behavior)
    }

    /// Whether it fails at its start, if it does that at all.
    fn is_broken(&self) -> bool {
        self.script.get("crash-while").is_none_or(|path| File::open(path).is_ok())
    }

    fn begin(&mut self) {
        if let Some(path) = self.script.get("starts") {
            let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a file");
            let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
            file.write_all(format!("{now}\n").as_bytes()).expect("written");
        }
        if let Some(delay) = self.script.get("start-delay-ms") {
            std::thread::sleep(Duration::from_millis(delay.parse().expect("a number")));
        }
        if let Some(words) = self.script.get("crash-at-start").filter(|_| self.is_broken()) {
            eprintln!("{words}");
            exit(3);
        }
        if let Some(name) = self.script.get("shows-variable") {
            let value = std::env::var(name).unwrap_or_default();
            eprintln!("on error: {value}");
            send(&format!("on output: {value}"));
        }
        if self.is("greeting") {
            write_all(b"Listening on port 3000\n\n   \n\xff\xfe not text\r\n{\"half\":\n\"text\"\n17\n");
        }
    }

    fn heard(&mut self, message: Value) {
        self.heard.push(message.clone());
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        self.waiting.retain(|(id, awaited)| {
            if *awaited == method {
                reply(id, &json!({ "content": [], "structuredContent": message }));
            }
            *awaited != method
        });
        if method.is_empty() {
            self.asking.retain(|(id, question)| {
                if *question == message["id"] {
                    reply(id, &json!({ "content": [], "structuredContent": message }));
                }
                *question != message["id"]
            });
            return;
        }
        if self.is("silent") {
            return;
        }
        let Some(id) = message.get("id").cloned() else {
            self.greeted |= method == "notifications/initialized";
            return;
        };
        if self.is("modern") && !has_meta(&message) {
            return refuse(&id, -32602, "the request lacks what every request carries");
        }
        let params = message["params"].as_object().cloned().unwrap_or_default();
        match method.as_str() {
            "server/discover" => self.discover(&id),
            "initialize" if !self.is("modern") => self.initialize(&id, &params),
            _ if !self.is("modern") && !self.greeted => refuse(&id, -32000, "not initialized"),
            "subscriptions/listen" if self.is("modern") => self.listening = true,
            "tools/list" if self.is("no-tools") => refuse(&id, -32601, "Method not found"),
            "tools/list" => self.list(&id, &params),
            "tools/call" => self.call(&id, params),
            _ if self.is("readables") => self.readables.answer(&id, &method, &params),
            _ => refuse(&id, -32601, "Method not found"),
        }
    }

    fn capabilities(&self) -> Value {
        let changes = json!({ "listChanged": true });
        match (self.is("readables"), self.is("no-tools")) {
            (true, true) => json!({ "resources": changes, "prompts": {} }),
            (true, false) => json!({ "tools": changes, "resources": {}, "prompts": {} }),
            (false, _) => json!({ "tools": changes }),
        }
    }

    fn discover(&self, id: &Value) {
        if self.is("exit-at-discover") && !self.greeted {
            eprintln!("Received request before initialization was complete");
            exit(1);
        }
        if self.is("silent-to-discover") {
            return;
        }
        if !self.is("modern") {
            return refuse(id, -32601, "Method not found");
        }
        let info = json!({ "name": "scripted", "version": "1.0" });
        reply(
            id,
            &json!({
                "resultType": "complete",
                "supportedVersions": [MODERN],
                "capabilities": self.capabilities(),
                "instructions": self.script.get("instructions"),
                "ttlMs": 1000,
                "cacheScope": "public",
                "_meta": { "io.modelcontextprotocol/serverInfo": info },
            }),
        );
    }

    fn initialize(&self, id: &Value, params: &Map<String, Value>) {
        if let Some(name) = self.script.get("refuse-initialize-with").filter(|_| self.is_broken()) {
            let value = std::env::var(name).unwrap_or_default();
            return refuse(id, -32000, &format!("I do not like {value}"));
        }
        let complete = params.get("protocolVersion") == Some(&"2025-11-25".into())
            && params.get("capabilities").is_some_and(Value::is_object)
            && params.get("clientInfo").is_some_and(|info| info["name"] == "gristmill");
        if !complete {
            return refuse(id, -32602, "that is no greeting");
        }
        let version = self.script.get("version").map_or("2025-11-25", String::as_str);
        reply(
            id,
            &json!({
                "protocolVersion": version,
                "capabilities": self.capabilities(),
                "serverInfo": { "name": "scripted", "version": "1.0" },
                "instructions": self.script.get("instructions"),
            }),
        );
    }

    fn list(&self, id: &Value, params: &Map<String, Value>) {
        let mut tools: Vec<Value> = if self.is("no-own-tools") { Vec::new() } else { own_tools() };
        let file = self.script.get("tools").map(|path| {
            let mut text = String::new();
            File::open(path).and_then(|mut file| file.read_to_string(&mut text)).expect("tools");
            serde_json::from_str::<Vec<Value>>(&text).expect("tools")
        });
        tools.extend(self.extra_tools.clone().or(file).unwrap_or_default());
        let many = self.script.get("many").map_or(0, |count| count.parse().expect("a number"));
        tools.extend((0..many).map(|number: usize| tool(&format!("tool_{number}"), json!({}))));
        let size = self.script.get("page").map_or(tools.len(), |size| size.parse().expect("a number"));
        let cursor = params.get("cursor").and_then(Value::as_str);
        let page: usize = cursor.map_or(0, |cursor| cursor.parse().expect("a cursor of ours"));
        let next = match self.script.get("cursors").map(String::as_str) {
            Some("same") => Some("1".to_owned()),
            Some(_) => Some(((page + 1) % 3).to_string()),
            None => ((page + 1) * size < tools.len()).then(|| (page + 1).to_string()),
        };
        let shown: Vec<Value> = tools.into_iter().skip(page * size).take(size).collect();
        let mut result = json!({ "tools": shown });
        if let Some(next) = next {
            result["nextCursor"] = next.into();
        }
        if self.is("modern") {
            result["resultType"] = "complete".into();
            result["ttlMs"] = 1000.into();
            result["cacheScope"] = "public".into();
        }
        reply(id, &result);
    }

    fn call(&mut self, id: &Value, mut params: Map<String, Value>) {
        let token = params["_meta"]["progressToken"].clone();
        let arguments = params.remove("arguments").unwrap_or_default();
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let number = |name: &str| arguments[name].as_u64().unwrap_or_default();
        match params["name"].as_str().unwrap_or_default() {
            "print" => {
                for line in arguments["lines"].as_array().expect("lines") {
                    let line = line.as_str().expect("a text").replace("$ID", &id.to_string()) + "\n";
                    // A byte that no UTF-8 has.
                    let parts: Vec<&[u8]> = line.split("$FF").map(str::as_bytes).collect();
                    write_all(&parts.join(&b"\xff"[..]));
                }
            }
            "flood" => flood(id, number("bytes"), &text("id")),
            "hang" => {}
            "progress" => {
                for step in 1..=number("steps") {
                    std::thread::sleep(Duration::from_millis(number("pause_ms")));
                    let params = json!({
                        "progressToken": token, "progress": step, "total": 8.5, "message": text("message"),
                    });
                    let method = "notifications/progress";
                    send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
                }
                answer(id, &json!("done"));
            }
            "crash" | "crash_read_only" | "crash_idempotent" => {
                eprintln!("{}", text("words"));
                exit(i32::try_from(number("code")).expect("a code"));
            }
            "stderr" => {
                let line = text("line");
                for _ in 0..number("times") {
                    eprintln!("{line}");
                }
                answer(id, &json!("written"));
            }
            "close_input" => {
                // Answers once its input is closed, and crashes a while later.
                let words = "echo \"$0\"; sleep 0.3; echo the disk is full >&2; exit 3";
                let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [] } }).to_string();
                let error = Command::new("sh").args(["-c", words, &answer]).stdin(Stdio::null()).exec();
                panic!("{error}");
            }
            "close_output" => {
                let error = Command::new("sleep").arg("20").stdout(Stdio::null()).exec();
                panic!("{error}");
            }
            "variable" => answer(id, &std::env::var(text("name")).ok().into()),
            "variable_as_error" => refuse(id, -32603, &std::env::var(text("name")).unwrap_or_default()),
            "variable_as_number" => {
                let value = std::env::var(text("name")).unwrap_or_default();
                send(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":[{value},"{value}"]}}}}"#
                ));
            }
            "hold" => self.held.push(id.clone()),
            "release" => {
                for (place, held) in std::mem::take(&mut self.held).iter().enumerate().rev() {
                    answer(held, &json!(place));
                }
                answer(id, &json!("released"));
            }
            "held" => answer(id, &json!(self.held.len())),
            "wait_for" => match self.heard.iter().find(|message| message["method"] == text("method")) {
                Some(message) => answer(id, message),
                None => self.waiting.push((id.clone(), text("method"))),
            },
            "heard" => {
                let methods: Vec<&Value> = self.heard.iter().map(|message| &message["method"]).collect();
                answer(id, &json!(methods));
            }
            "ask" => {
                self.asking.push((id.clone(), arguments["message"]["id"].clone()));
                send(&arguments["message"].to_string());
            }
            "set_tools" => {
                self.extra_tools = arguments["tools"].as_array().cloned();
                if self.listening || !self.is("modern") {
                    send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
                }
                answer(id, &json!("changed"));
            }
            "set_resources" => {
                self.readables.resources = arguments["resources"].as_array().cloned();
                let changed = text("changed");
                send(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/{changed}/list_changed"}}"#));
                answer(id, &json!("changed"));
            }
            "stop_reading" => {
                answer(id, &json!("deaf"));
                do_nothing();
            }
            "question" => question(id, &params, &arguments),
            _ => answer(id, &arguments),
        }
    }
}

/// Asks through a result; answers with what it is told, once it is told something. With `requests` it
/// asks these, with `rounds` that often.
fn question(id: &Value, params: &Map<String, Value>, arguments: &Value) {
    let asked = json!({ "one": { "method": arguments["method"], "params": {} } });
    let requests = arguments.get("requests").unwrap_or(&asked);
    let rounds = arguments["rounds"].as_u64();
    let round = params.get("requestState").and_then(Value::as_u64).unwrap_or(0);
    match (params.get("inputResponses"), rounds) {
        (Some(responses), None) => answer(id, &json!([responses, params["requestState"]])),
        (Some(responses), Some(rounds)) if round >= rounds => answer(id, &json!([responses, round])),
        (_, rounds) => {
            let state = rounds.map_or(json!("where we were"), |_| json!(round + 1));
            let result =
                json!({ "resultType": "input_required", "inputRequests": requests, "requestState": state });
            reply(id, &result);
        }
    }
}

fn flood(id: &Value, bytes: u64, place: &str) {
    let text = "x".repeat(usize::try_from(bytes).expect("a size"));
    let result = format!(r#""result":{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
    match place {
        "first" => send(&format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#)),
        "last" => send(&format!(r#"{{{result},"jsonrpc":"2.0","id":{id}}}"#)),
        _ => {
            send(&text);
            answer(id, &json!("flooded"));
        }
    }
}

fn has_meta(message: &Value) -> bool {
    let meta = &message["params"]["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] == MODERN
        && meta["io.modelcontextprotocol/clientCapabilities"].is_object()
}

fn own_tools() -> Vec<Value> {
    let schema = json!({
        "type": "object",
        "properties": { "text": { "type": "string" }, "number": { "type": "integer" } },
        "required": ["text"],
        "additionalProperties": false,
    });
    let mut echo = tool("echo", schema);
    echo["description"] = "Gives back what it got".into();
    let anything = [
        "print",
        "flood",
        "hang",
        "progress",
        "crash",
        "stderr",
        "close_input",
        "close_output",
        "variable",
        "variable_as_error",
        "variable_as_number",
        "hold",
        "release",
        "held",
        "wait_for",
        "heard",
        "ask",
        "set_tools",
        "set_resources",
        "stop_reading",
        "question",
    ];
    let mut tools: Vec<Value> = anything.iter().map(|name| tool(name, json!({ "type": "object" }))).collect();
    for (name, hint) in [("crash_read_only", "readOnlyHint"), ("crash_idempotent", "idempotentHint")] {
        let mut marked = tool(name, json!({ "type": "object" }));
        marked["annotations"] = json!({ hint: true });
        tools.push(marked);
    }
    tools.push(echo);
    tools
}

fn tool(name: &str, schema: Value) -> Value {
    json!({ "name": name, "inputSchema": schema })
}

fn answer(id: &Value, value: &Value) {
    reply(id, &json!({ "resultType": "complete", "content": [], "structuredContent": value }));
}

pub fn reply(id: &Value, result: &Value) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
}

pub fn refuse(id: &Value, code: i64, message: &str) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string());
}
