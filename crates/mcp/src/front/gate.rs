//! The way of one HTTP request, check after check, to `rmcp` and back: host, origin, address and
//! method, token, session, body, message.

use std::sync::Arc;

use gristmill_gateway::access::{AccessTokens, Caller};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW, CONNECTION,
    EXPECT, RETRY_AFTER, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version};
use http_body_util::{Empty, Full};
use hyper::body::{Body, Bytes, Incoming};
use rmcp::ServerHandler;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio_util::sync::CancellationToken;

use super::answers::{Answer, AnswerBody, empty, failed, json, refused, wrap_plain_error};
use super::body::{self, BodyError};
use super::connection_watch::Watch;
use super::hosts_and_origins::{Allowed, HostVerdict, OriginVerdict};
use super::http_limits::HttpLimits;
use super::message_check::{self, Checked, Kind, Refused};
use super::refusal::{Fault, Refusal};
use super::sessions::{Entered, Owner, Sessions};
use super::who;

const PATH: &str = "/mcp";
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE, OPTIONS");
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

pub(super) struct Gate<H> {
    pub(super) service: StreamableHttpService<H, LocalSessionManager>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) allowed: Allowed,
    pub(super) tokens: Option<Arc<AccessTokens>>,
    pub(super) token_required: bool,
    pub(super) limits: HttpLimits,
    pub(super) shutdown: CancellationToken,
}

/// What comes of a request.
struct Outcome {
    answer: Answer,
    /// The session that it is of.
    session: Option<Entered>,
    /// It is a stream without an end of its own.
    is_endless: bool,
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Self { answer, session: None, is_endless: false }
    }
}

impl<H: ServerHandler> Gate<H> {
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        watch: &Arc<Watch>,
    ) -> Response<AnswerBody> {
        let has_body = !request.body().is_end_stream();
        let in_flight = watch.begin(has_body, request.version() == Version::HTTP_11);
        let origin = self.allowed.origin(request.headers());
        let mut outcome = match self.check_head(&request, &origin) {
            Err(answer) => {
                self.read_past(request);
                Outcome::from(*answer)
            }
            Ok((caller, owner, session)) => self.pass(request, caller, owner, session, watch).await,
        };
        if let OriginVerdict::Allowed(origin) = origin {
            permit(&mut outcome.answer, origin);
        }
        watch.answer_begins();
        let ends_with = outcome.is_endless.then(|| self.shutdown.clone());
        let look = (watch, self.limits.half_closed_look);
        AnswerBody::of(outcome.answer, in_flight, outcome.session, look, ends_with)
    }

    /// Everything that can be said without the body. An `Err` is the answer.
    fn check_head(
        &self,
        request: &Request<Incoming>,
        origin: &OriginVerdict,
    ) -> Result<(Caller, Owner, Option<Entered>), Box<Answer>> {
        match self.allowed.host(request.uri(), request.headers()) {
            HostVerdict::Allowed => {}
            HostVerdict::Unreadable => {
                return Err(failed(StatusCode::BAD_REQUEST, "the request needs one `Host` header").into());
            }
            HostVerdict::Foreign => {
                let why = "this server is not reached under that name; allow it with `--allow-host HOST`";
                return Err(failed(StatusCode::FORBIDDEN, why).into());
            }
        }
        if *origin == OriginVerdict::Foreign {
            let why = "pages of this origin may not call; allow it with `--allow-origin ORIGIN`";
            return Err(failed(StatusCode::FORBIDDEN, why).into());
        }
        check_place(request)?;
        let (caller, owner) = who::caller(request.headers(), self.tokens.as_deref(), self.token_required)?;
        let session = self.check_session(request.headers(), &owner)?;
        Ok((caller, owner, session))
    }

    /// Whatever era a request says it is of: an id that is there must be one of this caller.
    fn check_session(&self, headers: &HeaderMap, owner: &Owner) -> Result<Option<Entered>, Box<Answer>> {
        let mut given = headers.get_all(SESSION).iter();
        let Some(id) = given.next() else { return Ok(None) };
        if given.next().is_some() {
            return Err(failed(StatusCode::BAD_REQUEST, "there is more than one `Mcp-Session-Id`").into());
        }
        let entered = id.to_str().ok().and_then(|id| self.sessions.enter(id, owner));
        entered.map(Some).ok_or_else(|| {
            let why = "there is no such session: it has ended, or is not yours; send `initialize` again";
            refused(StatusCode::NOT_FOUND, &Refusal::new(Fault::Session, why)).into()
        })
    }

    async fn pass(
        &self,
        mut request: Request<Incoming>,
        caller: Caller,
        owner: Owner,
        session: Option<Entered>,
        watch: &Watch,
    ) -> Outcome {
        request.extensions_mut().insert(caller);
        if request.method() == Method::POST {
            return self.post(request, owner, session, watch).await;
        }
        let is_endless = request.method() == Method::GET;
        let (parts, body) = request.into_parts();
        body::read_past(body, parts.headers.contains_key(EXPECT), &self.limits);
        let answer = self.service.handle(Request::from_parts(parts, Empty::<Bytes>::new())).await;
        Outcome { answer: wrap_plain_error(answer, None).await, session, is_endless }
    }

    async fn post(
        &self,
        request: Request<Incoming>,
        owner: Owner,
        session: Option<Entered>,
        watch: &Watch,
    ) -> Outcome {
        let (parts, body) = request.into_parts();
        let read = body::read(body, &self.limits).await;
        watch.body_is_read();
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(BodyError::TooLarge(rest)) => {
                body::read_past(rest, parts.headers.contains_key(EXPECT), &self.limits);
                return body::too_large(self.limits.body_bytes).into();
            }
            Err(BodyError::TooSlow) => return closing(body::too_slow(self.limits.body_time)).into(),
            Err(BodyError::Broken) => return closing(body::broken()).into(),
        };
        let Checked { kind, text, .. } = match message_check::check(&bytes, says_modern(&parts.headers)) {
            Ok(checked) => checked,
            Err(refused) => return message_refused(&refused).into(),
        };
        let request = Request::from_parts(parts, Full::new(Bytes::from(text)));
        match kind {
            Kind::Request { id, method, .. } if method == "initialize" && session.is_none() => {
                let answer =
                    self.open_session(request, owner).await.unwrap_or_else(|| too_many_sessions(&id));
                wrap_plain_error(answer, Some(id)).await.into()
            }
            Kind::Request { id, method, .. } => {
                let answer = wrap_plain_error(self.service.handle(request).await, Some(id)).await;
                Outcome { answer, session, is_endless: method == "subscriptions/listen" }
            }
            Kind::Notification { .. } | Kind::Response => {
                let answer = wrap_plain_error(self.service.handle(request).await, None).await;
                Outcome { answer, session, is_endless: false }
            }
        }
    }

    /// `None` if there are too many.
    async fn open_session(&self, request: Request<Full<Bytes>>, owner: Owner) -> Option<Answer> {
        let place = self.sessions.reserve(&owner).await?;
        let service = self.service.clone();
        // A task of its own: a client that hangs up meanwhile leaves no session that nobody knows.
        let opening = tokio::spawn(async move {
            let answer = service.handle(request).await;
            if let Some(id) = answer.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
                place.opened(id, owner);
            }
            answer
        });
        let broken = || failed(StatusCode::INTERNAL_SERVER_ERROR, "the session could not be opened");
        Some(opening.await.unwrap_or_else(|_| broken()))
    }

    fn read_past(&self, request: Request<Incoming>) {
        let awaits_go_on = request.headers().contains_key(EXPECT);
        body::read_past(request.into_body(), awaits_go_on, &self.limits);
    }
}

/// Address and method. What needs neither token nor body is answered here.
fn check_place(request: &Request<Incoming>) -> Result<(), Box<Answer>> {
    let method = request.method();
    match request.uri().path() {
        "/mcp" | "/mcp/" if matches!(*method, Method::GET | Method::POST | Method::DELETE) => Ok(()),
        "/mcp" | "/mcp/" if method == Method::OPTIONS => Err(options(request.headers()).into()),
        "/mcp" | "/mcp/" => {
            let why = format!("{method} is not taken here; use GET, POST or DELETE");
            Err(with_allow(failed(StatusCode::METHOD_NOT_ALLOWED, why), METHODS).into())
        }
        "/healthz" if matches!(*method, Method::GET | Method::HEAD) => {
            Err(json(StatusCode::OK, r#"{"status":"ok","server":"gristmill"}"#).into())
        }
        "/healthz" => {
            let allowed = HeaderValue::from_static("GET, HEAD");
            let why = format!("{method} is not taken here; use GET");
            Err(with_allow(failed(StatusCode::METHOD_NOT_ALLOWED, why), allowed).into())
        }
        _ => {
            Err(failed(StatusCode::NOT_FOUND, format!("there is nothing here; the endpoint is {PATH}"))
                .into())
        }
    }
}

/// Also what a browser asks before it lets a page call; who may is said by [`permit`].
fn options(headers: &HeaderMap) -> Answer {
    let mut answer = with_allow(empty(StatusCode::NO_CONTENT), METHODS);
    answer.headers_mut().insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        answer.headers_mut().insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    answer.headers_mut().insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    answer
}

/// Lets the page read the answer.
fn permit(answer: &mut Answer, origin: HeaderValue) {
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(VARY, HeaderValue::from_static("Origin"));
    let exposed = HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate, Retry-After");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
}

fn with_allow(mut answer: Answer, methods: HeaderValue) -> Answer {
    answer.headers_mut().insert(ALLOW, methods);
    answer
}

fn closing(mut answer: Answer) -> Answer {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn says_modern(headers: &HeaderMap) -> bool {
    let version = headers.get(VERSION).and_then(|version| version.to_str().ok());
    version.is_some_and(|version| version >= message_check::MODERN)
}

/// Clients with a handshake read errors of their requests in answers of status 200 only.
fn message_refused(found: &Refused) -> Answer {
    let status = match found.refusal.fault {
        Fault::Method if found.is_modern => StatusCode::NOT_FOUND,
        Fault::Method | Fault::Params if !found.is_modern && !found.was_notification => StatusCode::OK,
        Fault::Session => StatusCode::NOT_FOUND,
        Fault::Parse | Fault::Request | Fault::Method | Fault::Params | Fault::Elsewhere => {
            StatusCode::BAD_REQUEST
        }
    };
    refused(status, &found.refusal)
}

fn too_many_sessions(id: &rmcp::model::RequestId) -> Answer {
    let why = "there are too many sessions; end some, or come back later";
    let refusal = Refusal::new(Fault::Elsewhere, why).with_id(Some(id.clone()));
    let mut answer = refused(StatusCode::SERVICE_UNAVAILABLE, &refusal);
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("60"));
    answer
}
