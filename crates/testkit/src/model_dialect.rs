//! What providers of language models send: the events of an answer, in each dialect.

use serde_json::{Value, json};

/// In which dialect a scripted provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelDialect {
    /// OpenAI's newer one.
    Responses,
    /// OpenAI's older one, of Azure and of most others.
    Chat,
    /// Anthropic's.
    Messages,
}

impl ModelDialect {
    pub const ALL: [Self; 3] = [Self::Responses, Self::Chat, Self::Messages];

    /// What comes before a text.
    pub fn opening(self, input_tokens: u64) -> String {
        match self {
            Self::Responses => event(&json!({ "type": "response.created", "response": {} })),
            Self::Chat => chunk(&json!({ "role": "assistant", "content": "" }), &Value::Null),
            Self::Messages => {
                let usage = json!({ "input_tokens": input_tokens, "output_tokens": 1 });
                event(&json!({ "type": "message_start", "message": { "usage": usage } }))
                    + &event(&json!({ "type": "ping" }))
            }
        }
    }

    /// One piece of a text.
    pub fn piece(self, text: &str) -> String {
        match self {
            Self::Responses => event(&json!({ "type": "response.output_text.delta", "delta": text })),
            Self::Chat => chunk(&json!({ "content": text }), &Value::Null),
            Self::Messages => {
                let delta = json!({ "type": "text_delta", "text": text });
                event(&json!({ "type": "content_block_delta", "index": 0, "delta": delta }))
            }
        }
    }

    /// What comes behind a text that is whole.
    pub fn closing(self, input_tokens: u64, output_tokens: u64) -> String {
        match self {
            Self::Responses => {
                let usage = json!({ "input_tokens": input_tokens, "output_tokens": output_tokens });
                let response = json!({ "status": "completed", "usage": usage });
                event(&json!({ "type": "response.completed", "response": response }))
            }
            Self::Chat => {
                let usage = json!({ "prompt_tokens": input_tokens, "completion_tokens": output_tokens });
                chunk(&json!({}), &json!("stop"))
                    + &event(&json!({ "choices": [], "usage": usage }))
                    + "data: [DONE]\n\n"
            }
            Self::Messages => {
                let (delta, usage) =
                    (json!({ "stop_reason": "end_turn" }), json!({ "output_tokens": output_tokens }));
                event(&json!({ "type": "message_delta", "delta": delta, "usage": usage }))
                    + &event(&json!({ "type": "message_stop" }))
            }
        }
    }
}

fn event(value: &Value) -> String {
    match value["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {value}\n\n"),
        None => format!("data: {value}\n\n"),
    }
}

fn chunk(delta: &Value, finish_reason: &Value) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
    event(&json!({ "object": "chat.completion.chunk", "choices": [choice] }))
}
