//! Questions of servers, as the protocol puts them to a client.

use gristmill_gateway::executions::PendingQuestion;
use gristmill_gateway::ports::{QuestionAnswer, QuestionKind};
use rmcp::model::{ClientResult, CustomRequest, InputRequest, InputRequests, InputResponses, ServerRequest};
use rmcp::service::{Peer, RoleServer};
use serde_json::{Value, json};

/// The parameters of `elicitation/create`. The server that asks is named: the user must know who it is.
fn parameters(pending: &PendingQuestion) -> Value {
    let question = &pending.question;
    let message = format!("{} asks: {}", question.server, question.message);
    match &question.asked {
        QuestionKind::Form { schema } => {
            json!({"mode": "form", "message": message, "requestedSchema": schema})
        }
        QuestionKind::Url { url, id } => {
            json!({"mode": "url", "message": message, "url": url, "elicitationId": id})
        }
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
