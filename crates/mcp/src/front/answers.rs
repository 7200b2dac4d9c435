//! Answers of the HTTP endpoint: errors as JSON-RPC error objects, whoever they come from, and
//! bodies that know when they are done.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full, Limited};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use rmcp::model::RequestId;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::connection_watch::{InFlight, Watch};
use super::refusal::{Fault, Refusal};
use super::sessions::Entered;

/// What `rmcp` answers with, and we too.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A comment in a stream of events: it says that we are here, and nothing else.
const PULSE: &[u8] = b":\n\n";

/// The errors of `rmcp` are short lines.
const WRAPPED_BYTES_MAX: usize = 64 * 1024;

/// A refusal with a status.
pub(super) fn refused(status: StatusCode, refusal: &Refusal) -> Answer {
    json(status, refusal.to_json())
}

/// A refusal that has nothing to do with a message.
pub(super) fn failed(status: StatusCode, message: impl Into<String>) -> Answer {
    refused(status, &Refusal::new(Fault::Elsewhere, message))
}

/// JSON with a status.
pub(super) fn json(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// Nothing but a status.
pub(super) fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Empty::new().boxed());
    *answer.status_mut() = status;
    answer
}

/// What a request is missing that belongs to neither era.
const NO_SESSION: &str = "send `initialize` first, and with every later request the Mcp-Session-Id that it answers; \
    or, without a handshake, MCP-Protocol-Version: 2026-07-28 and Mcp-Method as headers, and `_meta` in params";

/// Errors that `rmcp` says in plain text, as JSON.
pub(super) async fn wrap_plain_error(answer: Answer, id: Option<RequestId>) -> Answer {
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
    let fault = if parts.status == StatusCode::NOT_FOUND { Fault::Session } else { Fault::Elsewhere };
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

/// The body of every answer.
pub(super) struct AnswerBody {
    inner: BoxBody<Bytes, Infallible>,
    /// While this lives, the connection is not idle.
    _in_flight: InFlight,
    /// While this lives, the session is not idle.
    _session: Option<Entered>,
    /// A stream that has no end of its own ends with us.
    ends_with: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// For a stream of events: looks whether anyone is there, once the client's side is closed.
    look: Option<Look>,
}

struct Look {
    watch: Arc<Watch>,
    every: Duration,
    ticks: Option<Interval>,
}

impl AnswerBody {
    /// `ends_with` is for streams that have no end of their own.
    pub(super) fn of(
        answer: Answer,
        in_flight: InFlight,
        session: Option<Entered>,
        look: (&Arc<Watch>, Duration),
        ends_with: Option<CancellationToken>,
    ) -> Response<Self> {
        let is_stream = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
        let (watch, every) = look;
        let look = is_stream.then(|| Look { watch: Arc::clone(watch), every, ticks: None });
        let ends_with = ends_with.filter(|_| is_stream).map(|token| Box::pin(token.cancelled_owned()));
        answer.map(|inner| Self { inner, _in_flight: in_flight, _session: session, ends_with, look })
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if let Some(ends_with) = &mut this.ends_with
            && ends_with.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(None);
        }
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(context) {
            return Poll::Ready(frame);
        }
        // Each frame of a stream is a whole event, so there is room for a comment between two.
        let is_due = this.look.as_mut().is_some_and(|look| look.is_due(context));
        match is_due {
            true => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(PULSE))))),
            false => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Look {
    fn is_due(&mut self, context: &mut Context<'_>) -> bool {
        if !self.watch.is_half_closed() {
            return false;
        }
        let every = self.every;
        let ticks = self.ticks.get_or_insert_with(|| {
            let mut ticks = tokio::time::interval(every);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks
        });
        ticks.poll_tick(context).is_ready()
    }
}
