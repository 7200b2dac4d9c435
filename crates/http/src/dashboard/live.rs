//! Live parts of pages: streams of events, each with the HTML that takes the place of the last.
//!
//! Walls: their number is bounded, and a stream ends when its browser logs out, its login is over, or the gateway
//! ends. What has not changed is not sent.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use gristmill_gateway::ids::ExecutionId;
use gristmill_gateway::ports::BoxFuture;
use gristmill_gateway::store::{APPROVAL_WATCH_MS, Store};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use tokio::sync::OwnedSemaphorePermit;

use super::visit::Visit;
use crate::answers::failed;

/// How often a part is looked at, and one that takes the database longer.
pub(super) const OFTEN: Duration = Duration::from_millis(700);
pub(super) const SELDOM: Duration = Duration::from_secs(2);

/// How often a silent stream says that it is still there.
const PULSE: Duration = Duration::from_secs(15);

/// How often an open page of approvals says so: some times within what that counts for.
const WATCH_SAID_EVERY: Duration = Duration::from_millis(APPROVAL_WATCH_MS as u64 / 3);

/// What a part of a page is now.
pub(super) enum Part {
    Now(String),
    /// The last: nothing will change.
    Last(String),
    /// Cannot be told at the moment.
    Unknown,
}

type Look = Box<dyn Fn() -> BoxFuture<'static, Part> + Send + Sync>;

struct Stream {
    visit: Visit,
    look: Look,
    every: Duration,
    sent: Option<blake3::Hash>,
    spoke: Instant,
    is_over: bool,
    /// Says that somebody looks at what waits for an approval, if this part shows that.
    watch: Option<ApprovalWatch>,
    _place: OwnedSemaphorePermit,
}

/// An open page of approvals.
struct ApprovalWatch {
    store: Store,
    id: String,
    said: Option<Instant>,
}

impl ApprovalWatch {
    fn say(&mut self) {
        if self.said.is_none_or(|said| said.elapsed() >= WATCH_SAID_EVERY) {
            self.store.watch_approvals(&self.id);
            self.said = Some(Instant::now());
        }
    }
}

impl Drop for ApprovalWatch {
    fn drop(&mut self) {
        self.store.unwatch_approvals(&self.id);
    }
}

/// A stream that looks again and again.
pub(super) fn stream(visit: Visit, every: Duration, look: Look) -> Response {
    streamed(visit, every, look, None)
}

/// The same for what waits for an approval: as long as it is open, somebody can be asked.
pub(super) fn stream_of_approvals(visit: Visit, every: Duration, look: Look) -> Response {
    let store = visit.parts().store.clone();
    let watch = unguessable_id().map(|id| ApprovalWatch { store, id, said: None });
    streamed(visit, every, look, watch)
}

fn unguessable_id() -> Option<String> {
    ExecutionId::new().ok().map(|id| id.to_string())
}

fn streamed(visit: Visit, every: Duration, look: Look, watch: Option<ApprovalWatch>) -> Response {
    let Ok(place) = Arc::clone(&visit.dashboard.streams).try_acquire_owned() else {
        return failed(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open; close some");
    };
    let stream = Stream {
        visit,
        look,
        every,
        sent: None,
        spoke: Instant::now(),
        is_over: false,
        watch,
        _place: place,
    };
    let events = stream::unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<Bytes, Infallible>(event), stream))
    });
    let mut answer = Response::new(Body::from_stream(events));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    answer
}

impl Stream {
    async fn next(&mut self) -> Option<Bytes> {
        while !self.is_over {
            if !self.visit.logged_in.is_still(&self.visit.dashboard) {
                return None;
            }
            if let Some(watch) = &mut self.watch {
                watch.say();
            }
            let (html, is_last) = match (self.look)().await {
                Part::Now(html) => (Some(html), false),
                Part::Last(html) => (Some(html), true),
                Part::Unknown => (None, false),
            };
            self.is_over = is_last;
            if let Some(event) = html.and_then(|html| self.changed(&html)) {
                return Some(event);
            }
            if is_last {
                return Some(Bytes::from_static(b"event: end\ndata:\n\n"));
            }
            if self.spoke.elapsed() >= PULSE {
                self.spoke = Instant::now();
                return Some(Bytes::from_static(b":\n\n"));
            }
            tokio::select! {
                () = tokio::time::sleep(self.every) => {}
                () = self.visit.parts().shutdown.cancelled() => return None,
            }
        }
        None
    }

    fn changed(&mut self, html: &str) -> Option<Bytes> {
        let hash = blake3::hash(html.as_bytes());
        if self.sent == Some(hash) {
            return None;
        }
        (self.sent, self.spoke) = (Some(hash), Instant::now());
        let end = if self.is_over { "event: end\ndata:\n\n" } else { "" };
        let lines: Vec<&str> = html.lines().collect();
        Some(Bytes::from(format!("data: {}\n\n{end}", lines.join("\ndata: "))))
    }
}
