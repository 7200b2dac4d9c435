//! Whoever sent a request, as the gateway knows callers.

use gristmill_gateway::access;
use gristmill_gateway::domain::one_line;
use gristmill_gateway::ids::{Caller, Client, Owner, TokenRef, TraceContext};
use rmcp::model::Implementation;
use rmcp::service::{RequestContext, RoleServer};

use super::Connection;

/// What is kept of a client's words about itself.
const CLIENT_CHARS_MAX: usize = 100;

/// What people are told of a client that has no name.
const UNNAMED: &str = "an agent";

/// Over pipes it is whoever started us; over HTTP whoever the token in front belongs to.
pub(super) fn caller_of(context: &RequestContext<RoleServer>, connection: Connection) -> Caller {
    let parts = context.extensions.get::<http::request::Parts>();
    let entered = parts.and_then(|parts| parts.extensions.get::<access::Caller>());
    let token =
        entered.filter(|entered| connection == Connection::Http && entered.has_token()).map(|entered| {
            TokenRef {
                name: entered.name.clone(),
                identity: entered.identity.clone(),
                limits: entered.limits.clone(),
            }
        });
    let owner = match (connection, &token, entered) {
        (Connection::Pipes, _, _) | (Connection::Http, None, Some(_)) => Owner::local(),
        (Connection::Http, Some(token), _) => Owner::of_token(&token.identity),
        // The HTTP server puts a caller into every request; one without is nobody.
        (Connection::Http, None, None) => Owner("nobody".to_owned()),
    };
    let client = context.client_info().as_ref().map(client_of);
    Caller { token, client, trace: trace_of(context), ..Caller::of(owner) }
}

/// Where in a trace it asks: by what the request says itself, or else by the headers that it came with.
fn trace_of(context: &RequestContext<RoleServer>) -> Option<TraceContext> {
    let said = |name: &str| context.meta.get(name).and_then(|value| value.as_str());
    if let Some(parent) = said("traceparent") {
        return TraceContext::read(parent, said("tracestate"));
    }
    let headers = &context.extensions.get::<http::request::Parts>()?.headers;
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    TraceContext::read(header("traceparent")?, header("tracestate"))
}

/// A client that doesn't introduce itself comes with the name of its library, which tells people nothing.
fn client_of(info: &Implementation) -> Client {
    match info.name.trim().is_empty() || info.name == Implementation::default().name {
        true => Client { name: UNNAMED.to_owned(), version: String::new() },
        false => Client {
            name: one_line(&info.name, CLIENT_CHARS_MAX),
            version: one_line(&info.version, CLIENT_CHARS_MAX),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_does_not_introduce_itself_is_an_agent() {
        let unnamed = Client { name: "an agent".to_owned(), version: String::new() };
        assert_eq!(client_of(&Implementation::default()), unnamed);
        assert_eq!(client_of(&Implementation::new(" ", "1")), unnamed);
        let named = Client { name: "claude-code".to_owned(), version: "2.1".to_owned() };
        assert_eq!(client_of(&Implementation::new("claude-code", "2.1")), named);
        assert_eq!(Caller { client: Some(unnamed), ..Caller::local() }.in_words(), "an agent");
    }
}
