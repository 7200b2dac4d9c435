//! What a caller is told when something went wrong between us and a server.

use gristmill_domain::catalogue::{ToolDefinition, WaitingKind};
use gristmill_domain::{Code, format_ms};

use crate::ports::ToolFailure;
use crate::upstream::connection::UpstreamFailure;
use crate::upstream::server::Server;

/// Whether doing it twice does no more than doing it once, as far as its server says.
pub(super) fn is_repeatable(definition: &ToolDefinition) -> bool {
    definition.read_only == Some(true) || definition.idempotent == Some(true)
}

/// A call of a tool that was sent.
pub(super) fn of_tool(server: &Server, definition: &ToolDefinition, failure: UpstreamFailure) -> ToolFailure {
    let (name, tool) = (server.name(), &definition.name);
    let repeatable = is_repeatable(definition);
    let advice = match repeatable {
        true => "you can call it again",
        false => "check whether the work was done before you call it again",
    };
    match failure {
        UpstreamFailure::Down(_) | UpstreamFailure::LoginNeeded(_) => unreached(server, &failure),
        UpstreamFailure::Timeout { limit_ms } => upstream(
            Code::CallTimeout,
            format!(
                "{name}.{tool} didn't answer within {} and was told to stop; {advice}",
                format_ms(limit_ms)
            ),
            repeatable,
        ),
        UpstreamFailure::Lost(why) => upstream(
            Code::CallLost,
            format!("the connection to `{name}` was lost during {tool}: {why}; {advice}"),
            repeatable,
        ),
        // The server looked at the call and did not make it.
        UpstreamFailure::Refused { code: -32602, message } => {
            ToolFailure::BadArguments(format!("{name}.{tool} doesn't take these arguments: {message}"))
        }
        UpstreamFailure::Refused { code: _, message } => ToolFailure::Said(message),
        UpstreamFailure::BadAnswer(why) => {
            upstream(Code::BadAnswer, format!("{name}.{tool}: {why}"), repeatable)
        }
    }
}

/// A resource or a prompt that was asked for. Asking again does no harm.
pub(super) fn of_read(server: &Server, failure: UpstreamFailure) -> ToolFailure {
    let name = server.name();
    match failure {
        UpstreamFailure::Down(_) | UpstreamFailure::LoginNeeded(_) => unreached(server, &failure),
        UpstreamFailure::Timeout { limit_ms } => {
            let message = format!("`{name}` didn't answer within {}", format_ms(limit_ms));
            upstream(Code::CallTimeout, message, true)
        }
        UpstreamFailure::Lost(why) => upstream(
            Code::CallLost,
            format!("the connection to `{name}` was lost during the read: {why}"),
            true,
        ),
        UpstreamFailure::Refused { message, .. } => ToolFailure::Said(format!("`{name}` says: {message}")),
        UpstreamFailure::BadAnswer(why) => bad_answer(server, &why),
    }
}

/// An answer of a server that cannot be used, to a request that may be made again.
pub(super) fn bad_answer(server: &Server, why: &str) -> ToolFailure {
    upstream(Code::BadAnswer, format!("`{}`: {why}", server.name()), true)
}

/// Nothing of the call was sent, whatever the reason: it is the server that is not there.
pub(super) fn unreached(server: &Server, failure: &UpstreamFailure) -> ToolFailure {
    let name = server.name();
    match failure {
        UpstreamFailure::LoginNeeded(why) => upstream(
            Code::LoginNeeded,
            format!("`{name}` needs a login: {why}; run `gristmill login {name}`"),
            true,
        ),
        UpstreamFailure::Down(_)
        | UpstreamFailure::Timeout { .. }
        | UpstreamFailure::Lost(_)
        | UpstreamFailure::Refused { .. }
        | UpstreamFailure::BadAnswer(_) => down(server, &failure.to_string()),
    }
}

pub(super) fn down(server: &Server, why: &str) -> ToolFailure {
    upstream(Code::ServerDown, format!("the server `{}` is down: {why}", server.name()), true)
}

/// A tool that is not called until its user has looked at it, or that is gone.
pub(super) fn held_back(server: &Server, tool: &str) -> ToolFailure {
    let name = server.name();
    let message = match (server.pins_problem(), server.waits(tool)) {
        (Some(problem), _) => format!("{name}.{tool} is held back: {problem}"),
        (None, Some(WaitingKind::Changed { .. })) => format!(
            "{name}.{tool} has changed since it was approved and is held back; the user can review it with `gristmill tools review`"
        ),
        (None, Some(WaitingKind::Added)) => format!(
            "{name}.{tool} is new and held back until it's approved; the user can review it with `gristmill tools review`"
        ),
        (None, None) => {
            format!("`{name}` no longer offers {tool}; search_tools(\"...\") finds tools")
        }
    };
    upstream(Code::ToolHeldBack, message, true)
}

pub(super) fn upstream(code: Code, message: String, retry_safe: bool) -> ToolFailure {
    ToolFailure::Upstream { code, message, retry_safe }
}
