//! See the crate.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gristmill_domain::Limits;
use gristmill_gateway::checks::Guardrails;
use gristmill_gateway::ports::{FixedTools, Tools};
use gristmill_gateway::service::KeepLimits;
use gristmill_gateway::{
    DataSettings, EngineId, ExecuteRequest, Folders, Gateway, KeepSettings, NativeEngine, Report, Settings,
    WasmPackages, WorkerCommand,
};
use tokio::runtime::Runtime;

use crate::TestFolder;

pub struct World {
    runtime: Runtime,
    gateway: Option<Gateway>,
    scratch: TestFolder,
}

/// A world to be.
pub struct WorldBuilder {
    settings: Settings,
    cache: Option<PathBuf>,
}

impl World {
    /// A world whose workers are started by `executable`.
    #[expect(clippy::new_ret_no_self, reason = "it reads as prose: World::new(exe).tools(t).start()")]
    pub fn new(executable: &Path) -> WorldBuilder {
        let mut settings = Settings::new(WorkerCommand::new(executable));
        settings.concurrent_executions = Some(16);
        settings.queue_timeout = Duration::from_secs(60);
        settings.pool.waiting = 2;
        WorldBuilder { settings, cache: None }
    }

    /// Runs a program to its end.
    pub fn run(&self, code: &str) -> Report {
        self.execute(ExecuteRequest::python(code))
    }

    /// Runs a request to its end.
    pub fn execute(&self, request: ExecuteRequest) -> Report {
        self.block_on(self.gateway().execute(request).finish())
    }

    pub fn gateway(&self) -> &Gateway {
        self.gateway.as_ref().expect("the world has not ended")
    }

    /// The gateway's scratch space.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Waits for a future.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(gateway) = self.gateway.take() {
            self.runtime.block_on(gateway.shutdown());
        }
    }
}

impl WorldBuilder {
    /// What programs can call.
    pub fn tools(mut self, tools: impl Tools) -> Self {
        self.settings.tools = Arc::new(FixedTools(Arc::new(tools)));
        self
    }

    /// The limits of programs that bring none.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Programs run as they are.
    pub fn without_checks(mut self) -> Self {
        self.settings.checks_programs = false;
        self
    }

    /// How many programs run at once, and how many more may wait.
    pub fn room_for(mut self, concurrent: usize, queued: usize) -> Self {
        self.settings.concurrent_executions = Some(concurrent);
        self.settings.queued_executions = queued;
        self
    }

    /// Forks after which the zygote is replaced.
    pub fn forks_max(mut self, forks: u64) -> Self {
        self.settings.pool.forks_max = forks;
        self
    }

    /// How many workers wait.
    pub fn waiting(mut self, waiting: usize) -> Self {
        self.settings.pool.waiting = waiting;
        self
    }

    /// Whose workers start before their first program.
    pub fn warm_engines(mut self, engines: &[EngineId]) -> Self {
        self.settings.warm_engines = engines.to_vec();
        self
    }

    /// The machine's own Python, as a further engine, whose workers start before their first program.
    pub fn native(mut self, native: NativeEngine) -> Self {
        self.settings.native = Some(native);
        self.settings.warm_engines.push(EngineId::Native);
        self
    }

    /// What is done about what checks find.
    pub fn guardrails(mut self, guardrails: Guardrails) -> Self {
        self.settings.guardrails = guardrails;
        self
    }

    /// Packages that were added to the WebAssembly engine.
    pub fn wasm_packages(mut self, packages: WasmPackages) -> Self {
        self.settings.wasm_packages = Some(packages);
        self
    }

    /// How many idle interpreters stay, and for how long.
    pub fn kept(mut self, kept: KeepSettings) -> Self {
        self.settings.kept_interpreters = kept;
        self
    }

    /// What outlasts its programs.
    pub fn data(mut self, data: DataSettings) -> Self {
        self.settings.data = Some(data);
        self
    }

    /// What is kept in memory of executions that have ended.
    pub fn kept_answers(mut self, limits: KeepLimits) -> Self {
        self.settings.kept_answers = limits;
        self
    }

    /// How long an execution may wait for a worker.
    pub fn checkout_timeout(mut self, timeout: Duration) -> Self {
        self.settings.pool.checkout_timeout = timeout;
        self
    }

    /// A cache folder of its own. Default: the user's, where the compiled engine is.
    pub fn cache(mut self, cache: &Path) -> Self {
        self.cache = Some(cache.to_owned());
        self
    }

    /// Builds the gateway. Its workers may still be warming up.
    pub fn start(self) -> World {
        let runtime = Runtime::new().expect("a runtime");
        let scratch = TestFolder::new("scratch");
        let mut settings = self.settings;
        // The compiled engine is shared with everyone; everything else is this world's own.
        let cache = self.cache.unwrap_or_else(|| Folders::from_environment().expect("a cache folder").cache);
        settings.folders = Some(Folders { cache, scratch: scratch.path().to_owned() });
        let gateway = runtime.block_on(Gateway::build(settings)).expect("a gateway");
        World { runtime, gateway: Some(gateway), scratch }
    }
}
