//! OpenAI's Responses.

use gristmill_gateway::ports::Ending;
use serde_json::{Value, json};

use super::{Ask, Draft, Heard, counted, piece, turns};
use crate::complaint::Complaint;

pub fn body(ask: &Ask<'_>) -> Value {
    let mut body = json!({
        "model": ask.model,
        "instructions": ask.prompt.system,
        "input": turns(ask.prompt).collect::<Vec<_>>(),
        "max_output_tokens": ask.output_tokens_max,
        "stream": true,
        // Nothing is to be kept there.
        "store": false,
    });
    if let Some(temperature) = ask.sent_temperature() {
        body["temperature"] = json!(temperature);
    }
    body
}

pub fn hear(draft: &mut Draft, event: &Value) -> Heard {
    let response = &event["response"];
    match event["type"].as_str().unwrap_or_default() {
        "response.output_text.delta" => piece(&event["delta"]),
        "response.refusal.delta" => {
            draft.is_refused = true;
            piece(&event["delta"])
        }
        "response.completed" => over(draft, response, Ending::Finished),
        "response.incomplete" => {
            let is_filtered = response["incomplete_details"]["reason"] == "content_filter";
            over(draft, response, if is_filtered { Ending::Refused } else { Ending::Length })
        }
        "response.failed" | "response.cancelled" => Heard::Failed(Complaint::of(&response["error"])),
        "error" if event["error"].is_object() => Heard::Failed(Complaint::of(&event["error"])),
        "error" => Heard::Failed(Complaint::of(event)),
        _ => Heard::Nothing,
    }
}

fn over(draft: &mut Draft, response: &Value, ending: Ending) -> Heard {
    draft.tokens = counted(&response["usage"], "input_tokens", "output_tokens");
    draft.ending = Some(ending);
    (draft.is_whole, draft.is_over) = (true, true);
    Heard::Nothing
}
