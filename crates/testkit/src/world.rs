//! See the crate.

use std::path::Path;
use std::sync::Arc;

use gristmill_domain::{Level, Limits};
use gristmill_gateway::ports::{NoTools, Tools};
use gristmill_gateway::{
    ExecuteRequest, Folders, Gateway, GatewayBuilder, KeepSettings, PoolSettings, Report, WorkerCommand,
};
use tokio::runtime::Runtime;

use crate::TestFolder;

/// A running gateway.
pub struct World {
    runtime: Runtime,
    gateway: Option<Gateway>,
    scratch: TestFolder,
}

/// A world to be.
pub struct WorldBuilder {
    worker: WorkerCommand,
    limits: Limits,
    tools: Arc<dyn Tools>,
    concurrent: usize,
    queued: usize,
    waiting: usize,
    kept: KeepSettings,
}

impl World {
    /// A world whose workers are started by `executable`.
    #[expect(clippy::new_ret_no_self, reason = "it reads as prose: World::new(exe).tools(t).start()")]
    pub fn new(executable: &Path) -> WorldBuilder {
        WorldBuilder {
            worker: WorkerCommand::new(executable),
            limits: Limits::of(Level::Production),
            tools: Arc::new(NoTools),
            concurrent: 16,
            queued: 256,
            waiting: 2,
            kept: KeepSettings::default(),
        }
    }

    /// Runs a program to its end.
    pub fn run(&self, code: &str) -> Report {
        self.execute(ExecuteRequest::python(code))
    }

    /// Runs a request to its end.
    pub fn execute(&self, request: ExecuteRequest) -> Report {
        self.block_on(self.gateway().execute(request).finish())
    }

    /// The gateway itself.
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
        self.tools = Arc::new(tools);
        self
    }

    /// The limits of programs that bring none.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many programs run at once, and how many more may wait.
    pub fn room_for(mut self, concurrent: usize, queued: usize) -> Self {
        (self.concurrent, self.queued) = (concurrent, queued);
        self
    }

    /// How many workers wait.
    pub fn waiting(mut self, waiting: usize) -> Self {
        self.waiting = waiting;
        self
    }

    /// How many idle interpreters stay, and for how long.
    pub fn kept(mut self, kept: KeepSettings) -> Self {
        self.kept = kept;
        self
    }

    /// The gateway's builder, for what is not named here.
    pub fn start(self) -> World {
        let runtime = Runtime::new().expect("a runtime");
        let scratch = TestFolder::new("scratch");
        // The compiled engine is shared with everyone; everything else is this world's own.
        let cache = Folders::from_environment().expect("a cache folder").cache;
        let folders = Folders { cache, scratch: scratch.path().to_owned() };
        let builder: GatewayBuilder = Gateway::builder(self.worker)
            .limits(self.limits)
            .tools(self.tools)
            .folders(folders)
            .pool(PoolSettings { waiting: self.waiting, ..PoolSettings::default() })
            .kept_interpreters(self.kept)
            .concurrent_executions(self.concurrent)
            .queue(self.queued, std::time::Duration::from_secs(60));
        let gateway = runtime.block_on(builder.build()).expect("a gateway");
        World { runtime, gateway: Some(gateway), scratch }
    }
}
