//! MCP over HTTP, for whoever runs the HTTP server: sessions that belong to their tokens, the check of
//! every message, both eras. A request comes here with its caller known and its body read, and both
//! within bounds.

mod answer_body;
mod answers;
mod resumable;
mod sessions;

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::access::Caller;
use gristmill_gateway::ports::BoxFuture;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;
use rmcp::ServerHandler;
use rmcp::model::RequestId;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::message::{self, BUDGET, Checked, Fault, Kind, ParsedShare, Refusal, Refused};
use answers::{PlainAnswer, busy, failed, refused, wrap_plain_error};
use resumable::ResumableSessions;
use sessions::{Entered, Owner, Sessions};

pub use answer_body::{EndpointAnswer, EndpointBody};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// How an endpoint behaves.
#[derive(Clone, Debug)]
pub struct EndpointSettings {
    /// Names under which it is reached. They have been checked; this is the second wall.
    pub hosts_allowed: Vec<String>,
    /// Web pages that may call; the same.
    pub origins_allowed: Vec<String>,
    /// Sessions of clients with a handshake. One token may have a quarter of them.
    pub sessions_max: usize,
    /// A session that is not used, with no request and no stream of it open.
    pub session_idle_time: Duration,
    /// How often a stream says that it is still there.
    pub stream_pulse: Duration,
    /// What a message may have.
    pub body_bytes_max: usize,
}

/// The Model Context Protocol at one address.
pub struct McpEndpoint {
    responder: Arc<dyn Responder>,
    sessions: Arc<Sessions>,
    /// Streams that have no end of their own end with this.
    shutdown: CancellationToken,
    /// All other streams end with this.
    streams_end: CancellationToken,
    body_bytes_max: usize,
}

/// A request that may be answered, with its caller and the session that it is of.
pub struct Admitted {
    caller: Caller,
    session: Option<Entered>,
    /// For its body.
    room: ParsedShare,
}

impl McpEndpoint {
    /// Each connection of the protocol is handled by a new handler.
    pub fn new<H, F>(new_handler: F, settings: EndpointSettings, shutdown: CancellationToken) -> Self
    where
        H: ServerHandler + Clone,
        F: Fn() -> H + Send + Sync + 'static,
    {
        let sessions = Sessions::new(settings.sessions_max, settings.session_idle_time);
        let streams_end = CancellationToken::new();
        let body_bytes_max = settings.body_bytes_max;
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(settings.hosts_allowed)
            .with_allowed_origins(settings.origins_allowed)
            .enforce_origin_validation()
            .with_legacy_session_mode(true)
            .with_json_response(true)
            .with_sse_keep_alive(Some(settings.stream_pulse))
            // An event without data confuses clients of older versions; the sessions send it to others.
            .with_sse_retry(None)
            // The body is not longer by being written anew, but for escapes.
            .with_max_request_body_bytes(settings.body_bytes_max.saturating_mul(6))
            .with_cancellation_token(streams_end.clone());
        let service =
            StreamableHttpService::new(move || Ok(new_handler()), Arc::clone(&sessions.kept), config);
        Self { responder: Arc::new(service), sessions, shutdown, streams_end, body_bytes_max }
    }

    /// Everything that can be said without the body. Whatever era a request says it is of: the id of a
    /// session that is there must be one of this caller.
    pub fn admit(&self, headers: &HeaderMap, caller: Caller) -> Result<Admitted, Box<EndpointAnswer>> {
        let mut given = headers.get_all(SESSION).iter();
        let Some(id) = given.next() else {
            return Ok(Admitted { caller, session: None, room: ParsedShare::default() });
        };
        if given.next().is_some() {
            let why = "send only one `Mcp-Session-Id`";
            return Err(EndpointBody::plain(failed(StatusCode::BAD_REQUEST, why)).into());
        }
        let session = id.to_str().ok().and_then(|id| self.sessions.enter(id, &owner_of(&caller)));
        if session.is_none() {
            let why = "no such session: it ended or isn't yours; send `initialize` again";
            let refusal = Refusal::new(Fault::Session, why);
            return Err(EndpointBody::plain(refused(StatusCode::NOT_FOUND, &refusal)).into());
        }
        Ok(Admitted { caller, session, room: ParsedShare::default() })
    }

    /// Waits for room for a body of so many bytes, before it is read; the error says that there is none.
    pub async fn await_room(&self, admitted: &mut Admitted, bytes: usize) -> Result<(), Box<EndpointAnswer>> {
        match BUDGET.take_bytes(bytes.min(self.body_bytes_max)).await {
            Ok(room) => admitted.room = room,
            Err(full) => return Err(EndpointBody::plain(busy(full, None)).into()),
        }
        Ok(())
    }

    /// Answers a request, whose body is the message that was posted, or nothing.
    pub async fn answer(&self, admitted: Admitted, request: Request<Bytes>) -> EndpointAnswer {
        let Admitted { caller, session, room } = admitted;
        let owner = owner_of(&caller);
        let (mut parts, bytes) = request.into_parts();
        parts.extensions.insert(caller);
        if parts.method != Method::POST {
            let (is_endless, is_end) = (parts.method == Method::GET, parts.method == Method::DELETE);
            let request = Request::from_parts(parts, Full::default());
            let mut answer = wrap_plain_error(self.responder.respond(request).await, None).await;
            if is_end && answer.status() == StatusCode::ACCEPTED {
                // It is over when this is answered, and there is nothing more to say: SDKs expect 204.
                *answer.status_mut() = StatusCode::NO_CONTENT;
            }
            return self.body(answer, session, is_endless);
        }
        let parsed = match BUDGET.take(&bytes).await {
            Ok(parsed) => parsed,
            Err(full) => return EndpointBody::plain(busy(full, message::request_id(&bytes))),
        };
        drop(room);
        let Checked { kind, text, .. } = match message::check(&bytes, says_modern(&parts.headers)) {
            Ok(checked) => checked,
            Err(refused) => return EndpointBody::plain(message_refused(&refused)),
        };
        parts.extensions.insert(parsed);
        let request = Request::from_parts(parts, Full::new(Bytes::from(text)));
        match kind {
            Kind::Request { id, method, .. } if method == "initialize" && session.is_none() => {
                let answer = self.open_session(request, owner).await;
                let answer = answer.unwrap_or_else(|| too_many_sessions(&id));
                EndpointBody::plain(wrap_plain_error(answer, Some(id)).await)
            }
            Kind::Request { id, method, .. } => {
                let answer = wrap_plain_error(self.responder.respond(request).await, Some(id)).await;
                self.body(answer, session, method == "subscriptions/listen")
            }
            Kind::Notification { .. } | Kind::Response => {
                let answer = wrap_plain_error(self.responder.respond(request).await, None).await;
                self.body(answer, session, false)
            }
        }
    }

    fn body(&self, answer: PlainAnswer, session: Option<Entered>, is_endless: bool) -> EndpointAnswer {
        EndpointBody::of(answer, session, is_endless.then(|| self.shutdown.clone()))
    }

    /// `None` if there are too many.
    async fn open_session(&self, request: Request<Full<Bytes>>, owner: Owner) -> Option<PlainAnswer> {
        let place = self.sessions.reserve(&owner).await?;
        let responder = Arc::clone(&self.responder);
        // A task of its own: a client that hangs up meanwhile leaves no session that nobody knows.
        let opening = tokio::spawn(async move {
            let answer = responder.respond(request).await;
            if let Some(id) = answer.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
                place.opened(id, owner);
            }
            answer
        });
        let broken = || failed(StatusCode::INTERNAL_SERVER_ERROR, "the session couldn't be opened");
        Some(opening.await.unwrap_or_else(|_| broken()))
    }

    /// Ends sessions that nobody uses, now and then, for ever.
    pub async fn sweep_sessions(&self) {
        self.sessions.keep_swept().await;
    }

    /// Ends the streams of requests that are still under way.
    pub fn end_streams(&self) {
        self.streams_end.cancel();
    }

    pub async fn end_sessions(&self) {
        self.sessions.end_all().await;
    }
}

/// The handler behind an endpoint, of whatever type.
trait Responder: Send + Sync {
    fn respond(&self, request: Request<Full<Bytes>>) -> BoxFuture<'_, PlainAnswer>;
}

impl<H: ServerHandler> Responder for StreamableHttpService<H, ResumableSessions> {
    fn respond(&self, request: Request<Full<Bytes>>) -> BoxFuture<'_, PlainAnswer> {
        Box::pin(self.handle(request))
    }
}

/// Whoever has no token is nobody in particular.
fn owner_of(caller: &Caller) -> Owner {
    caller.has_token().then(|| caller.identity.clone())
}

fn says_modern(headers: &HeaderMap) -> bool {
    let version = headers.get(VERSION).and_then(|version| version.to_str().ok());
    version.is_some_and(|version| version >= message::MODERN)
}

/// Clients with a handshake read errors of their requests in answers of status 200 only.
fn message_refused(found: &Refused) -> PlainAnswer {
    let status = match found.refusal.fault {
        Fault::Method if found.is_modern => StatusCode::NOT_FOUND,
        Fault::Method | Fault::Params if !found.is_modern && !found.was_notification => StatusCode::OK,
        Fault::Session => StatusCode::NOT_FOUND,
        Fault::Parse | Fault::Request | Fault::Method | Fault::Params | Fault::Transport => {
            StatusCode::BAD_REQUEST
        }
    };
    refused(status, &found.refusal)
}

fn too_many_sessions(id: &RequestId) -> PlainAnswer {
    let why = "too many sessions; end some or try again later";
    let refusal = Refusal::new(Fault::Transport, why).with_id(Some(id.clone()));
    let mut answer = refused(StatusCode::SERVICE_UNAVAILABLE, &refusal);
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("60"));
    answer
}
