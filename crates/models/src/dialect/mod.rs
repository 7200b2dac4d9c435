//! How providers are spoken to: what a request looks like, and what the events of an answer mean.
//!
//! Walls: no network. Events are hostile: whatever isn't understood is left out, and the caller bounds what
//! the rest comes to.

mod chat;
mod messages;
mod responses;

use gristmill_gateway::ports::{Ending, Prompt, Speaker, TokensUsed};
use serde_json::Value;

use crate::complaint::Complaint;
use crate::parameters::Parameters;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// OpenAI's newer one.
    Responses,
    /// OpenAI's older one, which everybody speaks.
    Chat,
    /// Anthropic's.
    Messages,
}

/// One request, before it is written down.
pub(crate) struct Ask<'a> {
    pub model: &'a str,
    pub prompt: &'a Prompt,
    pub output_tokens_max: u32,
    pub temperature: Option<f64>,
    /// What is known of what the model takes.
    pub parameters: Parameters,
}

impl Ask<'_> {
    /// The temperature, if there is one and the model takes it.
    fn sent_temperature(&self) -> Option<f64> {
        self.temperature.filter(|_| self.parameters.takes_temperature)
    }
}

/// An answer while it is written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    pub text: String,
    pub tokens: Option<TokensUsed>,
    /// Once it is known.
    pub ending: Option<Ending>,
    /// The provider or the model declined, whatever the ending says.
    pub is_refused: bool,
    /// The text is whole. How many tokens it took may follow.
    pub is_whole: bool,
    /// Nothing follows.
    pub is_over: bool,
}

/// What an event means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Nothing that the text needs.
    Nothing,
    /// The next piece of the text.
    Piece(String),
    /// The provider gave up in the middle.
    Failed(Complaint),
}

impl Dialect {
    pub fn body(self, ask: &Ask<'_>) -> Value {
        match self {
            Self::Responses => responses::body(ask),
            Self::Chat => chat::body(ask),
            Self::Messages => messages::body(ask),
        }
    }

    /// What an event adds to the draft; its piece is for the caller to add. `None` if it isn't readable.
    pub fn hear(self, draft: &mut Draft, data: &str) -> Option<Heard> {
        if self == Self::Chat && data.trim() == "[DONE]" {
            (draft.is_whole, draft.is_over) = (true, true);
            return Some(Heard::Nothing);
        }
        let event: Value = serde_json::from_str(data).ok()?;
        if !event.is_object() {
            return None;
        }
        Some(match self {
            Self::Responses => responses::hear(draft, &event),
            Self::Chat => chat::hear(draft, &event),
            Self::Messages => messages::hear(draft, &event),
        })
    }
}

/// The turns, as all dialects write them.
fn turns(prompt: &Prompt) -> impl Iterator<Item = Value> + '_ {
    prompt.turns.iter().map(|turn| {
        let role = match turn.speaker {
            Speaker::Us => "user",
            Speaker::Model => "assistant",
        };
        serde_json::json!({ "role": role, "content": turn.text })
    })
}

/// The next piece, if there is anything in it.
fn piece(text: &Value) -> Heard {
    match text.as_str() {
        Some(text) if !text.is_empty() => Heard::Piece(text.to_owned()),
        Some(_) | None => Heard::Nothing,
    }
}

/// Two counts of a usage.
fn counted(usage: &Value, input: &str, output: &str) -> Option<TokensUsed> {
    Some(TokensUsed { input: usage[input].as_u64()?, output: usage[output].as_u64()? })
}

#[cfg(test)]
mod tests {
    use gristmill_gateway::ports::Turn;
    use serde_json::json;

    use super::*;
    use crate::parameters::OutputLimit;

    fn prompt() -> Prompt {
        let turn = |speaker, text: &str| Turn { speaker, text: text.to_owned() };
        Prompt {
            system: "be brief".to_owned(),
            turns: vec![turn(Speaker::Us, "hi"), turn(Speaker::Model, "yes?"), turn(Speaker::Us, "go")],
            output_tokens_max: 50,
        }
    }

    fn body(dialect: Dialect, parameters: Parameters) -> Value {
        let prompt = prompt();
        dialect.body(&Ask {
            model: "m",
            prompt: &prompt,
            output_tokens_max: 50,
            temperature: Some(0.5),
            parameters,
        })
    }

    #[test]
    fn a_request_is_written_as_each_dialect_has_it() {
        let turns = json!([
            { "role": "user", "content": "hi" },
            { "role": "assistant", "content": "yes?" },
            { "role": "user", "content": "go" },
        ]);
        let all = Parameters::new(OutputLimit::MaxTokens);
        assert_eq!(
            body(Dialect::Messages, all),
            json!({ "model": "m", "max_tokens": 50, "system": "be brief", "messages": turns, "stream": true, "temperature": 0.5 })
        );
        assert_eq!(
            body(Dialect::Responses, all),
            json!({ "model": "m", "instructions": "be brief", "input": turns, "max_output_tokens": 50, "stream": true, "store": false, "temperature": 0.5 })
        );
        let chat = body(Dialect::Chat, all);
        assert_eq!(chat["messages"][0], json!({ "role": "system", "content": "be brief" }));
        assert_eq!(chat["messages"].as_array().map(Vec::len), Some(4));
        assert_eq!(chat["stream_options"], json!({ "include_usage": true }));
        assert_eq!((&chat["max_tokens"], &chat["temperature"]), (&json!(50), &json!(0.5)));
    }

    #[test]
    fn what_a_model_does_not_take_is_left_out() {
        let few = Parameters {
            output_limit: OutputLimit::MaxCompletionTokens,
            takes_temperature: false,
            takes_stream_options: false,
        };
        let chat = body(Dialect::Chat, few);
        assert_eq!(chat["max_completion_tokens"], json!(50));
        for dialect in [Dialect::Chat, Dialect::Responses, Dialect::Messages] {
            let body = body(dialect, few);
            for absent in ["temperature", "stream_options"] {
                assert!(body.get(absent).is_none(), "{dialect:?} {absent}");
            }
        }
        assert!(chat.get("max_tokens").is_none());
    }

    /// What events come to: the draft, with its text.
    fn heard(dialect: Dialect, events: &[Value]) -> Draft {
        let mut draft = Draft::default();
        for event in events {
            match dialect.hear(&mut draft, &event.to_string()) {
                Some(Heard::Piece(text)) => draft.text.push_str(&text),
                Some(Heard::Nothing) => {}
                other => panic!("{event}: {other:?}"),
            }
        }
        draft
    }

    fn whole(text: &str, ending: Ending, is_refused: bool, is_over: bool) -> Draft {
        let tokens = Some(TokensUsed { input: 7, output: 3 });
        Draft { text: text.to_owned(), tokens, ending: Some(ending), is_refused, is_whole: true, is_over }
    }

    #[test]
    fn chat_streams_are_heard_with_usage_behind_the_end() {
        let chunk = |delta: Value, reason: Value| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }], "usage": null });
        let usage = json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 3 } });
        let start = json!({ "choices": [], "prompt_filter_results": [] });
        let role = chunk(json!({ "role": "assistant", "content": "" }), Value::Null);
        let said = chunk(json!({ "content": "a" }), Value::Null);
        let end = |reason: &str| chunk(json!({ "content": null }), json!(reason));
        for (reason, ending) in [
            ("stop", Ending::Finished),
            ("length", Ending::Length),
            ("content_filter", Ending::Refused),
            ("tool_calls", Ending::Finished),
        ] {
            let draft = heard(
                Dialect::Chat,
                &[start.clone(), role.clone(), said.clone(), end(reason), usage.clone()],
            );
            assert_eq!(draft, whole("a", ending, false, false), "{reason}");
        }
        let refusal = chunk(json!({ "refusal": "no" }), Value::Null);
        let draft = heard(Dialect::Chat, &[refusal, end("stop"), usage]);
        assert_eq!(draft, whole("no", Ending::Finished, true, false));
    }

    #[test]
    fn responses_streams_are_heard() {
        let delta = json!({ "type": "response.output_text.delta", "delta": "a" });
        let reasoning = json!({ "type": "response.reasoning_text.delta", "delta": "hm" });
        let usage = json!({ "input_tokens": 7, "output_tokens": 3 });
        let completed =
            json!({ "type": "response.completed", "response": { "status": "completed", "usage": usage } });
        assert_eq!(
            heard(Dialect::Responses, &[reasoning, delta.clone(), completed]),
            whole("a", Ending::Finished, false, true)
        );
        for (reason, ending) in [("max_output_tokens", Ending::Length), ("content_filter", Ending::Refused)] {
            let details = json!({ "reason": reason });
            let incomplete = json!({ "type": "response.incomplete", "response": { "incomplete_details": details, "usage": usage } });
            assert_eq!(
                heard(Dialect::Responses, &[delta.clone(), incomplete]),
                whole("a", ending, false, true)
            );
        }
    }

    #[test]
    fn messages_streams_are_heard_and_cached_input_is_counted() {
        let usage = json!({ "input_tokens": 4, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1, "output_tokens": 1 });
        let start = json!({ "type": "message_start", "message": { "usage": usage } });
        let text = json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": "a" } });
        let thinking =
            json!({ "type": "content_block_delta", "delta": { "type": "thinking_delta", "thinking": "hm" } });
        let stop = json!({ "type": "message_stop" });
        for (reason, ending) in [
            ("end_turn", Ending::Finished),
            ("max_tokens", Ending::Length),
            ("model_context_window_exceeded", Ending::Length),
            ("refusal", Ending::Refused),
        ] {
            let delta = json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 3 } });
            let events = [start.clone(), json!({ "type": "ping" }), thinking.clone(), text.clone(), delta];
            let half = heard(Dialect::Messages, &events);
            assert!(!half.is_whole && !half.is_over, "{reason}");
            let draft = heard(Dialect::Messages, &[events.as_slice(), std::slice::from_ref(&stop)].concat());
            assert_eq!(draft, whole("a", ending, false, true), "{reason}");
        }
    }

    #[test]
    fn providers_that_give_up_in_the_middle_are_heard() {
        let failed =
            |dialect: Dialect, event: Value| match dialect.hear(&mut Draft::default(), &event.to_string()) {
                Some(Heard::Failed(complaint)) => (complaint.is_any_of(&["overloaded"]), complaint.message),
                other => panic!("{other:?}"),
            };
        let error = json!({ "type": "overloaded", "message": "too many" });
        let expected = (true, "too many".to_owned());
        assert_eq!(failed(Dialect::Chat, json!({ "error": error })), expected);
        assert_eq!(failed(Dialect::Messages, json!({ "type": "error", "error": error })), expected);
        let response = json!({ "error": { "code": "overloaded", "message": "too many" } });
        assert_eq!(
            failed(Dialect::Responses, json!({ "type": "response.failed", "response": response })),
            expected
        );
        let flat = json!({ "type": "error", "code": "overloaded", "message": "too many" });
        assert_eq!(failed(Dialect::Responses, flat), expected);
    }

    #[test]
    fn what_is_no_event_is_not_taken_for_one() {
        for dialect in [Dialect::Chat, Dialect::Responses, Dialect::Messages] {
            for wrong in ["{", "null", "[]", "3", "", "\"text\""] {
                assert_eq!(dialect.hear(&mut Draft::default(), wrong), None, "{dialect:?} {wrong}");
            }
            for odd in ["{}", "{\"choices\":3,\"type\":[]}", "{\"choices\":[3],\"usage\":\"x\"}"] {
                let mut draft = Draft::default();
                assert_eq!(dialect.hear(&mut draft, odd), Some(Heard::Nothing), "{dialect:?} {odd}");
                assert_eq!(draft, Draft::default());
            }
        }
    }
}
