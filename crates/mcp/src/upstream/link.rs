//! What carries messages to a server and back: one request with its answer, in either era, and in time.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::ServerLimits;
use gristmill_gateway::ids::TraceContext;
use gristmill_gateway::ports::{Asker, ProgressSink};
use gristmill_gateway::upstream::UpstreamFailure;
use serde_json::{Map, Value};

use super::call_clock::CallClock;
use super::http::{HttpLink, Outgoing, RequestError};
use super::introduction::write_modern_meta;
use super::peer::{Listeners, Peer, Reply, ReplyError, UnderWay};
use super::stdio::StdioLink;
use super::wire::{self, RpcError};

/// What a modern request's own members take with a trace, and a little more.
const META_BYTES: usize = 512;

/// What carries the messages.
pub(crate) enum Link {
    Stdio(StdioLink),
    Http(HttpLink),
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
    /// Its place in a trace.
    pub trace: Option<TraceContext>,
    pub limit: Duration,
}

impl<'a> Request<'a> {
    pub(crate) fn new(method: &'static str, params: Map<String, Value>, limit: Duration) -> Self {
        let (arguments, name, progress, asker, trace) = (None, None, None, None, None);
        Self { method, params, arguments, name, headers: &[], progress, asker, trace, limit }
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

/// One request with its answer. `modern` is the version of a modern server.
pub(crate) async fn ask(
    link: &Link,
    peer: &Arc<Peer>,
    request: Request<'_>,
    modern: Option<&str>,
) -> Result<String, AskError> {
    let Request { method, params, arguments, name, headers, progress, asker, trace, limit } = request;
    let wants_progress = progress.is_some();
    let clock = CallClock::new(limit);
    let listeners = Listeners { progress: progress.unwrap_or_default(), asker, clock: clock.clone() };
    let mut under_way = peer.begin(listeners);
    let id = under_way.id;
    let meta = Meta {
        progress: wants_progress.then_some(id),
        modern,
        can_ask: peer.can_ask(),
        trace: trace.as_ref(),
    };
    let params = written(&params, &meta.members(), arguments);
    let message = wire::request(id, method, &params);
    let exchange = async {
        match link {
            Link::Stdio(stdio) => {
                let guard = CancelOnDrop { stdio, under_way: &mut under_way };
                stdio.send(message).await.map_err(AskError::Failed)?;
                from_reply(guard.under_way.reply().await)
            }
            Link::Http(http) => {
                let outgoing = Outgoing { method, name, headers, trace: trace.as_ref(), message };
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

/// What goes into the parameters of a request beside what is asked.
struct Meta<'a> {
    /// By which number it is told how far it has come.
    progress: Option<u64>,
    modern: Option<&'a str>,
    can_ask: bool,
    trace: Option<&'a TraceContext>,
}

impl Meta<'_> {
    /// As members of a JSON object.
    fn members(&self) -> String {
        let mut members = String::with_capacity(META_BYTES);
        let after_comma = |members: &mut String| members.push_str(if members.is_empty() { "" } else { "," });
        if let Some(id) = self.progress {
            members.push_str(r#""progressToken":"#);
            members.push_str(&id.to_string());
        }
        if let Some(version) = self.modern {
            after_comma(&mut members);
            write_modern_meta(&mut members, version, self.can_ask);
        }
        if let Some(trace) = self.trace {
            let parent = ("traceparent", Some(trace.traceparent()));
            for (key, value) in [parent, ("tracestate", trace.tracestate().map(str::to_owned))] {
                let Some(value) = value else { continue };
                after_comma(&mut members);
                members.push_str(&format!(r#""{key}":{}"#, Value::from(value)));
            }
        }
        members
    }
}

/// Parameters as JSON. Arguments stand as they were written: numbers keep their digits.
fn written(params: &Map<String, Value>, meta: &str, arguments: Option<&str>) -> String {
    let meta = (!meta.is_empty()).then_some([r#""_meta":{"#, meta, "}"]);
    let arguments = arguments.map(|arguments| [r#""arguments":"#, arguments, ""]);
    let mut text = serde_json::to_string(params).unwrap_or_else(|_| "{}".to_owned());
    text.pop();
    for member in [meta, arguments].into_iter().flatten() {
        text.push_str(if text.len() > 1 { "," } else { "" });
        member.into_iter().for_each(|part| text.push_str(part));
    }
    text.push('}');
    text
}

pub(crate) async fn notify(link: &Link, method: &'static str, params: &str) -> Result<(), UpstreamFailure> {
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
        ReplyError::Empty => {
            AskError::Failed(UpstreamFailure::BadAnswer("it sent neither a result nor an error".to_owned()))
        }
        ReplyError::TooLarge => AskError::TooLarge,
        ReplyError::Broken(why) => AskError::Failed(UpstreamFailure::BadAnswer(why)),
        ReplyError::Lost(why) => AskError::Failed(UpstreamFailure::Lost(why)),
        ReplyError::NotSent(why) => AskError::Failed(UpstreamFailure::Down(why)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_hold_what_is_asked_who_asks_and_arguments_as_they_were_written() {
        let check = |params: Value, meta: Meta<'_>, arguments, expected: &str| {
            let Value::Object(params) = params else { panic!("no object: {params}") };
            let text = written(&params, &meta.members(), arguments);
            assert_eq!(text, expected);
            serde_json::from_str::<Value>(&text).unwrap();
        };
        let trace =
            TraceContext::read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Some("a=\"1"));
        let none = || Meta { progress: None, modern: None, can_ask: false, trace: None };
        check(json!({}), none(), None, "{}");
        check(json!({ "cursor": "x" }), none(), None, r#"{"cursor":"x"}"#);
        check(json!({}), none(), Some("{}"), r#"{"arguments":{}}"#);
        let named = json!({ "name": "a\"b" });
        let asked = Meta { progress: Some(7), trace: trace.as_ref(), ..none() };
        check(
            named,
            asked,
            Some(r#"{"n":1.0e+2}"#),
            r#"{"name":"a\"b","_meta":{"progressToken":7,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=\"1"},"arguments":{"n":1.0e+2}}"#,
        );
    }
}
