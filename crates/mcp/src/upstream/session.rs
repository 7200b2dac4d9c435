//! One connected server: the protocol on top of what carries it. Finds out which era the server
//! belongs to, lists what it offers, calls its tools, and keeps the time.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::ServerLimits;
use gristmill_gateway::ports::{
    Asker, BoxFuture, ProgressSink, ServerFacts, Upstream, UpstreamCall, UpstreamFailure,
};
use serde_json::{Map, Value};

use super::call_clock::CallClock;
use super::http::{HttpLink, Outgoing, RequestError};
use super::lists::{self, List, Listed};
use super::peer::{Listeners, Peer, Reply, ReplyError, UnderWay};
use super::redact::Redactor;
use super::stdio::StdioLink;
use super::wire::{self, RpcError};
use super::{eras, listening, rounds};

/// JSON-RPC's code for a method that the other side does not have.
const METHOD_NOT_FOUND: i64 = -32601;

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
    offers: Offers,
    modern: bool,
    listening: Option<tokio::task::JoinHandle<()>>,
}

/// What a server says that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    pub tools: bool,
    pub resources: bool,
    pub prompts: bool,
    pub changes: Changes,
}

/// Of what a server tells when it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub tools: bool,
    pub resources: bool,
    pub prompts: bool,
}

/// A conversation of which the era is not known yet.
pub(crate) struct Opening {
    pub link: Link,
    pub peer: Arc<Peer>,
    pub limits: ServerLimits,
    pub redactor: Redactor,
}

/// What a request carries beside its parameters.
#[derive(Clone)]
pub(crate) struct Request<'a> {
    pub method: &'static str,
    pub params: Map<String, Value>,
    /// Raw JSON, put into the parameters as it stands.
    pub arguments: Option<&'a str>,
    pub name: Option<&'a str>,
    pub headers: &'a [(String, String)],
    pub progress: Option<ProgressSink>,
    /// Who answers questions about it, if it is something that questions can be about.
    pub asker: Option<Asker>,
    pub limit: Duration,
}

impl<'a> Request<'a> {
    pub(crate) fn new(method: &'static str, params: Map<String, Value>, limit: Duration) -> Self {
        Self { method, params, arguments: None, name: None, headers: &[], progress: None, asker: None, limit }
    }
}

impl Opening {
    /// The session, now that the era is known.
    pub(crate) fn into_session(self, facts: ServerFacts, offers: Offers, modern: bool) -> Session {
        let Self { link, peer, limits, redactor } = self;
        let version = modern.then_some(facts.protocol.as_str());
        let listening = listening::listen(&link, &peer, version, offers.changes);
        Session { link, peer, limits, redactor, facts, offers, modern, listening }
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
    let Request { method, mut params, arguments, name, headers, progress, asker, limit } = request;
    let wants_progress = progress.is_some();
    let clock = CallClock::new(limit);
    let listeners = Listeners { progress: progress.unwrap_or_default(), asker, clock: clock.clone() };
    let mut under_way = peer.begin(listeners);
    let id = under_way.id;
    let mut meta = Map::new();
    if wants_progress {
        meta.insert("progressToken".to_owned(), id.into());
    }
    if let Some(version) = modern {
        eras::add_modern_meta(&mut meta, version, peer.can_ask());
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
    tokio::select! {
        biased;
        outcome = exchange => outcome,
        limit_ms = clock.passed() => Err(AskError::Timeout(limit_ms)),
    }
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

    async fn list(&self, list: List) -> Result<Vec<String>, UpstreamFailure> {
        let mut listed = Listed::new(list);
        let mut params = Map::new();
        for _ in 0..lists::PAGES_MAX {
            let limit = Duration::from_millis(self.limits.startup_ms);
            let raw = self.ask(Request::new(list.method, params.clone(), limit)).await?;
            match listed.take(&self.redactor.clean_json(raw))? {
                Some(cursor) => drop(params.insert("cursor".to_owned(), cursor.into())),
                None => return Ok(listed.things),
            }
        }
        let (things, pages) = (list.things, lists::PAGES_MAX);
        Err(UpstreamFailure::BadAnswer(format!("its list of {things} has more than {pages} pages")))
    }

    /// The same, of what a server may not have at all.
    async fn list_if(&self, is_offered: bool, list: List) -> Result<Vec<String>, UpstreamFailure> {
        if !is_offered {
            return Ok(Vec::new());
        }
        match self.list(list).await {
            // It has some of what belongs together.
            Err(UpstreamFailure::Refused { code: METHOD_NOT_FOUND, .. }) => Ok(Vec::new()),
            outcome => outcome,
        }
    }

    async fn list_tools(&self) -> Result<Vec<String>, UpstreamFailure> {
        match self.list(lists::TOOLS).await {
            // Some servers have tools and do not say so; others say nothing because they have none.
            Err(UpstreamFailure::Refused { code: METHOD_NOT_FOUND, .. }) if !self.offers.tools => {
                Ok(Vec::new())
            }
            outcome => outcome,
        }
    }

    /// Sends a request, answers the questions that it is answered with, and gives the final result.
    async fn converse(&self, mut request: Request<'_>) -> Result<String, UpstreamFailure> {
        let asker = request.asker.clone().unwrap_or_default();
        for _ in 0..rounds::ROUNDS_MAX {
            let raw = self.ask(request.clone()).await?;
            if raw.len() as u64 > self.limits.result_bytes {
                return Err(AskError::TooLarge.into_failure(&self.limits));
            }
            match rounds::questions_in(&raw)? {
                None => return Ok(self.redactor.clean_json(raw)),
                Some(questions) => {
                    let server = self.peer.server();
                    questions.answer(server, &self.redactor, &asker, &mut request.params).await?;
                }
            }
        }
        let why = match asker.is_some() {
            true => "it keeps asking questions, however they are answered",
            false => "it keeps asking questions that nobody is there to answer",
        };
        Err(UpstreamFailure::BadAnswer(why.to_owned()))
    }

    async fn call_tool(&self, call: UpstreamCall) -> Result<String, UpstreamFailure> {
        let params = Map::from_iter([("name".to_owned(), Value::from(call.tool.as_str()))]);
        let request = Request {
            arguments: Some(&call.arguments),
            name: Some(&call.tool),
            headers: &call.headers,
            progress: Some(call.progress),
            asker: Some(call.asker),
            ..Request::new("tools/call", params, self.call_limit())
        };
        self.converse(request).await
    }

    async fn read(&self, uri: &str) -> Result<String, UpstreamFailure> {
        let params = Map::from_iter([("uri".to_owned(), Value::from(uri))]);
        let request = Request::new("resources/read", params, self.call_limit());
        self.converse(Request { name: Some(uri), ..request }).await
    }

    async fn prompt(&self, name: &str, arguments: &str) -> Result<String, UpstreamFailure> {
        let params = Map::from_iter([("name".to_owned(), Value::from(name))]);
        let request = Request::new("prompts/get", params, self.call_limit());
        self.converse(Request { name: Some(name), arguments: Some(arguments), ..request }).await
    }

    fn call_limit(&self) -> Duration {
        Duration::from_millis(self.limits.call_ms)
    }
}

impl Upstream for Session {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(self.list_tools())
    }

    fn list_resources(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(self.list_if(self.offers.resources, lists::RESOURCES))
    }

    fn list_resource_templates(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(self.list_if(self.offers.resources, lists::RESOURCE_TEMPLATES))
    }

    fn read_resource<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<String, UpstreamFailure>> {
        Box::pin(self.read(uri))
    }

    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(self.list_if(self.offers.prompts, lists::PROMPTS))
    }

    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<String, UpstreamFailure>> {
        Box::pin(self.prompt(name, arguments))
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
