//! Clients with a handshake: sessions, and to whom they belong.

use std::time::{Duration, SystemTime};

use gristmill_gateway::access::Scope;
use serde_json::{Value, json};

use crate::client::Client;
use crate::messages::{initialize, plain};
use crate::server::Server;

async fn open(client: &mut Client, headers: &[(&str, &str)]) -> String {
    let answer = client.post(headers, &initialize()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25", "{answer:?}");
    answer.header("mcp-session-id").expect("a session").to_owned()
}

#[tokio::test]
async fn a_session_begins_is_used_and_ends() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let id = open(&mut client, &[]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    let answer = client.post(&[session], &initialized).await;
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));
    let answer = client.post(&[session], &plain(2, "tools/call", json!({ "name": "whoami" }))).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "local", "{answer:?}");
    let params = json!({ "name": "progress", "_meta": { "progressToken": "p" } });
    let answer = client.post(&[session], &plain(3, "tools/call", params)).await;
    assert_eq!(answer.body.matches("notifications/progress").count(), 2, "{answer:?}");

    let ended = client.request("DELETE /mcp", &[session]).await;
    assert_eq!((ended.status, ended.body.as_str()), (204, ""), "as SDKs expect");
    let (status, code, _) = client.post(&[session], &plain(4, "tools/list", json!({}))).await.error();
    assert_eq!((status, code), (404, -32001));
    open(&mut client, &[]).await;
}

#[tokio::test]
async fn a_session_belongs_to_the_token_that_opened_it() {
    let server = Server::start().await;
    let token = |name: &str| {
        let issued = server.tokens.issue(name, Scope::ALL, None, SystemTime::now()).expect("issued");
        format!("Bearer {}", issued.text.reveal())
    };
    let (one, other) = (token("one"), token("other"));
    let mut client = server.connect().await;
    let id = open(&mut client, &[("Authorization", &one)]).await;
    let body = plain(2, "tools/list", json!({}));
    let session = ("Mcp-Session-Id", id.as_str());
    let foreign = [vec![session, ("Authorization", other.as_str())], vec![session]];
    for headers in &foreign {
        let (status, code, words) = client.post(headers, &body).await.error();
        assert_eq!((status, code), (404, -32001));
        assert!(words.starts_with("no such session"), "{words}");
        // Nor by saying that it is of a version without sessions.
        let mut modern = headers.clone();
        modern.push(("MCP-Protocol-Version", "2026-07-28"));
        assert_eq!(client.post(&modern, &initialize()).await.status, 404);
        let mut listening = headers.clone();
        listening.push(("Accept", "text/event-stream"));
        assert_eq!(client.request("GET /mcp", &listening).await.status, 404);
        assert_eq!(client.request("DELETE /mcp", headers).await.status, 404);
    }
    let answer = client.post(&[session, ("Authorization", &one)], &body).await;
    assert_eq!(answer.json()["result"]["tools"][0]["name"], "echo", "{answer:?}");
    // The same name is not the same token.
    server.tokens.revoke("one").expect("it was there");
    let again = token("one");
    assert_eq!(client.post(&[session, ("Authorization", &again)], &body).await.status, 404);
}

#[tokio::test]
async fn there_are_only_so_many_sessions() {
    let server = Server::with(|settings| settings.limits.sessions = 2).await;
    let mut client = server.connect().await;
    let first = open(&mut client, &[]).await;
    open(&mut client, &[]).await;
    let answer = client.post(&[], &initialize()).await;
    let says = "too many sessions; end some or try again later";
    assert_eq!(answer.error(), (503, -32000, says.to_owned()));
    assert_eq!((answer.header("retry-after"), &answer.json()["id"]), (Some("60"), &json!(1)));
    assert_eq!(client.request("DELETE /mcp", &[("Mcp-Session-Id", &first)]).await.status, 204);
    open(&mut client, &[]).await;
    server.still_works().await;
}

#[tokio::test]
async fn a_session_that_nobody_uses_ends_but_not_while_a_request_runs() {
    let idle = Duration::from_millis(80);
    let server = Server::with(|settings| settings.limits.session_idle_time = idle).await;
    let (mut busy, mut other) = (server.connect().await, server.connect().await);
    let used = open(&mut busy, &[]).await;
    let unused = open(&mut other, &[]).await;
    busy.send_post(&[("Mcp-Session-Id", &used)], &plain(2, "tools/call", json!({ "name": "slow" }))).await;
    server.handler.slow_begun().await;
    // Entering a session makes it used: between two tries it must be left alone for long enough.
    let mut pause = idle;
    loop {
        tokio::time::sleep(pause).await;
        let answer = other.post(&[("Mcp-Session-Id", &unused)], &plain(2, "tools/list", json!({}))).await;
        if answer.status == 404 {
            break;
        }
        pause *= 2;
        assert!(pause < Duration::from_secs(60), "it never ends");
    }
    server.handler.release();
    let answer = busy.answer().await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "done", "{answer:?}");
}

#[tokio::test]
async fn a_client_that_hangs_up_does_not_end_what_its_session_does() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let id = open(&mut client, &[]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    client.send_post(&[session], &plain(2, "tools/call", json!({ "name": "slow" }))).await;
    server.handler.slow_begun().await;
    drop(client);
    let mut client = server.connect().await;
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2, "reason": "enough" },
    });
    assert!(!server.any_cancelled());
    assert_eq!(client.post(&[session], &cancelled.to_string()).await.status, 202);
    server.handler.slow_cancelled().await;
}

#[tokio::test]
async fn a_version_without_a_handshake_needs_no_session_and_gets_json_or_events() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let answer = client.modern("server/discover", json!({})).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    assert!(answer.json()["result"]["supportedVersions"].is_array(), "{answer:?}");
    assert_eq!(answer.header("mcp-session-id"), None);
    let params = json!({ "name": "progress", "_meta": { "progressToken": 5 } });
    let answer = client.modern("tools/call", params).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.body.matches("notifications/progress").count(), 2, "{answer:?}");
    assert_eq!(answer.json()["result"]["content"][0]["text"], "done");
    let answer =
        client.modern("tools/call", json!({ "name": "echo", "arguments": { "n": Value::Null } })).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], r#"{"n":null}"#);
}

/// The events of a stream: of each its id, what it says about coming back, and its data.
fn events(body: &str) -> Vec<(String, Option<String>, String)> {
    let field = |event: &str, name: &str| {
        let line = event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(|value| value.trim().to_owned())
    };
    let events = body.split("\n\n").filter(|event| event.lines().any(|line| line.starts_with("data")));
    let read = |event: &str| {
        let data = field(event, "data").unwrap_or_default();
        (field(event, "id").unwrap_or_default(), field(event, "retry"), data)
    };
    events.map(read).collect()
}

#[tokio::test]
async fn a_stream_begins_with_an_event_to_come_back_to() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let id = open(&mut client, &[]).await;
    let call = plain(2, "tools/call", json!({ "name": "whoami" }));
    let answer = client.post(&[("Mcp-Session-Id", &id)], &call).await;
    let events = events(&answer.body);
    let [(first, retry, data), (second, None, _)] = events.as_slice() else { panic!("{answer:?}") };
    assert_eq!((retry.as_deref(), data.as_str()), (Some("3000"), ""), "{answer:?}");
    assert!(!first.is_empty() && !second.is_empty() && first != second, "{answer:?}");
}

#[tokio::test]
async fn an_older_client_gets_no_event_without_data() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let older = initialize().replace("2025-11-25", "2025-06-18");
    let answer = client.post(&[], &older).await;
    assert_eq!(answer.json()["result"]["protocolVersion"], "2025-06-18", "{answer:?}");
    let id = answer.header("mcp-session-id").expect("a session").to_owned();
    let call = plain(2, "tools/call", json!({ "name": "whoami" }));
    let answer = client.post(&[("Mcp-Session-Id", &id)], &call).await;
    assert!(!answer.body.contains("retry"), "{answer:?}");
    assert!(events(&answer.body).iter().all(|(_, _, data)| !data.is_empty()), "{answer:?}");
}

#[tokio::test]
async fn who_comes_back_gets_what_followed_and_nothing_twice() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let id = open(&mut client, &[]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let params = json!({ "name": "slow", "_meta": { "progressToken": "p" } });
    client.send_post(&[session], &plain(2, "tools/call", params)).await;
    server.handler.slow_begun().await;
    drop(client);
    server.handler.release();

    let resume = async |last: &str| {
        let headers = [session, ("Accept", "text/event-stream"), ("Last-Event-ID", last)];
        let answer = server.connect().await.request("GET /mcp", &headers).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        events(&answer.body)
    };
    // The stream of the first request; its first event is the one without data.
    let all = resume("0-0").await;
    assert_eq!(all.len(), 2, "progress and the answer: {all:?}");
    assert!(all[0].2.contains("notifications/progress") && all[1].2.contains("done"), "{all:?}");
    // It was ready when it was asked for the first time, and can be read again.
    let rest = resume(&all[0].0).await;
    assert_eq!(rest, all[1..], "the event that was named is not repeated");
    assert_eq!(resume(&all[1].0).await, [], "nothing followed");
    assert_eq!(resume("7-0").await, [], "there was no such stream");
}

#[tokio::test]
async fn nobody_comes_back_to_the_stream_of_another_session() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let (one, other) = (open(&mut client, &[]).await, open(&mut client, &[]).await);
    let call = plain(2, "tools/call", json!({ "name": "whoami" }));
    assert_eq!(events(&client.post(&[("Mcp-Session-Id", &one)], &call).await.body).len(), 2);
    let headers =
        [("Mcp-Session-Id", other.as_str()), ("Accept", "text/event-stream"), ("Last-Event-ID", "0-0")];
    assert_eq!(events(&client.request("GET /mcp", &headers).await.body), []);
}
