//! Who hears of everything that reaches a server.

use std::sync::Arc;
use std::time::Duration;

use gristmill_domain::Code;
use gristmill_domain::policy::Decided;

use crate::ids::Caller;

/// Hears of every request that came to the door of the servers, when it is over: answered, refused,
/// failed or given up.
pub trait CallObserver: Send + Sync + 'static {
    /// Once for each request. Must not block, and keeps for later what takes time: the caller waits meanwhile.
    fn passed(&self, facts: &Arc<CallFacts>);

    /// What may be kept of arguments as they are sent; nothing, unless somebody wants it. Must not block.
    fn arguments(&self, _json: &str) -> Option<ArgumentRecord> {
        None
    }

    /// Whether [`CallFacts::answer_shape`] is worth the time.
    fn wants_shapes(&self) -> bool {
        false
    }
}

/// What is kept of the arguments of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentRecord {
    /// Of all of them, with a key: it says whether two are the same, and lets nobody guess.
    pub digest: String,
    /// Their beginning, where that is wanted.
    pub text: Option<String>,
}

/// What one request came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFacts {
    pub caller: Caller,
    /// The line of the program that asked, as the program says; `None` if no program did.
    pub line: Option<u64>,
    pub kind: RequestKind,
    /// The server as it is configured; `None` if nothing told which one was meant.
    pub server: Option<String>,
    /// What was asked of it: the server's own name of a tool or a prompt, its own URI of a resource.
    /// As the caller wrote it, if there is no such thing.
    pub name: String,
    /// What the policy decided, and by which rule; `None` if the request did not get that far.
    pub decision: Option<Decided>,
    /// The arguments as they are sent.
    pub request_bytes: u64,
    /// What the observer keeps of them; `None` before they were checked.
    pub arguments: Option<ArgumentRecord>,
    /// Which kinds of values were put in the place of tokens, in which arguments, by which rule.
    pub restored: Vec<String>,
    /// The answer as it came; 0 if none did.
    pub answer_bytes: u64,
    /// Of a tool's answer, if somebody wants it: see [`gristmill_domain::answer_shape`]. 0 if it is not known.
    pub answer_shape: u64,
    /// From the request to its end, waits for a turn among them.
    pub took: Duration,
    /// Of a request to a host that programs may reach: where it went, and what came back.
    pub web: Option<WebFacts>,
    pub end: CallEnd,
}

/// A request to a host. What the query and the body say is in no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebFacts {
    /// The name or the address, and the port.
    pub host: String,
    /// Without the query.
    pub path: String,
    /// Of the answer, once there is one.
    pub status: Option<u16>,
}

/// What was asked of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    CallTool,
    ReadResource,
    GetPrompt,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// The caller got its answer.
    Answered,
    /// Nothing was sent: this is a dry run.
    Held,
    /// The caller got an error.
    Failed {
        code: Code,
        /// Whether the server may have done something.
        was_sent: bool,
    },
    /// The caller took it back.
    Cancelled {
        /// Whether the server may have it.
        was_sent: bool,
    },
}
