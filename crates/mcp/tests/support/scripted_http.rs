//! A server over Streamable HTTP on the loopback address: HTTP/1.1 by hand, answers by a function
//! that a test writes, ordinary answers for the rest.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, watch};

pub const MODERN: &str = "2026-07-28";
pub const SESSION: &str = "session-1";

/// One request, as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// `POST`, `GET`, `DELETE`; `GONE` when a client left an answer that stayed open.
    pub verb: String,
    pub path: String,
    pub headers: HashMap<String, String>,
    /// Null if it is not JSON.
    pub message: Value,
}

impl Seen {
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }

    /// A result for this request.
    pub fn result(&self, result: Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.message["id"], "result": result })
    }

    /// A tool's value for this request.
    pub fn value(&self, value: Value) -> Value {
        self.result(json!({ "resultType": "complete", "content": [], "structuredContent": value }))
    }
}

/// What is answered.
pub enum Answer {
    /// Status, headers, body.
    Whole(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Events as they stand, then the end of the stream.
    Events(String),
    /// Events as they stand; then those that the test pushes, as long as the client listens.
    Stream(String),
    /// A beginning of a body that never ends.
    Unfinished(String),
    /// The connection is cut after so much of the body.
    Cut(String),
}

impl Answer {
    pub fn json(value: &Value) -> Self {
        Self::status(200, value)
    }

    pub fn status(status: u16, value: &Value) -> Self {
        let kind = vec![("content-type", "application/json".to_owned())];
        Self::Whole(status, kind, value.to_string().into_bytes())
    }

    pub fn empty(status: u16) -> Self {
        Self::Whole(status, Vec::new(), Vec::new())
    }
}

/// An event with a message.
pub fn event(value: &Value) -> String {
    format!("event: message\ndata: {value}\n\n")
}

type Script = dyn Fn(&Seen) -> Option<Answer> + Send + Sync;

/// See the module.
pub struct HttpServer {
    pub origin: String,
    seen: Arc<watch::Sender<Vec<Seen>>>,
    pushed: broadcast::Sender<String>,
    stopping: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

/// The ways of a server when the script has nothing to say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Handshake,
    Modern,
}

impl HttpServer {
    pub async fn start(era: Era, script: impl Fn(&Seen) -> Option<Answer> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(watch::Sender::new(Vec::new()));
        let pushed = broadcast::Sender::new(64);
        let (script, log, source): (Arc<Script>, _, _) =
            (Arc::new(script), Arc::clone(&seen), pushed.clone());
        let stopping = watch::Sender::new(false);
        let mut stopped = stopping.subscribe();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let stream = tokio::select! {
                    accepted = listener.accept() => match accepted {
                        Ok((stream, _)) => stream,
                        Err(_) => break,
                    },
                    _ = stopped.wait_for(|stopped| *stopped) => break,
                };
                let (script, log, source) = (Arc::clone(&script), Arc::clone(&log), source.clone());
                connections.spawn(async move {
                    let _ = serve(stream, era, &script, &log, &source).await;
                });
            }
            connections.shutdown().await;
        });
        Self { origin, seen, pushed, stopping, task }
    }

    pub fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// Sends an event on every stream that is open.
    pub fn push(&self, text: &str) {
        let _ = self.pushed.send(text.to_owned());
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.borrow().clone()
    }

    /// Waits for so many requests that fit, and gives them.
    pub async fn wait_for(&self, count: usize, fits: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let fitting = |seen: &Vec<Seen>| seen.iter().filter(|seen| fits(seen)).count();
        let mut watched = self.seen.subscribe();
        let seen = watched.wait_for(|seen| fitting(seen) >= count).await.expect("the server lives").clone();
        seen.into_iter().filter(|seen| fits(seen)).collect()
    }

    /// Is no longer there when this returns: connections are cut, and new ones refused.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        while !self.task.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    stream: TcpStream,
    era: Era,
    script: &Arc<Script>,
    log: &watch::Sender<Vec<Seen>>,
    source: &broadcast::Sender<String>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(seen) = read_request(&mut stream).await? {
        // Before it is known to the test: what the test pushes then arrives.
        let mut pushed = source.subscribe();
        let answer = script(&seen).unwrap_or_else(|| match era {
            Era::Handshake => handshake(&seen),
            Era::Modern => modern(&seen),
        });
        log.send_modify(|all| all.push(seen.clone()));
        match answer {
            Answer::Whole(status, headers, body) => {
                let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
                for (name, value) in headers {
                    head.push_str(&format!("{name}: {value}\r\n"));
                }
                stream.write_all(format!("{head}\r\n").as_bytes()).await?;
                stream.write_all(&body).await?;
            }
            Answer::Unfinished(text) => {
                let head =
                    "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n";
                stream.write_all(format!("{head}{text}").as_bytes()).await?;
                let _ = stream.read_u8().await;
                log.send_modify(|all| all.push(Seen { verb: "GONE".to_owned(), ..seen.clone() }));
                return Ok(());
            }
            Answer::Cut(text) => {
                let head =
                    "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n";
                return stream.write_all(format!("{head}{text}").as_bytes()).await;
            }
            Answer::Events(text) => {
                begin_events(&mut stream, &text).await?;
                return stream.write_all(b"0\r\n\r\n").await;
            }
            Answer::Stream(text) => {
                begin_events(&mut stream, &text).await?;
                let mut unread = [0];
                loop {
                    tokio::select! {
                        text = pushed.recv() => {
                            let Ok(text) = text else { return Ok(()) };
                            if text == "end" {
                                return stream.write_all(b"0\r\n\r\n").await;
                            }
                            write_chunk(&mut stream, &text).await?;
                        }
                        // Waiting until it is readable would also end without anything to read.
                        _ = stream.get_ref().peek(&mut unread) => {
                            log.send_modify(|all| all.push(Seen { verb: "GONE".to_owned(), ..seen.clone() }));
                            return Ok(());
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

async fn begin_events(stream: &mut BufReader<TcpStream>, text: &str) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    write_chunk(stream, text).await
}

async fn write_chunk(stream: &mut BufReader<TcpStream>, text: &str) -> std::io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).await
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Seen>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (verb, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let message = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(Seen { verb, path, headers, message }))
}

fn handshake(seen: &Seen) -> Answer {
    if seen.verb == "DELETE" {
        return Answer::empty(204);
    }
    if seen.verb == "GET" {
        return Answer::empty(405);
    }
    if seen.method() == "initialize" {
        let result = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "scripted", "version": "1.0" },
        });
        let headers =
            vec![("content-type", "application/json".to_owned()), ("mcp-session-id", SESSION.to_owned())];
        return Answer::Whole(200, headers, seen.result(result).to_string().into_bytes());
    }
    let in_order = seen.header("mcp-session-id") == SESSION
        && seen.header("mcp-protocol-version") == "2025-06-18"
        && !seen.headers.contains_key("mcp-method");
    if !in_order {
        let error = json!({ "code": -32000, "message": "Bad Request: no valid session" });
        return Answer::status(400, &json!({ "jsonrpc": "2.0", "id": null, "error": error }));
    }
    ordinary(seen)
}

fn modern(seen: &Seen) -> Answer {
    let params = &seen.message["params"];
    let meta = &params["_meta"];
    let in_order = seen.verb == "POST"
        && seen.header("mcp-method") == seen.method()
        && seen.header("mcp-protocol-version") == MODERN
        && meta["io.modelcontextprotocol/protocolVersion"] == MODERN
        && meta["io.modelcontextprotocol/clientCapabilities"].is_object()
        && seen.headers.contains_key("mcp-name")
            == matches!(seen.method(), "tools/call" | "resources/read" | "prompts/get")
        && !seen.headers.contains_key("mcp-session-id");
    if !in_order {
        let error = json!({ "code": -32020, "message": "the headers do not match" });
        return Answer::status(400, &json!({ "jsonrpc": "2.0", "id": seen.message["id"], "error": error }));
    }
    match seen.method() {
        "server/discover" => Answer::json(&seen.result(json!({
            "resultType": "complete",
            "supportedVersions": [MODERN],
            "capabilities": { "tools": { "listChanged": true } },
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "scripted", "version": "1.0" } },
        }))),
        "subscriptions/listen" => Answer::Stream(String::new()),
        _ => ordinary(seen),
    }
}

fn ordinary(seen: &Seen) -> Answer {
    match seen.method() {
        "tools/list" => {
            let tools = json!([{ "name": "echo", "inputSchema": { "type": "object" } }, { "name": "other" }]);
            Answer::json(&seen.result(json!({ "tools": tools, "ttlMs": 1, "cacheScope": "public" })))
        }
        "tools/call" => Answer::json(&seen.value(seen.message["params"]["arguments"].clone())),
        _ if seen.message.get("id").is_none() || seen.message.get("method").is_none() => Answer::empty(202),
        _ => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            Answer::json(&json!({ "jsonrpc": "2.0", "id": seen.message["id"], "error": error }))
        }
    }
}

/// Counts how often something was asked for.
#[derive(Clone, Default)]
pub struct Count(Arc<Mutex<usize>>);

impl Count {
    /// The number before this one.
    pub fn next(&self) -> usize {
        let mut count = self.0.lock().expect("no panic");
        *count += 1;
        *count - 1
    }
}
