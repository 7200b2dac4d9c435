//! What a caller asks for.

use std::path::PathBuf;

use gristmill_domain::Limits;
use serde_json::{Map, Value};

use crate::ports::Asker;

/// One program to run.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteRequest {
    /// Its text.
    pub code: String,
    /// Variables that it finds defined.
    pub context: Map<String, Value>,
    /// Its limits; `None` takes the gateway's.
    pub limits: Option<Limits>,
    /// Its working folder.
    pub workspace: WorkspaceChoice,
    /// Who answers the questions of servers. Meanwhile the program's wall time stands still.
    pub asker: Asker,
    /// Whether the tokens of its calls are counted, for a record; beside the program, but the report
    /// waits for it.
    pub count_tokens: bool,
}

/// Where `/workspace` is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WorkspaceChoice {
    /// An empty folder that is removed afterwards.
    #[default]
    ThrowAway,
    /// A folder that exists and is kept.
    Kept(PathBuf),
}

impl ExecuteRequest {
    /// A Python program with no context, the gateway's limits, a throw-away workspace and nobody to ask.
    pub fn python(code: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            context: Map::new(),
            limits: None,
            workspace: WorkspaceChoice::ThrowAway,
            asker: Asker::none(),
            count_tokens: false,
        }
    }
}
