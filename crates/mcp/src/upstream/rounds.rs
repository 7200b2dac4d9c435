//! Results that are questions, as servers of the modern era ask: each is answered, and the request is
//! made again with the answers.

use gristmill_gateway::ports::Asker;
use gristmill_gateway::upstream::UpstreamFailure;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::redact::Redactor;
use super::{declined, question};

/// Rounds of questions that a server may ask before it must answer.
pub(crate) const ROUNDS_MAX: usize = 16;

/// Questions in one round. More are no conversation.
const REQUESTS_MAX: usize = 8;

/// A result that is a question.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InputRequired {
    #[serde(default)]
    result_type: Option<String>,
    #[serde(default)]
    input_requests: Map<String, Value>,
    #[serde(default)]
    request_state: Option<Value>,
}

#[derive(Deserialize)]
struct Requested<'a> {
    #[serde(default)]
    method: String,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// The questions in a result, if it is no answer.
pub(crate) fn questions_in(raw: &str) -> Result<Option<InputRequired>, UpstreamFailure> {
    if !raw.contains("resultType") {
        return Ok(None);
    }
    let found: InputRequired = serde_json::from_str(raw)
        .map_err(|error| UpstreamFailure::BadAnswer(format!("can't read its answer: {error}")))?;
    match found.result_type.as_deref() {
        None | Some("complete") => Ok(None),
        Some("input_required") => Ok(Some(found)),
        Some(other) => {
            let other: String = other.chars().take(60).collect();
            Err(UpstreamFailure::BadAnswer(format!("unknown type of answer: {other}")))
        }
    }
}

impl InputRequired {
    /// Answers each part as the same request of a server would be answered, one after the other, and
    /// puts the answers into the parameters of the next round.
    pub(crate) async fn answer(
        self,
        server: &str,
        redactor: &Redactor,
        asker: &Asker,
        params: &mut Map<String, Value>,
    ) -> Result<(), UpstreamFailure> {
        let bad = |why: String| Err(UpstreamFailure::BadAnswer(why));
        if self.input_requests.len() > REQUESTS_MAX {
            return bad(format!(
                "it asks {} questions at once; the limit is {REQUESTS_MAX}",
                self.input_requests.len()
            ));
        }
        let mut responses = Map::new();
        for (key, request) in self.input_requests {
            let written = request.to_string();
            let request: Requested<'_> = serde_json::from_str(&written)
                .map_err(|error| UpstreamFailure::BadAnswer(format!("can't read its question: {error}")))?;
            let response = match request.method.as_str() {
                question::ELICITATION => {
                    let params = request.params.map_or("{}", RawValue::get);
                    question::ask(server, params, redactor, asker).await
                }
                "roots/list" => json!({ "roots": [] }),
                "sampling/createMessage" => {
                    return bad(format!("it asked for a model; {}", declined::SAMPLING));
                }
                _ => return bad("it asked for something Gristmill doesn't support".to_owned()),
            };
            responses.insert(key, response);
        }
        params.insert("inputResponses".to_owned(), responses.into());
        match self.request_state {
            Some(state) => params.insert("requestState".to_owned(), state),
            None => params.remove("requestState"),
        };
        Ok(())
    }
}
