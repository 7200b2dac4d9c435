//! Standard input and output as one connection: a line is a message, in both directions.
//!
//! Walls: a line has a bound, and what is no message is answered and forgotten. Answers are written
//! whole and one after the other; whoever does not read them is not read from either. At the end of
//! the input, requests under way still get their answers for as long as the grace lasts.

mod lines;
mod streams;
mod writer;

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::message::{self, BUDGET, Busy, DISCOVER, Fault, Kind, ParsedShare, Refusal};
use lines::{Line, Lines};
pub(crate) use streams::{standard_input, standard_output};
use writer::Writer;

/// A line that a client sends: as much as `rmcp` itself would take.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Requests that are not answered yet. With so many nothing more is read until one is: a client that
/// sends faster than it is answered waits, and memory does not grow.
const UNDER_WAY_MAX: usize = 256;

/// After the grace, what was cancelled has so long to say what it has done.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// How a server over standard input and output behaves.
#[derive(Clone, Copy, Debug)]
pub struct StdioSettings {
    /// How long requests may go on when the input has ended, or when we are asked to end.
    pub grace: Duration,
    /// The longest line that is taken.
    pub line_bytes_max: usize,
}

impl Default for StdioSettings {
    fn default() -> Self {
        Self { grace: Duration::from_secs(30), line_bytes_max: LINE_BYTES_MAX }
    }
}

/// Serving could not go on.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// Our output is gone. What was under way was cancelled.
    #[error("can't write answers: {0}")]
    Output(#[source] io::Error),
}

/// Serves until the input ends or `shutdown` says so, and then until what is under way is answered
/// or the grace is over.
pub async fn serve_stdio<H>(
    handler: H,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    settings: StdioSettings,
    shutdown: CancellationToken,
) -> Result<(), StdioError>
where
    H: ServerHandler + Clone,
{
    let (writer, mut writing) = Writer::start(output);
    let line = Arc::new(Connection {
        input: AsyncMutex::new(Lines::new(Box::new(input), settings.line_bytes_max)),
        writer,
        under_way: Mutex::default(),
        changed: Notify::new(),
        ended_at: OnceLock::new(),
        cancel: CancellationToken::new(),
        shutdown,
        settings,
    });
    while line.ended_at.get().is_none() {
        // Each opening is a service of its own: one that fails leaves the input to the next.
        line.forget_under_way();
        let transport = StdioTransport::new(Arc::clone(&line));
        match serve_server_with_ct(handler.clone(), transport, line.cancel.child_token()).await {
            Ok(running) => {
                let waiting = running.waiting();
                tokio::pin!(waiting);
                tokio::select! {
                    _ = &mut waiting => {}
                    () = line.cancel.cancelled() => drop(tokio::time::timeout(LAST_WORDS, &mut waiting).await),
                }
                // Whatever ended it, there is no second conversation on one connection.
                break;
            }
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => break,
            Err(ServerInitializeError::TransportError { .. }) => break,
            // It was answered; the client may try again.
            Err(_) => {}
        }
    }
    line.cancel.cancel();
    line.writer.close();
    let written = tokio::time::timeout(LAST_WORDS, &mut writing).await;
    writing.abort();
    match written {
        Ok(Ok(Err(error))) if error.kind() != io::ErrorKind::BrokenPipe => Err(StdioError::Output(error)),
        // Who hung up wants no answer, and who does not read gets none.
        Ok(_) | Err(_) => Ok(()),
    }
}

struct Connection {
    input: AsyncMutex<Lines<Box<dyn AsyncRead + Send + Unpin>>>,
    writer: Writer,
    under_way: Mutex<HashSet<RequestId>>,
    /// One more was answered.
    changed: Notify,
    /// Since when there is nothing more to read.
    ended_at: OnceLock<Instant>,
    /// The grace is over.
    cancel: CancellationToken,
    shutdown: CancellationToken,
    settings: StdioSettings,
}

impl Connection {
    fn begin(&self, id: &RequestId) -> bool {
        self.under_way.lock().insert(id.clone())
    }

    fn end(&self, id: &RequestId) {
        self.under_way.lock().remove(id);
        self.changed.notify_waiters();
    }

    fn forget_under_way(&self) {
        self.under_way.lock().clear();
        self.changed.notify_waiters();
    }

    /// Until fewer than this many requests are under way.
    async fn fewer_under_way_than(&self, count: usize) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.under_way.lock().len() < count {
                return;
            }
            changed.await;
        }
    }

    /// The next line that there is, unless the input is over.
    async fn next_line(&self) -> Option<Line> {
        let reading = async {
            self.fewer_under_way_than(UNDER_WAY_MAX).await;
            self.input.lock().await.next().await
        };
        tokio::select! {
            biased;
            () = self.shutdown.cancelled() => None,
            () = self.writer.broken() => None,
            line = reading => line,
        }
    }

    /// When the input is over: until all answers are out, or the grace is over.
    async fn settle(&self, ended_at: Instant) {
        let answered = async {
            self.fewer_under_way_than(1).await;
            self.writer.drained().await;
        };
        tokio::select! {
            () = self.writer.broken() => {}
            outcome = tokio::time::timeout_at(ended_at + self.settings.grace, answered) => {
                if outcome.is_ok() {
                    return;
                }
            }
        }
        self.cancel.cancel();
    }
}

struct StdioTransport {
    connection: Arc<Connection>,
    /// Whether the conversation has begun: `rmcp` ends at once if it begins with anything else than
    /// it expects.
    is_open: bool,
    /// The request that begins it, if it is answered with a result.
    opening: Option<RequestId>,
    /// An answer of our own that waits for room. Receiving can be given up at any moment.
    refusal: Option<Refusal>,
    /// A message that waits for room to be parsed in.
    line: Option<Vec<u8>>,
}

impl StdioTransport {
    fn new(connection: Arc<Connection>) -> Self {
        Self { connection, is_open: false, opening: None, refusal: None, line: None }
    }

    /// What a line comes to: a message for `rmcp`, or an answer of our own, or nothing.
    fn take(&mut self, line: &[u8], parsed: ParsedShare) -> Option<ClientJsonRpcMessage> {
        let checked = match message::check(line, false) {
            Ok(checked) => checked,
            Err(refused) => {
                self.refusal = (!refused.was_notification).then_some(refused.refusal);
                return None;
            }
        };
        match checked.kind {
            Kind::Request { id, method, is_modern } => {
                if let Some(why) = self.begin(&id, &method, is_modern) {
                    self.refusal = Some(Refusal::new(Fault::Request, why).with_id(Some(id)));
                    return None;
                }
            }
            Kind::Notification { .. } | Kind::Response if !self.is_open => return None,
            // A request that was cancelled is not answered.
            Kind::Notification { cancels: Some(id), .. } => self.connection.end(&id),
            Kind::Notification { .. } | Kind::Response => {}
        }
        let mut message = checked.message;
        if let ClientJsonRpcMessage::Request(request) = &mut message {
            request.request.extensions_mut().insert(parsed);
        }
        Some(message)
    }

    /// Only a request is answered: nobody waits for a word about anything else.
    fn refuse_full(&mut self, full: Busy, line: &[u8]) {
        let id = message::request_id(line);
        self.refusal = id.map(|id| Refusal::new(Fault::Transport, full.to_string()).with_id(Some(id)));
    }

    /// Why a request cannot begin now, unless it can.
    fn begin(&mut self, id: &RequestId, method: &str, is_modern: bool) -> Option<String> {
        let is_opening = matches!(method, "initialize" | DISCOVER | "ping");
        if !self.is_open && !is_opening && !is_modern {
            let modern = message::MODERN;
            return Some(format!(
                "send `initialize` first, or from {modern} on, the version in each request's `_meta`"
            ));
        }
        if !self.connection.begin(id) {
            return Some(format!("a request with the id {id} is still running; use another id"));
        }
        if method == "initialize" {
            self.opening = Some(id.clone());
        } else if !is_opening {
            self.is_open = true;
        }
        None
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let connection = Arc::clone(&self.connection);
        if let ServerJsonRpcMessage::Response(response) = &message
            && self.opening.as_ref() == Some(&response.id)
        {
            self.is_open = true;
        }
        async move {
            let answered = match &message {
                ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
                ServerJsonRpcMessage::Error(error) => error.id.clone(),
                ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
            };
            let sent = match serde_json::to_vec(&message) {
                Ok(text) => connection.writer.send(text).await,
                Err(error) => Err(io::Error::other(error)),
            };
            if let Some(id) = answered {
                connection.end(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let connection = Arc::clone(&self.connection);
        // What was received last is begun before the next: a task that was spawned last would be the first otherwise.
        tokio::task::yield_now().await;
        loop {
            if let Some(refusal) = &self.refusal {
                // If it cannot be written, nothing can: the next read finds out.
                let _ = connection.writer.send(refusal.to_json()).await;
                self.refusal = None;
            }
            if let Some(ended_at) = connection.ended_at.get() {
                connection.settle(*ended_at).await;
                return None;
            }
            if let Some(line) = &self.line {
                let room = BUDGET.take(line).await;
                let Some(line) = self.line.take() else { continue };
                match room {
                    Ok(parsed) => {
                        if let Some(message) = self.take(&line, parsed) {
                            return Some(message);
                        }
                    }
                    Err(full) => self.refuse_full(full, &line),
                }
                continue;
            }
            match connection.next_line().await {
                Some(Line::Whole(line)) => self.line = Some(line),
                Some(Line::TooLong { beginning, end }) => {
                    let bytes = connection.settings.line_bytes_max;
                    let why = format!("skipped a line of more than {bytes} bytes");
                    let id = message::request_id_of_fragments(&beginning, &end);
                    self.refusal = Some(Refusal::new(Fault::Request, why).with_id(id));
                }
                None => drop(connection.ended_at.set(Instant::now())),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}
