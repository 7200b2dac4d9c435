//! What a caller asks for.

use std::path::PathBuf;
use std::sync::Arc;

use gristmill_domain::Limits;
use serde_json::{Map, Value};

use crate::ports::{Asker, StateValues};
use crate::state_values::StateInMemory;

/// One program to run.
#[derive(Clone, Debug)]
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
    /// What it finds as `state`.
    pub state: Arc<dyn StateValues>,
    /// Whether it goes on with the variables of an earlier program.
    pub variables: Variables,
}

/// What becomes of a program's variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Variables {
    /// They end with the program, whose process ends too.
    #[default]
    Forget,
    /// The program goes on in the interpreter that this session has, and leaves it to the next one.
    Keep {
        /// The session's id: no two sessions may have the same.
        session: String,
    },
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
    /// A Python program with no context, the gateway's limits, a throw-away workspace, nobody to ask,
    /// and state and variables that end with it.
    pub fn python(code: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            context: Map::new(),
            limits: None,
            workspace: WorkspaceChoice::ThrowAway,
            asker: Asker::none(),
            state: Arc::new(StateInMemory::default()),
            variables: Variables::Forget,
        }
    }
}
