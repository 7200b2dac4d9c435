//! Everything that a gateway is built from, in one value.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gristmill_checks::Guardrails;
use gristmill_domain::{Level, Limits};
use gristmill_files::Folders;
use gristmill_protocol::EngineId;

use crate::audit::Audit;
use crate::history::HistorySettings;
use crate::marks::MarkLedger;
use crate::native_engine::{NativeEngine, WasmPackages};
use crate::pool::{KeepSettings, PoolSettings, WorkerCommand};
use crate::ports::{FixedTools, RemoteWorkers, ToolSource};
use crate::privacy::Privacy;
use crate::results::ResultSettings;
use crate::service::KeepLimits;
use crate::session::SessionSettings;
use crate::store::Store;
use crate::telemetry::Telemetry;
use crate::type_check::TypeCheckCommand;
use crate::upstream::NoTools;

/// What a gateway is built from. [`Settings::new`] has what most use.
pub struct Settings {
    /// How workers are started.
    pub worker: WorkerCommand,
    /// The limits of programs that bring none, and with them the level. Default: production.
    pub limits: Limits,
    /// What is done about what is found in programs before they run. Default: what the level does.
    pub guardrails: Guardrails,
    /// Whether programs are checked before they run. Without it nothing is found in them, and
    /// [`Settings::guardrails`] refuses nothing; the walls stand as they do. Default: they are.
    pub checks_programs: bool,
    /// What checks the types of TypeScript programs before they run. Default: nothing does.
    pub type_check: Option<TypeCheckCommand>,
    /// Where each program gets its tools from, such as connected servers. Default: none.
    pub tools: Arc<dyn ToolSource>,
    /// Where caches and scratch space are. Default: the platform's convention.
    pub folders: Option<Folders>,
    /// How many workers wait, and how long a checkout may take.
    pub pool: PoolSettings,
    /// Engines whose workers wait before anybody uses them. Python's, if nothing is said; those of the others start
    /// with their first program.
    pub warm_engines: Vec<EngineId>,
    /// How many idle interpreters stay for further programs of their sessions, for how long, and how
    /// much memory they may have together. Default: 16, 30 minutes, 2 GB.
    pub kept_interpreters: KeepSettings,
    /// How many programs run at once. Default: four for each core, at least 16.
    pub concurrent_executions: Option<usize>,
    /// How many more may wait for a place. Default: 256.
    pub queued_executions: usize,
    /// For how long they wait. Default: 30 s.
    pub queue_timeout: Duration,
    /// What is kept in memory of executions that have ended.
    pub kept_answers: KeepLimits,
    /// What outlasts a program. Default: nothing.
    pub data: Option<DataSettings>,
    /// What becomes of personal data. Default: it goes as it is.
    pub privacy: Option<Privacy>,
    /// Who counts and watches what runs. Default: nobody does.
    pub telemetry: Option<Telemetry>,
    /// The machine's own Python, for programs that ask for it. Default: there is none.
    pub native: Option<NativeEngine>,
    /// Packages that programs in WebAssembly can import beside the bundled ones. Default: there are none.
    pub wasm_packages: Option<WasmPackages>,
    /// Workers on other machines, for programs that are to run there. Default: there are none.
    pub remote_workers: Option<Arc<dyn RemoteWorkers>>,
}

impl Settings {
    /// A gateway that keeps nothing, with workers started by `worker`.
    pub fn new(worker: WorkerCommand) -> Self {
        Self {
            worker,
            limits: Limits::of(Level::default()),
            guardrails: Guardrails::default(),
            checks_programs: true,
            type_check: None,
            tools: Arc::new(FixedTools(Arc::new(NoTools))),
            folders: None,
            pool: PoolSettings::default(),
            warm_engines: vec![EngineId::Python],
            kept_interpreters: KeepSettings::default(),
            concurrent_executions: None,
            queued_executions: 256,
            queue_timeout: Duration::from_secs(30),
            kept_answers: KeepLimits::default(),
            data: None,
            privacy: None,
            telemetry: None,
            native: None,
            wasm_packages: None,
            remote_workers: None,
        }
    }
}

/// What is kept beyond a program's end, and where. What is `None` is not kept.
pub struct DataSettings {
    /// The database, in a data folder or in memory.
    pub store: Store,
    /// The record of every execution.
    pub history: Option<HistorySettings>,
    /// What an auditor may ask about, in the same data folder.
    pub audit: Option<Audit>,
    /// Whether the gateway is built even if nothing can be recorded, or no results stored.
    /// [`Gateway::problems`](crate::Gateway::problems) says so then.
    pub history_is_optional: bool,
    /// Whole values behind answers. A database in memory has no place for them.
    pub results: Option<ResultSettings>,
    /// What programs of one session share. Those of a database in memory end with the gateway.
    pub sessions: Option<SessionSettings>,
    pub skills: Option<SkillFolders>,
    /// Which marked data was read; none if no server has a mark.
    pub marks: Option<MarkLedger>,
    /// When what is too old or too much goes.
    pub upkeep: Upkeep,
}

impl DataSettings {
    /// Nothing is kept in this database until it is said what.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            history: None,
            audit: None,
            history_is_optional: false,
            results: None,
            sessions: None,
            skills: None,
            marks: None,
            upkeep: Upkeep::InBackground,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFolders {
    /// The user's own folder; none where nothing is kept.
    pub user: Option<PathBuf>,
    /// The project's folder, whether it is there or not.
    pub project: Option<PathBuf>,
    /// Where the trees that programs see are made; none for the cache folder.
    pub trees: Option<PathBuf>,
}

/// When what is too old or too much goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// Now and then, beside everything else: for a gateway that stays.
    InBackground,
    /// Of the history, when the gateway shuts down: for one that runs a single program.
    AtShutdown,
}
