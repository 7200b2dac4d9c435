//! Messages that clients send, for tests of everything that takes some.

use serde_json::{Value, json};

pub const VERSION: &str = "2026-07-28";

pub fn modern_body(method: &str, mut params: Value) -> String {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(VERSION);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

/// The message that begins a session.
pub fn initialize() -> String {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    })
    .to_string()
}

/// A request without anything of its own version.
pub fn plain(id: i64, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}
