//! The conversation with one server, whatever carries it: which requests are under way, what the
//! server tells us in between, and what it gets when it asks for something.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gristmill_gateway::ports::{Progress, ProgressSink};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot, watch};

use super::redact::Redactor;
use super::wire::{self, Incoming, NoResult, RpcError};

/// What a request ends with: the raw result, the server's error, or nothing because it is gone.
pub(crate) type Reply = Result<String, ReplyError>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplyError {
    Rpc(RpcError),
    /// Neither a result nor an error.
    Empty,
    /// Larger than the server's limit.
    TooLarge,
    Lost(String),
    /// It was gone before anything was sent.
    NotSent(String),
}

impl From<NoResult> for ReplyError {
    fn from(outcome: NoResult) -> Self {
        match outcome {
            NoResult::Error(error) => Self::Rpc(error),
            NoResult::Empty => Self::Empty,
        }
    }
}

/// See the module.
pub(crate) struct Peer {
    next_id: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiting>>,
    lost: watch::Sender<Option<String>>,
    tools_changed: Arc<dyn Fn() + Send + Sync>,
    redactor: Redactor,
}

struct Waiting {
    reply: oneshot::Sender<Reply>,
    progress: ProgressSink,
    /// Wakes whoever keeps the time: the server is still at it.
    alive: Arc<Notify>,
}

/// A request under way. Dropping it forgets it.
pub(crate) struct UnderWay {
    pub id: u64,
    pub alive: Arc<Notify>,
    reply: oneshot::Receiver<Reply>,
    peer: Arc<Peer>,
    answered: bool,
}

impl Peer {
    pub(crate) fn new(tools_changed: Arc<dyn Fn() + Send + Sync>, redactor: Redactor) -> Self {
        Self {
            next_id: AtomicU64::new(1),
            waiting: Mutex::default(),
            lost: watch::Sender::new(None),
            tools_changed,
            redactor,
        }
    }

    /// Takes a number for a request. To be called before it is sent.
    pub(crate) fn begin(self: &Arc<Self>, progress: ProgressSink) -> UnderWay {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        let alive = Arc::new(Notify::new());
        let waiting = Waiting { reply: sender, progress, alive: Arc::clone(&alive) };
        if let Some(why) = self.lost_because() {
            let _ = waiting.reply.send(Err(ReplyError::NotSent(why)));
        } else {
            self.lock().insert(id, waiting);
            // Lost in between: whoever emptied the map has not seen this one.
            if let Some(why) = self.lost_because() {
                self.end(id, Err(ReplyError::NotSent(why)));
            }
        }
        UnderWay { id, alive, reply, peer: Arc::clone(self), answered: false }
    }

    /// One message. What is to be sent back, if anything.
    pub(crate) fn heard(&self, incoming: Incoming<'_>) -> Option<String> {
        match incoming {
            Incoming::Response { id, outcome } => {
                let reply = outcome.map(|raw| raw.get().to_owned()).map_err(ReplyError::from);
                self.end(id, reply);
                None
            }
            Incoming::Request { id, method } => Some(answer(id, &method)),
            Incoming::Notification { method, params } => {
                match method.as_ref() {
                    "notifications/progress" => self.progressed(params),
                    "notifications/tools/list_changed" => self.tools_may_have_changed(),
                    _ => {}
                }
                None
            }
        }
    }

    /// Has its tools looked at again.
    pub(crate) fn tools_may_have_changed(&self) {
        (self.tools_changed)();
    }

    /// Ends one request.
    pub(crate) fn end(&self, id: u64, reply: Reply) {
        if let Some(waiting) = self.lock().remove(&id) {
            let _ = waiting.reply.send(reply);
        }
    }

    /// Ends every request: the server is gone.
    pub(crate) fn lose(&self, why: &str) {
        self.lost.send_if_modified(|lost| lost.is_none() && lost.insert(why.to_owned()) == why);
        let all: Vec<Waiting> = self.lock().drain().map(|(_, waiting)| waiting).collect();
        for waiting in all {
            let _ = waiting.reply.send(Err(ReplyError::Lost(why.to_owned())));
        }
    }

    /// Why the server is gone, if it is.
    pub(crate) fn lost_because(&self) -> Option<String> {
        self.lost.borrow().clone()
    }

    /// Waits until the server is gone, and says why.
    pub(crate) async fn gone(&self) -> String {
        let mut lost = self.lost.subscribe();
        match lost.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            Err(_) => "the connection was closed".to_owned(),
        }
    }

    fn progressed(&self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Written {
            progress_token: serde_json::Value,
            progress: f64,
            #[serde(default)]
            total: Option<f64>,
            #[serde(default)]
            message: Option<String>,
        }
        let Some(Ok(written)) = params.map(|params| serde_json::from_str::<Written>(params.get())) else {
            return;
        };
        let token = written.progress_token;
        let id = token.as_u64().or_else(|| token.as_str().and_then(|text| text.parse().ok()));
        let waiting = self.lock();
        if let Some(waiting) = id.and_then(|id| waiting.get(&id)) {
            waiting.alive.notify_one();
            let Written { progress, total, message, .. } = written;
            let message = message.map(|text| self.redactor.clean(&text).into_owned());
            waiting.progress.tell(Progress { progress, total, message });
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnderWay {
    /// Waits for the reply.
    pub(crate) async fn reply(&mut self) -> Reply {
        let reply = (&mut self.reply).await;
        self.answered = true;
        reply.unwrap_or_else(|_| Err(ReplyError::Lost("the connection was closed".to_owned())))
    }

    /// Whether the reply was received.
    pub(crate) fn is_answered(&self) -> bool {
        self.answered
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.peer.lock().remove(&self.id);
    }
}

/// What a server gets that asks for something. We offer it nothing, and say so: nobody is there to
/// be asked, and no model is lent.
fn answer(id: &RawValue, method: &str) -> String {
    match method {
        "ping" => wire::response(id, "{}"),
        "roots/list" => wire::response(id, r#"{"roots":[]}"#),
        "elicitation/create" => wire::response(id, super::declined::ELICITATION),
        "sampling/createMessage" => wire::refusal(id, -1, super::declined::SAMPLING),
        other => wire::refusal(id, -32601, &format!("gristmill does not know `{}`", cut(other))),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}
