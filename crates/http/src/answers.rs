//! Answers of our own. Errors are JSON-RPC error objects, which every client of ours can read.

use axum::body::{Body, Bytes};
use axum::response::Response;
use gristmill_mcp::{Fault, Refusal};
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, StatusCode};

/// A refusal with a status.
pub(crate) fn refused(status: StatusCode, refusal: &Refusal) -> Response {
    json(status, refusal.to_json())
}

/// A refusal that has nothing to do with a message.
pub(crate) fn failed(status: StatusCode, message: impl Into<String>) -> Response {
    refused(status, &Refusal::new(Fault::Transport, message))
}

/// JSON with a status.
pub(crate) fn json(status: StatusCode, text: impl Into<Bytes>) -> Response {
    let mut answer = Response::new(Body::from(text.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// A method that an address does not take; `instead` is for people, `allowed` for the header.
pub(crate) fn method_not_taken(method: &Method, instead: &str, allowed: &'static str) -> Response {
    let why = format!("{method} isn't supported here; use {instead}");
    let mut answer = failed(StatusCode::METHOD_NOT_ALLOWED, why);
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}
