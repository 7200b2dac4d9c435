//! `/metrics`: the gateway's figures for Prometheus, for whoever has the scope `metrics`.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::get;
use gristmill_gateway::access::Scope;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, StatusCode};

use crate::answers::{failed, method_not_taken};
use crate::authorization::Access;
use crate::site::Mount;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What `text` says at each request; `None` if nothing is counted.
pub fn metrics(text: impl Fn() -> Option<String> + Send + Sync + 'static) -> Mount {
    let text = Arc::new(text);
    let show = move || async move {
        let Some(text) = text() else {
            return failed(StatusCode::NOT_FOUND, "this gateway counts nothing");
        };
        let mut answer = Response::new(Body::from(text));
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(OPEN_METRICS));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    };
    let not_taken = |method: Method| async move { method_not_taken(&method, "GET", "GET, HEAD") };
    let router = Router::new().route("/metrics", get(show).fallback(not_taken));
    Mount { router, access: Access::Scope(Scope::Metrics) }
}
