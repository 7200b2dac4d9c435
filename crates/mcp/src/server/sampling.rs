//! The client's own model as one that writes programs: `sampling/createMessage`, where the client offers it. Only
//! clients of the older protocol take requests of a server.
//!
//! Walls: what comes back is a model's answer like any other. Its bytes were bounded as every message is.

use std::sync::Arc;

use gristmill_gateway::domain::one_line;
use gristmill_gateway::ports::{
    BoxFuture, Ending, Model, ModelFailure, ModelName, Price, Prompt, Speaker, WritingWatch, Written,
};
use rmcp::model::{ClientResult, CustomRequest, ServerRequest};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Value, json};

/// What the provider is called.
const PROVIDER: &str = "client";

const REASON_CHARS_MAX: usize = 300;

pub(super) struct ClientModel {
    peer: Peer<RoleServer>,
}

impl ClientModel {
    /// `None` if the client doesn't lend its model, or can't be asked.
    pub fn of(context: &RequestContext<RoleServer>, is_modern: bool) -> Option<Arc<dyn Model>> {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let offers = !is_modern && capabilities.sampling.is_some();
        offers.then(|| Arc::new(Self { peer: context.peer.clone() }) as Arc<dyn Model>)
    }
}

impl Model for ClientModel {
    fn name(&self) -> ModelName {
        // Which one it is, the client decides with each answer.
        ModelName { provider: PROVIDER.to_owned(), model: "model".to_owned() }
    }

    fn price(&self) -> Option<Price> {
        None
    }

    fn write<'a>(
        &'a self,
        prompt: &'a Prompt,
        watch: &'a dyn WritingWatch,
    ) -> BoxFuture<'a, Result<Written, ModelFailure>> {
        Box::pin(async move {
            let request = CustomRequest::new("sampling/createMessage", Some(parameters(prompt)));
            let answer = self.peer.send_request(ServerRequest::CustomRequest(request)).await;
            let answer = match answer {
                Ok(ClientResult::CreateMessageResult(result)) => serde_json::to_value(result).ok(),
                Ok(ClientResult::CustomResult(result)) => Some(result.0),
                Ok(_) => None,
                Err(error) => {
                    let reason = one_line(&error.to_string(), REASON_CHARS_MAX);
                    return Err(ModelFailure::Unreachable { provider: PROVIDER.to_owned(), reason });
                }
            };
            let written = answer.as_ref().and_then(read).ok_or_else(|| ModelFailure::Garbled {
                provider: PROVIDER.to_owned(),
                reason: "the answer has no text".to_owned(),
            })?;
            watch.piece(&written.text);
            Ok(written)
        })
    }
}

fn parameters(prompt: &Prompt) -> Value {
    let messages: Vec<Value> = prompt
        .turns
        .iter()
        .map(|turn| {
            let role = match turn.speaker {
                Speaker::Us => "user",
                Speaker::Model => "assistant",
            };
            json!({"role": role, "content": {"type": "text", "text": turn.text}})
        })
        .collect();
    json!({
        "messages": messages,
        "systemPrompt": prompt.system,
        "includeContext": "none",
        "maxTokens": prompt.output_tokens_max,
    })
}

/// The text of an answer: one block, or those of several that are text.
fn read(answer: &Value) -> Option<Written> {
    let content = &answer["content"];
    let blocks = content.as_array().map_or_else(|| std::slice::from_ref(content), Vec::as_slice);
    let is_text = |block: &&Value| block["type"] == "text";
    let texts: Vec<&str> = blocks.iter().filter(is_text).filter_map(|block| block["text"].as_str()).collect();
    if texts.is_empty() {
        return None;
    }
    let ending = match answer["stopReason"].as_str() {
        Some("maxTokens") => Ending::Length,
        Some("refusal") => Ending::Refused,
        Some(_) | None => Ending::Finished,
    };
    Some(Written { text: texts.join("\n"), tokens: None, ending })
}

#[cfg(test)]
mod tests {
    use gristmill_gateway::ports::Turn;

    use super::*;

    #[test]
    fn a_prompt_becomes_messages() {
        let turn = |speaker, text: &str| Turn { speaker, text: text.to_owned() };
        let prompt = Prompt {
            system: "s".to_owned(),
            turns: vec![turn(Speaker::Us, "a"), turn(Speaker::Model, "b")],
            output_tokens_max: 9,
        };
        let expected = json!({
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "a"}},
                {"role": "assistant", "content": {"type": "text", "text": "b"}},
            ],
            "systemPrompt": "s",
            "includeContext": "none",
            "maxTokens": 9,
        });
        assert_eq!(parameters(&prompt), expected);
    }

    #[test]
    fn an_answer_is_read_in_every_form() {
        let check = |answer: Value, expected: Option<(&str, Ending)>| {
            let found = read(&answer).map(|written| (written.text, written.ending));
            assert_eq!(found, expected.map(|(text, ending)| (text.to_owned(), ending)), "{answer}");
        };
        let text = json!({"type": "text", "text": "x"});
        check(json!({"content": text, "stopReason": "endTurn"}), Some(("x", Ending::Finished)));
        check(json!({"content": [text, {"type": "image"}, text]}), Some(("x\nx", Ending::Finished)));
        check(json!({"content": text, "stopReason": "maxTokens"}), Some(("x", Ending::Length)));
        check(json!({"content": {"type": "image", "data": ""}}), None);
        check(json!({"content": {"type": "text", "text": 1}}), None);
        check(json!([]), None);
    }
}
