//! Connections that another gateway accepted: they get what a machine elsewhere would get, by that gateway's names.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use gristmill_gateway::access::Scope;
use gristmill_http::{HttpSettings, PassedOn};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::client::{Answer, Client, modern_headers};
use crate::messages::{initialize, modern_body};
use crate::server::Server;

/// A server, and another gateway that passes on to it whoever connects there.
struct Pair {
    server: Server,
    other: SocketAddr,
    bearer: String,
}

impl Pair {
    async fn start() -> Self {
        Self::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut HttpSettings)) -> Self {
        let (passes_on, incoming) = mpsc::channel(8);
        let server = Server::with_incoming(incoming, change).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let other = listener.local_addr().expect("a port");
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                let passed = PassedOn {
                    stream: Box::new(stream),
                    from: "b".to_owned(),
                    hosts: ["b.example", "b-with-port.example:9", "no host"].map(str::to_owned).to_vec(),
                    origins: ["https://page-of-b.example", "no origin"].map(str::to_owned).to_vec(),
                };
                if passes_on.send(passed).await.is_err() {
                    return;
                }
            }
        });
        let token = server.tokens.issue("a", Scope::ALL, None, SystemTime::now()).expect("issued");
        let bearer = format!("Bearer {}", token.text.reveal());
        Self { server, other, bearer }
    }

    async fn connect(&self) -> Client {
        Client::connect(self.other).await
    }

    /// `whoami` by way of the other gateway, with these headers and a token.
    async fn whoami(&self, headers: &[(&str, &str)]) -> Answer {
        whoami(self.connect().await, &[headers, &[("Authorization", &self.bearer)]].concat()).await
    }
}

async fn whoami(mut client: Client, headers: &[(&str, &str)]) -> Answer {
    let mut all = modern_headers("tools/call");
    all.push(("Mcp-Name", "whoami"));
    all.extend_from_slice(headers);
    client.post(&all, &modern_body("tools/call", json!({ "name": "whoami" }))).await
}

fn name(answer: &Answer) -> String {
    let json = answer.json();
    json["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

#[tokio::test]
async fn a_passed_on_connection_needs_a_token_where_nobody_else_does() {
    let pair = Pair::start().await;
    assert_eq!(name(&whoami(pair.server.connect().await, &[]).await), "local", "at its own door");
    let (status, code, words) = whoami(pair.connect().await, &[]).await.error();
    assert_eq!((status, code), (401, -32000));
    assert!(words.starts_with("access token required"), "{words}");
    let wrong = [("Authorization", "Bearer wrong")];
    assert_eq!(whoami(pair.connect().await, &wrong).await.status, 401);
    assert_eq!(name(&pair.whoami(&[]).await), "a");
    assert_eq!(pair.connect().await.request("GET /healthz", &[]).await.status, 200);
}

#[tokio::test]
async fn the_other_gateways_hosts_are_allowed_on_its_connections_alone() {
    let pair = Pair::start().await;
    for host in ["b.example", "b.example:1", "b-with-port.example:9", "localhost"] {
        assert_eq!(name(&pair.whoami(&[("Host", host)]).await), "a", "{host}");
    }
    let says = "host not allowed; allow it with `--allow-host HOST`";
    for host in ["evil.example", "b.example.evil.example", "b-with-port.example:8", "no"] {
        assert_eq!(pair.whoami(&[("Host", host)]).await.error(), (403, -32000, says.to_owned()), "{host}");
    }
    let at_own_door = whoami(pair.server.connect().await, &[("Host", "b.example")]).await;
    assert_eq!(at_own_door.error(), (403, -32000, says.to_owned()));
}

#[tokio::test]
async fn its_pages_may_call_on_its_connections_alone() {
    let pair = Pair::start().await;
    let (host, page) = (("Host", "b.example"), ("Origin", "https://page-of-b.example"));
    let answer = pair.whoami(&[host, page]).await;
    assert_eq!(name(&answer), "a");
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://page-of-b.example"));
    let foreign = pair.whoami(&[host, ("Origin", "https://evil.example")]).await;
    assert_eq!((foreign.status, foreign.header("access-control-allow-origin")), (403, None));
    assert_eq!(whoami(pair.server.connect().await, &[page]).await.status, 403);
}

#[tokio::test]
async fn streams_and_sessions_pass() {
    let pair = Pair::start().await;
    let mut client = pair.connect().await;
    let authorized = [("Host", "b.example"), ("Authorization", pair.bearer.as_str())];
    let mut headers = modern_headers("tools/call");
    headers.push(("Mcp-Name", "progress"));
    headers.extend_from_slice(&authorized);
    let call = json!({ "name": "progress", "_meta": { "progressToken": "p" } });
    let answer = client.post(&headers, &modern_body("tools/call", call)).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{answer:?}");
    assert!(answer.body.matches("notifications/progress").count() >= 2, "{answer:?}");

    let answer = client.post(&authorized, &initialize()).await;
    let id = answer.header("mcp-session-id").expect("a session").to_owned();
    let events = [&authorized[..], &[("Mcp-Session-Id", &id), ("Accept", "text/event-stream")]].concat();
    client.send_request("GET /mcp", &events).await;
    let answer = client.head_of_answer().await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
}

#[tokio::test]
async fn they_count_against_the_same_limit() {
    let pair = Pair::with(|settings| settings.limits.connections = 2).await;
    let (mut own, mut passed) = (pair.server.connect().await, pair.connect().await);
    for client in [&mut own, &mut passed] {
        assert_eq!(client.request("GET /healthz", &[]).await.status, 200);
    }
    let says = "too many connections (limit 2); try again later";
    assert_eq!(pair.connect().await.answer().await.error(), (503, -32000, says.to_owned()));
}

#[tokio::test]
async fn a_client_elsewhere_that_hangs_up_cancels_its_request() {
    let pair = Pair::with(|settings| settings.limits.half_closed_look = Duration::from_millis(5)).await;
    let mut client = pair.connect().await;
    let mut headers = modern_headers("tools/call");
    headers.extend_from_slice(&[("Mcp-Name", "slow"), ("Authorization", &pair.bearer)]);
    client.send_post(&headers, &modern_body("tools/call", json!({ "name": "slow" }))).await;
    pair.server.handler.slow_begun().await;
    drop(client);
    pair.server.handler.slow_cancelled().await;
}

#[tokio::test]
async fn without_anybody_who_passes_on_it_serves_at_its_own_door() {
    let (passes_on, incoming) = mpsc::channel(1);
    drop(passes_on);
    let server = Server::with_incoming(incoming, |_| {}).await;
    server.still_works().await;
    server.still_works().await;
}

#[tokio::test]
async fn an_end_right_behind_a_request_takes_no_answer_away() {
    let (passes_on, incoming) = mpsc::channel(8);
    let server = Server::with_incoming(incoming, |_| {}).await;
    let token = server.tokens.issue("a", Scope::ALL, None, SystemTime::now()).expect("issued");
    let bearer = format!("Bearer {}", token.text.reveal());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("a port");
    for (has_body, comes_second) in [(false, false), (false, true), (true, false), (true, true)] {
        // More than once: the end must not be found too early on any way through.
        for _ in 0..10 {
            let mut client = Client::connect(address).await;
            let (stream, _) = listener.accept().await.expect("a connection");
            let (hosts, origins) = (Vec::new(), Vec::new());
            let mut passed =
                Some(PassedOn { stream: Box::new(stream), from: "b".to_owned(), hosts, origins });
            if comes_second {
                passes_on.send(passed.take().expect("one")).await.expect("it's taken");
                let headers = [("Host", "localhost")];
                assert_eq!(client.request("GET /healthz", &headers).await.status, 200);
            }
            if has_body {
                let mut headers = modern_headers("tools/list");
                headers.extend([("Host", "localhost"), ("Authorization", bearer.as_str())]);
                client.send_post(&headers, &modern_body("tools/list", json!({}))).await;
            } else {
                client.send_request("GET /healthz", &[("Host", "localhost")]).await;
            }
            client.close_write().await;
            // All of it is here before anybody reads.
            if let Some(passed) = passed {
                passes_on.send(passed).await.expect("it's taken");
            }
            assert_eq!(client.answer().await.status, 200, "{has_body} {comes_second}");
            assert_eq!(client.closed().await, "");
        }
    }
}
