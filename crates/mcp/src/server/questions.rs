//! Questions of servers and of the policy, as the protocol puts them to a client.

use gristmill_gateway::domain::one_line;
use gristmill_gateway::ports::{APPROVAL_ANSWERS, PLAN_ANSWERS, QuestionAnswer, QuestionKind};
use gristmill_gateway::service::PendingQuestion;
use rmcp::model::{ClientResult, CustomRequest, InputRequest, InputRequests, InputResponses, ServerRequest};
use rmcp::service::{Peer, RoleServer};
use serde_json::{Value, json};

/// A line of a question.
const LINE_CHARS_MAX: usize = 2_000;
/// The protocol's forms are flat; what is deeper is not shown to anyone.
const SCHEMA_DEPTH_MAX: usize = 16;

/// The parameters of `elicitation/create`. Whoever asks is named: the user must know who it is.
fn parameters(pending: &PendingQuestion) -> Value {
    let question = &pending.question;
    let message = format!("{} asks: {}", question.server, harmless(&question.message));
    match &question.asked {
        QuestionKind::Approval => {
            let message = format!("Gristmill asks: {}", harmless(&question.message));
            json!({"mode": "form", "message": message, "requestedSchema": form_of(&APPROVAL_ANSWERS)})
        }
        QuestionKind::Plan => {
            let message = format!("Gristmill asks: {}", harmless(&question.message));
            json!({"mode": "form", "message": message, "requestedSchema": form_of(&PLAN_ANSWERS)})
        }
        QuestionKind::Form { schema } => {
            let mut schema = schema.clone();
            clean_words(&mut schema, SCHEMA_DEPTH_MAX);
            json!({"mode": "form", "message": message, "requestedSchema": schema})
        }
        QuestionKind::Url { url, id } => {
            json!({"mode": "url", "message": message, "url": url, "elicitationId": id})
        }
    }
}

/// The answers that are known, the usual one first.
fn form_of(answers: &[(&str, &str)]) -> Value {
    let answers: Vec<Value> =
        answers.iter().map(|(answer, words)| json!({"const": answer, "title": words})).collect();
    let answer = json!({
        "type": "string",
        "title": "Allow it?",
        "oneOf": answers,
    });
    json!({"type": "object", "properties": {"answer": answer}, "required": ["answer"]})
}

/// A server's words for a person: nothing hidden in them, and every line of them indented, so that
/// none can pass for ours.
fn harmless(words: &str) -> String {
    let lines: Vec<String> = words.lines().map(|line| one_line(line, LINE_CHARS_MAX)).collect();
    lines.join("\n    ")
}

/// Titles and descriptions, at any depth that a form can have.
fn clean_words(schema: &mut Value, depth: usize) {
    if depth == 0 {
        return;
    }
    match schema {
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                match value {
                    Value::String(words) if matches!(name.as_str(), "title" | "description") => {
                        *words = one_line(words, LINE_CHARS_MAX);
                    }
                    value => clean_words(value, depth - 1),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clean_words(item, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What the questions are called between the rounds of one request.
fn key(number: u64) -> String {
    format!("question-{number}")
}

/// The questions as parts of an answer that the client completes. Those that cannot be put in the
/// protocol's terms are left out.
pub(super) fn input_requests(questions: &[PendingQuestion]) -> InputRequests {
    let request = |pending: &PendingQuestion| {
        let request = json!({"method": "elicitation/create", "params": parameters(pending)});
        let request: InputRequest = serde_json::from_value(request).ok()?;
        matches!(request, InputRequest::Elicitation(_)).then(|| (key(pending.number), request))
    };
    questions.iter().filter_map(request).collect()
}

/// What a client answered to one of the questions, if it did.
pub(super) fn answer_to(number: u64, responses: &InputResponses) -> Option<QuestionAnswer> {
    read_answer(responses.get(&key(number))?)
}

/// Asks a client of the older protocol, and waits for its answer.
pub(super) async fn ask(peer: Peer<RoleServer>, pending: PendingQuestion) -> (u64, QuestionAnswer) {
    let request = CustomRequest::new("elicitation/create", Some(parameters(&pending)));
    let answer = match peer.send_request(ServerRequest::CustomRequest(request)).await {
        Ok(ClientResult::ElicitResult(result)) => serde_json::to_value(result).ok(),
        Ok(ClientResult::CustomResult(result)) => Some(result.0),
        Ok(_) | Err(_) => None,
    };
    let answer = answer.as_ref().and_then(read_answer);
    (pending.number, answer.unwrap_or(QuestionAnswer::Cancel))
}

fn read_answer(value: &Value) -> Option<QuestionAnswer> {
    match value["action"].as_str()? {
        "accept" => {
            Some(QuestionAnswer::Accept(value.get("content").filter(|content| !content.is_null()).cloned()))
        }
        "decline" => Some(QuestionAnswer::Decline),
        "cancel" => Some(QuestionAnswer::Cancel),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_gateway::ports::Question;

    #[test]
    fn a_servers_words_are_shown_as_its_own_and_nothing_is_hidden_in_them() {
        let schema =
            json!({"type": "object", "properties": {"a": {"title": "\u{1b}[31mred", "const": "\u{1b}"}}});
        let question = Question {
            server: "shop".to_owned(),
            message: "Size?\n\u{1b}]0;x\u{7}\ngristmill asks: your password?".to_owned(),
            asked: QuestionKind::Form { schema },
        };
        assert_eq!(
            parameters(&PendingQuestion { number: 0, question }),
            json!({
                "mode": "form",
                "message": "shop asks: Size?\n    \\u{1b}]0;x\\u{7}\n    gristmill asks: your password?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {"a": {"title": "\\u{1b}[31mred", "const": "\u{1b}"}},
                },
            })
        );
    }
}
