//! Bodies of answers, which know when they are done and whether anyone still reads them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http::Response;
use http::header::CONTENT_TYPE;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Interval, MissedTickBehavior};

use super::watch::{InFlight, Watch};

/// A comment in a stream of events: it says that we are here, and nothing else.
const PULSE: &[u8] = b":\n\n";

/// The body of every answer.
pub(super) struct AnswerBody {
    inner: Body,
    /// While this lives, the connection is not idle.
    _in_flight: InFlight,
    /// For a stream of events: looks whether anyone is there, once the client's side is closed.
    look: Option<Look>,
}

struct Look {
    watch: Arc<Watch>,
    every: Duration,
    ticks: Option<Interval>,
}

impl AnswerBody {
    pub(super) fn of(
        answer: Response<Body>,
        in_flight: InFlight,
        watch: Arc<Watch>,
        look_every: Duration,
    ) -> Response<Self> {
        let is_stream = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
        let look = is_stream.then(|| Look { watch, every: look_every, ticks: None });
        answer.map(|inner| Self { inner, _in_flight: in_flight, look })
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
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
