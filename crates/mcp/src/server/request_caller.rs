//! Whoever sent a request, as the gateway knows callers.

use gristmill_gateway::access;
use gristmill_gateway::domain::one_line;
use gristmill_gateway::ids::{Caller, Client, Owner, TokenRef};
use rmcp::service::{RequestContext, RoleServer};

use super::Connection;

/// What is kept of a client's words about itself.
const CLIENT_CHARS_MAX: usize = 100;

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
    let client = context.client_info().map(|client| Client {
        name: one_line(&client.name, CLIENT_CHARS_MAX),
        version: one_line(&client.version, CLIENT_CHARS_MAX),
    });
    Caller { token, client, ..Caller::of(owner) }
}
