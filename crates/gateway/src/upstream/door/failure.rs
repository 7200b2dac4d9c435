//! What a caller is told when something went wrong between us and a server.

use gristmill_domain::catalogue::{ItemKind, ToolDefinition, WaitingKind};
use gristmill_domain::{Code, format_ms, one_line};

use crate::ports::ToolFailure;
use crate::store::StoreError;
use crate::upstream::connection::UpstreamFailure;
use crate::upstream::server::Server;

/// What is repeated of a server's own names.
const ITEM_CHARS_MAX: usize = 200;

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

/// Nothing was sent: what led to it isn't safe with the gateways that share this one's state.
pub(super) fn not_shared(error: &StoreError) -> ToolFailure {
    let message = format!("the call wasn't sent: {error}; it can be made again once the program runs anew");
    upstream(Code::NotShared, message, true)
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

/// Something that is neither called nor read until its user has looked at it, or that is gone.
pub(super) fn held_back(server: &Server, of: ItemKind, own_name: &str) -> ToolFailure {
    let (name, item) = (server.name(), one_line(own_name, ITEM_CHARS_MAX));
    let what = match of {
        ItemKind::Tool => format!("{name}.{item}"),
        ItemKind::Prompt => format!("the prompt {name}.{item}"),
        ItemKind::Instructions => format!("what `{name}` says about itself"),
        ItemKind::Resource | ItemKind::ResourceTemplate => {
            format!("the {} {item} of `{name}`", of.name())
        }
    };
    let command = format!("only the user can approve it, with `gristmill tools review {name}`");
    let message = match (server.pins_problem(), server.waits(of, own_name)) {
        (Some(problem), _) => format!("{what} is held back: {problem}"),
        (None, Some(WaitingKind::Changed { .. })) => {
            format!("{what} has changed since it was approved and is held back; {command}")
        }
        (None, Some(WaitingKind::Added)) => format!("{what} is new and held back; {command}"),
        (None, None) => {
            format!("`{name}` no longer offers {item}; search_tools(\"...\") finds tools")
        }
    };
    upstream(Code::ToolHeldBack, message, true)
}

/// A tool whose name is kept for a server that is not connected.
pub(super) fn out_of_use(server: &str, tool: &str) -> ToolFailure {
    let tool = one_line(tool, ITEM_CHARS_MAX);
    let message = format!(
        "{server}.{tool} can't be called: the server `{server}` is disabled or not approved; the user can check with `gristmill list`"
    );
    upstream(Code::ServerDown, message, true)
}

/// The user's configuration leaves the tool out.
pub(super) fn excluded(server: &str, tool: &str) -> ToolFailure {
    let message = format!(
        "{server}.{} isn't allowed: the user's configuration excludes it (`tools` of the server `{server}`). Use another tool, or tell the user",
        one_line(tool, ITEM_CHARS_MAX)
    );
    ToolFailure::Refused { code: Code::PolicyDenied, message }
}

pub(super) fn upstream(code: Code, message: String, retry_safe: bool) -> ToolFailure {
    ToolFailure::Upstream { code, message, retry_safe }
}
