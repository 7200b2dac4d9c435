//! Who is told that programs can ask for the native engine.

use serde_json::{Value, json};

use crate::cases;
use crate::client::{MODERN, modern};
use crate::gateways::Place;
use crate::http::Listening;

cases![a_token_that_may_not_use_it_is_not_told_of_it, hardened_tells_nobody_unless_it_may_have_it];

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

/// It is listed, not run: any interpreter will do.
fn place(name: &str, hardened: bool) -> Place {
    let native = json!({
        "enabled": true, "hardened": hardened, "python": "/usr/bin/python3", "tokens": ["analyst-*", "both"],
    });
    Place::new(name).setting("engines", json!({ "native": native }))
}

fn a_token_that_may_not_use_it_is_not_told_of_it() {
    let tokens: [(&str, &[&str]); 3] = [("analyst-1", &[]), ("ci", &[]), ("both", &["--wasm-only"])];
    let (listening, [analyst, ci, both]) =
        Listening::begin_with_tokens(place("native-told", false).example("calculator"), tokens);
    assert_eq!(told(&listening, &analyst)["enum"], json!(["wasm", "native", "auto"]));
    assert_eq!(told(&listening, &listening.authorization)["enum"], json!(["wasm", "native", "auto"]));
    assert_eq!((told(&listening, &ci), told(&listening, &both)), (Value::Null, Value::Null));
}

fn hardened_tells_nobody_unless_it_may_have_it() {
    for (hardened, is_told) in [(false, false), (true, true)] {
        // Without a server there is nothing else to tell.
        let place = place(&format!("native-told-{hardened}"), hardened).setting("level", json!("hardened"));
        let (listening, [analyst]) = Listening::begin_with_tokens(place, [("analyst-1", &[])]);
        assert_eq!(told(&listening, &analyst).is_object(), is_told);
    }
}
