//! What can be asked of a server.

use serde_json::{Map, Value};

use crate::ports::{Asker, CallWatcher, RequestKind, ToolCall};

/// What can be asked of a server, in names of ours. There is nothing else.
#[derive(Clone, Debug)]
pub enum DoorRequest {
    /// To call a tool.
    CallTool(ToolCall),
    /// To read a resource by a URI of ours, listed or not: its server decides.
    ReadResource {
        /// Begins with `gristmill://`.
        uri: String,
        /// Who learns whether it was sent.
        watcher: CallWatcher,
    },
    /// To fill in a prompt.
    GetPrompt {
        /// As `server.prompt`.
        name: String,
        arguments: Map<String, Value>,
        /// Who answers what the server asks before it does.
        asker: Asker,
    },
}

impl DoorRequest {
    pub(super) fn kind(&self) -> RequestKind {
        match self {
            DoorRequest::CallTool(_) => RequestKind::CallTool,
            DoorRequest::ReadResource { .. } => RequestKind::ReadResource,
            DoorRequest::GetPrompt { .. } => RequestKind::GetPrompt,
        }
    }

    /// The line of the program that asks, if one does.
    pub(super) fn line(&self) -> Option<u64> {
        match self {
            DoorRequest::CallTool(call) => call.watcher.line(),
            DoorRequest::ReadResource { watcher, .. } => watcher.line(),
            DoorRequest::GetPrompt { .. } => None,
        }
    }

    /// What it is for, as it was written.
    pub(super) fn name(&self) -> &str {
        match self {
            DoorRequest::CallTool(call) => &call.name,
            DoorRequest::ReadResource { uri, .. } => uri,
            DoorRequest::GetPrompt { name, .. } => name,
        }
    }
}
