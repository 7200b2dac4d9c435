//! The gateway as an MCP server: a few tools through which a caller runs programs, and what the
//! servers behind it offer beside tools.
//!
//! Every request is checked here before anything is done, and whatever goes wrong is an answer that
//! a model can act on: a stable code, the cause, the program's line, what had been called, what to
//! change. What a caller is shown never changes while the gateway runs.

mod analysis_answer;
mod analysis_calls;
mod answer;
mod attend;
mod caller;
mod catalogue_calls;
mod definitions;
mod execute_arguments;
mod handler;
mod instructions;
mod offers;
mod profile;
mod questions;
mod request_state;
mod result_calls;
mod running;
mod skill_calls;
mod stats_calls;
mod tasks;
mod workspace_calls;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gristmill_gateway::access::{Caller, Scope};
use gristmill_gateway::executions::{Executions, Owner};
use gristmill_gateway::session::{ConnectionSession, SessionChoice};
use gristmill_gateway::skills::Skills;
use gristmill_gateway::upstream::Upstreams;
use rmcp::model::{ErrorData, Tool};
use rmcp::service::{RequestContext, RoleServer};

pub use instructions::ServerLine;
pub use profile::{Profile, UnknownProfile};

use definitions::Shown;
use request_state::StateSigner;

/// What a server is made of.
pub struct ServerParts {
    /// Runs the programs.
    pub executions: Executions,
    /// The servers behind it, if any are configured.
    pub upstreams: Option<Upstreams>,
    /// How they are described to callers.
    pub servers: Vec<ServerLine>,
    /// What was saved for programs to import, if anything is kept.
    pub skills: Option<Skills>,
    /// What callers are shown.
    pub profile: Profile,
    /// When a caller gets an answer, even if its program still runs.
    pub answer_within: Duration,
    /// What an answer takes at most if a call or its session says nothing else.
    pub answer_tokens: usize,
}

/// How callers reach us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Over pipes, from the one program that started us.
    Pipes,
    /// Over HTTP, from many.
    Http,
}

/// Serves callers. Cheap to clone; each connection has one of its own.
#[derive(Clone)]
pub struct GatewayServer {
    parts: Arc<ServerParts>,
    shown: Arc<Shown>,
    tools: Arc<Vec<Tool>>,
    instructions: Arc<str>,
    signer: Arc<StateSigner>,
    connection: Connection,
    /// Whether this connection hears of changes already.
    is_told: Arc<AtomicBool>,
    /// What calls over pipes go on in.
    session: ConnectionSession,
}

impl GatewayServer {
    /// A server of these parts.
    pub fn new(parts: ServerParts, connection: Connection) -> Result<Self, String> {
        let shown = Shown::new(parts.profile);
        let tools = shown.definitions.iter().cloned().map(serde_json::from_value);
        let tools = tools.collect::<Result<Vec<Tool>, _>>().map_err(|error| error.to_string())?;
        let signer =
            StateSigner::new().map_err(|error| format!("the machine gives no random numbers: {error}"))?;
        Ok(Self {
            instructions: instructions::instructions(&parts.servers).into(),
            parts: Arc::new(parts),
            shown: Arc::new(shown),
            tools: Arc::new(tools),
            signer: Arc::new(signer),
            connection,
            is_told: Arc::default(),
            session: ConnectionSession::default(),
        })
    }

    /// The same server, for one more connection.
    pub fn for_connection(&self) -> Self {
        Self { is_told: Arc::default(), session: ConnectionSession::default(), ..self.clone() }
    }

    /// Where a program works that was sent with this session, or without one. Over pipes there is one
    /// caller, whose programs go on where the last one was; over HTTP nobody knows who comes next.
    fn session_choice(&self, named: Option<String>) -> SessionChoice {
        match (named, self.connection) {
            (Some(session), _) => SessionChoice::Named(session),
            (None, Connection::Pipes) => SessionChoice::OfConnection(self.session.clone()),
            (None, Connection::Http) => SessionChoice::Alone,
        }
    }

    /// The text that clients are given when they connect.
    pub fn instructions(&self) -> &str {
        &self.instructions
    }
}

impl Connection {
    /// Whether a request may see the figures of all owners, and change what they share: the local
    /// owner's may, and that of a token with the scope `admin`.
    fn is_admin(self, context: &RequestContext<RoleServer>) -> bool {
        let parts = context.extensions.get::<http::request::Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
        match (self, caller) {
            (Connection::Pipes, _) => true,
            (Connection::Http, Some(caller)) => !caller.has_token() || caller.may(Scope::Admin),
            (Connection::Http, None) => false,
        }
    }

    /// Whose executions a request may see, whether that is one caller only, and whether it may run
    /// programs.
    fn sender(self, context: &RequestContext<RoleServer>) -> (Owner, bool, bool) {
        let parts = context.extensions.get::<http::request::Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
        match (self, caller) {
            (Connection::Pipes, _) => (Owner::local(), true, true),
            (Connection::Http, Some(caller)) => {
                let owner = match caller.has_token() {
                    true => Owner::of_token(&caller.identity),
                    false => Owner::local(),
                };
                (owner, caller.has_token(), caller.may(Scope::Execute))
            }
            // The front puts a caller into every request; one without is nobody.
            (Connection::Http, None) => (Owner("nobody".to_owned()), false, false),
        }
    }
}

/// A change of skills that this caller may not make.
fn forbidden_change(tool: &str) -> ErrorData {
    ErrorData::invalid_request(
        format!(
            "this token may not use {tool}: all callers share the skills, so changing them needs the scope `admin` (gristmill token new NAME --scope execute --scope admin)"
        ),
        None,
    )
}

/// A request that this caller may not make.
fn forbidden(tool: &str) -> ErrorData {
    ErrorData::invalid_request(
        format!(
            "this token may not use {tool}: it needs the scope `execute` (gristmill token new NAME --scope execute)"
        ),
        None,
    )
}
