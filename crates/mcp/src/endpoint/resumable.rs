//! Streams that a client can come back to. Since 2025-11-25 a stream begins with an event that has an id
//! and no data, and says when to come back; whoever comes back with the id of the last event that it saw
//! gets what followed it, each event once, also when the answer was ready meanwhile.
//!
//! `rmcp` forgets an answer that nobody was there to read and repeats the event that was named, so what is
//! sent goes through a record of our own. Clients of older versions take an event without data for a
//! broken one: they get none of this.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The first version whose clients come back.
const SINCE: &str = "2025-11-25";
/// When a client that has lost its stream comes back.
const RETRY: Duration = Duration::from_secs(3);
/// How long an answer can be read again.
pub(super) const KEPT_FOR: Duration = Duration::from_secs(60);
/// Answers of one session that are kept; a client has few requests under way.
const KEPT_MAX: usize = 16;
/// Events of one request that are kept: the answer is the last, what comes before is progress.
const EVENTS_MAX: usize = 64;
/// What is kept for one session: several answers of the usual size. One that is larger is asked for anew.
const SESSION_BYTES_MAX: usize = 4 << 20;
/// What is kept for all sessions: one caller may have many of them, and memory is for running programs.
const ALL_BYTES_MAX: usize = 64 << 20;
/// What a JSON value takes in memory besides its text: its place, that of its key, and allocations.
const VALUE_BYTES: usize = 128;

/// The sessions of `rmcp`, with streams that can be resumed.
pub(super) struct ResumableSessions {
    pub(super) inner: LocalSessionManager,
    records: Arc<Records>,
}

/// What was sent, for those sessions whose clients come back.
#[derive(Default)]
struct Records {
    /// Locked before a stream of one of them is, never after.
    sessions: Mutex<HashMap<SessionId, Record>>,
    /// What is kept for all of them.
    bytes: Arc<AtomicUsize>,
}

/// The streams of one session, by number.
#[derive(Default)]
struct Record {
    next: u64,
    bytes: Arc<AtomicUsize>,
    streams: HashMap<u64, Arc<Mutex<StreamRecord>>>,
}

/// What was sent in answer to one request.
struct StreamRecord {
    number: u64,
    events: VecDeque<Kept>,
    /// The index of the first event that is kept.
    first: u64,
    /// Whoever reads it now.
    reader: Option<mpsc::UnboundedSender<ServerSseMessage>>,
    ended: Option<Instant>,
}

/// An event that can be read again.
struct Kept {
    event: ServerSseMessage,
    /// The first event of a stream is as good as nothing and takes none.
    _room: Option<Room>,
}

/// Bytes that an event may take; free again when it is dropped.
struct Room {
    bytes: usize,
    /// That of its session and that of all.
    counts: [Arc<AtomicUsize>; 2],
}

impl ResumableSessions {
    pub(super) fn new() -> Self {
        let mut inner = LocalSessionManager::default();
        // Ours knows better which session is idle: a long request is not.
        inner.session_config.keep_alive = None;
        inner.session_config.sse_retry = None;
        Self { inner, records: Arc::default() }
    }

    /// Forgets what can't be read again any more.
    pub(super) fn drop_old(&self, now: Instant) {
        for record in self.records.sessions.lock().values_mut() {
            record.drop_old(now);
        }
    }
}

impl Records {
    /// A new stream of a session whose client comes back; `None` if it doesn't.
    fn begin(&self, id: &SessionId) -> Option<Arc<Mutex<StreamRecord>>> {
        let mut sessions = self.sessions.lock();
        let record = sessions.get_mut(id)?;
        record.drop_old(Instant::now());
        while record.streams.len() >= KEPT_MAX && record.drop_oldest() {}
        let number = record.next;
        record.next += 1;
        let stream = Arc::new(Mutex::new(StreamRecord::new(number)));
        record.streams.insert(number, Arc::clone(&stream));
        Some(stream)
    }

    fn find(&self, id: &SessionId, number: u64) -> Option<Arc<Mutex<StreamRecord>>> {
        let sessions = self.sessions.lock();
        let stream = sessions.get(id)?.streams.get(&number)?;
        let is_gone = stream.lock().is_gone(Instant::now());
        (!is_gone).then(|| Arc::clone(stream))
    }

    /// Sends an event of a stream to whoever reads it, and keeps it if there is room.
    fn add(&self, id: &SessionId, stream: &Mutex<StreamRecord>, event: ServerSseMessage) {
        let room = self.make_room(id, stream, &event);
        stream.lock().add(event, room);
    }

    /// Room for an event of a stream: in its session what is older makes way, what other sessions keep
    /// doesn't.
    fn make_room(
        &self,
        id: &SessionId,
        stream: &Mutex<StreamRecord>,
        event: &ServerSseMessage,
    ) -> Option<Room> {
        let bytes = bytes_of(event)?;
        // Until the room is taken: nobody else takes it meanwhile.
        let mut sessions = self.sessions.lock();
        let record = sessions.get_mut(id)?;
        while !has_room(&record.bytes, bytes, SESSION_BYTES_MAX) && record.drop_oldest() {}
        let mut stream = stream.lock();
        while !has_room(&record.bytes, bytes, SESSION_BYTES_MAX) && stream.drop_first() {}
        let is_free =
            has_room(&record.bytes, bytes, SESSION_BYTES_MAX) && has_room(&self.bytes, bytes, ALL_BYTES_MAX);
        is_free.then(|| Room::take(bytes, [Arc::clone(&record.bytes), Arc::clone(&self.bytes)]))
    }
}

impl Record {
    fn drop_old(&mut self, now: Instant) {
        self.streams.retain(|_, stream| !stream.lock().is_gone(now));
    }

    /// Forgets the oldest stream that has ended, if any has. Those under way stay: somebody waits for them.
    fn drop_oldest(&mut self) -> bool {
        let ended = self.streams.iter().filter(|(_, stream)| stream.lock().ended.is_some());
        let oldest = ended.map(|(number, _)| *number).min();
        oldest.is_some_and(|oldest| self.streams.remove(&oldest).is_some())
    }
}

impl Room {
    fn take(bytes: usize, counts: [Arc<AtomicUsize>; 2]) -> Self {
        for count in &counts {
            count.fetch_add(bytes, Ordering::Relaxed);
        }
        Self { bytes, counts }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        for count in &self.counts {
            count.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

fn has_room(taken: &AtomicUsize, bytes: usize, max: usize) -> bool {
    taken.load(Ordering::Relaxed).saturating_add(bytes) <= max
}

impl StreamRecord {
    fn new(number: u64) -> Self {
        let first = ServerSseMessage::priming(event_id(number, 0), RETRY);
        let events = VecDeque::from([Kept { event: first, _room: None }]);
        Self { number, events, first: 0, reader: None, ended: None }
    }

    /// It can't be read again: its time is over, or its answer wasn't kept.
    fn is_gone(&self, now: Instant) -> bool {
        let is_old = |ended: Instant| now.saturating_duration_since(ended) >= KEPT_FOR;
        self.ended.is_some_and(|ended| self.events.is_empty() || is_old(ended))
    }

    /// Sends an event under an id of its own to whoever reads, and keeps it if it has room.
    fn add(&mut self, mut event: ServerSseMessage, room: Option<Room>) {
        event.event_id = Some(event_id(self.number, self.first + self.events.len() as u64));
        if let Some(reader) = &self.reader {
            // Whoever is gone may come back.
            let _ = reader.send(event.clone());
        }
        if room.is_none() {
            // What is kept has no gaps: it goes on after this one.
            self.first += self.events.len() as u64 + 1;
            self.events.clear();
            return;
        }
        self.events.push_back(Kept { event, _room: room });
        if self.events.len() > EVENTS_MAX {
            self.drop_first();
        }
    }

    /// Forgets the first event, if there is any.
    fn drop_first(&mut self) -> bool {
        let was_there = self.events.pop_front().is_some();
        self.first += u64::from(was_there);
        was_there
    }

    fn end(&mut self) {
        self.ended = Some(Instant::now());
        self.reader = None;
    }

    /// Whoever asks reads on from this event; whoever read before doesn't any more.
    fn read_from(&mut self, index: u64) -> EventStream {
        let (sender, events) = mpsc::unbounded_channel();
        let known = usize::try_from(index.saturating_sub(self.first)).unwrap_or(usize::MAX);
        for kept in self.events.iter().skip(known) {
            let _ = sender.send(kept.event.clone());
        }
        self.reader = self.ended.is_none().then_some(sender);
        EventStream { events }
    }
}

/// About what an event takes in memory; `None` if that is more than a session may keep.
fn bytes_of(event: &ServerSseMessage) -> Option<usize> {
    let Some(message) = event.message.as_deref() else { return Some(0) };
    let mut counted = Counted { bytes: 0 };
    message.serialize(&mut Serializer::with_formatter(&mut counted, WithPlaces)).ok()?;
    Some(counted.bytes)
}

/// Counts what is written, and fails when it is too much.
struct Counted {
    bytes: usize,
}

impl io::Write for Counted {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        self.bytes = self.bytes.saturating_add(written.len());
        if self.bytes > SESSION_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(written.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes as much for each value as its place takes: a list of digits is much larger than its text.
struct WithPlaces;

impl Formatter for WithPlaces {
    fn begin_array_value<W>(&mut self, writer: &mut W, _first: bool) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        writer.write_all(&[0; VALUE_BYTES])
    }

    fn begin_object_value<W>(&mut self, writer: &mut W) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        writer.write_all(&[0; VALUE_BYTES])
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
            self.records.sessions.lock().insert(id.clone(), Record::default());
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.records.sessions.lock().remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let events = self.inner.create_stream(id, message).await?;
        let Some(stream) = self.records.begin(id) else { return Ok(events.left_stream()) };
        let reading = stream.lock().read_from(0);
        let (records, id) = (Arc::clone(&self.records), id.clone());
        // Goes on whether or not anybody reads, as long as the session does.
        tokio::spawn(async move {
            let mut events = std::pin::pin!(events);
            while let Some(event) = events.next().await {
                records.add(&id, &stream, event);
            }
            stream.lock().end();
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
            let record = self.records.find(id, number);
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

#[cfg(test)]
mod tests {
    use super::*;

    use futures_util::FutureExt;
    use serde_json::{Value, json};

    /// A session whose client comes back.
    fn open(sessions: &ResumableSessions, name: &str) -> SessionId {
        let id = SessionId::from(name);
        sessions.records.sessions.lock().insert(id.clone(), Record::default());
        id
    }

    fn event_of(data: &Value) -> ServerSseMessage {
        let params = json!({"level": "info", "data": data});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
        ServerSseMessage::from_message(serde_json::from_value(message).expect("a notification"))
    }

    fn event(bytes: usize) -> ServerSseMessage {
        event_of(&json!("x".repeat(bytes)))
    }

    /// A stream that was answered with one event of this size; its number.
    fn answer(sessions: &ResumableSessions, id: &SessionId, bytes: usize) -> u64 {
        let stream = sessions.records.begin(id).expect("the session is there");
        sessions.records.add(id, &stream, event(bytes));
        stream.lock().end();
        stream.lock().number
    }

    fn is_kept(sessions: &ResumableSessions, id: &SessionId, number: u64) -> bool {
        sessions.records.find(id, number).is_some()
    }

    fn bytes_kept(sessions: &ResumableSessions) -> usize {
        sessions.records.bytes.load(Ordering::Relaxed)
    }

    fn ids(events: &mut EventStream) -> Vec<Option<String>> {
        let mut ids = Vec::new();
        while let Some(Some(event)) = events.next().now_or_never() {
            ids.push(event.event_id);
        }
        ids
    }

    #[test]
    fn an_idle_session_keeps_nothing_after_its_time() {
        let sessions = ResumableSessions::new();
        let id = open(&sessions, "idle");
        let number = answer(&sessions, &id, 1000);
        let waiting = sessions.records.begin(&id).expect("the session is there");
        let waiting = waiting.lock().number;
        sessions.drop_old(Instant::now());
        assert!(is_kept(&sessions, &id, number));
        assert!(bytes_kept(&sessions) >= 1000);
        sessions.drop_old(Instant::now() + KEPT_FOR);
        assert!(!is_kept(&sessions, &id, number));
        assert_eq!(bytes_kept(&sessions), 0);
        assert!(is_kept(&sessions, &id, waiting), "somebody waits for it");
    }

    #[test]
    fn the_oldest_answers_of_a_session_make_way() {
        let sessions = ResumableSessions::new();
        let id = open(&sessions, "busy");
        let numbers: Vec<u64> = (0..4).map(|_| answer(&sessions, &id, SESSION_BYTES_MAX / 5 * 2)).collect();
        let kept: Vec<bool> = numbers.iter().map(|number| is_kept(&sessions, &id, *number)).collect();
        assert_eq!(kept, [false, false, true, true]);
        assert!(bytes_kept(&sessions) <= SESSION_BYTES_MAX);
    }

    #[test]
    fn an_answer_that_is_too_large_is_delivered_but_not_kept() {
        let sessions = ResumableSessions::new();
        let id = open(&sessions, "large");
        let small = answer(&sessions, &id, 1000);
        let stream = sessions.records.begin(&id).expect("the session is there");
        let mut reading = stream.lock().read_from(0);
        sessions.records.add(&id, &stream, event(10));
        sessions.records.add(&id, &stream, event(SESSION_BYTES_MAX));
        stream.lock().end();
        let sent = [0, 1, 2].map(|index| Some(event_id(1, index)));
        assert_eq!(ids(&mut reading), sent);
        assert!(!is_kept(&sessions, &id, 1));
        assert!(is_kept(&sessions, &id, small), "it made way for nothing");
    }

    #[test]
    fn what_follows_an_event_that_was_not_kept_can_be_read_under_its_own_id() {
        let sessions = ResumableSessions::new();
        let id = open(&sessions, "gap");
        let stream = sessions.records.begin(&id).expect("the session is there");
        sessions.records.add(&id, &stream, event(SESSION_BYTES_MAX));
        sessions.records.add(&id, &stream, event(10));
        stream.lock().end();
        assert!(is_kept(&sessions, &id, 0));
        assert_eq!(ids(&mut stream.lock().read_from(1)), [Some(event_id(0, 2))]);
    }

    #[test]
    fn progress_makes_way_for_the_answer() {
        let sessions = ResumableSessions::new();
        let id = open(&sessions, "progress");
        let stream = sessions.records.begin(&id).expect("the session is there");
        for _ in 0..3 {
            sessions.records.add(&id, &stream, event(SESSION_BYTES_MAX / 5 * 2));
        }
        stream.lock().end();
        let last = [2, 3].map(|index| Some(event_id(0, index)));
        assert_eq!(ids(&mut stream.lock().read_from(1)), last);
    }

    #[test]
    fn all_sessions_together_keep_no_more_than_their_bound() {
        let sessions = ResumableSessions::new();
        let bytes = SESSION_BYTES_MAX / 2;
        let ids: Vec<SessionId> = (0..40).map(|n| open(&sessions, &format!("session-{n}"))).collect();
        let numbers: Vec<u64> = ids.iter().map(|id| answer(&sessions, id, bytes)).collect();
        assert!(bytes_kept(&sessions) <= ALL_BYTES_MAX);
        assert!(is_kept(&sessions, &ids[0], numbers[0]));
        assert!(!is_kept(&sessions, &ids[39], numbers[39]));
        // Those that end make room for others.
        for id in &ids[..20] {
            sessions.records.sessions.lock().remove(id);
        }
        let number = answer(&sessions, &ids[39], bytes);
        assert!(is_kept(&sessions, &ids[39], number));
    }

    #[test]
    fn many_small_values_count_as_what_they_take() {
        let text = bytes_of(&event(2000)).expect("small");
        let digits = bytes_of(&event_of(&json!(vec!["1"; 1000]))).expect("small");
        assert!(text < 10 * VALUE_BYTES + 2000, "{text}");
        assert!(digits > 1000 * VALUE_BYTES, "{digits}");
    }
}
