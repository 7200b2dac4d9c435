//! One call on its way to its server and back: limits first, then the connection, then the answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_domain::catalogue::{ToolDefinition, WaitingKind};
use gristmill_domain::{CallOutcome, Code, ToolAnswer, format_ms, read_answer};
use gristmill_protocol::has_reserved_key;

use tokio::sync::SemaphorePermit;

use super::Inner;
use super::parameter_headers::parameter_headers;
use super::readables::RESERVED_KEY;
use super::server::Server;
use crate::ports::{Asker, ProgressSink, ToolFailure, UpstreamCall, UpstreamFailure};

/// A call whose arguments are in order.
pub(super) struct CheckedCall {
    pub definition: Arc<ToolDefinition>,
    pub arguments: serde_json::Map<String, serde_json::Value>,
    pub progress: ProgressSink,
    pub asker: Asker,
}

pub(super) async fn call(
    inner: &Arc<Inner>,
    server: &Arc<Server>,
    call: CheckedCall,
) -> Result<ToolAnswer, ToolFailure> {
    let definition = &call.definition;
    let name = format!("{}.{}", server.settings.name, definition.name);
    let _permit = admit(server).await?;
    let request = UpstreamCall {
        tool: definition.name.clone(),
        headers: parameter_headers(&definition.input_schema, &call.arguments),
        arguments: serde_json::Value::Object(call.arguments).to_string(),
        progress: call.progress,
        asker: call.asker,
    };
    let raw = match send(inner, server, definition, request.clone()).await {
        // It was gone before anything was sent: a new connection may do.
        Err(Sent::Lost) => send(inner, server, definition, request).await,
        outcome => outcome,
    };
    let raw = raw.map_err(|error| match error {
        Sent::HeldBack => held_back(server, &definition.name),
        Sent::Lost => down(server, "the connection was lost, and the next one, too"),
        Sent::Not(failure) => unreached(server, &failure),
        Sent::Yes(failure) => failure_of(server, definition, failure),
    })?;
    match read_answer(&raw, definition.output_schema.as_ref()) {
        // Text that is JSON has not been looked into before.
        Ok(CallOutcome::Value(answer)) if has_reserved_key(answer.json.as_bytes()) => {
            Err(upstream(Code::BadAnswer, format!("{name}: {RESERVED_KEY}"), is_repeatable(definition)))
        }
        Ok(CallOutcome::Value(answer)) => Ok(answer),
        Ok(CallOutcome::Said(words)) => Err(ToolFailure::Said(words)),
        Err(error) => Err(upstream(Code::BadAnswer, format!("{name}: {error}"), is_repeatable(definition))),
    }
}

/// A place among the calls under way: so many in a minute, and so many at once.
pub(super) async fn admit(server: &Server) -> Result<SemaphorePermit<'_>, ToolFailure> {
    server.rate.take(Instant::now()).map_err(|wait| {
        let limit = server.settings.limits.calls_per_minute;
        upstream(
            Code::CallRate,
            format!(
                "`{}` takes {limit} calls per minute; try again in {} s",
                server.settings.name,
                wait.as_secs() + 1
            ),
            true,
        )
    })?;
    server.permits.acquire().await.map_err(|_| down(server, "the gateway is closing"))
}

/// A lost connection knows that it is lost: this is for those that are not.
pub(super) const LOST_WAIT: Duration = Duration::from_millis(100);

/// Whether anything reached the server.
enum Sent {
    /// Nothing did, and the connection is gone.
    Lost,
    Not(UpstreamFailure),
    Yes(UpstreamFailure),
    HeldBack,
}

async fn send(
    inner: &Arc<Inner>,
    server: &Arc<Server>,
    definition: &ToolDefinition,
    request: UpstreamCall,
) -> Result<String, Sent> {
    let upstream = server.live(inner).await.map_err(Sent::Not)?;
    // What the program saw may be older than what the server offers now.
    match server.usable(&definition.name) {
        Some(now) if now.hash == definition.hash => {}
        Some(_) | None => return Err(Sent::HeldBack),
    }
    let failure = match upstream.call(request).await {
        Ok(raw) => return Ok(raw),
        Err(failure) => failure,
    };
    match failure {
        UpstreamFailure::Down(_) => match tokio::time::timeout(LOST_WAIT, upstream.lost()).await {
            Ok(why) => {
                server.lost(&upstream, why).await;
                Err(Sent::Lost)
            }
            Err(_) => Err(Sent::Not(failure)),
        },
        UpstreamFailure::LoginNeeded(_) => Err(Sent::Not(failure)),
        UpstreamFailure::Timeout { .. }
        | UpstreamFailure::Lost(_)
        | UpstreamFailure::Refused { .. }
        | UpstreamFailure::BadAnswer(_) => Err(Sent::Yes(failure)),
    }
}

/// Whether doing it twice does no more than doing it once, as far as its server says.
fn is_repeatable(definition: &ToolDefinition) -> bool {
    definition.read_only == Some(true) || definition.idempotent == Some(true)
}

fn failure_of(server: &Server, definition: &ToolDefinition, failure: UpstreamFailure) -> ToolFailure {
    let (name, tool) = (&server.settings.name, &definition.name);
    let repeatable = is_repeatable(definition);
    let advice = match repeatable {
        true => "it can be called again",
        false => "look whether the work was done before you call it again",
    };
    match failure {
        UpstreamFailure::Down(_) | UpstreamFailure::LoginNeeded(_) => unreached(server, &failure),
        UpstreamFailure::Timeout { limit_ms } => upstream(
            Code::CallTimeout,
            format!(
                "{name}.{tool} did not answer within {} and was told to stop; {advice}",
                format_ms(limit_ms)
            ),
            repeatable,
        ),
        UpstreamFailure::Lost(why) => upstream(
            Code::CallLost,
            format!("`{name}` was lost while it worked on {tool}: {why}; {advice}"),
            repeatable,
        ),
        // The server looked at the call and did not make it.
        UpstreamFailure::Refused { code: -32602, message } => {
            ToolFailure::BadArguments(format!("{name}.{tool} does not take these arguments: {message}"))
        }
        UpstreamFailure::Refused { code: _, message } => ToolFailure::Said(message),
        UpstreamFailure::BadAnswer(why) => {
            upstream(Code::BadAnswer, format!("{name}.{tool}: {why}"), repeatable)
        }
    }
}

/// Nothing of the call was sent, whatever the reason: it is the server that is not there.
pub(super) fn unreached(server: &Server, failure: &UpstreamFailure) -> ToolFailure {
    let name = &server.settings.name;
    match failure {
        UpstreamFailure::LoginNeeded(why) => upstream(
            Code::LoginNeeded,
            format!("`{name}` wants a login: {why}; run `gristmill login {name}`"),
            true,
        ),
        UpstreamFailure::Down(_)
        | UpstreamFailure::Timeout { .. }
        | UpstreamFailure::Lost(_)
        | UpstreamFailure::Refused { .. }
        | UpstreamFailure::BadAnswer(_) => down(server, &failure.to_string()),
    }
}

fn down(server: &Server, why: &str) -> ToolFailure {
    let name = &server.settings.name;
    upstream(Code::ServerDown, format!("the server `{name}` is down: {why}"), true)
}

pub(super) fn held_back(server: &Server, tool: &str) -> ToolFailure {
    let name = &server.settings.name;
    let message = match (server.pins_problem(), server.waits(tool)) {
        (Some(problem), _) => format!("{name}.{tool} is held back: {problem}"),
        (None, Some(WaitingKind::Changed { .. })) => format!(
            "{name}.{tool} has changed since it was approved and is held back; its user can look at it with `gristmill tools review`"
        ),
        (None, Some(WaitingKind::Added)) => format!(
            "{name}.{tool} is new and is held back until it is approved; its user can look at it with `gristmill tools review`"
        ),
        (None, None) => {
            format!("`{name}` no longer offers {tool}; search_tools(\"...\") finds what there is")
        }
    };
    upstream(Code::ToolHeldBack, message, true)
}

fn upstream(code: Code, message: String, retry_safe: bool) -> ToolFailure {
    ToolFailure::Upstream { code, message, retry_safe }
}
