//! Who asks: what every decision about a request goes by.

use std::sync::Arc;

use gristmill_domain::Level;
use gristmill_domain::policy::TokenLimits;

use super::execution_id::ExecutionId;
use super::owner::Owner;
use super::session_id::SessionId;
use super::trace_context::TraceContext;

/// Whoever has something sent to a server, and from where. Rules, budgets and records go by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    pub owner: Owner,
    /// The access token that it came with; `None` on this machine, where none is needed.
    pub token: Option<TokenRef>,
    /// The MCP client that speaks for the owner, in its own words.
    pub client: Option<Client>,
    /// The session that the program works in.
    pub session: Option<SessionId>,
    /// What that session is called, if it has a name.
    pub session_name: Option<String>,
    /// The program that asks; `None` if a client or a person asks directly.
    pub execution: Option<ExecutionId>,
    /// The level of that program; `None` for that of the gateway.
    pub level: Option<Level>,
    /// Where in a trace it asks, if it has said so: of a program, its own place in its caller's trace.
    pub trace: Option<TraceContext>,
    /// Whether each step of what it asks for is logged, whatever else is: somebody looks into its session.
    pub is_debugged: bool,
}

/// Which access token: never the token itself, nor its hash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenRef {
    /// As it was issued.
    pub name: String,
    /// Differs for another token of the same name.
    pub identity: String,
    /// What it is limited to; `None` if it is not.
    pub limits: Option<Arc<TokenLimits>>,
}

/// An MCP client as it introduced itself. Not to be trusted: anyone can claim any name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Client {
    /// Such as `claude-code`.
    pub name: String,
    /// Empty if it did not say.
    pub version: String,
}

impl Caller {
    /// This owner, and nothing else is known.
    pub fn of(owner: Owner) -> Self {
        Self {
            owner,
            token: None,
            client: None,
            session: None,
            session_name: None,
            execution: None,
            level: None,
            trace: None,
            is_debugged: false,
        }
    }

    /// Whoever uses this machine.
    pub fn local() -> Self {
        Self::of(Owner::local())
    }

    /// Whether its token is good for a server at all.
    pub fn may_know_of(&self, server: &str) -> bool {
        let limits = self.token.as_ref().and_then(|token| token.limits.as_ref());
        limits.is_none_or(|limits| limits.shows_server(server))
    }

    /// For a person: who it is, by client and token.
    pub fn in_words(&self) -> String {
        let client = self.client.as_ref().map(|client| client.name.clone());
        let token = self.token.as_ref().map(|token| format!("the token `{}`", token.name));
        match (client, token) {
            (Some(client), Some(token)) => format!("{client} with {token}"),
            (Some(client), None) => client,
            (None, Some(token)) => token,
            (None, None) if self.execution.is_some() => "this program".to_owned(),
            (None, None) => "this command".to_owned(),
        }
    }

    /// The same one, asking from within a program.
    pub fn in_execution(self, execution: ExecutionId, session: Option<SessionId>) -> Self {
        Self { execution: Some(execution), session, ..self }
    }
}
