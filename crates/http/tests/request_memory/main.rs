//! What the requests of all callers take together. A binary of its own: the budget is the process's, and
//! other tests with large requests would find it taken.

#[expect(dead_code, reason = "shared with the tests of the server")]
#[path = "../server/client.rs"]
mod client;
#[expect(dead_code, reason = "shared with the tests of the server")]
#[path = "../../../mcp/tests/support/scripted_handler.rs"]
mod handler;
#[expect(dead_code, reason = "shared with the tests of the server")]
#[path = "../../../mcp/tests/support/messages.rs"]
mod messages;
#[expect(dead_code, reason = "shared with the tests of the server")]
#[path = "../server/server.rs"]
mod server;

use serde_json::{Value, json};

use crate::server::Server;

/// 760 KB of text, which take some 80 MB once parsed.
fn large() -> Value {
    json!({ "name": "slow", "arguments": { "rows": vec![json!({ "a": 1 }); 95_000] } })
}

#[tokio::test]
async fn door_7_large_requests_of_all_callers_are_told_to_wait_when_their_memory_is_taken() {
    let server = Server::start().await;
    let mut running = Vec::new();
    for _ in 0..3 {
        let mut client = server.connect().await;
        client.send_modern("tools/call", large()).await;
        server.handler.slow_begun().await;
        running.push(client);
    }
    let refused = server.connect().await.modern("tools/call", large()).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{refused:?}");
    let (_, code, message) = refused.error();
    assert_eq!(code, -32000);
    assert!(message.contains("busy") && message.contains("try again in a second"), "{message}");
    assert_eq!(refused.json()["id"], json!(1), "whoever waits knows which request it was");
    // Ordinary calls go on.
    server.still_works().await;
    // And so does the next large one, once there is room.
    server.handler.release();
    let mut next = server.connect().await;
    next.send_modern("tools/call", large()).await;
    server.handler.slow_begun().await;
    for _ in 0..3 {
        server.handler.release();
    }
    assert_eq!(next.answer().await.status, 200);
    for mut client in running {
        assert_eq!(client.answer().await.status, 200);
    }
}
