//! Messages and bodies that are wrong: a clear error each, and the next request on the same
//! connection works, or on a new one where this one had to be closed.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Answer, Client, modern_headers};
use crate::messages::{initialize, modern_body, plain};
use crate::server::Server;

/// The same connection is as good as new.
async fn next_works(client: &mut Client) {
    let answer = client.modern("tools/call", json!({ "name": "echo", "arguments": { "a": 1 } })).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], r#"{"a":1}"#, "{answer:?}");
}

async fn check(body: &str, expected: (u16, i64, &str)) -> Value {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let answer = client.post(&[], body).await;
    let (status, code, words) = answer.error();
    assert_eq!((status, code, words.as_str()), expected, "{body:.200}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    next_works(&mut client).await;
    answer.json()["id"].clone()
}

#[tokio::test]
async fn broken_json_is_a_parse_error_with_its_place() {
    let says = "parse error: EOF while parsing a value at line 1 column 5";
    assert_eq!(check("{\"a\":", (400, -32700, says)).await, Value::Null);
    check("", (400, -32700, "parse error: EOF while parsing a value at line 1 column 0")).await;
}

#[tokio::test]
async fn deep_nesting_is_refused() {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}"#, "[".repeat(500_000));
    check(&body, (400, -32600, "arrays and objects are nested deeper than 127 levels")).await;
}

#[tokio::test]
async fn batches_are_refused() {
    check("[]", (400, -32600, "batches aren't supported; send one message at a time")).await;
}

#[tokio::test]
async fn an_id_that_is_none_is_refused() {
    let says = "`id` must be a string or an integer of 64 bits, not null";
    check(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, (400, -32600, says)).await;
}

#[tokio::test]
async fn unknown_methods_are_named_and_older_clients_get_to_read_it() {
    let says = "unknown method `tools/lst`; did you mean `tools/list`?";
    let id = check(&plain(7, "tools/lst", json!({})), (200, -32601, says)).await;
    assert_eq!(id, json!(7));
    let server = Server::start().await;
    let mut client = server.connect().await;
    let answer = client.modern("tools/lst", json!({})).await;
    assert_eq!(answer.error(), (404, -32601, says.to_owned()));
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        let (status, code, _) = client.modern(method, json!({})).await.error();
        assert_eq!((status, code), (404, -32601), "{method}");
    }
    next_works(&mut client).await;
}

#[tokio::test]
async fn wrong_types_name_the_field() {
    let says = "tools/call: `params.arguments` must be an object, not a string";
    let params = json!({ "name": "echo", "arguments": "a" });
    check(&plain(1, "tools/call", params.clone()), (200, -32602, says)).await;
    let says = "initialize: `params.protocolVersion` is missing; it must be a string";
    check(&plain(1, "initialize", json!({})), (200, -32602, says)).await;
    let server = Server::start().await;
    let mut client = server.connect().await;
    let answer = client.modern("tools/call", params).await;
    assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (400, Some(-32602)));
    next_works(&mut client).await;
}

#[tokio::test]
async fn a_request_without_a_session_or_a_version_says_so() {
    let body = plain(3, "tools/list", json!({}));
    assert_eq!(check(&body, (400, -32000, "send `initialize` first, and with every later request the Mcp-Session-Id that it answers; or, without a handshake, MCP-Protocol-Version: 2026-07-28 and Mcp-Method as headers, and `_meta` in params")).await, json!(3));
}

#[tokio::test]
async fn headers_that_do_not_match_the_body_are_refused() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let body = modern_body("tools/call", json!({ "name": "echo" }));
    let version = ("MCP-Protocol-Version", "2026-07-28");
    for headers in [
        vec![version, ("Mcp-Name", "echo")],
        vec![version, ("Mcp-Method", "tools/list"), ("Mcp-Name", "echo")],
        vec![version, ("Mcp-Method", "tools/call"), ("Mcp-Name", "slow")],
        vec![version, ("Mcp-Method", "tools/call")],
        vec![("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")],
        vec![("MCP-Protocol-Version", "v999"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")],
    ] {
        let (status, code, _) = client.post(&headers, &body).await.error();
        assert_eq!((status, code), (400, -32020), "{headers:?}");
    }
    let answer =
        client.post(&modern_headers("server/discover"), &plain(1, "server/discover", json!({}))).await;
    assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (400, Some(-32602)), "{answer:?}");
    next_works(&mut client).await;
}

#[tokio::test]
async fn what_rmcp_says_in_plain_text_is_json_too() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let body = modern_body("tools/list", json!({}));
    let cases = [
        (("Accept", "text/html"), 406, "Not Acceptable: Client must accept both"),
        (("Content-Type", "text/plain"), 415, "Unsupported Media Type"),
    ];
    for (header, status, words) in cases {
        let mut headers = modern_headers("tools/list");
        headers.push(header);
        let (found, code, message) = client.post(&headers, &body).await.error();
        assert_eq!((found, code), (status, -32000), "{message}");
        assert!(message.starts_with(words), "{message}");
    }
    let answer = client.post(&[("MCP-Protocol-Version", "2020-01-01")], &initialize()).await;
    assert_eq!(answer.status, 400);
    answer.error();
    next_works(&mut client).await;
}

fn too_large(answer: &Answer) {
    let says = "the body is larger than 4194304 bytes";
    assert_eq!(answer.error(), (413, -32600, says.to_owned()));
}

#[tokio::test]
async fn a_huge_body_that_is_announced_is_refused_before_it_is_sent() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let head = client.head(&[("Expect", "100-continue")]);
    client.send(format!("{head}Content-Length: 100000000000\r\n\r\n")).await;
    let answer = client.head_of_answer().await;
    assert_eq!(answer.status, 413, "{answer:?}");
    assert!(client.closed().await.contains("larger than 4194304 bytes"));
    server.still_works().await;
}

#[tokio::test]
async fn a_huge_body_that_is_sent_anyway_is_read_past() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let answer = client.post(&[], &" ".repeat(6 * 1024 * 1024)).await;
    too_large(&answer);
    next_works(&mut client).await;
}

#[tokio::test]
async fn a_huge_body_in_chunks_is_refused_as_soon_as_it_is_too_large() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let head = client.head(&[("Transfer-Encoding", "chunked")]);
    client.send(format!("{head}\r\n")).await;
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    for _ in 0..5 {
        client.send(&chunk).await;
    }
    too_large(&client.answer().await);
    // Without end: at some point nobody reads on.
    let mut chunks = 5;
    while client.try_send(chunk.as_bytes()).await {
        chunks += 1;
        assert!(chunks < 100, "it reads and reads");
    }
    server.still_works().await;
}

#[tokio::test]
async fn a_body_in_chunks_is_as_good_as_any() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let mut headers = modern_headers("tools/list");
    headers.push(("Transfer-Encoding", "chunked"));
    let head = client.head(&headers);
    client.send(format!("{head}\r\n")).await;
    for part in modern_body("tools/list", json!({})).as_bytes().chunks(7) {
        client.send(format!("{:x}\r\n", part.len())).await;
        client.send(part).await;
        client.send("\r\n").await;
    }
    client.send("0\r\n\r\n").await;
    assert_eq!(client.answer().await.status, 200);
    next_works(&mut client).await;
}

#[tokio::test]
async fn a_client_that_waits_to_be_told_to_go_on_is_told() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let body = modern_body("tools/list", json!({}));
    let mut headers = modern_headers("tools/list");
    headers.push(("Expect", "100-continue"));
    let head = client.head(&headers);
    client.send(format!("{head}Content-Length: {}\r\n\r\n", body.len())).await;
    assert_eq!(client.head_of_answer().await.status, 100);
    client.send(body).await;
    assert_eq!(client.answer().await.status, 200);
    next_works(&mut client).await;
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_given_up() {
    let server = Server::with(|settings| settings.limits.body_time = Duration::from_millis(100)).await;
    let mut client = server.connect().await;
    let head = client.head(&[]);
    client.send(format!("{head}Content-Length: 1000\r\n\r\n{{\"jsonrpc\"")).await;
    let answer = client.answer().await;
    assert_eq!(answer.error(), (408, -32000, "the body didn't arrive within 0.1 s".to_owned()));
    client.closed().await;
    server.still_works().await;
}

#[tokio::test]
async fn headers_that_come_too_slowly_are_given_up() {
    let server = Server::with(|settings| settings.limits.header_time = Duration::from_millis(100)).await;
    let mut client = server.connect().await;
    client.send("POST /mcp HTTP/1.1\r\nHost: local").await;
    let answer = client.answer().await;
    let says = "the request headers didn't arrive within 0.1 s";
    assert_eq!(answer.error(), (408, -32000, says.to_owned()));
    client.closed().await;
    // Whoever says nothing at all is let go without a word.
    assert_eq!(server.connect().await.closed().await, "");
    server.still_works().await;
}

#[tokio::test]
async fn a_body_that_breaks_off_costs_one_connection() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let head = client.head(&[]);
    client.send(format!("{head}Content-Length: 1000\r\n\r\n{{")).await;
    client.close_write().await;
    let said = client.closed().await;
    assert!(said.is_empty() || said.contains("the body ended early"), "{said}");
    server.still_works().await;
}

#[tokio::test]
async fn what_is_not_http_gets_words_too() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    client.send("SSH-2.0-hello\r\n\r\n").await;
    let answer = client.answer().await;
    let says = "this isn't a valid HTTP/1.1 request";
    assert_eq!(answer.error(), (400, -32000, says.to_owned()));
    let many: String = (0..200).map(|number| format!("x-{number}: 1\r\n")).collect();
    let large = format!("x: {}\r\n", "x".repeat(100_000));
    for headers in [many, large] {
        let mut client = server.connect().await;
        client
            .try_send(format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes())
            .await;
        let answer = client.answer().await;
        let says = "the request headers are too large or too many";
        assert_eq!(answer.error(), (431, -32000, says.to_owned()));
    }
    server.still_works().await;
}

#[tokio::test]
async fn a_tool_that_fails_is_an_error_of_its_own_request_only() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let answer = client.modern("tools/call", json!({ "name": "fails" })).await;
    assert_eq!(answer.error(), (200, -32603, "it fails".to_owned()));
    next_works(&mut client).await;
}
