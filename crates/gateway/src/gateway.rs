//! The gateway as a library: all of it, built once from one value and used by many.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gristmill_checks::{CheckReport, Guardrails};
use gristmill_domain::{Level, Limits};
use gristmill_files::{FolderError, Folders};
use gristmill_protocol::{EngineId, WallStatus};

use crate::analysis::{AnalysisFailure, AnalysisOutcome, AnalysisRequest, unlinked_file_in};
use crate::ask::{self, AskRequest, Asking};
use crate::audit::Audit;
use crate::execute::{self, Core, CoreSettings, Execution, Purpose, QueueSettings, Types};
use crate::history::History;
use crate::hosting::{HostRefusal, HostRoom};
use crate::ids::Caller;
use crate::marks::MarkLedger;
use crate::native_engine::{NativeEngine, WasmPackages};
use crate::plans::Plans;
use crate::pool::{
    KeepSettings, KeptInterpreters, Pool, PoolSettings, ScratchError, WorkerCommand, ZygoteStatus,
};
use crate::ports::{FixedTools, Needed, ToolSource, Tools};
use crate::privacy::Privacy;
use crate::request::ExecuteRequest;
use crate::results::{RESULTS_FOLDER, Results, ResultsError};
use crate::service::{Service, StartRequest, World, kept_wishes};
use crate::session::{SessionError, SessionWishes, Sessions};
use crate::settings::{DataSettings, Settings, Upkeep};
use crate::skills::{SkillSandbox, Skills, SkillsSettings};
use crate::store::StoreError;
use crate::telemetry::Gauges;

/// The gateway could not be built. Nothing runs.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// No place for caches.
    #[error(transparent)]
    Folders(#[from] FolderError),
    /// No place for throw-away workspaces.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// Nothing can be recorded.
    #[error(transparent)]
    History(#[from] StoreError),
    /// No place for what sessions keep.
    #[error(transparent)]
    Sessions(#[from] SessionError),
}

/// Something that a gateway does without. Everything else works.
#[derive(Debug, thiserror::Error)]
pub enum BuildProblem {
    /// What runs is not recorded.
    #[error(transparent)]
    NoHistory(StoreError),
    /// What runs can't be proven later.
    #[error(transparent)]
    NoAudit(StoreError),
    /// Whole values behind answers are not kept.
    #[error(transparent)]
    NoResults(ResultsError),
}

/// There are no workers, so nothing can run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// They do not come up; why. A later program tries again.
    #[error("{0}")]
    NoWorkers(String),
    /// The gateway was shut down.
    #[error("the gateway is closing")]
    Closing,
}

/// Runs programs. Cheap to clone; the workers end with the last clone.
#[derive(Clone)]
pub struct Gateway {
    parts: Arc<Parts>,
}

struct Parts {
    world: Arc<World>,
    service: Service,
    skills: Option<Skills>,
    problems: Vec<BuildProblem>,
    sweeps_at_shutdown: bool,
}

impl Gateway {
    /// A gateway whose workers are started by `worker`.
    pub fn builder(worker: WorkerCommand) -> GatewayBuilder {
        GatewayBuilder { settings: Settings::new(worker) }
    }

    /// Starts the workers, opens what is kept while they come up, and returns; they may still be warming
    /// up. Needs a tokio runtime.
    pub async fn build(settings: Settings) -> Result<Self, BuildError> {
        let Settings {
            worker,
            limits,
            guardrails,
            checks_programs,
            type_check,
            tools,
            folders,
            pool,
            warm_engines,
            kept_interpreters: keep,
            data,
            privacy,
            telemetry,
            native,
            wasm_packages,
            remote_workers,
            ..
        } = settings;
        let data = data.map(with_audit);
        let folders = match folders {
            Some(folders) => folders,
            None => Folders::from_environment()?,
        };
        let queue = QueueSettings::new(
            settings.concurrent_executions,
            settings.queued_executions,
            settings.queue_timeout,
        );
        let skills = data.as_ref().and_then(|data| skills_of(data, &folders));
        let core = CoreSettings {
            worker,
            limits,
            guardrails,
            checks_programs,
            type_check,
            folders,
            pool,
            warm_engines,
            keep,
            queue,
            tools,
            skills: skills.clone(),
            native,
            wasm_packages,
            remote_workers,
        };
        let core = Arc::new(Core::start(core)?);
        let kept = match data {
            Some(data) => OpenedData::open(data, &core).await?,
            None => OpenedData::default(),
        };
        let OpenedData { history, audit, results, sessions, marks, plans, problems, sweeps_at_shutdown } =
            kept;
        let world =
            Arc::new(World { core, sessions, history, audit, results, marks, plans, privacy, telemetry });
        let sandbox = Arc::clone(&world) as Arc<dyn SkillSandbox>;
        let skills = skills.map(|skills| skills.with_sandbox(sandbox));
        let service = Service::new(Arc::clone(&world), settings.kept_answers);
        Ok(Self { parts: Arc::new(Parts { world, service, skills, problems, sweeps_at_shutdown }) })
    }

    /// Starts a program, on the runtime that the gateway was built on. It is not recorded and works in
    /// no session; [`Gateway::service`] is for those that are.
    pub fn execute(&self, request: ExecuteRequest) -> Execution {
        let sandbox = Arc::clone(&self.parts.world) as Arc<dyn SkillSandbox>;
        execute::start(Arc::clone(self.core()), request, Purpose::Asked(sandbox))
    }

    /// What can be said about a program without running it, with the tools there are now, as this caller is shown
    /// them. Findings are told whether or not this gateway would refuse them; [`Gateway::guardrails`] knows which it
    /// would.
    pub async fn check(&self, caller: Option<&Caller>, engine: EngineId, code: &str) -> CheckReport {
        let tools = self.core().tools.freeze(caller, Needed::ByProgram(code)).await;
        execute::check_only(self.core(), engine, code.to_owned(), tools, Types::Checked).await
    }

    /// The same without a type checker, for JavaScript.
    pub async fn check_without_types(
        &self,
        caller: Option<&Caller>,
        engine: EngineId,
        code: &str,
    ) -> CheckReport {
        let tools = self.core().tools.freeze(caller, Needed::ByProgram(code)).await;
        execute::check_only(self.core(), engine, code.to_owned(), tools, Types::Ignored).await
    }

    /// The machine's own Python, where programs may use it.
    pub fn native(&self) -> Option<&NativeEngine> {
        self.core().native.as_ref()
    }

    /// Packages that were added to the Python in WebAssembly.
    pub fn wasm_packages(&self) -> Option<&WasmPackages> {
        self.core().wasm_packages.as_ref()
    }

    /// What a session keeps that is made for this program.
    pub fn session_wishes(&self, start: &StartRequest) -> SessionWishes {
        kept_wishes(self.core(), start)
    }

    /// What is done about findings.
    pub fn guardrails(&self) -> &Guardrails {
        &self.core().guardrails
    }

    /// Has a program written for a sentence, checks it, and runs it if somebody says yes, or if it only reads.
    /// Dropping what is returned ends it.
    pub fn ask(&self, request: AskRequest) -> Asking {
        ask::start(Arc::clone(&self.parts.world), self.parts.service.clone(), request)
    }

    /// Runs programs of callers, in sessions and in the history as far as there are any.
    pub fn service(&self) -> &Service {
        &self.parts.service
    }

    /// Analyzes data in a process of its own. Dropping the future ends that process.
    pub async fn analyze(&self, request: AnalysisRequest) -> Result<AnalysisOutcome, AnalysisFailure> {
        let began = Instant::now();
        let outcome = self.core().analyses.run(request).await;
        if let Some(telemetry) = &self.parts.world.telemetry {
            telemetry.analyzed(outcome.is_ok(), began.elapsed());
        }
        outcome
    }

    /// An empty file for an output that is read once. It has no name, and goes with its last descriptor.
    pub fn throw_away_file(&self) -> std::io::Result<std::fs::File> {
        unlinked_file_in(self.core().scratch_folder())
    }

    /// A place for a program of another gateway, if one is free.
    pub fn host_room(&self) -> Result<HostRoom, HostRefusal> {
        HostRoom::take(self.core())
    }

    /// Whether workers of this engine can be had at a level. Waits until they are up.
    pub async fn runs(&self, engine: EngineId, level: Level) -> bool {
        level >= self.core().limits.level() && self.core().pools.of(engine).lacks(level).await.is_none()
    }

    /// How many programs run or wait for their turn here at the most, and how many places are free.
    pub fn places(&self) -> (usize, usize) {
        let core = self.core();
        (core.queue.concurrent_executions, core.places.available_permits())
    }

    /// The sessions that programs work in, if there are any.
    pub fn sessions(&self) -> Option<&Sessions> {
        self.parts.world.sessions.as_ref()
    }

    /// Where executions are recorded, if they are.
    pub fn history(&self) -> Option<&History> {
        self.parts.world.history.as_ref()
    }

    /// Waits until everything that was written before is safe, where the state is shared with other gateways.
    pub async fn settle(&self) -> Result<(), StoreError> {
        match self.history() {
            Some(history) => history.store().settle().await,
            None => Ok(()),
        }
    }

    /// Whether other gateways go on from what is recorded here.
    pub fn shares_state(&self) -> bool {
        self.history().is_some_and(|history| history.store().is_shared())
    }

    /// Where what an auditor may ask about is written, if it is.
    pub fn audit(&self) -> Option<&Audit> {
        self.parts.world.audit.as_ref()
    }

    /// Where whole values are kept, if they are.
    pub fn results(&self) -> Option<&Results> {
        self.parts.world.results.as_ref()
    }

    /// Which marked data was read, if any server has a mark.
    pub fn marks(&self) -> Option<&MarkLedger> {
        self.parts.world.marks.as_ref()
    }

    /// What becomes of personal data, if anything does.
    pub fn privacy(&self) -> Option<&Privacy> {
        self.parts.world.privacy.as_ref()
    }

    /// What programs import, if anything is kept; checked and tested by this gateway's workers.
    pub fn skills(&self) -> Option<&Skills> {
        self.parts.skills.as_ref()
    }

    /// What it does without.
    pub fn problems(&self) -> &[BuildProblem] {
        &self.parts.problems
    }

    /// Waits until workers of a language that is used can be had, or else of Python, and says which walls they
    /// stand behind; or why there are none.
    pub async fn ready(&self) -> Result<Vec<WallStatus>, NotReady> {
        let engine = self.core().pools.awake().next().unwrap_or(EngineId::Python);
        let mut status = self.awake_pool(engine).status();
        let settled = status
            .wait_for(|status| matches!(status, ZygoteStatus::Ready { .. } | ZygoteStatus::Failed(_)))
            .await;
        match settled.as_deref() {
            Ok(ZygoteStatus::Ready { walls, .. }) => Ok(walls.clone()),
            Ok(ZygoteStatus::Failed(reason)) => Err(NotReady::NoWorkers(reason.clone())),
            Ok(ZygoteStatus::Starting) | Err(_) => Err(NotReady::Closing),
        }
    }

    fn awake_pool(&self, engine: EngineId) -> &Arc<Pool> {
        let pool = self.core().pools.of(engine);
        pool.wake();
        pool
    }

    /// The limits that a program gets if it does not bring its own.
    pub fn limits(&self) -> &Limits {
        &self.core().limits
    }

    /// The pool of Python's workers, for measuring and watching.
    pub fn pool(&self) -> &Pool {
        self.awake_pool(EngineId::Python)
    }

    /// The pool of an engine's workers, which starts if it hasn't.
    pub fn pool_of(&self, engine: EngineId) -> &Pool {
        self.awake_pool(engine)
    }

    /// Workers that wait for programs, of all languages. Starts none.
    pub fn workers_waiting(&self) -> usize {
        self.core().pools.waiting()
    }

    /// The figures of what runs and ran here, as OpenMetrics text, if they are counted.
    pub fn metrics_text(&self) -> Option<String> {
        let telemetry = self.parts.world.telemetry.as_ref()?;
        let core = self.core();
        Some(telemetry.metrics_text(&Gauges {
            running: self.service().running(),
            queued: core.queued.load(Ordering::Relaxed),
            workers_waiting: core.pools.waiting(),
            interpreters_kept: core.kept_interpreters().count,
            zygote_ready: core.pools.are_ready(),
            zygote_changes: core.pools.zygote_changes(),
            audit_waiting: self.audit().map_or(0, Audit::events_waiting),
            audit_lag: self.audit().map(Audit::lag).unwrap_or_default(),
            privacy_found: self.privacy().map(Privacy::found_by_kind).unwrap_or_default(),
        }))
    }

    /// Ends the interpreter that a session has, if it has one: at once, or as soon as its program has
    /// ended. The session's next program is told why.
    pub fn forget_variables(&self, session: &str, why: &str) {
        self.core().forget_variables(session, why);
    }

    /// The interpreters that wait for further programs of their sessions.
    pub fn kept_interpreters(&self) -> KeptInterpreters {
        self.core().kept_interpreters()
    }

    /// Closes everything in the reverse order of its opening: ends every worker, removes every
    /// throw-away folder, closes the database, and waits until that is done.
    pub async fn shutdown(self) {
        self.core().close().await;
        if let Some(telemetry) = &self.parts.world.telemetry {
            telemetry.close().await;
        }
        if let Some(plans) = self.parts.world.plans.as_ref().filter(|_| self.parts.sweeps_at_shutdown) {
            // What fails now is tried again by the next.
            let _ = plans.sweep().await;
        }
        if let Some(audit) = self.audit() {
            if self.parts.sweeps_at_shutdown {
                let _ = audit.sweep().await;
            }
            audit.close().await;
        }
        if let Some(history) = self.history() {
            if self.parts.sweeps_at_shutdown {
                // What fails now is tried again by the next.
                let _ = history.sweep().await;
            }
            history.close().await;
        }
    }

    fn core(&self) -> &Arc<Core> {
        &self.parts.world.core
    }
}

/// What sessions and skills change is told to the audit.
fn with_audit(data: DataSettings) -> DataSettings {
    let DataSettings { store, audit, .. } = data;
    let store = match &audit {
        Some(audit) => store.with_audit(Arc::new(audit.clone())),
        None => store,
    };
    DataSettings { store, audit, ..data }
}

fn skills_of(data: &DataSettings, folders: &Folders) -> Option<Skills> {
    let lie = data.skills.clone()?;
    let cache = lie.trees.unwrap_or_else(|| folders.cache.clone());
    let (store, marks) = (data.store.clone(), data.marks.clone());
    Some(Skills::new(SkillsSettings { store, user: lie.user, project: lie.project, cache, marks }))
}

/// What outlasts programs, opened.
#[derive(Default)]
struct OpenedData {
    history: Option<History>,
    audit: Option<Audit>,
    results: Option<Results>,
    sessions: Option<Sessions>,
    marks: Option<MarkLedger>,
    plans: Option<Plans>,
    problems: Vec<BuildProblem>,
    sweeps_at_shutdown: bool,
}

impl OpenedData {
    async fn open(data: DataSettings, core: &Core) -> Result<Self, BuildError> {
        let sweeps_at_shutdown = data.upkeep == Upkeep::AtShutdown;
        let mut kept = Self { sweeps_at_shutdown, marks: data.marks.clone(), ..Self::default() };
        kept.plans = Some(Plans::new(data.store.clone()));
        if let Some(settings) = data.history {
            match History::open(data.store.clone(), settings).await {
                Ok(history) => kept.history = Some(history),
                Err(error) if data.history_is_optional => {
                    kept.problems.push(BuildProblem::NoHistory(error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(audit) = data.audit {
            match audit.serve().await {
                Ok(()) => kept.audit = Some(audit),
                Err(error) if data.history_is_optional => {
                    kept.problems.push(BuildProblem::NoAudit(error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let folder = data.store.folder().map(|folder| folder.join(RESULTS_FOLDER));
        if let (Some(settings), Some(folder)) = (data.results, folder) {
            match Results::open(data.store.clone(), folder, settings).await {
                Ok(results) => {
                    kept.results = Some(match &data.marks {
                        Some(ledger) => results.with_marks(ledger.clone()),
                        None => results,
                    });
                }
                Err(error) => kept.problems.push(BuildProblem::NoResults(error)),
            }
        }
        if let Some(settings) = data.sessions {
            let (scratch, limits) = (core.scratch_folder(), core.limits.clone());
            kept.sessions = Some(Sessions::open(data.store, Some(scratch), limits, settings)?);
        }
        if data.upkeep == Upkeep::InBackground {
            kept.tidy_in_background();
        }
        Ok(kept)
    }

    fn tidy_in_background(&self) {
        if let Some(plans) = &self.plans {
            plans.tidy_in_background();
        }
        if let Some(history) = &self.history {
            history.tidy_in_background();
        }
        if let Some(audit) = &self.audit {
            audit.tidy_in_background();
        }
        if let Some(results) = &self.results {
            results.tidy_in_background();
        }
        if let Some(sessions) = &self.sessions {
            sessions.tidy_in_background();
        }
    }
}

/// Puts a [`Gateway`] together: [`Settings`] with a method for each of those that most change.
pub struct GatewayBuilder {
    settings: Settings,
}

impl GatewayBuilder {
    /// See [`Settings::limits`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// See [`Settings::guardrails`].
    pub fn guardrails(mut self, guardrails: Guardrails) -> Self {
        self.settings.guardrails = guardrails;
        self
    }

    /// See [`Settings::checks_programs`].
    pub fn without_checks(mut self) -> Self {
        self.settings.checks_programs = false;
        self
    }

    /// What programs can call. Default: nothing.
    pub fn tools(self, tools: Arc<dyn Tools>) -> Self {
        self.tool_source(Arc::new(FixedTools(tools)))
    }

    /// See [`Settings::tools`].
    pub fn tool_source(mut self, tools: Arc<dyn ToolSource>) -> Self {
        self.settings.tools = tools;
        self
    }

    /// See [`Settings::data`].
    pub fn data(mut self, data: DataSettings) -> Self {
        self.settings.data = Some(data);
        self
    }

    /// See [`Settings::folders`].
    pub fn folders(mut self, folders: Folders) -> Self {
        self.settings.folders = Some(folders);
        self
    }

    /// See [`Settings::warm_engines`].
    pub fn warm_engines(mut self, engines: impl IntoIterator<Item = EngineId>) -> Self {
        self.settings.warm_engines = engines.into_iter().collect();
        self
    }

    /// See [`Settings::native`].
    pub fn native(mut self, native: NativeEngine) -> Self {
        self.settings.native = Some(native);
        self
    }

    /// See [`Settings::pool`].
    pub fn pool(mut self, settings: PoolSettings) -> Self {
        self.settings.pool = settings;
        self
    }

    /// See [`Settings::kept_interpreters`].
    pub fn kept_interpreters(mut self, settings: KeepSettings) -> Self {
        self.settings.kept_interpreters = settings;
        self
    }

    /// See [`Settings::concurrent_executions`].
    pub fn concurrent_executions(mut self, count: usize) -> Self {
        self.settings.concurrent_executions = Some(count);
        self
    }

    /// How many more may wait for a place, and for how long. Default: 256, 30 s.
    pub fn queue(mut self, count: usize, timeout: Duration) -> Self {
        self.settings.queued_executions = count;
        self.settings.queue_timeout = timeout;
        self
    }

    /// See [`Gateway::build`].
    pub async fn build(self) -> Result<Gateway, BuildError> {
        Gateway::build(self.settings).await
    }
}
