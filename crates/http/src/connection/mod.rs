//! One connection, from its first byte to its last.

mod answer_body;
mod client_stream;
mod passed_on;
pub(crate) mod request_body;
mod watch;
mod watched_stream;

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use http::header::EXPECT;
use http::{Request, Response, Version};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use crate::LOG_AREA;
use crate::limits::HttpLimits;
use answer_body::AnswerBody;
pub(crate) use client_stream::ClientStream;
pub(crate) use passed_on::Elsewhere;
pub use passed_on::{ClientBytes, PassedOn};
use request_body::RequestBody;
use watch::{InFlight, Watch};
use watched_stream::{WatchedStream, bare_answer};

/// What is done for a connection that is not served.
const REFUSAL_TIME: Duration = Duration::from_secs(1);

/// The part of the site that an address is in. The rest of it may say anything.
fn area(path: &str) -> &'static str {
    const AREAS: [&str; 6] = ["/mcp", "/healthz", "/approvals", "/approve", "/metrics", "/dashboard"];
    let is_in =
        |area: &&&str| path.strip_prefix(**area).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    AREAS.iter().find(is_in).copied().unwrap_or("other")
}

/// What a connection is served with. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) router: Router,
    pub(crate) limits: HttpLimits,
    pub(crate) shutdown: CancellationToken,
    /// If another gateway passes it on.
    pub(crate) elsewhere: Option<Elsewhere>,
}

impl Service {
    async fn answer(
        mut self,
        request: Request<Incoming>,
        (watch, in_flight): (Arc<Watch>, InFlight),
    ) -> Response<AnswerBody> {
        let (began, method, path) = (Instant::now(), request.method().clone(), area(request.uri().path()));
        let awaits_go_on = request.headers().contains_key(EXPECT);
        let mut request = request
            .map(|body| Body::new(RequestBody::new(body, awaits_go_on, self.limits, Arc::clone(&watch))));
        if let Some(elsewhere) = self.elsewhere.clone() {
            request.extensions_mut().insert(elsewhere);
        }
        let Ok(answer) = self.router.call(request).await;
        let (method, status) = (method.as_str(), answer.status().as_u16());
        let took_ms = began.elapsed().as_secs_f64() * 1000.0;
        tracing::debug!(target: LOG_AREA, method, path, status, took_ms, "request");
        watch.answer_begins();
        AnswerBody::of(answer, in_flight, watch, self.limits.half_closed_look)
    }
}

/// Serves until either side has enough. When we are asked to end, the request under way is the
/// last.
pub(crate) async fn serve(stream: ClientStream, service: Service) {
    stream.send_at_once();
    let watch = Arc::new(Watch::default());
    let (limits, shutdown) = (service.limits, service.shutdown.clone());
    let io = TokioIo::new(WatchedStream::new(stream, Arc::clone(&watch), limits));
    let service = service_fn(move |request: Request<Incoming>| {
        // At once: the next thing that is looked at may be the end of what the client says.
        let has_body = !request.body().is_end_stream();
        let in_flight = watch.begin(has_body, request.version() == Version::HTTP_11);
        let answer = service.clone().answer(request, (Arc::clone(&watch), in_flight));
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let mut http = http1::Builder::new();
    // Time is kept beneath, where a wait for the next request differs from a slow one.
    http.header_read_timeout(None).max_headers(limits.headers).max_header_size(limits.header_bytes);
    let mut connection = pin!(http.serve_connection(io, service));
    // How a connection ends is the client's matter: nobody is left to be told.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = shutdown.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Why a connection is not served at all.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unserved {
    /// There is no room.
    TooMany { connections_max: usize },
    /// The socket is another user's.
    Stranger,
}

impl Unserved {
    fn answer(self) -> Vec<u8> {
        match self {
            Self::TooMany { connections_max } => {
                let why = format!("too many connections (limit {connections_max}); try again later");
                bare_answer("503 Service Unavailable", &why)
            }
            Self::Stranger => {
                let why = "this socket is for the user who runs gristmill only; ask them to serve with \
                           `--http` and for a token (gristmill token new NAME)";
                bare_answer("403 Forbidden", why)
            }
        }
    }
}

/// Says why, reads past what was sent, and closes.
pub(crate) async fn refuse(mut stream: ClientStream, why: Unserved) {
    let answer = why.answer();
    let refusing = async {
        if stream.write_all(&answer).await.is_err() || stream.shutdown().await.is_err() {
            return;
        }
        // Closing with something unread would take the answer back.
        let mut scrap = [0; 4096];
        for _ in 0..64 {
            if !matches!(stream.read(&mut scrap).await, Ok(1..)) {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(REFUSAL_TIME, refusing).await;
}
