//! A request's body: bounded in size and time for whoever reads it, and read past if nobody does.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use gristmill_mcp::{Fault, Refusal};
use http::StatusCode;
use http::header::{CONNECTION, HeaderValue};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::Sleep;

use super::watch::Watch;
use crate::answers::{failed, refused};
use crate::limits::HttpLimits;

/// Why a body was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyError {
    /// What is left of it is read past.
    #[error("the body is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
    /// The connection is closed after the answer.
    #[error("the body didn't arrive within {} s", .time.as_secs_f64())]
    TooSlow { time: Duration },
    /// The connection is closed after the answer, if it is still there.
    #[error("the body ended early")]
    Broken,
}

/// All of a body.
pub(crate) async fn read(body: Body) -> Result<Bytes, BodyError> {
    let read = body.collect().await.map_err(|error| {
        let reason = error.into_inner().downcast::<BodyError>();
        reason.map_or(BodyError::Broken, |reason| *reason)
    });
    read.map(|all| all.to_bytes())
}

impl BodyError {
    pub(crate) fn answer(self) -> Response {
        let closing = |status: StatusCode| {
            let mut answer = failed(status, self.to_string());
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            answer
        };
        match self {
            BodyError::TooLarge { .. } => {
                refused(StatusCode::PAYLOAD_TOO_LARGE, &Refusal::new(Fault::Request, self.to_string()))
            }
            BodyError::TooSlow { .. } => closing(StatusCode::REQUEST_TIMEOUT),
            BodyError::Broken => closing(StatusCode::BAD_REQUEST),
        }
    }
}

/// A body within the limits. Dropped before its end, the rest is read past, so that the client gets to
/// read its answer instead of finding a broken connection.
pub(crate) struct RequestBody {
    /// Until there is nothing more to read.
    inner: Option<Incoming>,
    /// The client sends nothing until it is told to go on, which reading tells it.
    awaits_go_on: bool,
    limits: HttpLimits,
    watch: Arc<Watch>,
    bytes: usize,
    /// From the first read on.
    until: Option<Pin<Box<Sleep>>>,
}

impl RequestBody {
    pub(crate) fn new(inner: Incoming, awaits_go_on: bool, limits: HttpLimits, watch: Arc<Watch>) -> Self {
        Self { inner: Some(inner), awaits_go_on, limits, watch, bytes: 0, until: None }
    }

    fn poll_within_limits(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(inner) = &mut self.inner else { return Poll::Ready(None) };
        let bytes_max = self.limits.body_bytes;
        // What is announced is believed before anything is read, so that nothing is sent in vain.
        if self.bytes as u64 + inner.size_hint().lower() > bytes_max as u64 {
            return Poll::Ready(Some(Err(BodyError::TooLarge { bytes_max })));
        }
        let time = self.limits.body_time;
        let until = self.until.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        let Poll::Ready(frame) = Pin::new(inner).poll_frame(context) else {
            ready!(until.as_mut().poll(context));
            self.inner = None;
            return Poll::Ready(Some(Err(BodyError::TooSlow { time })));
        };
        match frame {
            Some(Ok(frame)) => {
                self.bytes += frame.data_ref().map_or(0, Bytes::len);
                match self.bytes > bytes_max {
                    true => Poll::Ready(Some(Err(BodyError::TooLarge { bytes_max }))),
                    false => Poll::Ready(Some(Ok(frame))),
                }
            }
            Some(Err(_)) => {
                self.inner = None;
                Poll::Ready(Some(Err(BodyError::Broken)))
            }
            None => {
                self.inner = None;
                Poll::Ready(None)
            }
        }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        let frame = ready!(this.poll_within_limits(context));
        if !matches!(frame, Some(Ok(_))) {
            this.watch.body_is_read();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or_else(|| SizeHint::with_exact(0), Incoming::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        // Who waits to be told to go on is told the reason instead.
        let rest = self.inner.take().filter(|rest| !self.awaits_go_on && !rest.is_end_stream());
        let (Some(rest), Ok(runtime)) = (rest, tokio::runtime::Handle::try_current()) else { return };
        let (bytes_max, time) = (self.limits.discarded_bytes, self.limits.body_time);
        runtime.spawn(tokio::time::timeout(time, discard(rest, bytes_max)));
    }
}

async fn discard(mut body: Incoming, bytes_max: usize) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > bytes_max {
            return;
        }
    }
}
