//! The resources and prompts of the scripted server: two of each, one a page.

use serde_json::{Map, Value, json};

use crate::scripted_server::{refuse, reply};

/// What it has now.
#[derive(Default)]
pub struct Readables {
    /// Instead of its own.
    pub resources: Option<Vec<Value>>,
    /// What it says about one thing of each kind.
    pub words: Option<String>,
}

impl Readables {
    /// With its words, if there are any.
    fn described(&self, mut thing: Value) -> Value {
        if let Some(words) = &self.words {
            thing["description"] = words.as_str().into();
        }
        thing
    }

    pub fn answer(&self, id: &Value, method: &str, params: &Map<String, Value>) {
        match method {
            "resources/list" => {
                let own = vec![
                    self.described(
                        json!({ "uri": "file:///notes.txt", "name": "notes", "mimeType": "text/plain", "size": 5 }),
                    ),
                    json!({ "uri": "file:///a b.png", "name": "picture", "description": "Of\na\u{202e} cat" }),
                ];
                page(id, params, "resources", self.resources.clone().unwrap_or(own));
            }
            "resources/templates/list" => {
                let template = json!({ "uriTemplate": "db://{table}{?limit}", "name": "rows" });
                page(id, params, "resourceTemplates", vec![self.described(template)]);
            }
            "prompts/list" => {
                let arguments = json!([{ "name": "code", "required": true }]);
                let review = json!({ "name": "review", "title": "Review", "arguments": arguments });
                page(id, params, "prompts", vec![self.described(review), json!({ "name": "greet.me" })]);
            }
            "resources/read" => read(id, params["uri"].as_str().unwrap_or_default()),
            "prompts/get" if asks_first(id, params) => {}
            "prompts/get" => {
                let link = json!({ "type": "resource_link", "uri": "file:///notes.txt", "name": "notes" });
                let told =
                    json!({ "type": "text", "text": format!("{} {}", params["name"], params["arguments"]) });
                let embedded = json!({ "type": "resource", "resource": { "uri": "file:///x", "text": "x" } });
                let said = |content: Value| json!({ "role": "user", "content": content });
                // A prompt with the argument `messages` has that instead of its messages.
                if let Some(given) = params.get("arguments").and_then(|given| given.get("messages")) {
                    return reply(id, &json!({ "messages": given }));
                }
                reply(id, &json!({ "messages": [said(told), said(link), said(embedded)] }));
            }
            _ => refuse(id, -32601, "Method not found"),
        }
    }
}

/// A prompt with the argument `ask` asks that of the user before it is filled in, as modern servers do; the
/// answers are then what it says.
fn asks_first(id: &Value, params: &Map<String, Value>) -> bool {
    let Some(message) = params.get("arguments").and_then(|arguments| arguments["ask"].as_str()) else {
        return false;
    };
    match params.get("inputResponses") {
        Some(responses) => {
            let content = json!({ "type": "text", "text": responses.to_string() });
            reply(id, &json!({ "messages": [{ "role": "user", "content": content }] }));
        }
        None => {
            let schema = json!({ "type": "object", "properties": { "size": { "type": "integer" } } });
            let params = json!({ "message": message, "requestedSchema": schema });
            let requests = json!({ "one": { "method": "elicitation/create", "params": params } });
            reply(id, &json!({ "resultType": "input_required", "inputRequests": requests }));
        }
    }
    true
}

fn page(id: &Value, params: &Map<String, Value>, key: &str, things: Vec<Value>) {
    let at: usize = params
        .get("cursor")
        .and_then(Value::as_str)
        .map_or(0, |cursor| cursor.parse().expect("a cursor of ours"));
    let mut result =
        json!({ key: things.get(at).into_iter().collect::<Vec<_>>(), "ttlMs": 1, "cacheScope": "public" });
    if at + 1 < things.len() {
        result["nextCursor"] = (at + 1).to_string().into();
    }
    reply(id, &result);
}

fn read(id: &Value, uri: &str) {
    let contents = match uri {
        "file:///notes.txt" => json!([{ "uri": uri, "mimeType": "text/plain", "text": "hello" }]),
        "file:///a b.png" => json!([{ "uri": uri, "blob": "AAH/" }, { "uri": "file:///other", "text": "b" }]),
        "secret:given" => json!([{ "uri": uri, "text": std::env::var("GIVEN").unwrap_or_default() }]),
        "large:" => json!([{ "uri": uri, "text": "x".repeat(100_000) }]),
        "hang:" => return,
        "none:" => return reply(id, &json!([])),
        "empty:" => json!([{ "uri": uri }]),
        _ if uri.starts_with("db://") => json!([{ "uri": uri, "text": uri }]),
        _ => return refuse(id, -32002, "Resource not found"),
    };
    reply(id, &json!({ "contents": contents }));
}
