//! The conversation with one server, whatever carries it: which requests are under way, what the
//! server tells us in between, and what it gets when it asks for something.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gristmill_gateway::domain::first_chars;
use gristmill_gateway::ports::{Asker, Progress, ProgressSink};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::asking::{Asking, Caller, Questions};
use super::call_clock::CallClock;
use super::redact::Redactor;
use super::wire::{self, Incoming, NoResult, RpcError};
use super::{declined, question};

/// How much of a method that we do not know is repeated.
const METHOD_CHARS_MAX: usize = 60;

/// What a request ends with: the raw result, the server's error, or nothing because it is gone.
pub(crate) type Reply = Result<String, ReplyError>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplyError {
    Rpc(RpcError),
    /// Neither a result nor an error.
    Empty,
    /// Larger than the server's limit.
    TooLarge,
    /// It can't be read: what is wrong with it.
    Broken(String),
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

pub(crate) struct Peer {
    next_id: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiting>>,
    lost: watch::Sender<Option<String>>,
    about: About,
    questions: Questions,
}

/// What a conversation is told at its beginning.
pub(crate) struct About {
    /// The server's configured name.
    pub server: String,
    /// Whether it is told that it may ask questions.
    pub can_ask: bool,
    pub offer_changed: Arc<dyn Fn() + Send + Sync>,
    pub redactor: Redactor,
}

struct Waiting {
    reply: oneshot::Sender<Reply>,
    progress: ProgressSink,
    clock: CallClock,
    over: CancellationToken,
    /// Who answers questions about it, if it is something that questions can be about.
    asker: Option<Asker>,
}

/// Who wants to hear of a request before it is answered.
pub(crate) struct Listeners {
    pub progress: ProgressSink,
    pub asker: Option<Asker>,
    pub clock: CallClock,
}

/// What is to be done about a message.
pub(crate) enum Heard {
    Nothing,
    /// To send this back.
    Answer(String),
    /// To ask, and to send back what comes of it.
    Ask(Box<Asking>),
}

/// A request under way. Dropping it forgets it.
pub(crate) struct UnderWay {
    pub id: u64,
    over: CancellationToken,
    reply: oneshot::Receiver<Reply>,
    peer: Arc<Peer>,
    answered: bool,
}

impl Peer {
    pub(crate) fn new(about: About) -> Self {
        Self {
            next_id: AtomicU64::new(1),
            waiting: Mutex::default(),
            lost: watch::Sender::new(None),
            questions: Questions::new(&about.server, about.redactor.clone()),
            about,
        }
    }

    pub(crate) fn can_ask(&self) -> bool {
        self.about.can_ask
    }

    pub(crate) fn server(&self) -> &str {
        &self.about.server
    }

    /// Takes a number for a request. To be called before it is sent.
    pub(crate) fn begin(self: &Arc<Self>, listeners: Listeners) -> UnderWay {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        let Listeners { progress, asker, clock } = listeners;
        let over = CancellationToken::new();
        let waiting = Waiting { reply: sender, progress, clock, over: over.clone(), asker };
        if let Some(why) = self.lost_because() {
            let _ = waiting.reply.send(Err(ReplyError::NotSent(why)));
        } else {
            self.lock().insert(id, waiting);
            // Lost in between: whoever emptied the map has not seen this one.
            if let Some(why) = self.lost_because() {
                self.end(id, Err(ReplyError::NotSent(why)));
            }
        }
        UnderWay { id, over, reply, peer: Arc::clone(self), answered: false }
    }

    /// One message. `of` is the request whose answer it came with, if that is known.
    pub(crate) fn heard(&self, incoming: Incoming<'_>, of: Option<u64>) -> Heard {
        match incoming {
            Incoming::Response { id, outcome } => {
                let reply = outcome.map(|raw| raw.get().to_owned()).map_err(ReplyError::from);
                self.end(id, reply);
                Heard::Nothing
            }
            Incoming::Request { id, method, params } if method == question::ELICITATION => {
                let params = params.map_or("{}", RawValue::get);
                match self.questions.take(id.get(), params, self.callers(of)) {
                    Ok(asking) => Heard::Ask(Box::new(asking)),
                    Err(declined) => Heard::Answer(wire::response(id.get(), &declined.to_string())),
                }
            }
            Incoming::Request { id, method, .. } => Heard::Answer(answer(id.get(), &method)),
            Incoming::Notification { method, params } => {
                match method.as_ref() {
                    "notifications/progress" => self.progressed(params),
                    "notifications/cancelled" => self.taken_back(params),
                    "notifications/tools/list_changed"
                    | "notifications/resources/list_changed"
                    | "notifications/prompts/list_changed" => self.offer_may_have_changed(),
                    _ => {}
                }
                Heard::Nothing
            }
        }
    }

    /// Has what it offers looked at again.
    pub(crate) fn offer_may_have_changed(&self) {
        (self.about.offer_changed)();
    }

    /// The calls that a question may belong to.
    fn callers(&self, of: Option<u64>) -> Vec<Caller> {
        let waiting = self.lock();
        let is_meant = |id: u64| of.is_none_or(|of| of == id);
        let meant = waiting.iter().filter(|(id, _)| is_meant(**id));
        let caller = |waiting: &Waiting| {
            let (asker, clock, over) = (waiting.asker.clone()?, waiting.clock.clone(), waiting.over.clone());
            Some(Caller { asker, clock, over })
        };
        meant.filter_map(|(_, waiting)| caller(waiting)).collect()
    }

    fn taken_back(&self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CancelledParams<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        let cancelled = params.map(|params| serde_json::from_str::<CancelledParams<'_>>(params.get()));
        if let Some(Ok(cancelled)) = cancelled {
            self.questions.take_back(cancelled.request_id.get());
        }
    }

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
        struct ProgressParams {
            progress_token: serde_json::Value,
            progress: f64,
            #[serde(default)]
            total: Option<f64>,
            #[serde(default)]
            message: Option<String>,
        }
        let Some(Ok(params)) = params.map(|params| serde_json::from_str::<ProgressParams>(params.get()))
        else {
            return;
        };
        let token = params.progress_token;
        let id = token.as_u64().or_else(|| token.as_str().and_then(|text| text.parse().ok()));
        let waiting = self.lock();
        if let Some(waiting) = id.and_then(|id| waiting.get(&id)) {
            waiting.clock.prolong();
            let ProgressParams { progress, total, message, .. } = params;
            let message = message.map(|text| self.about.redactor.clean(&text).into_owned());
            waiting.progress.tell(Progress { progress, total, message });
        }
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock()
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
        self.over.cancel();
    }
}

/// What a server gets that asks for something else than the user's answer. We offer it nothing, and
/// say so: no model is lent.
fn answer(id: &str, method: &str) -> String {
    match method {
        "ping" => wire::response(id, "{}"),
        "roots/list" => wire::response(id, r#"{"roots":[]}"#),
        "sampling/createMessage" => wire::refusal(id, -1, declined::SAMPLING),
        other => wire::refusal(
            id,
            -32601,
            &format!("Gristmill doesn't support `{}`", first_chars(other, METHOD_CHARS_MAX)),
        ),
    }
}
