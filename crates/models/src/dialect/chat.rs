//! Chat Completions.

use gristmill_gateway::ports::Ending;
use serde_json::{Value, json};

use super::{Ask, Draft, Heard, counted, piece, turns};
use crate::complaint::Complaint;
use crate::parameters::OutputLimit;

pub fn body(ask: &Ask<'_>) -> Value {
    let system = json!({ "role": "system", "content": ask.prompt.system });
    let messages: Vec<Value> = std::iter::once(system).chain(turns(ask.prompt)).collect();
    let mut body = json!({ "model": ask.model, "messages": messages, "stream": true });
    match ask.parameters.output_limit {
        OutputLimit::MaxTokens => body["max_tokens"] = json!(ask.output_tokens_max),
        OutputLimit::MaxCompletionTokens => body["max_completion_tokens"] = json!(ask.output_tokens_max),
    }
    if ask.parameters.takes_stream_options {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if let Some(temperature) = ask.sent_temperature() {
        body["temperature"] = json!(temperature);
    }
    body
}

pub fn hear(draft: &mut Draft, event: &Value) -> Heard {
    let error = &event["error"];
    if error.is_object() || error.is_string() {
        return Heard::Failed(Complaint::of(error));
    }
    if let Some(tokens) = counted(&event["usage"], "prompt_tokens", "completion_tokens") {
        draft.tokens = Some(tokens);
    }
    let choice = &event["choices"][0];
    if let Some(reason) = choice["finish_reason"].as_str() {
        draft.is_whole = true;
        draft.ending = Some(match reason {
            "length" => Ending::Length,
            "content_filter" => Ending::Refused,
            _ => Ending::Finished,
        });
    }
    let delta = &choice["delta"];
    let refusal = piece(&delta["refusal"]);
    if refusal != Heard::Nothing {
        draft.is_refused = true;
        return refusal;
    }
    piece(&delta["content"])
}
