//! What a caller asks for: a program, what it may use while it runs, and where it works.

use std::path::PathBuf;
use std::sync::Arc;

use gristmill_domain::Limits;
use gristmill_protocol::EngineId;
use parking_lot::Mutex;

use crate::context_text::ContextText;
use crate::ids::{Caller, Owner};
use crate::pool::Scratch;
use crate::ports::{AnalysisInputs, Asker, ExecutionStats, LargeResults, StateValues, Writes};
use crate::privacy::Privacy;
use crate::state_values::StateInMemory;

/// One program to run.
#[derive(Clone, Debug)]
pub struct ExecuteRequest {
    pub engine: EngineId,
    pub code: String,
    /// What tracebacks call it, such as `report.py`: of a path, its last part. `None` for `program.py` or `program.ts`.
    pub filename: Option<String>,
    /// Variables that it finds defined.
    pub context: ContextText,
    /// Its limits; `None` takes the gateway's.
    pub limits: Option<Limits>,
    pub workspace: WorkspaceChoice,
    /// Whether it goes on with the variables of an earlier program.
    pub variables: Variables,
    /// What the definition of the tool comes to that it is asked for with; 0 where no model has one
    /// before it.
    pub own_definition_tokens: u64,
    /// Whether its writes are held and listed instead of sent: see [`Report::dry_run`](crate::Report::dry_run).
    /// Nothing that it does is kept, in files, `state` or skills.
    pub dry_run: bool,
    /// What it may use while it runs.
    pub capabilities: Capabilities,
}

/// What a program may use while it runs, beside the tools of servers. One value, which every stage
/// hands on whole.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// Who has it run: its calls are made in this name.
    pub caller: Caller,
    /// Who answers the questions of servers. Meanwhile the program's wall time stands still.
    pub asker: Asker,
    /// What it finds as `state`.
    pub state: Arc<dyn StateValues>,
    /// Whether the tokens of its calls are counted, for a record; beside the program, but the report
    /// waits for it.
    pub count_tokens: bool,
    /// As whom it may save and delete skills; `None` if it may only read them. Skills are shared: the
    /// code of one runs in whoever imports it.
    pub changes_skills_as: Option<Owner>,
    /// Stored results that it may name in an analysis; `None` if there are none.
    pub analysis_inputs: Option<Arc<dyn AnalysisInputs>>,
    /// Whole values that it may read as `/results/<handle>.json` if it knows their handles: the folder of
    /// its owner. An interpreter that stays has that of its first program.
    pub results_folder: Option<PathBuf>,
    /// Where a result goes that is too large for the report; `None` if it ends the program (GM-1205).
    pub large_results: Option<Arc<dyn LargeResults>>,
    /// What becomes of its writes.
    pub writes: Writes,
    /// What it is told of earlier programs; `None` if nothing is recorded.
    pub stats: Option<Arc<dyn ExecutionStats>>,
    /// What it may ask about personal data; `None` if nothing is looked for.
    pub privacy: Option<Privacy>,
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
        /// Whether what this gateway has is the latest.
        latest: LatestVariables,
    },
}

/// Where the variables are that a session's programs left last: several gateways may run them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatestVariables {
    /// In this gateway, if they are anywhere.
    #[default]
    Here,
    /// Nowhere: none were kept, or they were lost and that was told.
    Nowhere,
    /// In another gateway, or in one that is gone.
    Elsewhere,
    /// The session was reset since.
    Reset,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WorkspaceChoice {
    /// An empty folder that is removed afterwards.
    #[default]
    ThrowAway,
    /// A folder that exists and is kept.
    Kept(PathBuf),
    /// An empty folder that is handed over if the program leaves anything in it.
    KeptIfUsed(Leftovers),
}

/// Where a folder is put that a program has left something in. Cheap to clone: all clones are the
/// same place.
#[derive(Clone, Default)]
pub struct Leftovers {
    folders: Arc<Mutex<Option<Scratch>>>,
}

impl Leftovers {
    pub(crate) fn put(&self, scratch: Scratch) {
        *self.folders.lock() = Some(scratch);
    }

    /// What was left. Whoever takes it and drops it removes it.
    pub(crate) fn take(&self) -> Option<Scratch> {
        self.folders.lock().take()
    }
}

impl std::fmt::Debug for Leftovers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Leftovers")
    }
}

impl PartialEq for Leftovers {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.folders, &other.folders)
    }
}

impl Eq for Leftovers {}

impl ExecuteRequest {
    /// A Python program with no context, the gateway's limits, a throw-away workspace, nobody to ask,
    /// and state and variables that end with it. It runs for the local owner, and may change skills.
    pub fn python(code: impl Into<String>) -> Self {
        Self::of(EngineId::Python, code)
    }

    /// The same in TypeScript, or in JavaScript.
    pub fn typescript(code: impl Into<String>) -> Self {
        Self::of(EngineId::TypeScript, code)
    }

    /// The same for any engine.
    pub fn of(engine: EngineId, code: impl Into<String>) -> Self {
        Self {
            engine,
            code: code.into(),
            filename: None,
            context: ContextText::default(),
            limits: None,
            workspace: WorkspaceChoice::ThrowAway,
            variables: Variables::Forget,
            own_definition_tokens: 0,
            dry_run: false,
            capabilities: Capabilities::default(),
        }
    }
}

impl Default for Capabilities {
    /// Nobody to ask, state that ends with the program, no stored results. It may change skills, as the
    /// local owner.
    fn default() -> Self {
        Self {
            caller: Caller::local(),
            asker: Asker::none(),
            state: Arc::new(StateInMemory::default()),
            count_tokens: false,
            changes_skills_as: Some(Owner::local()),
            analysis_inputs: None,
            results_folder: None,
            large_results: None,
            writes: Writes::Sent,
            stats: None,
            privacy: None,
        }
    }
}
