//! What connects us with one server. Whoever speaks a protocol implements these; only this module's
//! door sends anything through them.

use std::sync::Arc;

use gristmill_domain::ServerSettings;

use super::server_log::ServerLog;
use crate::ids::TraceContext;
use crate::ports::{Asker, BoxFuture, ProgressSink};

/// Reaches upstream servers in a protocol of its own.
pub trait Connector: Send + Sync + 'static {
    /// Starts or reaches one server, and agrees on a protocol with it. Gives up by itself after the
    /// server's start-up limit.
    fn connect(&self, request: ConnectRequest) -> BoxFuture<'_, Result<Connection, UpstreamFailure>>;
}

/// A connection that was made. Closed to everyone but this module: nobody else can send anything
/// through it.
///
/// ```compile_fail,E0624
/// # use gristmill_gateway::upstream::{Connection, UpstreamFailure};
/// async fn go_around(connection: Connection) -> Result<String, UpstreamFailure> {
///     connection.upstream().read_resource("file:///x", None).await
/// }
/// ```
#[derive(Clone)]
pub struct Connection(Arc<dyn Upstream>);

impl Connection {
    /// Hands a connection over to the gateway.
    pub fn new(upstream: impl Upstream) -> Self {
        Self(Arc::new(upstream))
    }

    pub(super) fn upstream(&self) -> &dyn Upstream {
        self.0.as_ref()
    }

    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Which server to reach, and what is known about it.
#[derive(Clone)]
pub struct ConnectRequest {
    pub settings: Arc<ServerSettings>,
    /// The protocol version that it spoke last time.
    pub remembered: Option<String>,
    /// Whether the server is told that it may ask questions.
    pub can_ask: bool,
    /// Called when it says that what it offers has changed.
    pub offer_changed: Arc<dyn Fn() + Send + Sync>,
    /// Where its words go that are not protocol.
    pub log: Arc<ServerLog>,
}

/// What a server says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerFacts {
    pub title: Option<String>,
    pub version: Option<String>,
    /// How it wants to be used.
    pub instructions: Option<String>,
    /// The protocol version that we speak with it.
    pub protocol: String,
}

/// A live connection to one upstream server. Every method is to be written out: what is left out by
/// somebody who wraps another would be lost without a word.
pub trait Upstream: Send + Sync + 'static {
    /// What it said about itself.
    fn facts(&self) -> &ServerFacts;

    /// Its tools, each as the raw JSON of its definition.
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>>;

    /// Calls a tool and gives the raw JSON of its result. Dropping the future tells the server to stop.
    fn call(&self, call: UpstreamCall) -> BoxFuture<'_, Result<String, UpstreamFailure>>;

    /// Its resources, each as the raw JSON of its definition. A list that is too long is cut;
    /// a server without any gives an empty one.
    fn list_resources(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>>;

    /// Its templates of resources, in the same way.
    fn list_resource_templates(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>>;

    /// Reads a resource and gives the raw JSON of the result. `trace` is its place in a trace.
    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
        trace: Option<&'a TraceContext>,
    ) -> BoxFuture<'a, Result<String, UpstreamFailure>>;

    /// Its prompts, in the same way as resources.
    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>>;

    /// Fills in a prompt and gives the raw JSON of the result. The arguments are JSON; `asker` answers what
    /// the server asks meanwhile.
    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        asker: Asker,
        trace: Option<&'a TraceContext>,
    ) -> BoxFuture<'a, Result<String, UpstreamFailure>>;

    /// Waits until the connection is gone, and says why.
    fn lost(&self) -> BoxFuture<'_, String>;

    /// Ends it: the process with its whole group, or the session.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// One call of a tool, as it is sent.
#[derive(Clone, Debug)]
pub struct UpstreamCall {
    /// The tool's own name.
    pub tool: String,
    /// Its arguments as JSON.
    pub arguments: String,
    /// Arguments that the tool wants to see in headers, too.
    pub headers: Vec<(String, String)>,
    pub progress: ProgressSink,
    pub asker: Asker,
    /// Its place in a trace, for the server to go on from.
    pub trace: Option<TraceContext>,
}

/// What goes wrong between us and a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamFailure {
    /// Nothing was sent: it is not there.
    #[error("{0}")]
    Down(String),
    /// It did not answer in time, and was told to stop.
    #[error("no answer within {limit_ms} ms")]
    Timeout { limit_ms: u64 },
    /// It was lost after the request was sent.
    #[error("{0}")]
    Lost(String),
    /// It wants a login.
    #[error("{0}")]
    LoginNeeded(String),
    /// It answered with an error of the protocol.
    #[error("{message} (error {code})")]
    Refused {
        /// Of JSON-RPC.
        code: i64,
        /// In the words of the server.
        message: String,
    },
    /// Its answer cannot be used.
    #[error("{0}")]
    BadAnswer(String),
}

impl UpstreamFailure {
    /// In a word; what else there is may quote what was sent.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Down(_) => "down",
            Self::Timeout { .. } => "timeout",
            Self::Lost(_) => "lost",
            Self::LoginNeeded(_) => "login needed",
            Self::Refused { .. } => "refused",
            Self::BadAnswer(_) => "bad answer",
        }
    }
}
