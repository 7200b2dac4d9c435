//! One check of every incoming message, on its bytes, before `rmcp` sees it: the same for standard
//! input and for HTTP. What passes is a message that `rmcp` understands as what it is; what does
//! not is answered with what is wrong.

use gristmill_gateway::domain::cut_chars;
use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, ClientJsonRpcMessage, ClientNotification, ClientRequest,
    ConstString, JsonRpcRequest, RequestId,
};
use serde_json::{Map, Value};

use super::json_shape;
use super::methods::{self, Era, kind};
use super::refusal::{Fault, Refusal};

/// From this version on there is no handshake.
pub(crate) const MODERN: &str = "2026-07-28";

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// How much of a foreign word is repeated in an answer.
const WORD_CHARACTERS_MAX: usize = 80;

/// What a message is, besides its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Request {
        id: RequestId,
        method: String,
        is_modern: bool,
    },
    Notification {
        method: String,
        cancels: Option<RequestId>,
    },
    /// Is one, to a request of ours.
    Response,
}

/// A message that can be passed on.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) kind: Kind,
    /// For `rmcp`.
    pub(crate) message: ClientJsonRpcMessage,
    /// The same as JSON: exactly what was checked, so that nobody reads another meaning into keys
    /// that are there twice.
    pub(crate) text: String,
}

/// What was refused, and whether an answer is due: nobody waits for one to a notification.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) refusal: Refusal,
    pub(crate) was_notification: bool,
    /// Whether the client speaks a version without a handshake, as far as the message says.
    pub(crate) is_modern: bool,
}

/// Checks one message. `says_modern`: what comes with it says that it is of a version without a
/// handshake, as a header can.
pub(crate) fn check(bytes: &[u8], says_modern: bool) -> Result<Checked, Refused> {
    let early = |refusal| Refused { refusal, was_notification: false, is_modern: says_modern };
    let value = parse(bytes).map_err(early)?;
    let object = envelope(&value).map_err(early)?;
    let is_discover = object.get("method").is_some_and(|method| method == methods::DISCOVER);
    let is_modern = says_modern || is_discover || has_modern_meta(object);
    let refused = |refusal, was_notification| Refused { refusal, was_notification, is_modern };
    let id = read_id(object).map_err(|refusal| refused(refusal, false))?;
    let fail = |fault, message: String| refused(Refusal::new(fault, message).with_id(id.clone()), false);
    let invalid = |why: String| fail(Fault::Request, why);
    let kind = match (method_of(object).map_err(invalid)?, &id) {
        (Some(method), Some(id)) => {
            no_result_beside_method(object).map_err(invalid)?;
            let params = params_of(object).map_err(invalid)?;
            check_request(method, params, is_modern).map_err(|(fault, why)| fail(fault, why))?;
            Kind::Request { id: id.clone(), method: method.to_owned(), is_modern }
        }
        (Some(method), None) => check_notification(object, method)
            .map_err(|(fault, why)| refused(Refusal::new(fault, why), true))?,
        (None, _) => {
            // Its id is one of ours: an answer under it would be taken for something else.
            let unanswerable = |why| refused(Refusal::new(Fault::Request, why), false);
            check_response(object).map_err(unanswerable)?;
            Kind::Response
        }
    };
    // Through text: numbers of any size survive that, and it is how `rmcp` reads.
    let text = serde_json::to_string(&value).unwrap_or_else(|_| value.to_string());
    // Not beside its copy: parsed it is many times as large as its text.
    drop(value);
    match message_of(&kind, &text) {
        Ok(message) if !is_misunderstood(&message) => Ok(Checked { kind, message, text }),
        Ok(_) | Err(_) => {
            let was_notification = matches!(kind, Kind::Notification { .. });
            let id = if kind == Kind::Response { None } else { id };
            let refusal = Refusal::new(Fault::Params, misunderstood(&kind)).with_id(id);
            Err(refused(refusal, was_notification))
        }
    }
}

/// As `rmcp` reads it. A call of a tool is known by its method, and most messages are calls: others are compared with
/// every kind of message that there is.
fn message_of(kind: &Kind, text: &str) -> serde_json::Result<ClientJsonRpcMessage> {
    if let Kind::Request { method, .. } = kind
        && method == CallToolRequestMethod::VALUE
        && let Ok(call) = serde_json::from_str::<JsonRpcRequest<CallToolRequest>>(text)
    {
        return Ok(ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(call.request), call.id));
    }
    serde_json::from_str(text)
}

fn parse(bytes: &[u8]) -> Result<Value, Refusal> {
    let failed = |why: String| Refusal::new(Fault::Parse, format!("parse error: {why}"));
    let text = std::str::from_utf8(bytes)
        .map_err(|error| failed(format!("not UTF-8 at byte {}", error.valid_up_to() + 1)))?;
    // Whoever waits for an answer knows it by its id, also where nothing else is read.
    json_shape::check(bytes).map_err(|error| {
        let id = json_shape::id_of_request(bytes).as_ref().and_then(id_of);
        Refusal::new(Fault::Request, error.to_string()).with_id(id)
    })?;
    serde_json::from_str(text).map_err(|error| failed(error.to_string()))
}

fn envelope(value: &Value) -> Result<&Map<String, Value>, Refusal> {
    let invalid = |why: String| Refusal::new(Fault::Request, why);
    let object = match value {
        Value::Object(object) => object,
        Value::Array(_) => {
            return Err(invalid("batches aren't supported; send one message at a time".to_owned()));
        }
        other => return Err(invalid(format!("a message must be an object, not {}", kind(other)))),
    };
    match object.get("jsonrpc") {
        Some(Value::String(version)) if version == "2.0" => Ok(object),
        _ => Err(invalid("`jsonrpc` must be \"2.0\"".to_owned()).with_id(object.get("id").and_then(id_of))),
    }
}

fn read_id(object: &Map<String, Value>) -> Result<Option<RequestId>, Refusal> {
    let Some(id) = object.get("id") else { return Ok(None) };
    // An error that belongs to no request of ours.
    if id.is_null() && object.contains_key("error") && !object.contains_key("method") {
        return Ok(None);
    }
    let what = match id {
        Value::Number(number) => number.to_string().chars().take(WORD_CHARACTERS_MAX).collect(),
        other => kind(other).to_owned(),
    };
    let why = || format!("`id` must be a string or an integer of 64 bits, not {what}");
    id_of(id).map(Some).ok_or_else(|| Refusal::new(Fault::Request, why()))
}

fn id_of(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        other => other.as_i64().map(RequestId::Number),
    }
}

fn method_of(object: &Map<String, Value>) -> Result<Option<&str>, String> {
    match object.get("method") {
        None => Ok(None),
        Some(Value::String(method)) => Ok(Some(method)),
        Some(other) => Err(format!("`method` must be a string, not {}", kind(other))),
    }
}

fn params_of(object: &Map<String, Value>) -> Result<&Map<String, Value>, String> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    match object.get("params") {
        None => Ok(&NONE),
        Some(Value::Object(params)) => Ok(params),
        Some(other) => Err(format!("`params` must be an object, not {}", kind(other))),
    }
}

fn no_result_beside_method(object: &Map<String, Value>) -> Result<(), String> {
    match ["result", "error"].into_iter().find(|key| object.contains_key(*key)) {
        Some(key) => Err(format!("a message has either `method` or `{key}`, not both")),
        None => Ok(()),
    }
}

fn check_response(object: &Map<String, Value>) -> Result<(), String> {
    match (object.get("result"), object.get("error")) {
        (None, None) => Err("a message needs `method`, `result` or `error`".to_owned()),
        (Some(_), Some(_)) => Err("a response has either `result` or `error`, not both".to_owned()),
        (Some(_), None) if !object.contains_key("id") => {
            Err("a response needs the `id` of its request".to_owned())
        }
        (None, Some(error)) if !error.is_object() => {
            Err(format!("`error` must be an object, not {}", kind(error)))
        }
        (Some(_), None) | (None, Some(_)) => Ok(()),
    }
}

fn check_request(method: &str, params: &Map<String, Value>, is_modern: bool) -> Result<(), (Fault, String)> {
    let Some(known) = methods::request(method) else {
        let hint =
            methods::nearest(method).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        return Err((Fault::Method, format!("unknown method `{}`{hint}", cut(method))));
    };
    if is_modern && known.era == Era::Legacy {
        let instead = if method == "initialize" { "; send `server/discover`" } else { "" };
        return Err((Fault::Method, format!("`{method}` isn't part of {MODERN}{instead}")));
    }
    match methods::wrong_meta(params).or_else(|| known.wrong_params(params)) {
        Some(why) => Err((Fault::Params, format!("{method}: {why}"))),
        None => Ok(()),
    }
}

fn check_notification(object: &Map<String, Value>, method: &str) -> Result<Kind, (Fault, String)> {
    let invalid = |why| (Fault::Request, why);
    no_result_beside_method(object).map_err(invalid)?;
    let params = params_of(object).map_err(invalid)?;
    let known = methods::notification(method);
    let wrong = methods::wrong_meta(params).or_else(|| known.and_then(|known| known.wrong_params(params)));
    if let Some(why) = wrong {
        return Err((Fault::Params, format!("{}: {why}", cut(method))));
    }
    let cancels = (method == "notifications/cancelled").then(|| params.get("requestId")).flatten();
    Ok(Kind::Notification { method: method.to_owned(), cancels: cancels.and_then(id_of) })
}

fn has_modern_meta(object: &Map<String, Value>) -> bool {
    let meta = object.get("params").and_then(|params| params.get("_meta"));
    // Versions are dates: they compare as text.
    meta.and_then(|meta| meta.get(META_VERSION)?.as_str()).is_some_and(|version| version >= MODERN)
}

/// A method of the table that became one that `rmcp` does not know.
fn is_misunderstood(message: &ClientJsonRpcMessage) -> bool {
    match message {
        ClientJsonRpcMessage::Request(request) => matches!(request.request, ClientRequest::CustomRequest(_)),
        ClientJsonRpcMessage::Notification(notification) => match &notification.notification {
            ClientNotification::CustomNotification(custom) => methods::notification(&custom.method).is_some(),
            _ => false,
        },
        ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => false,
    }
}

fn misunderstood(kind: &Kind) -> String {
    match kind {
        Kind::Request { method, .. } | Kind::Notification { method, .. } => {
            format!("{}: something in `params` doesn't match the protocol", cut(method))
        }
        Kind::Response => "the response doesn't match the protocol".to_owned(),
    }
}

fn cut(word: &str) -> String {
    let word: String = word.chars().filter(|c| !c.is_control()).collect();
    cut_chars(&word, WORD_CHARACTERS_MAX)
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
