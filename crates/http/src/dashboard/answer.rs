//! Answers of the dashboard: pages, redirects and assets, each with the headers that keep it where it is.

use axum::body::Body;
use axum::response::Response;
use gristmill_dashboard::{CONTENT_SECURITY_POLICY, Markup, assets};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY as POLICY, CONTENT_TYPE, ETAG, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderName, HeaderValue, StatusCode};

pub(super) fn page(status: StatusCode, page: Markup) -> Response {
    let mut answer = Response::new(Body::from(page.into_string()));
    *answer.status_mut() = status;
    set(&mut answer, CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    answer
}

/// To another page of ours, by GET.
pub(super) fn redirect(to: &str) -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(to) = HeaderValue::from_str(to) {
        set(&mut answer, LOCATION, to);
    }
    answer
}

/// A file that pages link to. Its address changes with its bytes.
pub(super) fn asset(name: &str) -> Option<Response> {
    let asset = assets::find(name)?;
    let mut answer = Response::new(Body::from(asset.bytes));
    set(&mut answer, CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    set(&mut answer, ETAG, HeaderValue::from_static(asset.etag));
    set(&mut answer, CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    Some(answer)
}

/// What every answer has: no page of somebody else frames, guesses about or remembers it.
pub(super) fn guarded(mut answer: Response) -> Response {
    let headers: [(HeaderName, &'static str); 4] = [
        (POLICY, CONTENT_SECURITY_POLICY),
        (X_FRAME_OPTIONS, "DENY"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Nobody else hears of our addresses. With `no-referrer` browsers would hide from us, too, which page a
        // form comes from.
        (REFERRER_POLICY, "same-origin"),
    ];
    for (name, value) in headers {
        set(&mut answer, name, HeaderValue::from_static(value));
    }
    answer.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

pub(super) fn set(answer: &mut Response, name: HeaderName, value: HeaderValue) {
    answer.headers_mut().insert(name, value);
}
