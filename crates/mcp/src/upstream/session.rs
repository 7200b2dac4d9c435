//! One connected server: the protocol on top of what carries it. Finds out which era the server
//! belongs to, lists its tools, calls them, and keeps the time.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::ServerLimits;
use gristmill_gateway::ports::{
    BoxFuture, ProgressSink, ServerFacts, Upstream, UpstreamCall, UpstreamFailure,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::http::{HttpLink, Outgoing, RequestError};
use super::peer::{Peer, Reply, ReplyError, UnderWay};
use super::redact::Redactor;
use super::stdio::StdioLink;
use super::wire::{self, RpcError};
use super::{declined, eras, listening};

/// Pages of a list of tools; more are a loop.
const PAGES_MAX: usize = 100;

/// Tools of one server; more are a mistake or an attack.
const TOOLS_MAX: usize = 5000;

/// All pages of such a list together.
const LIST_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A call whose tool reports progress may take this many times its limit.
const PROGRESS_PROLONGS: u32 = 10;

/// Rounds of questions that a tool may ask before it must answer.
const QUESTIONS_MAX: usize = 4;

/// What carries the messages.
pub(crate) enum Link {
    Stdio(StdioLink),
    Http(HttpLink),
}

/// See the module.
pub(crate) struct Session {
    link: Link,
    peer: Arc<Peer>,
    limits: ServerLimits,
    redactor: Redactor,
    facts: ServerFacts,
    modern: bool,
    listening: Option<tokio::task::JoinHandle<()>>,
}

/// A conversation of which the era is not known yet.
pub(crate) struct Opening {
    pub link: Link,
    pub peer: Arc<Peer>,
    pub limits: ServerLimits,
    pub redactor: Redactor,
}

/// What a request carries beside its parameters.
pub(crate) struct Request<'a> {
    pub method: &'static str,
    pub params: Map<String, Value>,
    /// Raw JSON, put into the parameters as it stands.
    pub arguments: Option<&'a str>,
    pub name: Option<&'a str>,
    pub headers: &'a [(String, String)],
    pub progress: Option<ProgressSink>,
    pub limit: Duration,
}

impl<'a> Request<'a> {
    pub(crate) fn new(method: &'static str, params: Map<String, Value>, limit: Duration) -> Self {
        Self { method, params, arguments: None, name: None, headers: &[], progress: None, limit }
    }
}

impl Opening {
    /// The session, now that the era is known.
    pub(crate) fn into_session(self, facts: ServerFacts, modern: bool, listens: bool) -> Session {
        let Self { link, peer, limits, redactor } = self;
        let version = modern.then_some(facts.protocol.as_str());
        let listening = if listens { listening::listen(&link, &peer, version) } else { None };
        Session { link, peer, limits, redactor, facts, modern, listening }
    }

    /// One request with its answer, before anything was agreed on or after.
    pub(crate) async fn ask(&self, request: Request<'_>, modern: Option<&str>) -> Result<String, AskError> {
        ask(&self.link, &self.peer, request, modern).await
    }

    pub(crate) async fn tell(&self, method: &'static str, params: &str) -> Result<(), UpstreamFailure> {
        tell(&self.link, method, params).await
    }
}

/// Why there is no answer, before it is put in the gateway's words.
#[derive(Debug)]
pub(crate) enum AskError {
    Rpc(RpcError),
    Status(u16, String),
    Timeout(u64),
    TooLarge,
    Failed(UpstreamFailure),
}

impl AskError {
    pub(crate) fn into_failure(self, limits: &ServerLimits) -> UpstreamFailure {
        match self {
            Self::Rpc(error) => UpstreamFailure::Refused { code: error.code, message: error.message },
            Self::Status(status, body) => {
                UpstreamFailure::BadAnswer(format!("it answered HTTP {status}: {body}"))
            }
            Self::Timeout(limit_ms) => UpstreamFailure::Timeout { limit_ms },
            Self::TooLarge => UpstreamFailure::BadAnswer(format!(
                "its answer is larger than {}; ask for less, or raise limits.result_size of the server",
                gristmill_gateway::domain::format_bytes(limits.result_bytes)
            )),
            Self::Failed(failure) => failure,
        }
    }
}

async fn ask(
    link: &Link,
    peer: &Arc<Peer>,
    request: Request<'_>,
    modern: Option<&str>,
) -> Result<String, AskError> {
    let Request { method, mut params, arguments, name, headers, progress, limit } = request;
    let mut under_way = peer.begin(progress.clone().unwrap_or_default());
    let id = under_way.id;
    let mut meta = Map::new();
    if progress.is_some() {
        meta.insert("progressToken".to_owned(), id.into());
    }
    if let Some(version) = modern {
        eras::add_modern_meta(&mut meta, version);
    }
    if !meta.is_empty() {
        params.insert("_meta".to_owned(), meta.into());
    }
    let mut params = Value::Object(params).to_string();
    if let Some(arguments) = arguments {
        // As it was written: numbers keep their digits.
        params.pop();
        params.push_str(if params.len() > 1 { "," } else { "" });
        params.push_str(r#""arguments":"#);
        params.push_str(arguments);
        params.push('}');
    }
    let message = wire::request(id, method, &params);
    let alive = Arc::clone(&under_way.alive);
    let exchange = async {
        match link {
            Link::Stdio(stdio) => {
                let guard = CancelOnDrop { stdio, under_way: &mut under_way };
                stdio.send(message).await.map_err(AskError::Failed)?;
                from_reply(guard.under_way.reply().await)
            }
            Link::Http(http) => {
                let outgoing = Outgoing { method, name, headers, message };
                let mut guard = http.cancel_on_drop(id);
                let outcome = tokio::select! {
                    biased;
                    // The connection is gone, or the answer came on another stream.
                    reply = under_way.reply() => reply.map_err(RequestError::Reply),
                    outcome = http.request(id, outgoing) => outcome,
                };
                guard.is_answered();
                outcome.map_err(|error| match error {
                    RequestError::Reply(reply) => reply_error(reply),
                    RequestError::Status(status, body) => AskError::Status(status, body),
                    RequestError::Failed(failure) => AskError::Failed(failure),
                })
            }
        }
    };
    within(limit, &alive, exchange).await
}

async fn tell(link: &Link, method: &'static str, params: &str) -> Result<(), UpstreamFailure> {
    let message = wire::notification(method, params);
    match link {
        Link::Stdio(stdio) => stdio.send(message).await,
        Link::Http(http) => match http.send(method, message).await {
            // Nobody waits for an answer to a notification.
            Ok(()) | Err(RequestError::Reply(_) | RequestError::Status(..)) => Ok(()),
            Err(RequestError::Failed(failure)) => Err(failure),
        },
    }
}

/// Waits as long as the limit, and longer while the server says that it is still at it.
async fn within<T>(
    limit: Duration,
    alive: &tokio::sync::Notify,
    work: impl Future<Output = Result<T, AskError>>,
) -> Result<T, AskError> {
    let timed_out = || AskError::Timeout(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    let last = tokio::time::Instant::now() + limit * PROGRESS_PROLONGS;
    let mut until = tokio::time::Instant::now() + limit;
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            outcome = &mut work => return outcome,
            () = alive.notified() => until = (tokio::time::Instant::now() + limit).min(last),
            () = tokio::time::sleep_until(until) => return Err(timed_out()),
        }
    }
}

/// Tells a stdio server that nobody waits any more, whether the time is up or the caller is gone.
struct CancelOnDrop<'a> {
    stdio: &'a StdioLink,
    under_way: &'a mut UnderWay,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if !self.under_way.is_answered() {
            self.stdio.send_behind(wire::cancelled(self.under_way.id));
        }
    }
}

fn from_reply(reply: Reply) -> Result<String, AskError> {
    reply.map_err(reply_error)
}

fn reply_error(error: ReplyError) -> AskError {
    match error {
        ReplyError::Rpc(error) => AskError::Rpc(error),
        ReplyError::Empty => AskError::Failed(UpstreamFailure::BadAnswer(
            "it answered with neither a result nor an error".to_owned(),
        )),
        ReplyError::TooLarge => AskError::TooLarge,
        ReplyError::Lost(why) => AskError::Failed(UpstreamFailure::Lost(why)),
        ReplyError::NotSent(why) => AskError::Failed(UpstreamFailure::Down(why)),
    }
}

impl Session {
    fn version(&self) -> Option<&str> {
        self.modern.then_some(self.facts.protocol.as_str())
    }

    async fn ask(&self, request: Request<'_>) -> Result<String, UpstreamFailure> {
        let outcome = ask(&self.link, &self.peer, request, self.version()).await;
        outcome.map_err(|error| self.redactor.clean_failure(error.into_failure(&self.limits)))
    }

    async fn list(&self) -> Result<Vec<String>, UpstreamFailure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Page<'a> {
            #[serde(borrow)]
            tools: Vec<&'a RawValue>,
            #[serde(default)]
            next_cursor: Option<String>,
        }
        let mut tools = Vec::new();
        let mut bytes = 0;
        let mut params = Map::new();
        for _ in 0..PAGES_MAX {
            let limit = Duration::from_millis(self.limits.startup_ms);
            let raw = self.ask(Request::new("tools/list", params.clone(), limit)).await?;
            let raw = self.redactor.clean_json(raw);
            let page: Page<'_> = serde_json::from_str(&raw).map_err(|error| {
                UpstreamFailure::BadAnswer(format!("its list of tools cannot be read: {error}"))
            })?;
            tools.extend(page.tools.iter().map(|tool| tool.get().to_owned()));
            bytes += raw.len();
            if tools.len() > TOOLS_MAX || bytes > LIST_BYTES_MAX {
                return Err(UpstreamFailure::BadAnswer(format!(
                    "it lists more than {TOOLS_MAX} tools, or {LIST_BYTES_MAX} bytes of them"
                )));
            }
            match page.next_cursor.filter(|cursor| !cursor.is_empty()) {
                Some(cursor) if params.get("cursor") != Some(&Value::from(cursor.as_str())) => {
                    params.insert("cursor".to_owned(), cursor.into());
                }
                Some(_) | None => return Ok(tools),
            }
        }
        Err(UpstreamFailure::BadAnswer(format!("its list of tools has more than {PAGES_MAX} pages")))
    }

    async fn call_tool(&self, call: UpstreamCall) -> Result<String, UpstreamFailure> {
        let mut params = Map::new();
        params.insert("name".to_owned(), call.tool.as_str().into());
        for _ in 0..QUESTIONS_MAX {
            let request = Request {
                method: "tools/call",
                params: params.clone(),
                arguments: Some(&call.arguments),
                name: Some(&call.tool),
                headers: &call.headers,
                progress: Some(call.progress.clone()),
                limit: Duration::from_millis(self.limits.call_ms),
            };
            let raw = self.ask(request).await?;
            if raw.len() as u64 > self.limits.result_bytes {
                return Err(AskError::TooLarge.into_failure(&self.limits));
            }
            match question_in(&raw)? {
                None => return Ok(self.redactor.clean_json(raw)),
                Some(question) => question.decline(&mut params)?,
            }
        }
        Err(UpstreamFailure::BadAnswer("it keeps asking questions that nobody is there to answer".to_owned()))
    }
}

/// A result that is a question.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    #[serde(default)]
    result_type: Option<String>,
    #[serde(default)]
    input_requests: Map<String, Value>,
    #[serde(default)]
    request_state: Option<Value>,
}

fn question_in(raw: &str) -> Result<Option<Question>, UpstreamFailure> {
    if !raw.contains("resultType") {
        return Ok(None);
    }
    let question: Question = serde_json::from_str(raw)
        .map_err(|error| UpstreamFailure::BadAnswer(format!("its answer cannot be read: {error}")))?;
    match question.result_type.as_deref() {
        None | Some("complete") => Ok(None),
        Some("input_required") => Ok(Some(question)),
        Some(other) => {
            let other: String = other.chars().take(60).collect();
            Err(UpstreamFailure::BadAnswer(format!(
                "its answer is of a kind that gristmill does not know: {other}"
            )))
        }
    }
}

impl Question {
    /// Answers each part as the same request of a server would be answered.
    fn decline(self, params: &mut Map<String, Value>) -> Result<(), UpstreamFailure> {
        let mut responses = Map::new();
        for (key, request) in self.input_requests {
            let response = match request.get("method").and_then(Value::as_str) {
                Some("elicitation/create") => serde_json::from_str(declined::ELICITATION).unwrap_or_default(),
                Some("roots/list") => json!({ "roots": [] }),
                Some("sampling/createMessage") => {
                    return Err(UpstreamFailure::BadAnswer(format!(
                        "it asked for a model; {}",
                        declined::SAMPLING
                    )));
                }
                Some(_) | None => {
                    return Err(UpstreamFailure::BadAnswer(
                        "it asked for something that gristmill does not know".to_owned(),
                    ));
                }
            };
            responses.insert(key, response);
        }
        params.insert("inputResponses".to_owned(), responses.into());
        if let Some(state) = self.request_state {
            params.insert("requestState".to_owned(), state);
        }
        Ok(())
    }
}

impl Upstream for Session {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(self.list())
    }

    fn call(&self, call: UpstreamCall) -> BoxFuture<'_, Result<String, UpstreamFailure>> {
        Box::pin(self.call_tool(call))
    }

    fn lost(&self) -> BoxFuture<'_, String> {
        Box::pin(self.peer.gone())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Some(task) = &self.listening {
                task.abort();
            }
            match &self.link {
                Link::Stdio(stdio) => stdio.close().await,
                Link::Http(http) => http.close().await,
            }
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(task) = &self.listening {
            task.abort();
        }
    }
}
