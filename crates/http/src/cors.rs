//! Before any router: is the request for a name of ours, and may its page call? Then the page may read
//! the answer, whatever that is.
//!
//! By hand, since a ready-made layer answers what a browser asks in advance by itself: it would let
//! foreign hosts and pages pass in silence, for routes that do not exist as well.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::answers::failed;
use crate::connection::Elsewhere;
use crate::hosts_and_origins::{Allowed, HostVerdict, OriginVerdict};

pub(crate) async fn check_host_and_origin(
    State(allowed): State<Arc<Allowed>>,
    request: Request,
    next: Next,
) -> Response {
    let (host, origin) = judged(&allowed, &request);
    let mut answer = match (host, &origin) {
        (HostVerdict::Unreadable, _) => {
            failed(StatusCode::BAD_REQUEST, "the request needs exactly one `Host` header")
        }
        (HostVerdict::Foreign, _) => {
            let why = "host not allowed; allow it with `--allow-host HOST`";
            failed(StatusCode::FORBIDDEN, why)
        }
        (HostVerdict::Allowed, OriginVerdict::Foreign) => {
            let why = "origin not allowed; allow it with `--allow-origin ORIGIN`";
            failed(StatusCode::FORBIDDEN, why)
        }
        (HostVerdict::Allowed, OriginVerdict::None | OriginVerdict::Allowed(_)) => next.run(request).await,
    };
    if let OriginVerdict::Allowed(origin) = origin {
        permit(answer.headers_mut(), origin);
    }
    answer
}

/// By what is allowed to everyone, and by what the gateway allows that passed it on.
fn judged(allowed: &Allowed, request: &Request) -> (HostVerdict, OriginVerdict) {
    let (uri, headers) = (request.uri(), request.headers());
    let also_allowed = request.extensions().get::<Elsewhere>().map(Elsewhere::allowed);
    let host = match (allowed.host(uri, headers), also_allowed) {
        (HostVerdict::Foreign, Some(also)) => also.host(uri, headers),
        (verdict, Some(_) | None) => verdict,
    };
    let origin = match (allowed.origin(headers), also_allowed) {
        (OriginVerdict::Foreign, Some(also)) => also.origin(headers),
        (verdict, Some(_) | None) => verdict,
    };
    (host, origin)
}

/// Lets the page read the answer.
fn permit(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(VARY, HeaderValue::from_static("Origin"));
    let exposed = HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate, Retry-After");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
}

/// What a browser asks before it lets a page call an address that takes these methods.
pub(crate) fn preflight(asked: &HeaderMap, allowed: &'static str, callable: &'static str) -> Response {
    let mut answer = Response::default();
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let headers = answer.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static(allowed));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(callable));
    if let Some(wanted) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    answer
}
