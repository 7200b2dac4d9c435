//! A server of ours over pipes: one line, one message; every kind of bad input gets a clear error, and
//! the next request works.

#[path = "../support/scripted_handler.rs"]
mod handler;
#[path = "../support/messages.rs"]
mod messages;

use std::sync::atomic::Ordering;
use std::time::Duration;

use gristmill_mcp::stdio::{StdioError, StdioSettings, serve_stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::handler::{PATIENCE, TestHandler};
use crate::messages::{initialize, modern_body, plain};

struct Pipes {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    handler: TestHandler,
    shutdown: CancellationToken,
    serving: JoinHandle<Result<(), StdioError>>,
}

impl Pipes {
    /// The next `initialize` fails.
    fn refuse_opening(&self) {
        self.handler.happenings.refuses_opening.store(true, Ordering::SeqCst);
    }

    fn start() -> Self {
        Self::with(StdioSettings::default(), 1 << 20)
    }

    fn with(settings: StdioSettings, output_bytes: usize) -> Self {
        let (input, their_input) = tokio::io::duplex(1 << 20);
        let (their_output, output) = tokio::io::duplex(output_bytes);
        let handler = TestHandler::new();
        let shutdown = CancellationToken::new();
        let serving =
            tokio::spawn(serve_stdio(handler.clone(), their_input, their_output, settings, shutdown.clone()));
        let output = BufReader::new(output).lines();
        Self { input: Some(input), output, handler, shutdown, serving }
    }

    async fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().expect("open");
        input.write_all(line.as_ref()).await.expect("it reads");
        input.write_all(b"\n").await.expect("it reads");
    }

    async fn next(&mut self) -> Option<Value> {
        let line =
            tokio::time::timeout(PATIENCE, self.output.next_line()).await.expect("in time").expect("text");
        line.map(|line| serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}")))
    }

    async fn answer(&mut self) -> Value {
        self.next().await.expect("an answer")
    }

    /// Id, code and words of an error.
    async fn error(&mut self) -> (Value, i64, String) {
        let answer = self.answer().await;
        let error = &answer["error"];
        let words = error["message"].as_str().unwrap_or_else(|| panic!("no error: {answer}"));
        (answer["id"].clone(), error["code"].as_i64().expect("a code"), words.to_owned())
    }

    async fn open(&mut self) {
        self.send(initialize()).await;
        let answer = self.answer().await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
    }

    async fn echo_works(&mut self) {
        let params = json!({ "name": "echo", "arguments": { "a": 1 } });
        self.send(plain(77, "tools/call", params)).await;
        let answer = self.answer().await;
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(77), &json!(r#"{"a":1}"#))
        );
    }

    /// This line is refused in these words, and the next one works.
    async fn refuses(&mut self, line: &[u8], id: Value, code: i64, words: &str) {
        self.send(line).await;
        assert_eq!(self.error().await, (id, code, words.to_owned()));
        self.echo_works().await;
    }

    fn end_input(&mut self) {
        self.input = None;
    }

    async fn ended(self) {
        let ended = tokio::time::timeout(PATIENCE, self.serving).await.expect("it ends");
        ended.expect("no panic").expect("no error");
    }
}

#[tokio::test]
async fn what_is_piped_in_is_answered_in_full_before_the_end() {
    let mut pipes = Pipes::start();
    let lines =
        [initialize(), plain(2, "tools/list", json!({})), plain(3, "tools/call", json!({ "name": "slow" }))];
    pipes.send(lines.join("\n")).await;
    pipes.end_input();
    pipes.handler.slow_begun().await;
    pipes.handler.release();
    let mut ids = Vec::new();
    while let Some(answer) = pipes.next().await {
        assert!(answer.get("result").is_some(), "{answer}");
        ids.push(answer["id"].as_i64().expect("an id"));
    }
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
    pipes.ended().await;
}

#[tokio::test]
async fn what_runs_longer_than_the_grace_is_cancelled_and_says_so() {
    let grace = Duration::from_millis(50);
    let mut pipes = Pipes::with(StdioSettings { grace, ..StdioSettings::default() }, 1 << 20);
    pipes.open().await;
    pipes.send(plain(2, "tools/call", json!({ "name": "slow" }))).await;
    pipes.handler.slow_begun().await;
    pipes.end_input();
    pipes.handler.slow_cancelled().await;
    let answer = pipes.answer().await;
    assert_eq!(answer["result"]["content"][0]["text"], "stopped", "{answer}");
    assert_eq!(pipes.next().await, None);
    pipes.ended().await;
}

#[tokio::test]
async fn who_is_asked_to_end_answers_what_is_under_way_first() {
    let mut pipes = Pipes::start();
    pipes.open().await;
    pipes.send(plain(2, "tools/call", json!({ "name": "slow" }))).await;
    pipes.handler.slow_begun().await;
    pipes.shutdown.cancel();
    pipes.handler.release();
    let answer = pipes.answer().await;
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    assert_eq!(pipes.next().await, None);
    pipes.ended().await;
}

#[tokio::test]
async fn every_broken_line_is_answered_and_the_next_one_works() {
    let mut pipes =
        Pipes::with(StdioSettings { line_bytes_max: 10_000, ..StdioSettings::default() }, 1 << 20);
    pipes.open().await;
    let none = || Value::Null;
    pipes.refuses(b"{", none(), -32700, "parse error: EOF while parsing an object at line 1 column 1").await;
    pipes.refuses(b"{\"a\":\"\xff\"}", none(), -32700, "parse error: not UTF-8 at byte 7").await;
    pipes.refuses(b"hello", none(), -32700, "parse error: expected value at line 1 column 1").await;
    pipes.refuses(b"[]", none(), -32600, "batches aren't supported; send one message at a time").await;
    let deep = b"[".repeat(9000);
    pipes.refuses(&deep, none(), -32600, "arrays and objects are nested deeper than 127 levels").await;
    let long = b"x".repeat(10_001);
    pipes.refuses(&long, none(), -32600, "skipped a line of more than 10000 bytes").await;
    let large = plain(9, "tools/call", json!({ "name": "echo", "arguments": { "a": "x".repeat(10_000) } }));
    pipes.refuses(large.as_bytes(), json!(9), -32600, "skipped a line of more than 10000 bytes").await;
    let unknown = plain(5, "tools/lst", json!({}));
    let says = "unknown method `tools/lst`; did you mean `tools/list`?";
    pipes.refuses(unknown.as_bytes(), json!(5), -32601, says).await;
    let wrong = plain(6, "tools/call", json!({ "name": 1 }));
    let says = "tools/call: `params.name` must be a string, not a number";
    pipes.refuses(wrong.as_bytes(), json!(6), -32602, says).await;
    let fraction = br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#;
    let says = "`id` must be a string or an integer of 64 bits, not 1.5";
    pipes.refuses(fraction, none(), -32600, says).await;
    pipes.send("\r\n   \n").await;
    pipes.send(format!("{}\r", plain(8, "ping", json!({})))).await;
    assert_eq!(pipes.answer().await, json!({ "jsonrpc": "2.0", "id": 8, "result": {} }));
    pipes.end_input();
    assert_eq!(pipes.next().await, None);
    pipes.ended().await;
}

#[tokio::test]
async fn nothing_before_the_opening_can_prevent_it() {
    let mut pipes = Pipes::start();
    pipes.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
    pipes.send(json!({ "jsonrpc": "2.0", "id": 9, "result": {} }).to_string()).await;
    pipes.send("nonsense").await;
    assert_eq!(pipes.error().await.1, -32700);
    pipes.send(plain(4, "tools/list", json!({}))).await;
    let says = "send `initialize` first, or from 2026-07-28 on, the version in each request's `_meta`";
    assert_eq!(pipes.error().await, (json!(4), -32600, says.to_owned()));
    pipes.send(plain(5, "server/discover", json!({}))).await;
    let (id, code, _) = pipes.error().await;
    assert_eq!((id, code), (json!(5), -32602));
    pipes.send(plain(6, "ping", json!({}))).await;
    assert_eq!(pipes.answer().await["id"], 6);
    pipes.open().await;
    pipes.echo_works().await;
}

#[tokio::test]
async fn an_opening_that_fails_can_be_tried_again() {
    let mut pipes = Pipes::start();
    pipes.refuse_opening();
    pipes.send(initialize()).await;
    assert_eq!(pipes.error().await, (json!(1), -32603, "not today".to_owned()));
    pipes.open().await;
    pipes.echo_works().await;
    pipes.end_input();
    pipes.ended().await;
}

#[tokio::test]
async fn an_opening_that_fails_is_the_end_if_nothing_follows() {
    let mut pipes = Pipes::start();
    pipes.refuse_opening();
    pipes.send(initialize()).await;
    pipes.end_input();
    assert_eq!(pipes.error().await.2, "not today");
    assert_eq!(pipes.next().await, None);
    pipes.ended().await;
}

#[tokio::test]
async fn a_version_without_a_handshake_begins_with_any_request() {
    let mut pipes = Pipes::start();
    pipes.send(modern_body("server/discover", json!({}))).await;
    assert!(pipes.answer().await["result"]["supportedVersions"].is_array());
    let params = json!({ "name": "progress", "_meta": { "progressToken": "p" } });
    pipes.send(modern_body("tools/call", params)).await;
    let mut answers = Vec::new();
    while answers.len() < 3 {
        answers.push(pipes.answer().await);
    }
    let progress = answers.iter().filter(|answer| answer["method"] == "notifications/progress").count();
    assert_eq!(progress, 2, "{answers:?}");
    pipes.send(modern_body("initialize", json!({}))).await;
    assert_eq!(pipes.error().await.1, -32601);
}

#[tokio::test]
async fn a_cancelled_request_is_not_waited_for_and_its_id_is_free_again() {
    let mut pipes = Pipes::start();
    pipes.open().await;
    let slow = plain(2, "tools/call", json!({ "name": "slow" }));
    pipes.send(&slow).await;
    pipes.handler.slow_begun().await;
    pipes.send(&slow).await;
    let says = "a request with the id 2 is still running; use another id";
    assert_eq!(pipes.error().await, (json!(2), -32600, says.to_owned()));
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } });
    pipes.send(cancelled.to_string()).await;
    pipes.handler.slow_cancelled().await;
    pipes.end_input();
    assert_eq!(pipes.next().await, None);
    pipes.ended().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_from_for_ever() {
    // A pipe with hardly any room, and answers that fill what may wait for it.
    const ANSWER_BYTES: usize = 1 << 18;
    let mut pipes = Pipes::with(StdioSettings::default(), 4096);
    pipes.open().await;
    let call =
        |id: i64| plain(id, "tools/call", json!({ "name": "big", "arguments": { "bytes": ANSWER_BYTES } }));
    let mut sent = 0;
    let lines: Vec<u8> = (0..20_000).flat_map(|id| (call(id + 10) + "\n").into_bytes()).collect();
    let input = pipes.input.as_mut().expect("open");
    // It stops taking more long before the end.
    while let Ok(Ok(count)) =
        tokio::time::timeout(Duration::from_millis(300), input.write(&lines[sent..])).await
    {
        sent += count;
        assert!(sent < lines.len(), "it takes everything");
    }
    // Whoever reads again gets on.
    let answer = pipes.answer().await;
    assert_eq!(answer["result"]["content"][0]["text"].as_str().map(str::len), Some(ANSWER_BYTES));
}

#[tokio::test]
async fn many_answers_at_once_are_whole_lines() {
    let mut pipes = Pipes::with(StdioSettings::default(), 1000);
    pipes.open().await;
    for id in 0..100 {
        let params = json!({ "name": "big", "arguments": { "bytes": 10_000 + id } });
        pipes.send(plain(id + 10, "tools/call", params)).await;
    }
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 100 {
        let answer = pipes.answer().await;
        let id = answer["id"].as_i64().expect("an id");
        let text = answer["result"]["content"][0]["text"].as_str().expect("text");
        assert_eq!(text.len() as i64, 10_000 + id - 10);
        assert!(seen.insert(id), "{id} twice");
    }
}

#[tokio::test]
async fn who_hangs_up_ends_everything() {
    let mut pipes = Pipes::start();
    pipes.open().await;
    pipes.send(plain(2, "tools/call", json!({ "name": "slow" }))).await;
    pipes.handler.slow_begun().await;
    let Pipes { input, output, handler, serving, shutdown: _shutdown } = pipes;
    drop(output);
    let mut input = input.expect("open");
    // The answer to this finds that nobody is there.
    let _ = input.write_all(b"nonsense\nnonsense\n").await;
    handler.slow_cancelled().await;
    let ended = tokio::time::timeout(PATIENCE, serving).await.expect("it ends");
    ended.expect("no panic").expect("no error");
}
