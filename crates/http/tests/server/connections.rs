//! Connections: how many, how long, who hangs up and who only says no more.

use std::time::Duration;

use serde_json::json;

use crate::client::modern_headers;
use crate::server::Server;

#[tokio::test]
async fn one_connection_too_many_is_told_to_come_back() {
    let server = Server::with(|settings| settings.limits.connections = 2).await;
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    for client in [&mut first, &mut second] {
        assert_eq!(client.request("GET /healthz", &[]).await.status, 200);
    }
    let mut third = server.connect().await;
    let answer = third.answer().await;
    let says = "too many connections (limit 2); try again later";
    assert_eq!(answer.error(), (503, -32000, says.to_owned()));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(third.closed().await, "");
    // As soon as one is gone there is room again.
    drop(first);
    until_there_is_room(&server).await;
    assert_eq!(second.request("GET /healthz", &[]).await.status, 200);
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let server = Server::with(|settings| {
        settings.limits.idle_time = Duration::from_millis(100);
        settings.limits.header_time = Duration::from_millis(100);
    })
    .await;
    let (mut idle, mut busy) = (server.connect().await, server.connect().await);
    busy.send_modern("tools/call", json!({ "name": "slow" })).await;
    server.handler.slow_begun().await;
    assert_eq!(idle.request("GET /healthz", &[]).await.status, 200);
    assert_eq!(idle.closed().await, "");
    server.handler.release();
    let answer = busy.answer().await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "done", "{answer:?}");
    assert_eq!(busy.closed().await, "");
}

#[tokio::test]
async fn requests_that_are_sent_ahead_are_answered_in_order() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    for number in 0..5 {
        client.send_modern("tools/call", json!({ "name": "echo", "arguments": { "n": number } })).await;
    }
    for number in 0..5 {
        let answer = client.answer().await;
        let expected = format!("{{\"n\":{number}}}");
        assert_eq!(answer.json()["result"]["content"][0]["text"], expected, "{answer:?}");
    }
}

#[tokio::test]
async fn a_client_that_has_said_everything_still_gets_its_answer() {
    // It is looked after many times before the answer comes.
    let server = Server::with(|settings| settings.limits.half_closed_look = Duration::from_millis(5)).await;
    let mut client = server.connect().await;
    client.send_modern("tools/call", json!({ "name": "slow" })).await;
    client.close_write().await;
    server.handler.slow_begun().await;
    // A sign of life that every client of HTTP/1.1 reads past.
    assert_eq!(client.head_of_answer().await.status, 102);
    assert_eq!(client.head_of_answer().await.status, 102);
    assert!(!server.any_cancelled());
    server.handler.release();
    let answer = client.answer().await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "done", "{answer:?}");
    assert_eq!(client.closed().await, "");

    let mut quick = server.connect().await;
    quick.send_modern("tools/list", json!({})).await;
    quick.close_write().await;
    assert_eq!(quick.answer().await.status, 200);
    server.still_works().await;
}

#[tokio::test]
async fn an_end_within_a_body_ends_the_request() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let head = client.head(&modern_headers("tools/list"));
    client.send(format!("{head}Content-Length: 100\r\n\r\n{{")).await;
    client.close_write().await;
    let said = client.closed().await;
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 400 "), "{said}");
    server.still_works().await;
}

#[tokio::test]
async fn a_client_that_hangs_up_cancels_its_request() {
    let server = Server::with(|settings| settings.limits.half_closed_look = Duration::from_millis(5)).await;
    let mut client = server.connect().await;
    client.send_modern("tools/call", json!({ "name": "slow" })).await;
    server.handler.slow_begun().await;
    assert!(!server.any_cancelled());
    drop(client);
    server.handler.slow_cancelled().await;
    server.still_works().await;
}

#[tokio::test]
async fn the_same_holds_once_the_answer_has_begun_as_a_stream() {
    let server = Server::with(|settings| settings.limits.half_closed_look = Duration::from_millis(5)).await;
    let slow = json!({ "name": "slow", "_meta": { "progressToken": "p" } });
    let mut patient = server.connect().await;
    patient.send_modern("tools/call", slow.clone()).await;
    patient.close_write().await;
    server.handler.slow_begun().await;
    let mut gone = server.connect().await;
    gone.send_modern("tools/call", slow).await;
    server.handler.slow_begun().await;
    loop {
        if gone.head_of_answer().await.header("content-type") == Some("text/event-stream") {
            break;
        }
    }
    drop(gone);
    server.handler.slow_cancelled().await;
    assert!(!server.any_cancelled());
    server.handler.release();
    let answer = patient.answer().await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "done", "{answer:?}");
    assert!(answer.body.contains("notifications/progress"), "{answer:?}");
}

#[tokio::test]
async fn a_client_that_sends_ahead_and_hangs_up_runs_nothing_for_nobody() {
    let server = Server::with(|settings| settings.limits.half_closed_look = Duration::from_millis(5)).await;
    let mut client = server.connect().await;
    client.send_modern("tools/call", json!({ "name": "slow" })).await;
    server.handler.slow_begun().await;
    client.close_write().await;
    assert_eq!(client.head_of_answer().await.status, 102);
    drop(client);
    server.handler.slow_cancelled().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_let_go() {
    let server = Server::with(|settings| {
        settings.limits.write_time = Duration::from_millis(100);
        settings.limits.connections = 1;
    })
    .await;
    let mut client = server.connect().await;
    // More than the buffers of both sides hold.
    client.send_modern("tools/call", json!({ "name": "big", "arguments": { "bytes": 64 << 20 } })).await;
    // There is room for one connection: another one fits when this one is gone.
    until_there_is_room(&server).await;
    let read = client.closed().await;
    assert!(read.starts_with("HTTP/1.1 200 OK") && read.len() < 64 << 20, "{} bytes", read.len());
    server.still_works().await;
}

async fn until_there_is_room(server: &Server) {
    loop {
        let mut next = server.connect().await;
        if next.try_send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await
            && next.answer().await.status == 200
        {
            return;
        }
    }
}
