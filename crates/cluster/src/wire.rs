//! What a gateway and a node say to each other about one program.
//!
//! Adding a variant at the end keeps old messages readable; anything else needs a new [`WIRE_VERSION`]. What a program
//! and its gateway say is passed on as bytes and never read on the way.

use gristmill_gateway::{ChildExit, Confinement, ProcessUse};
use serde::{Deserialize, Serialize};

use crate::folders::TreeHash;

/// Raised when an older build could not understand what we say. Machines of different versions leave each other alone.
pub const WIRE_VERSION: u16 = 2;

/// A part of a folder.
pub(crate) const PART_BYTES_MAX: usize = 512 * 1024;

/// What is read at once of what a program and its gateway say.
pub(crate) const SAID_BYTES_MAX: usize = 64 * 1024;

/// A reason that is told; longer ones are cut.
pub(crate) const WHY_CHARS_MAX: usize = 400;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToNode {
    /// The first message: a program that is to run there.
    Offer(Box<Offer>),
    /// A part of a folder that was announced or asked for.
    Part(Part),
    /// For the worker.
    Say(#[serde(with = "serde_bytes")] Vec<u8>),
    /// The worker is to end.
    Kill,
    /// What the program has left in its workspace is to come back.
    SendFiles,
    /// The last message: nobody needs the worker or its files any more.
    Close,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// By name, so that one of a later version is refused and not misread.
    pub engine: String,
    pub level: String,
    pub confinement: Confinement,
    /// What the worker is told first.
    #[serde(with = "serde_bytes")]
    pub program: Vec<u8>,
    /// Whether what the program leaves in its workspace comes back.
    pub workspace_comes_back: bool,
    /// Whether the workspace has anything in it; its parts follow.
    pub has_workspace: bool,
    /// The same of the stored results that go along.
    pub has_results: bool,
    /// Read-only folders, by the name of their mount. The node asks for those that it does not have.
    pub trees: Vec<(String, TreeHash)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub of: PartOf,
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    /// Whether nothing more follows of this folder.
    pub is_last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PartOf {
    Workspace,
    Results,
    Tree(TreeHash),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromNode {
    /// Nothing ran.
    Refused(Refused),
    /// Of these trees the node has none.
    Wants(Vec<TreeHash>),
    /// The worker waits for its program.
    Ready,
    /// The worker said this.
    Says(#[serde(with = "serde_bytes")] Vec<u8>),
    /// The worker is gone, and has said everything.
    Ended(Option<Ended>),
    /// What the program has left: when it has ended, or when it is asked for. Without a byte if that is nothing.
    Files {
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        is_last: bool,
    },
    /// It can't be had, and why.
    NoFiles(String),
    /// Nothing happens, and the link is still needed.
    StillHere,
    /// After the worker's last words, its workspace was looked at: nothing has to come back.
    NothingLeft,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Refused {
    /// Every place is taken. Another node may have one.
    Full,
    /// This node can't, and why.
    Never(String),
}

/// How a worker ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub exit: ChildExit,
    pub used: ProcessUse,
    /// The limit that the node ended it for, by name.
    pub limit: Option<String>,
}

/// An order for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// It takes nothing new.
    Drain,
    /// It takes programs again.
    Undrain,
}
