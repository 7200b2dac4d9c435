//! Every trait through which the gateway reaches the outside.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use gristmill_domain::{Code, ToolAnswer};
use serde_json::{Map, Value};

use gristmill_domain::ServerSettings;
use gristmill_domain::catalogue::Lookup;

use crate::skills::SkillOffer;
use crate::upstream::{ServerLog, Snapshot};

pub use crate::questions::{Ask, Asker, Question, QuestionAnswer, QuestionKind};

/// A future that can be stored.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where an execution gets its tools from.
pub trait ToolSource: Send + Sync + 'static {
    /// The tools as they are now. They do not change under the execution that got them.
    fn freeze(&self) -> BoxFuture<'_, Arc<dyn Tools>>;

    /// Lets go of every server, and waits until that is done.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// The tools that a program can call.
pub trait Tools: Send + Sync + 'static {
    /// Calls one. Dropping the future cancels the call.
    fn call(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolAnswer, ToolFailure>>;

    /// Looks for some, and for skills beside them. The answer is what a program's `search_tools` reads.
    fn search(&self, search: &ToolSearch, skills: &SkillOffer) -> Result<Value, ToolFailure> {
        if skills.is_empty() {
            return Err(ToolFailure::BadArguments("these tools cannot be searched".to_owned()));
        }
        let nothing_else = Snapshot::default();
        let answer = nothing_else.search(search, skills);
        let answer = answer.map_err(|error| ToolFailure::BadArguments(error.to_string()))?;
        Ok(crate::upstream::found(&answer, &nothing_else.rendered(&answer)))
    }

    /// What the definition of the tool comes to that is called by this name, where that is known.
    /// Counted once, and not before somebody asks.
    fn definition_tokens(&self, name: &str) -> Option<DefinitionTokens> {
        let _ = name;
        None
    }

    /// Every tool by name, where that is known.
    fn lookup(&self) -> Option<&Lookup> {
        None
    }

    /// Reads a resource by a URI of ours. The answer is the whole result, as JSON.
    fn read_resource<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        let _ = uri;
        Box::pin(async { Err(ToolFailure::BadArguments("there are no resources here".to_owned())) })
    }

    /// The folder that programs see as `/servers`, if there is one.
    fn tree(&self) -> Option<&Path> {
        None
    }
}

/// What a model that calls a tool directly has before it all the time: see
/// [`count_definition`](crate::tokens::count_definition).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionTokens {
    /// The tool, the same however it was called.
    pub tool: String,
    /// Its definition.
    pub tokens: usize,
    /// Whether that was too long to be counted whole.
    pub estimated: bool,
}

/// Tools that never change are their own source.
pub struct FixedTools(pub Arc<dyn Tools>);

impl ToolSource for FixedTools {
    fn freeze(&self) -> BoxFuture<'_, Arc<dyn Tools>> {
        let tools = Arc::clone(&self.0);
        Box::pin(async move { tools })
    }
}

/// What a program searches for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSearch {
    /// Words; none to browse.
    #[serde(default)]
    pub query: String,
    /// Only this server.
    #[serde(default)]
    pub server: Option<String>,
    /// Only servers of this category.
    #[serde(default)]
    pub category: Option<String>,
    /// `names`, `summary` or `full`.
    #[serde(default)]
    pub detail: Option<String>,
    /// How many at most.
    #[serde(default)]
    pub limit: Option<usize>,
    /// How many to skip.
    #[serde(default)]
    pub offset: Option<usize>,
    /// The program's line.
    #[serde(default)]
    pub line: Option<u64>,
}

/// One call of a tool, as a program wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// `tool` or `server.tool`.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Where the tool's progress goes.
    pub progress: ProgressSink,
    /// Who answers the server's questions.
    pub asker: Asker,
}

/// How far a call has come, in its server's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Grows.
    pub progress: f64,
    /// Its last value, if that is known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// Takes the progress of one call; or nobody does.
#[derive(Clone, Default)]
pub struct ProgressSink(Option<Arc<dyn Fn(Progress) + Send + Sync>>);

impl ProgressSink {
    /// Progress goes to this function, which must not block.
    pub fn new(sink: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    /// One step.
    pub fn tell(&self, progress: Progress) {
        if let Some(sink) = &self.0 {
            sink(progress);
        }
    }
}

impl std::fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProgressSink")
    }
}

/// Whoever listens: two calls are the same call.
impl PartialEq for ProgressSink {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// A call that did not work out. The program sees it as a `ToolError`, and may go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolFailure {
    /// Nothing was sent: there is no such tool.
    #[error("there is no tool `{name}`{}", hint_text(.nearest))]
    Unknown {
        /// As it was written.
        name: String,
        /// The closest names there are.
        nearest: Vec<String>,
    },
    /// Nothing was sent: several tools may be meant.
    #[error("`{name}` may be {}; write which one", .candidates.join(" or "))]
    Ambiguous {
        /// As it was written.
        name: String,
        /// As `server.tool`.
        candidates: Vec<String>,
    },
    /// Nothing was sent: the arguments are wrong.
    #[error("{0}")]
    BadArguments(String),
    /// The tool ran and said no, in its own words.
    #[error("{0}")]
    Said(String),
    /// The server is the trouble, not the tool.
    #[error("{message}")]
    Upstream {
        /// One of the codes 3xxx.
        code: Code,
        /// What happened and what to do.
        message: String,
        /// Whether the same call can be made again without doing anything twice.
        retry_safe: bool,
    },
}

impl ToolFailure {
    /// Whether the call was refused before anything left us.
    pub fn was_not_sent(&self) -> bool {
        match self {
            ToolFailure::Unknown { .. } | ToolFailure::Ambiguous { .. } | ToolFailure::BadArguments(_) => {
                true
            }
            ToolFailure::Said(_) => false,
            ToolFailure::Upstream { code, .. } => {
                matches!(code, Code::ServerDown | Code::LoginNeeded | Code::ToolHeldBack | Code::CallRate)
            }
        }
    }
}

fn hint_text(nearest: &[String]) -> String {
    match nearest {
        [] => "; search_tools(\"...\") finds what there is".to_owned(),
        names => format!("; did you mean {}?", names.join(", ")),
    }
}

/// What the programs of one session keep beside files: JSON texts under keys, the same for every
/// language.
pub trait StateValues: Send + Sync + 'static {
    /// The value under a key.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StateFailure>>;

    /// Puts a value under a key, in the place of what was there. Once this is done it is kept.
    fn set<'a>(&'a self, key: &'a str, value: String) -> BoxFuture<'a, Result<(), StateFailure>>;

    /// Removes a key; whether it was there.
    fn remove<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, StateFailure>>;

    /// Every key, sorted.
    fn keys(&self) -> BoxFuture<'_, Result<Vec<String>, StateFailure>>;

    /// Removes everything.
    fn clear(&self) -> BoxFuture<'_, Result<(), StateFailure>>;
}

impl std::fmt::Debug for dyn StateValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateValues")
    }
}

/// A value that could not be kept or read. The others are untouched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StateFailure(pub String);

/// What an analysis that a program asks for may read beside the program's own files: whole results of
/// the same caller.
pub trait AnalysisInputs: Send + Sync + 'static {
    /// Opens a stored result for reading; `None` if its caller has none of this handle.
    fn open_result<'a>(
        &'a self,
        handle: &'a str,
    ) -> BoxFuture<'a, Result<Option<std::fs::File>, InputFailure>>;
}

impl std::fmt::Debug for dyn AnalysisInputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnalysisInputs")
    }
}

/// A stored result that is there and cannot be opened. Nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputFailure(pub String);

/// A gateway without any tool.
pub struct NoTools;

impl Tools for NoTools {
    fn call(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolAnswer, ToolFailure>> {
        Box::pin(async move { Err(ToolFailure::Unknown { name: call.name, nearest: Vec::new() }) })
    }
}

/// Reaches upstream servers.
pub trait Connector: Send + Sync + 'static {
    /// Starts or reaches one server, and agrees on a protocol with it. Gives up by itself after the
    /// server's start-up limit.
    fn connect(&self, request: ConnectRequest) -> BoxFuture<'_, Result<Arc<dyn Upstream>, UpstreamFailure>>;
}

/// Which server to reach, and what is known about it.
#[derive(Clone)]
pub struct ConnectRequest {
    /// What is configured.
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
    /// Its name.
    pub title: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// How it wants to be used.
    pub instructions: Option<String>,
    /// The protocol version that we speak with it.
    pub protocol: String,
}

/// A live connection to one upstream server.
pub trait Upstream: Send + Sync + 'static {
    /// What it said about itself.
    fn facts(&self) -> &ServerFacts;

    /// Its tools, each as the raw JSON of its definition.
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>>;

    /// Calls a tool and gives the raw JSON of its result. Dropping the future tells the server to stop.
    fn call(&self, call: UpstreamCall) -> BoxFuture<'_, Result<String, UpstreamFailure>>;

    /// Its resources, each as the raw JSON of its definition. A list that is too long is cut;
    /// a server without any gives an empty one.
    fn list_resources(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Its templates of resources, in the same way.
    fn list_resource_templates(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Reads a resource and gives the raw JSON of the result.
    fn read_resource<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<String, UpstreamFailure>> {
        let _ = uri;
        Box::pin(async { Err(UpstreamFailure::BadAnswer("it has no resources".to_owned())) })
    }

    /// Its prompts, in the same way as resources.
    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Fills in a prompt and gives the raw JSON of the result. The arguments are JSON.
    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<String, UpstreamFailure>> {
        let _ = (name, arguments);
        Box::pin(async { Err(UpstreamFailure::BadAnswer("it has no prompts".to_owned())) })
    }

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
    /// Its progress.
    pub progress: ProgressSink,
    /// Who answers questions.
    pub asker: Asker,
}

/// What goes wrong between us and a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamFailure {
    /// Nothing was sent: it is not there.
    #[error("{0}")]
    Down(String),
    /// It did not answer in time, and was told to stop.
    #[error("no answer within {limit_ms} ms")]
    Timeout {
        /// The limit.
        limit_ms: u64,
    },
    /// It was lost after the request was sent.
    #[error("{0}")]
    Lost(String),
    /// It wants a login.
    #[error("{0}")]
    LoginNeeded(String),
    /// It answered with an error of the protocol.
    #[error("{message} (error {code})")]
    Refused {
        /// JSON-RPC's code.
        code: i64,
        /// In its words.
        message: String,
    },
    /// Its answer cannot be used.
    #[error("{0}")]
    BadAnswer(String),
}
