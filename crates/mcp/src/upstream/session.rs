//! One connected server: the protocol on top of what carries it. Lists what it offers, calls its
//! tools, and answers what it asks meanwhile.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::ServerLimits;
use gristmill_gateway::ids::TraceContext;
use gristmill_gateway::ports::{Asker, BoxFuture};
use gristmill_gateway::upstream::{ServerFacts, Upstream, UpstreamCall, UpstreamFailure};
use serde_json::{Map, Value};

use super::link::{AskError, Link, Request, ask, notify};
use super::listening::{self, Changes};
use super::lists::{self, List, Listed};
use super::peer::Peer;
use super::redact::Redactor;
use super::{read_shape, rounds};

/// JSON-RPC's code for a method that the other side does not have.
const METHOD_NOT_FOUND: i64 = -32601;

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

/// A conversation of which the era is not known yet.
pub(crate) struct Opening {
    pub link: Link,
    pub peer: Arc<Peer>,
    pub limits: ServerLimits,
    pub redactor: Redactor,
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

    pub(crate) async fn notify(&self, method: &'static str, params: &str) -> Result<(), UpstreamFailure> {
        notify(&self.link, method, params).await
    }
}

impl Session {
    fn version(&self) -> Option<&str> {
        self.modern.then_some(self.facts.protocol.as_str())
    }

    async fn ask(&self, request: Request<'_>) -> Result<String, UpstreamFailure> {
        self.redactor.check()?;
        let outcome = ask(&self.link, &self.peer, request, self.version()).await;
        // Again: a login may have been renewed meanwhile.
        self.redactor.check()?;
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
            false => "it keeps asking questions that nobody can answer",
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
            trace: call.trace,
            ..Request::new("tools/call", params, self.call_limit())
        };
        self.converse(request).await
    }

    async fn read(&self, uri: &str, trace: Option<&TraceContext>) -> Result<String, UpstreamFailure> {
        let params = Map::from_iter([("uri".to_owned(), Value::from(uri))]);
        let request = Request::new("resources/read", params, self.call_limit());
        let raw = self.converse(Request { name: Some(uri), trace: trace.cloned(), ..request }).await?;
        read_shape::check_resource(&raw)?;
        Ok(raw)
    }

    async fn prompt(
        &self,
        name: &str,
        arguments: &str,
        asker: Asker,
        trace: Option<&TraceContext>,
    ) -> Result<String, UpstreamFailure> {
        let params = Map::from_iter([("name".to_owned(), Value::from(name))]);
        let request = Request::new("prompts/get", params, self.call_limit());
        let (name, arguments, asker, trace) = (Some(name), Some(arguments), Some(asker), trace.cloned());
        let raw = self.converse(Request { name, arguments, asker, trace, ..request }).await?;
        read_shape::check_prompt(&raw)?;
        Ok(raw)
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

    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
        trace: Option<&'a TraceContext>,
    ) -> BoxFuture<'a, Result<String, UpstreamFailure>> {
        Box::pin(self.read(uri, trace))
    }

    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(self.list_if(self.offers.prompts, lists::PROMPTS))
    }

    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        asker: Asker,
        trace: Option<&'a TraceContext>,
    ) -> BoxFuture<'a, Result<String, UpstreamFailure>> {
        Box::pin(self.prompt(name, arguments, asker, trace))
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
