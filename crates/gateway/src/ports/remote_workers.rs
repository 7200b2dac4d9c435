//! Workers on other machines: who finds one, and how it is ended.
//!
//! Only a worker's process is elsewhere. Whatever its program asks for comes back here and goes its usual way, so
//! that a node holds no secret and can send nothing to a server.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use gristmill_domain::{Level, LimitName};
use gristmill_protocol::{ChildExit, Confinement, EngineId, ProcessUse};

use super::box_future::BoxFuture;
use crate::ids::{ExecutionId, Owner};

/// Finds workers on nodes.
pub trait RemoteWorkers: Send + Sync + 'static {
    /// Where a program is to run. Asked for each; must not wait.
    fn place_of(&self, program: &RemoteProgram) -> RunWhere;

    /// A worker that is confined as `home` says and waits for its program. Waits for a node with a place, within
    /// bounds. Dropping the future gives the place back.
    fn take(
        &self,
        program: RemoteProgram,
        home: RemoteHome,
    ) -> BoxFuture<'static, Result<RemoteWorker, NoNode>>;
}

/// Where a program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunWhere {
    /// In this gateway's own workers.
    #[default]
    Here,
    /// On a node.
    Nodes,
    /// Here while a place is free, and then on a node.
    Anywhere,
}

/// What a place is chosen by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteProgram {
    pub engine: EngineId,
    pub level: Level,
    pub owner: Owner,
    /// The name of the access token that it came with.
    pub token: Option<String>,
    /// The name of its session, or the session's id if it has none.
    pub session: Option<String>,
    pub execution: Option<ExecutionId>,
}

/// What a worker on a node is given.
pub struct RemoteHome {
    /// What it is confined to; its mounts name the folders.
    pub confinement: Confinement,
    /// The program's message to the worker, as bytes: the first thing that is written to the worker's line. It goes
    /// along, so that nobody waits for it there.
    pub program: Arc<[u8]>,
    /// One for each mount, in their order. The node makes a `/tmp` of its own.
    pub folders: Vec<OwnedFd>,
    /// Names of the files of `/results` that its program may ask for.
    pub results: Vec<String>,
    /// Where the workspace is, which is the first of the folders.
    pub workspace: PathBuf,
    /// Whether what its program leaves there comes back.
    pub workspace_comes_back: bool,
}

/// A worker on a node, as a program's loop needs it.
pub struct RemoteWorker {
    /// What is written here reaches the worker, and what it says is read here. Closed when the worker or its node
    /// is gone.
    pub line: UnixStream,
    pub control: Arc<dyn RemoteControl>,
}

/// The other ways to a worker on a node.
pub trait RemoteControl: Send + Sync + 'static {
    /// The name of its node.
    fn node(&self) -> &str;

    /// Ends it, whatever it is doing.
    fn kill(&self);

    /// How it ended, once the line has broken. Waits a moment for that.
    fn end(&self) -> BoxFuture<'_, RemoteEnd>;

    /// Takes what its program has left in `/workspace` so far into the folder here, all of it or nothing. Within a
    /// bounded time.
    fn bring_home(&self) -> BoxFuture<'_, Result<(), NotBroughtHome>>;
}

/// How a worker on a node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteEnd {
    /// Its node told.
    Told {
        exit: ChildExit,
        used: ProcessUse,
        /// The limit that the node ended it for.
        limit: Option<LimitName>,
    },
    /// Nothing is heard of its node any more.
    NodeLost,
    /// Nobody told.
    Unknown,
}

/// No node takes a program. Nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NoNode {
    /// For the caller.
    pub why: String,
    /// What to do.
    pub hint: String,
}

/// What a program left in `/workspace` isn't here. The folder is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotBroughtHome {
    /// Its node is gone, and the files with it.
    #[error("its node is gone")]
    NodeLost,
    /// The node is there, and why it can't be had.
    #[error("{0}")]
    Failed(String),
}
