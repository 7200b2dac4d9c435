//! The address of the Model Context Protocol, for both of its eras.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Extension, Request, State};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{Router, middleware};
use gristmill_gateway::access::Caller;
use gristmill_mcp::McpEndpoint;
use http::{HeaderMap, Method};

use crate::answers::method_not_taken;
use crate::authorization::{Requirement, authorize};
use crate::connection::{Elsewhere, request_body};
use crate::cors::preflight;

pub(crate) const PATH: &str = "/mcp";
const ALLOWED: &str = "GET, POST, DELETE, OPTIONS";

/// Method, then token, then session, then body: each is refused before the next is looked at.
pub(crate) fn routes(endpoint: Arc<McpEndpoint>, requirement: Requirement) -> Router {
    let callable = MethodFilter::GET.or(MethodFilter::POST).or(MethodFilter::DELETE);
    let methods: MethodRouter = on(callable, answer)
        .route_layer(middleware::from_fn_with_state(requirement, authorize))
        .on(MethodFilter::OPTIONS, options)
        .on(MethodFilter::HEAD, not_taken)
        .fallback(not_taken)
        .with_state(endpoint);
    Router::new().route(PATH, methods.clone()).route("/mcp/", methods)
}

async fn answer(
    State(endpoint): State<Arc<McpEndpoint>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let mut admitted = match endpoint.admit(request.headers(), caller) {
        Ok(admitted) => admitted,
        Err(refused) => return (*refused).map(Body::new),
    };
    let (mut parts, body) = request.into_parts();
    if let Some(elsewhere) = parts.extensions.get::<Elsewhere>() {
        elsewhere.rename(&mut parts.headers);
    }
    // Not read before there is room for it. One that does not say how long it is may be as long as any.
    let announced = body.size_hint().exact().map_or(usize::MAX, |bytes| bytes as usize);
    if let Err(refused) = endpoint.await_room(&mut admitted, announced).await {
        return (*refused).map(Body::new);
    }
    let message = match parts.method {
        Method::POST => request_body::read(body).await,
        _ => Ok(Bytes::new()),
    };
    match message {
        Ok(message) => endpoint.answer(admitted, Request::from_parts(parts, message)).await.map(Body::new),
        Err(error) => error.answer(),
    }
}

async fn options(headers: HeaderMap) -> Response {
    preflight(&headers, ALLOWED, "GET, POST, DELETE")
}

async fn not_taken(method: Method) -> Response {
    method_not_taken(&method, "GET, POST or DELETE", ALLOWED)
}
