//! What all executions of a gateway share: workers, places among the running, tools and skills.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use gristmill_checks::Guardrails;
use gristmill_domain::{LimitName, Limits};
use gristmill_files::Folders;
use gristmill_protocol::EngineId;
use tokio::sync::Semaphore;

use super::housekeeping::{Housekeeping, Remains};
use super::level_guardrails::LevelGuardrails;
use super::{Given, Interpreter, Lease};
use crate::analysis::Analyses;
use crate::native_engine::{NativeEngine, WasmPackages};
use crate::pool::{
    CgroupLimits, EnginePools, KeepSettings, KeptInterpreters, KeptWorkers, PoolSettings, PoolStart, Scratch,
    ScratchError, ScratchFolders, WorkerCommand, WorkerCounts,
};
use crate::ports::{RemoteWorkers, ToolSource};
use crate::request::Leftovers;
use crate::skills::Skills;
use crate::type_check::{TypeCheckCommand, TypeChecker};

/// Skills that are checked at once, beside the programs that run.
const INTERNAL_PLACES: usize = 4;

/// Programs on nodes that are followed at once, those that wait for one among them. Each takes some 100 KB here.
const REMOTE_PLACES: usize = 1024;

/// What a core is started with.
pub(crate) struct CoreSettings {
    pub worker: WorkerCommand,
    pub limits: Limits,
    pub guardrails: Guardrails,
    pub checks_programs: bool,
    pub type_check: Option<TypeCheckCommand>,
    pub folders: Folders,
    pub pool: PoolSettings,
    /// Engines whose workers wait before anybody uses them.
    pub warm_engines: Vec<EngineId>,
    pub keep: KeepSettings,
    pub queue: QueueSettings,
    pub tools: Arc<dyn ToolSource>,
    pub skills: Option<Skills>,
    /// The machine's own Python, where programs may use it.
    pub native: Option<NativeEngine>,
    /// Packages that were added to the WebAssembly engine.
    pub wasm_packages: Option<WasmPackages>,
    /// Workers on other machines.
    pub remote_workers: Option<Arc<dyn RemoteWorkers>>,
}

/// How many programs run at once, and who waits for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueSettings {
    pub concurrent_executions: usize,
    pub queued_executions: usize,
    pub timeout: Duration,
}

/// See the module. Its workers end with it.
pub(crate) struct Core {
    pub pools: EnginePools,
    pub tools: Arc<dyn ToolSource>,
    pub limits: Limits,
    /// What is done about what checks find.
    pub guardrails: Arc<Guardrails>,
    /// The same with the modules of each engine and level.
    pub level_guardrails: LevelGuardrails,
    /// Whether programs of callers are checked at all.
    pub checks_programs: bool,
    /// What checks their types, if anything does.
    pub types: Option<Arc<TypeChecker>>,
    pub queue: QueueSettings,
    pub places: Arc<Semaphore>,
    /// Places for programs of ours.
    pub internal_places: Arc<Semaphore>,
    /// Places for programs on nodes.
    pub remote_places: Arc<Semaphore>,
    pub queued: AtomicUsize,
    pub skills: Option<Skills>,
    pub native: Option<NativeEngine>,
    pub wasm_packages: Option<WasmPackages>,
    pub remote_workers: Option<Arc<dyn RemoteWorkers>>,
    pub analyses: Analyses,
    pub runtime: tokio::runtime::Handle,
    kept: KeptWorkers<Given>,
    scratch: Arc<ScratchFolders>,
    housekeeping: Housekeeping,
}

impl Core {
    /// Whether a module is in the native engine's environment, and WebAssembly has it neither bundled nor added.
    pub fn has_only_natively(&self, module: &str) -> bool {
        let is_added = self.wasm_packages.as_ref().is_some_and(|added| added.modules.contains(module));
        !is_added && self.native.as_ref().is_some_and(|native| native.alone_has(module))
    }

    /// Starts the workers and returns; they may still be warming up. Needs a tokio runtime.
    pub fn start(settings: CoreSettings) -> Result<Self, ScratchError> {
        let CoreSettings {
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
            skills,
            native,
            wasm_packages,
            remote_workers,
        } = settings;
        let guardrails = Arc::new(guardrails);
        let scratch = Arc::new(ScratchFolders::open(&folders.scratch)?);
        let waiting_workers = pool.waiting;
        let engines = folders.cache.join("engines");
        let start = PoolStart {
            command: worker,
            cache: engines,
            scratch: scratch.folder().to_owned(),
            level: limits.level(),
            settings: pool,
            cgroup_limits: cgroup_limits(&limits, pool.waiting, keep, queue),
            native: native.as_ref().map(|native| native.start.clone()),
            native_without_namespaces: native.as_ref().is_some_and(|native| native.without_namespaces),
        };
        let pools = EnginePools::start(&start, &warm_engines);
        // Its zygote has the analysis engine.
        let analyzing = Arc::clone(pools.of(EngineId::Python));
        scratch.make_ahead(waiting_workers);
        let runtime = tokio::runtime::Handle::current();
        Ok(Self {
            analyses: Analyses::new(analyzing, limits.clone(), queue.timeout, cores()),
            kept: KeptWorkers::new(keep, runtime.clone()),
            places: Arc::new(Semaphore::new(queue.concurrent_executions)),
            internal_places: Arc::new(Semaphore::new(INTERNAL_PLACES)),
            remote_places: Arc::new(Semaphore::new(REMOTE_PLACES)),
            remote_workers,
            queued: AtomicUsize::new(0),
            pools,
            tools,
            limits,
            level_guardrails: LevelGuardrails::new(&guardrails, native.as_ref(), wasm_packages.as_ref()),
            guardrails,
            wasm_packages,
            checks_programs,
            types: type_check.map(|command| TypeChecker::new(command, scratch.folder().join("types"))),
            queue,
            skills,
            housekeeping: Housekeeping::new(runtime.clone(), Arc::clone(&scratch), waiting_workers),
            native,
            runtime,
            scratch,
        })
    }

    /// This gateway's scratch space.
    pub fn scratch_folder(&self) -> &Path {
        self.scratch.folder()
    }

    pub fn take_scratch(&self) -> std::io::Result<Scratch> {
        self.scratch.take()
    }

    /// The interpreter of this engine that a session has, if it has one, for one program.
    pub fn lease(&self, session: &str, engine: EngineId) -> Lease {
        self.kept.take(&kept_key(session, engine))
    }

    /// Ends the interpreters that a session has: at once, or as soon as its program has ended.
    pub fn forget_variables(&self, session: &str, why: &str) {
        for engine in EngineId::ALL {
            self.kept.forget(&kept_key(session, *engine), why);
        }
    }

    pub fn kept_interpreters(&self) -> KeptInterpreters {
        self.kept.now()
    }

    /// Ends an interpreter, lets go of its folders, and makes ready what the executions to come need,
    /// where nobody waits for it. A throw-away workspace that holds anything goes to whoever wants it.
    pub fn end(&self, interpreter: Interpreter, leftovers: Option<Leftovers>) {
        let Interpreter { worker, belongings, .. } = interpreter;
        // It does nothing more: whoever comes next may have its folders.
        worker.hold();
        let engine = belongings.given.engine;
        match leftovers {
            Some(leftovers) if belongings.scratch.is_used() => {
                drop(worker);
                leftovers.put(belongings.scratch);
                self.refill(engine);
            }
            Some(_) | None => {
                self.housekeeping.after(engine, self.pools.of(engine), Some(Remains { worker, belongings }));
            }
        }
    }

    /// Makes ready what the executions to come need: an interpreter and a folder were taken.
    pub fn refill(&self, engine: EngineId) {
        self.housekeeping.after(engine, self.pools.of(engine), None);
    }

    /// Lets nothing more begin, ends every worker and lets go of every server, and waits until that is
    /// done and every throw-away folder removed.
    pub async fn close(&self) {
        self.places.close();
        self.remote_places.close();
        self.kept.close();
        self.internal_places.close();
        self.analyses.close();
        let types = async {
            if let Some(types) = &self.types {
                types.close().await;
            }
        };
        self.housekeeping.close();
        tokio::join!(self.pools.close(), self.tools.close(), types);
        self.scratch.remove();
    }
}

/// Each language has an interpreter of its own in a session. No session's id has a slash.
fn kept_key(session: &str, engine: EngineId) -> String {
    match engine {
        EngineId::Python => session.to_owned(),
        EngineId::TypeScript | EngineId::Native => format!("{session}/{engine}"),
    }
}

/// What all workers of a gateway together may have at the most.
fn cgroup_limits(limits: &Limits, waiting: usize, keep: KeepSettings, queue: QueueSettings) -> CgroupLimits {
    let running = queue.concurrent_executions + INTERNAL_PLACES + Analyses::places(cores());
    CgroupLimits::of(WorkerCounts {
        running: running as u64,
        running_bytes: limits.get(LimitName::Memory) + limits.get(LimitName::WorkspaceBytes),
        waiting: waiting as u64,
        kept: keep.count as u64,
        kept_bytes: keep.memory_bytes,
    })
}

impl Drop for Core {
    fn drop(&mut self) {
        self.kept.close();
        self.housekeeping.close();
        self.scratch.remove();
    }
}

impl QueueSettings {
    /// Four programs for each core, at least 16, if no number is said.
    pub fn new(concurrent: Option<usize>, queued_executions: usize, timeout: Duration) -> Self {
        let concurrent_executions = concurrent.unwrap_or((cores() * 4).max(16)).max(1);
        Self { concurrent_executions, queued_executions, timeout }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}
