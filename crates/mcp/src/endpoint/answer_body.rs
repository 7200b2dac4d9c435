//! Bodies of the endpoint's answers: while one lives, its session is in use; one that is a stream
//! without an end of its own ends with the endpoint.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;
use http::header::CONTENT_TYPE;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::answers::PlainAnswer;
use super::sessions::Entered;

pub type EndpointAnswer = Response<EndpointBody>;

pub struct EndpointBody {
    inner: BoxBody<Bytes, Infallible>,
    _session: Option<Entered>,
    ends_with: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl EndpointBody {
    /// `ends_with` is for streams that have no end of their own.
    pub(super) fn of(
        answer: PlainAnswer,
        session: Option<Entered>,
        ends_with: Option<CancellationToken>,
    ) -> EndpointAnswer {
        let is_stream = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
        let ends_with = ends_with.filter(|_| is_stream).map(|token| Box::pin(token.cancelled_owned()));
        answer.map(|inner| Self { inner, _session: session, ends_with })
    }

    pub(super) fn plain(answer: PlainAnswer) -> EndpointAnswer {
        Self::of(answer, None, None)
    }
}

impl Body for EndpointBody {
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
        Pin::new(&mut this.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
