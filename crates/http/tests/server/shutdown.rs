//! The end: nobody is cut off before the grace is over, and nothing is left after it.

use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::messages::{initialize, plain};
use crate::server::Server;

#[tokio::test]
async fn at_the_end_idle_connections_close_and_what_runs_is_answered() {
    let mut server = Server::start().await;
    let (mut idle, mut busy) = (server.connect().await, server.connect().await);
    assert_eq!(idle.request("GET /healthz", &[]).await.status, 200);
    busy.send_modern("tools/call", json!({ "name": "slow" })).await;
    server.handler.slow_begun().await;
    server.shutdown.cancel();
    assert_eq!(idle.closed().await, "");
    server.handler.release();
    let answer = busy.answer().await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "done", "{answer:?}");
    assert_eq!(busy.closed().await, "");
    server.ended().await;
    assert!(TcpStream::connect(server.address).await.is_err(), "nobody listens");
}

#[tokio::test]
async fn what_runs_longer_than_the_grace_is_cancelled() {
    let mut server = Server::with(|settings| settings.grace = Duration::from_millis(50)).await;
    let mut client = server.connect().await;
    client.send_modern("tools/call", json!({ "name": "slow" })).await;
    server.handler.slow_begun().await;
    server.shutdown.cancel();
    server.handler.slow_cancelled().await;
    server.ended().await;
    client.closed().await;
}

#[tokio::test]
async fn what_is_cut_short_has_no_grace() {
    let cut_short = CancellationToken::new();
    let mut server = Server::with(|settings| {
        settings.grace = Duration::from_secs(600);
        settings.cut_short = cut_short.clone();
    })
    .await;
    let mut client = server.connect().await;
    client.send_modern("tools/call", json!({ "name": "slow" })).await;
    server.handler.slow_begun().await;
    server.shutdown.cancel();
    cut_short.cancel();
    server.handler.slow_cancelled().await;
    server.ended().await;
    client.closed().await;
}

#[tokio::test]
async fn a_stream_that_has_no_end_of_its_own_ends_at_once() {
    let mut server = Server::start().await;
    let mut client = server.connect().await;
    let answer = client.post(&[], &initialize()).await;
    let id = answer.header("mcp-session-id").expect("a session").to_owned();
    let headers = [("Mcp-Session-Id", id.as_str()), ("Accept", "text/event-stream")];
    client.send_request("GET /mcp", &headers).await;
    assert_eq!(client.head_of_answer().await.status, 200);
    server.shutdown.cancel();
    server.ended().await;
    assert!(client.closed().await.ends_with("0\r\n\r\n"));
}

#[tokio::test]
async fn a_session_gets_its_answer_before_the_end() {
    let mut server = Server::start().await;
    let mut client = server.connect().await;
    let answer = client.post(&[], &initialize()).await;
    let id = answer.header("mcp-session-id").expect("a session").to_owned();
    client.send_post(&[("Mcp-Session-Id", &id)], &plain(2, "tools/call", json!({ "name": "slow" }))).await;
    server.handler.slow_begun().await;
    server.shutdown.cancel();
    server.handler.release();
    let answer = client.answer().await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "done", "{answer:?}");
    server.ended().await;
}
