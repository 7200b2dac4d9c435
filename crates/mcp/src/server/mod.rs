//! The gateway as an MCP server: a few tools through which a caller runs programs, and what the
//! servers behind it offer beside tools.
//!
//! Every request is checked here before anything is done, and whatever goes wrong is an answer that
//! a model can act on: a stable code, the cause, the program's line, what had been called, what to
//! change. What a caller is shown changes only with what the servers offer, or once a day with what it uses.

mod analysis_answer;
mod analysis_inputs;
mod answer;
mod arguments;
mod attend;
mod caller;
mod execute_arguments;
mod handler;
mod hidden;
mod instructions;
mod offers;
mod profile;
mod prompts;
mod questions;
mod request_caller;
mod request_state;
mod running;
mod sampling;
mod standing;
mod tasks;
mod tools;
mod trouble;
mod workspace;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gristmill_gateway::Gateway;
use gristmill_gateway::ports::{BoxFuture, Model, RuleWriter};
use gristmill_gateway::session::{ConnectionSession, SessionChoice, Sessions};
use gristmill_gateway::skills::{SkillError, Skills};
use gristmill_gateway::upstream::Upstreams;
use parking_lot::Mutex;
use rmcp::model::Tool;
use tokio_util::sync::CancellationToken;

use crate::endpoint::{EndpointSettings, McpEndpoint};
use crate::stdio::{self, StdioError, StdioSettings, standard_input, standard_output};

pub use instructions::ServerLine;
pub use profile::{Profile, UnknownProfile};
pub use standing::standing_tokens;
pub use tools::{CodeWriting, SingleCalls};

use instructions::ServersToldBy;
use prompts::WaitingPrompts;
use request_state::StateSigner;
use standing::{Listed, StandingTools};
use tools::ShownTools;

/// What a server is made of.
pub struct ServerParts {
    pub gateway: Gateway,
    /// What they work in.
    pub sessions: Sessions,
    /// The servers behind it, if any are configured.
    pub upstreams: Option<Upstreams>,
    /// How they are described to callers.
    pub servers: Vec<ServerLine>,
    /// What was saved for programs to import, if anything is kept.
    pub skills: Option<Skills>,
    /// What callers are shown.
    pub profile: Profile,
    /// Whether they can call a tool without a program.
    pub single_calls: SingleCalls,
    /// Who writes programs for `generate_code`; `None` if callers don't see it.
    pub code_writers: Option<CodeWriters>,
    /// What the signatures of the servers' tools may take of the description of `execute_code`; 0: none are there.
    pub signature_tokens: usize,
    /// When a caller gets an answer, even if its program still runs.
    pub answer_within: Duration,
    /// What an answer takes at most if a call or its session says nothing else.
    pub answer_tokens: usize,
}

/// Who writes a program for a task.
#[derive(Clone, Default)]
pub struct CodeWriters {
    /// In the order in which they are tried. A client that lends its own model comes after them.
    pub models: Vec<Arc<dyn Model>>,
    /// Who writes if no model does.
    pub rules: Option<Arc<dyn RuleWriter>>,
    /// Why there are no more models, for people.
    pub without: Vec<String>,
}

/// How callers reach us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Over pipes, from the one program that started us.
    Pipes,
    /// Over HTTP, from many.
    Http,
}

/// No server was made.
#[derive(Debug, thiserror::Error)]
pub enum NewServerError {
    /// A tool of ours is defined in a way that the protocol does not know.
    #[error(transparent)]
    Definitions(serde_json::Error),
    #[error("the system random source failed: {0}")]
    Random(getrandom::Error),
}

/// Serves callers. Cheap to clone; each connection has one of its own.
#[derive(Clone)]
pub struct GatewayServer {
    parts: Arc<ServerParts>,
    shown: Arc<ShownTools>,
    tools: Arc<Vec<Tool>>,
    instructions: Arc<str>,
    signer: Arc<StateSigner>,
    connection: Connection,
    standing: Arc<StandingTools>,
    /// What this connection was told of the servers' tools last.
    listed: Arc<Mutex<Option<Listed>>>,
    /// Whether this connection hears of changes already.
    is_told: Arc<AtomicBool>,
    /// What calls over pipes go on in.
    session: ConnectionSession,
    /// Prompts whose servers have asked something.
    prompts_waiting: Arc<WaitingPrompts>,
}

impl GatewayServer {
    /// A server of these parts.
    pub fn new(parts: ServerParts, connection: Connection) -> Result<Self, NewServerError> {
        let writing = match &parts.code_writers {
            Some(_) => CodeWriting::ByGenerateCode,
            None => CodeWriting::ByCaller,
        };
        let shown = ShownTools::new(parts.profile, parts.single_calls, writing);
        let shown = match parts.gateway.native() {
            Some(native) => shown.with_native(&native.modules_to_show()),
            None => shown,
        };
        let shown = match parts.gateway.wasm_packages() {
            Some(packages) => shown.with_packages(&packages.modules_to_show()),
            None => shown,
        };
        let standing = StandingTools::new(&parts);
        let told_by = match standing.is_told() {
            true => ServersToldBy::Description,
            false => ServersToldBy::Instructions,
        };
        let tools = shown.definitions().iter().cloned().map(serde_json::from_value);
        let tools = tools.collect::<Result<Vec<Tool>, _>>().map_err(NewServerError::Definitions)?;
        let signer = StateSigner::new().map_err(NewServerError::Random)?;
        Ok(Self {
            instructions: instructions::instructions(&parts.servers, told_by).into(),
            parts: Arc::new(parts),
            shown: Arc::new(shown),
            tools: Arc::new(tools),
            signer: Arc::new(signer),
            standing: Arc::new(standing),
            listed: Arc::default(),
            connection,
            is_told: Arc::default(),
            session: ConnectionSession::default(),
            prompts_waiting: Arc::default(),
        })
    }

    /// Serves on standard input and output, as [`stdio::serve_stdio`] does.
    pub fn serve_stdio(
        self,
        settings: StdioSettings,
        shutdown: CancellationToken,
    ) -> BoxFuture<'static, Result<(), StdioError>> {
        let (input, output) = (standard_input(), standard_output());
        Box::pin(stdio::serve_stdio(self, input, output, settings, shutdown))
    }

    /// The server for callers over HTTP.
    pub fn endpoint(self, settings: EndpointSettings, shutdown: CancellationToken) -> McpEndpoint {
        McpEndpoint::new(move || self.for_connection(), settings, shutdown)
    }

    /// The same server, for one more connection.
    fn for_connection(&self) -> Self {
        let (is_told, listed, session) = (Arc::default(), Arc::default(), ConnectionSession::default());
        Self { is_told, listed, session, ..self.clone() }
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
    fn skills(&self) -> Result<&Skills, SkillError> {
        self.parts.skills.as_ref().ok_or(SkillError::ReadOnly("this gateway doesn't keep skills"))
    }
}
