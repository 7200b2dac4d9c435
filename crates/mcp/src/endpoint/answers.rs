//! Answers of the endpoint: errors are JSON-RPC error objects, whoever they come from.

use std::convert::Infallible;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use rmcp::model::RequestId;

use crate::message::{Busy, Fault, Refusal};

/// What `rmcp` answers with, and we too.
pub(super) type PlainAnswer = Response<BoxBody<Bytes, Infallible>>;

/// The errors of `rmcp` are short lines.
const WRAPPED_BYTES_MAX: usize = 64 * 1024;

/// A refusal with a status.
pub(super) fn refused(status: StatusCode, refusal: &Refusal) -> PlainAnswer {
    let mut answer = Response::new(Full::new(Bytes::from(refusal.to_json())).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// There is no room for a message.
pub(super) fn busy(full: Busy, id: Option<RequestId>) -> PlainAnswer {
    let refusal = Refusal::new(Fault::Transport, full.to_string()).with_id(id);
    let mut answer = refused(StatusCode::SERVICE_UNAVAILABLE, &refusal);
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    answer
}

/// A refusal that has nothing to do with a message.
pub(super) fn failed(status: StatusCode, message: impl Into<String>) -> PlainAnswer {
    refused(status, &Refusal::new(Fault::Transport, message))
}

/// What a request is missing that belongs to neither era.
const NO_SESSION: &str = "send `initialize` first, and with every later request the Mcp-Session-Id that it answers; \
    or, without a handshake, MCP-Protocol-Version: 2026-07-28 and Mcp-Method as headers, and `_meta` in params";

/// Errors that `rmcp` says in plain text, as JSON.
pub(super) async fn wrap_plain_error(answer: PlainAnswer, id: Option<RequestId>) -> PlainAnswer {
    let is_json = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    let is_error = answer.status().is_client_error() || answer.status().is_server_error();
    if !is_error || is_json {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let text = match Limited::new(body, WRAPPED_BYTES_MAX).collect().await {
        Ok(text) => String::from_utf8_lossy(&text.to_bytes()).into_owned(),
        Err(_) => parts.status.to_string(),
    };
    let fault = if parts.status == StatusCode::NOT_FOUND { Fault::Session } else { Fault::Transport };
    let message = match text.as_str() {
        "" => parts.status.to_string(),
        text if text.contains("Session ID is required") => NO_SESSION.to_owned(),
        text => text.to_owned(),
    };
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let text = Refusal::new(fault, message).with_id(id).to_json();
    Response::from_parts(parts, Full::new(Bytes::from(text)).boxed())
}
