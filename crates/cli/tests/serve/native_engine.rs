//! Who is told that programs can ask for the native engine.

use serde_json::{Value, json};

use crate::cases;
use crate::client::{MODERN, modern};
use crate::gateways::Place;
use crate::http::Listening;

cases![a_token_that_may_not_use_it_is_not_told_of_it];

/// What a caller is shown of the argument that asks for it.
fn told(listening: &Listening, authorization: &str) -> Value {
    let headers =
        [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/list"), ("Authorization", authorization)];
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": modern().params(json!({}))});
    let response = listening.post(&headers, &body);
    let tools = response.messages[0]["result"]["tools"].as_array().expect("a list").clone();
    let tool = tools.into_iter().find(|tool| tool["name"] == "execute_code").expect("it is there");
    tool["inputSchema"]["properties"]["engine"].clone()
}

fn a_token_that_may_not_use_it_is_not_told_of_it() {
    // It is listed, not run: any interpreter will do.
    let native = json!({"enabled": true, "python": "/usr/bin/python3", "tokens": ["analyst-*", "both"]});
    let place = |name: &str| Place::new(name).setting("engines", json!({ "native": native }));
    // With a server, whose tools are told as well, and with nothing else to tell.
    for place in [place("native-told").example("calculator"), place("native-told-alone")] {
        let tokens: [(&str, &[&str]); 4] = [
            ("analyst-1", &[]),
            ("analyst-2", &["--level", "hardened"]),
            ("ci", &[]),
            ("both", &["--wasm-only"]),
        ];
        let (listening, [analyst, hardened, ci, both]) = Listening::begin_with_tokens(place, tokens);
        for may in [&analyst, &listening.authorization] {
            assert_eq!(told(&listening, may)["enum"], json!(["wasm", "native", "auto"]));
        }
        for may_not in [&hardened, &ci, &both] {
            assert_eq!(told(&listening, may_not), Value::Null);
        }
    }
}
