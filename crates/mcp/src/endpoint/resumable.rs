//! Streams that a client can come back to. Since 2025-11-25 a stream begins with an event that has an id
//! and no data, and says when to come back; whoever comes back with the id of the last event that it saw
//! gets what followed it, each event once, also when the answer was ready meanwhile.
//!
//! `rmcp` forgets an answer that nobody was there to read and repeats the event that was named, so what is
//! sent goes through a record of our own. Clients of older versions take an event without data for a
//! broken one: they get none of this.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The first version whose clients come back.
const SINCE: &str = "2025-11-25";
/// When a client that has lost its stream comes back.
const RETRY: Duration = Duration::from_secs(3);
/// How long an answer can be read again.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// Answers of one session that are kept; a client has few requests under way.
const KEPT_MAX: usize = 16;
/// Events of one request that are kept: the answer is the last, what comes before is progress.
const EVENTS_MAX: usize = 64;

/// The sessions of `rmcp`, with streams that can be resumed.
pub(super) struct ResumableSessions {
    pub(super) inner: LocalSessionManager,
    /// Of those sessions whose clients come back.
    records: Mutex<HashMap<SessionId, Record>>,
}

/// The streams of one session, by number.
#[derive(Default)]
struct Record {
    next: u64,
    streams: HashMap<u64, Arc<Mutex<StreamRecord>>>,
}

/// What was sent in answer to one request.
struct StreamRecord {
    number: u64,
    events: VecDeque<ServerSseMessage>,
    /// The index of the first event that is kept.
    first: u64,
    /// Whoever reads it now.
    reader: Option<mpsc::UnboundedSender<ServerSseMessage>>,
    ended: Option<Instant>,
}

impl ResumableSessions {
    pub(super) fn new() -> Self {
        let mut inner = LocalSessionManager::default();
        // Ours knows better which session is idle: a long request is not.
        inner.session_config.keep_alive = None;
        inner.session_config.sse_retry = None;
        Self { inner, records: Mutex::default() }
    }

    /// A new stream of a session whose client comes back; `None` if it doesn't.
    fn begin(&self, id: &SessionId) -> Option<Arc<Mutex<StreamRecord>>> {
        let mut records = self.records.lock();
        let record = records.get_mut(id)?;
        record.streams.retain(|_, stream| !stream.lock().is_old());
        while record.streams.len() >= KEPT_MAX {
            // Those under way stay: somebody waits for them.
            let ended = record.streams.iter().filter(|(_, stream)| stream.lock().ended.is_some());
            let Some(oldest) = ended.map(|(number, _)| *number).min() else { break };
            record.streams.remove(&oldest);
        }
        let number = record.next;
        record.next += 1;
        let stream = Arc::new(Mutex::new(StreamRecord::new(number)));
        record.streams.insert(number, Arc::clone(&stream));
        Some(stream)
    }

    fn find(&self, id: &SessionId, number: u64) -> Option<Arc<Mutex<StreamRecord>>> {
        self.records.lock().get(id)?.streams.get(&number).map(Arc::clone)
    }
}

impl StreamRecord {
    fn new(number: u64) -> Self {
        let first = ServerSseMessage::priming(event_id(number, 0), RETRY);
        Self { number, events: VecDeque::from([first]), first: 0, reader: None, ended: None }
    }

    fn is_old(&self) -> bool {
        self.ended.is_some_and(|ended| ended.elapsed() >= KEPT_FOR)
    }

    /// Keeps an event under an id of its own, and sends it to whoever reads.
    fn add(&mut self, mut event: ServerSseMessage) {
        event.event_id = Some(event_id(self.number, self.first + self.events.len() as u64));
        if let Some(reader) = &self.reader {
            // Whoever is gone may come back.
            let _ = reader.send(event.clone());
        }
        self.events.push_back(event);
        if self.events.len() > EVENTS_MAX {
            self.events.pop_front();
            self.first += 1;
        }
    }

    fn end(&mut self) {
        self.ended = Some(Instant::now());
        self.reader = None;
    }

    /// Whoever asks reads on from this event; whoever read before doesn't any more.
    fn read_from(&mut self, index: u64) -> EventStream {
        let (sender, events) = mpsc::unbounded_channel();
        let known = usize::try_from(index.saturating_sub(self.first)).unwrap_or(usize::MAX);
        for event in self.events.iter().skip(known) {
            let _ = sender.send(event.clone());
        }
        self.reader = self.ended.is_none().then_some(sender);
        EventStream { events }
    }
}

fn event_id(number: u64, index: u64) -> String {
    format!("{number}-{index}")
}

/// The number of a stream and of an event in it, if it is an id of ours.
fn read_event_id(id: &str) -> Option<(u64, u64)> {
    let (number, index) = id.split_once('-')?;
    Some((number.parse().ok()?, index.parse().ok()?))
}

/// Events as they come.
pub(super) struct EventStream {
    events: mpsc::UnboundedReceiver<ServerSseMessage>,
}

impl Stream for EventStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        self.events.poll_recv(context)
    }
}

impl SessionManager for ResumableSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.inner.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let answer = self.inner.initialize_session(id, message).await?;
        if let ServerJsonRpcMessage::Response(answer) = &answer
            && let ServerResult::InitializeResult(agreed) = &answer.result
            && agreed.protocol_version.as_str() >= SINCE
        {
            self.records.lock().insert(id.clone(), Record::default());
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.records.lock().remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let events = self.inner.create_stream(id, message).await?;
        let Some(record) = self.begin(id) else { return Ok(events.left_stream()) };
        let reading = record.lock().read_from(0);
        // Goes on whether or not anybody reads, as long as the session does.
        tokio::spawn(async move {
            let mut events = std::pin::pin!(events);
            while let Some(event) = events.next().await {
                record.lock().add(event);
            }
            record.lock().end();
        });
        Ok(reading.right_stream())
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        if let Some((number, index)) = read_event_id(&last_event_id) {
            let record = self.find(id, number);
            let record = record.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
            let reading = record.lock().read_from(index.saturating_add(1));
            return Ok(reading.left_stream());
        }
        let events = self.inner.resume(id, last_event_id.clone()).await?;
        // The event that was named has been read.
        let is_new = move |event: &ServerSseMessage| event.event_id.as_deref() != Some(&last_event_id);
        Ok(events.filter(move |event| std::future::ready(is_new(event))).right_stream())
    }
}
