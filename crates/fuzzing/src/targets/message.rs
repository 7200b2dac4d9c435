//! One message of a client, as it comes over standard input or HTTP.

use gristmill_mcp::fuzzing::check_message;
use serde_json::Value;

use crate::target::{Reached, Target, words};

pub const TARGET: Target = Target {
    name: "message",
    promise: "a message is refused with a JSON-RPC error, or passed on as JSON that passes again and means the same",
    run,
    dictionary: &[
        b"\"jsonrpc\":\"2.0\"",
        b"\"id\":1,",
        b"\"id\":\"x\",",
        b"\"id\":null,",
        b"\"method\":\"tools/call\"",
        b"\"method\":\"tools/list\"",
        b"\"method\":\"initialize\"",
        b"\"method\":\"server/discover\"",
        b"\"method\":\"notifications/cancelled\"",
        b"\"params\":{",
        b"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}",
        b"\"arguments\":{",
        b"\"name\":\"execute_code\"",
        b"\"result\":{}",
        b"\"error\":{\"code\":1,\"message\":\"\"}",
        b"\"requestId\":1",
        b"$serde_json::private::Number",
        b"1e400",
        b"\\u0000",
    ],
    bytes_max: 4096,
};

fn run(bytes: &[u8]) -> Reached {
    // The last byte says what comes with it.
    let says_modern = bytes.last().is_some_and(|byte| byte % 2 == 1);
    match check_message(bytes, says_modern) {
        Ok(text) => {
            let passed: Value = serde_json::from_str(&text).expect("what is passed on is JSON");
            let given: Value = serde_json::from_slice(bytes).expect("what passed is JSON");
            assert_eq!(passed, given, "it means the same");
            assert_eq!(passed["jsonrpc"], "2.0");
            let again = check_message(text.as_bytes(), says_modern);
            assert_eq!(again.as_ref(), Ok(&text), "it passes again");
            // Notifications may have any name.
            Reached::of((0, passed["method"].as_str().map(str::len), passed.get("id").is_some()))
        }
        Err(refusal) => {
            let answer: Value = serde_json::from_slice(&refusal.to_json()).expect("an answer is JSON");
            let message = answer["error"]["message"].as_str().expect("an error has a message");
            assert!(!message.is_empty() && message.len() < 2_000, "{message}");
            assert!(answer["error"]["code"].as_i64().is_some_and(|code| code < 0));
            assert!(answer["id"].is_null() || answer["id"].is_string() || answer["id"].is_i64());
            Reached::of((1, words(message), answer["id"].is_null()))
        }
    }
}
