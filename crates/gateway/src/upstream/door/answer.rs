//! Answer: what a server sent, as the caller reads it.

use gristmill_domain::catalogue::ToolDefinition;
use gristmill_domain::{CallOutcome, Code, ToolAnswer, read_answer, resource_uri};
use gristmill_protocol::has_reserved_key;
use serde_json::Value;

use super::check::{Checked, Outgoing};
use super::failure::{bad_answer, is_repeatable, upstream};
use crate::ports::ToolFailure;
use crate::upstream::server::Server;

/// Why an answer with such a key is not taken.
const RESERVED_KEY: &str = "its answer has a key that starts with `$serde_json::private::`";

/// Reads the raw JSON of an answer. Resources in it get URIs of ours.
pub(super) fn answer(checked: &Checked, raw: &str) -> Result<ToolAnswer, ToolFailure> {
    let server = checked.server.as_ref();
    match &checked.outgoing {
        Outgoing::Tool { definition, .. } => of_tool(server, definition, raw),
        Outgoing::Resource(uri) => {
            let mut result = parsed(server, raw)?;
            let contents = result.get_mut("contents").and_then(Value::as_array_mut);
            for content in contents.into_iter().flatten() {
                // As it was asked for, if it is that: without values that were put into it.
                if checked.personal.has_restored() && content.get("uri").and_then(Value::as_str) == Some(uri)
                {
                    content["uri"] = Value::from(checked.shown());
                }
                rename(content, server.name());
            }
            Ok(whole(&result))
        }
        Outgoing::Prompt { .. } => {
            let mut result = parsed(server, raw)?;
            let messages = result.get_mut("messages").and_then(Value::as_array_mut);
            for content in messages.into_iter().flatten().filter_map(|message| message.get_mut("content")) {
                rename_in_prompt(content, server.name());
            }
            Ok(whole(&result))
        }
    }
}

fn of_tool(server: &Server, definition: &ToolDefinition, raw: &str) -> Result<ToolAnswer, ToolFailure> {
    let bad = |why: &str| {
        let message = format!("{}.{}: {why}", server.name(), definition.name);
        upstream(Code::BadAnswer, message, is_repeatable(definition))
    };
    match read_answer(raw, definition.output_schema.as_ref()) {
        // Text that is JSON has not been looked into before.
        Ok(CallOutcome::Value(answer)) if has_reserved_key(answer.json.as_bytes()) => Err(bad(RESERVED_KEY)),
        Ok(CallOutcome::Value(answer)) => Ok(answer),
        Ok(CallOutcome::ToolError(words)) => Err(ToolFailure::Said(words)),
        Err(error) => Err(bad(&error.to_string())),
    }
}

fn parsed(server: &Server, raw: &str) -> Result<Value, ToolFailure> {
    if has_reserved_key(raw.as_bytes()) {
        return Err(bad_answer(server, RESERVED_KEY));
    }
    match serde_json::from_str::<Value>(raw) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) | Err(_) => Err(bad_answer(server, "its answer isn't an object")),
    }
}

fn whole(result: &Value) -> ToolAnswer {
    ToolAnswer { json: result.to_string(), files: Vec::new() }
}

fn rename_in_prompt(content: &mut Value, server: &str) {
    match content["type"].as_str() {
        Some("resource_link") => rename(content, server),
        Some("resource") => {
            if let Some(resource) = content.get_mut("resource") {
                rename(resource, server);
            }
        }
        Some(_) | None => {}
    }
}

/// Puts our URI in the place of the server's.
fn rename(resource: &mut Value, server: &str) {
    if let Some(Value::String(uri)) = resource.get_mut("uri") {
        *uri = resource_uri::to_ours(server, uri);
    }
}
