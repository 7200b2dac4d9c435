//! Anthropic's Messages.

use gristmill_gateway::ports::{Ending, TokensUsed};
use serde_json::{Value, json};

use super::{Ask, Draft, Heard, piece, turns};
use crate::complaint::Complaint;

pub fn body(ask: &Ask<'_>) -> Value {
    let mut body = json!({
        "model": ask.model,
        "max_tokens": ask.output_tokens_max,
        "system": ask.prompt.system,
        "messages": turns(ask.prompt).collect::<Vec<_>>(),
        "stream": true,
    });
    if let Some(temperature) = ask.sent_temperature() {
        body["temperature"] = json!(temperature);
    }
    body
}

pub fn hear(draft: &mut Draft, event: &Value) -> Heard {
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => {
            let usage = &event["message"]["usage"];
            let count = |name: &str| usage[name].as_u64();
            if let Some(fresh) = count("input_tokens") {
                let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"];
                let cached = cached.into_iter().filter_map(count).fold(0, u64::saturating_add);
                let output = count("output_tokens").unwrap_or_default();
                draft.tokens = Some(TokensUsed { input: fresh.saturating_add(cached), output });
            }
            Heard::Nothing
        }
        "content_block_delta" => piece(&event["delta"]["text"]),
        "message_delta" => {
            draft.ending = event["delta"]["stop_reason"].as_str().map(ending).or(draft.ending);
            if let (Some(tokens), Some(output)) =
                (draft.tokens.as_mut(), event["usage"]["output_tokens"].as_u64())
            {
                tokens.output = output;
            }
            Heard::Nothing
        }
        "message_stop" => {
            (draft.is_whole, draft.is_over) = (true, true);
            Heard::Nothing
        }
        "error" => Heard::Failed(Complaint::of(&event["error"])),
        _ => Heard::Nothing,
    }
}

fn ending(reason: &str) -> Ending {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Ending::Length,
        "refusal" => Ending::Refused,
        _ => Ending::Finished,
    }
}
