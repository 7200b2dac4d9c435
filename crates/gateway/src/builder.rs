//! The gateway as a library: built once, used by many.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use gristmill_domain::{Level, Limits};
use tokio::sync::Semaphore;

use crate::analysis::Analyses;
use crate::execute::{self, ExecuteRequest, Execution, Leftovers, Purpose};
use crate::folders::{FolderError, Folders};
use crate::pool::{
    Belongings, Interpreter, KeepSettings, KeptInterpreters, KeptWorkers, Pool, PoolSettings, Scratch,
    ScratchError, ScratchFolders, WorkerCommand, ZygoteStatus, required_walls,
};
use crate::ports::{FixedTools, NoTools, ToolSource, Tools};
use crate::skills::Skills;
use gristmill_protocol::WallStatus;

/// The gateway could not be built. Nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// No place for caches.
    #[error(transparent)]
    Folders(#[from] FolderError),
    /// No place for throw-away workspaces.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
}

/// Skills that are checked at once, beside the programs that run.
const OWN_PLACES: usize = 4;

/// Limits of the gateway as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub concurrent_executions: usize,
    pub queued_executions: usize,
    pub queue_timeout: Duration,
    pub waiting_workers: usize,
}

/// What every execution shares.
pub(crate) struct Core {
    pub pool: Arc<Pool>,
    pub tools: Arc<dyn ToolSource>,
    pub limits: Limits,
    pub settings: Settings,
    pub places: Arc<Semaphore>,
    /// Places for programs of ours.
    pub own_places: Arc<Semaphore>,
    pub skills: Option<Skills>,
    pub queued: AtomicUsize,
    pub runtime: tokio::runtime::Handle,
    pub kept: KeptWorkers,
    pub analyses: Analyses,
    scratch: Arc<ScratchFolders>,
}

impl Core {
    /// This gateway's scratch space.
    pub(crate) fn scratch_folder(&self) -> &std::path::Path {
        self.scratch.folder()
    }

    pub(crate) fn take_scratch(&self) -> std::io::Result<Scratch> {
        self.scratch.take()
    }

    /// Ends an interpreter, lets go of its folders, and makes ready what the executions to come need,
    /// where nobody waits for it. A throw-away workspace that holds anything goes to whoever wants it.
    pub(crate) fn end(&self, interpreter: Interpreter, leftovers: Option<Leftovers>) {
        let Interpreter { worker, belongings, .. } = interpreter;
        // The folders go after it: it could write into them.
        drop(worker);
        let Belongings { scratch, .. } = belongings;
        match leftovers {
            Some(leftovers) if scratch.is_used() => {
                leftovers.put(scratch);
                self.refill();
            }
            Some(_) | None => self.refill_behind(Some(scratch)),
        }
    }

    /// Makes ready what the executions to come need: an interpreter and a folder were taken.
    pub(crate) fn refill(&self) {
        self.refill_behind(None);
    }

    fn refill_behind(&self, used: Option<Scratch>) {
        let (scratch, count) = (Arc::clone(&self.scratch), self.settings.waiting_workers);
        let pool = Arc::clone(&self.pool);
        self.runtime.spawn_blocking(move || {
            pool.refill();
            drop(used);
            scratch.make_ahead(count);
        });
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.kept.close();
        self.scratch.remove();
    }
}

/// Runs programs. Cheap to clone; the workers end with the last clone.
#[derive(Clone)]
pub struct Gateway {
    core: Arc<Core>,
}

impl Gateway {
    /// A gateway whose workers are started by `worker`.
    pub fn builder(worker: WorkerCommand) -> GatewayBuilder {
        GatewayBuilder {
            worker,
            limits: Limits::of(Level::default()),
            tools: Arc::new(FixedTools(Arc::new(NoTools))),
            skills: None,
            folders: None,
            pool: PoolSettings::default(),
            keep: KeepSettings::default(),
            concurrent_executions: None,
            queued_executions: 256,
            queue_timeout: Duration::from_secs(30),
        }
    }

    /// Starts a program, on the runtime that the gateway was built on.
    pub fn execute(&self, request: ExecuteRequest) -> Execution {
        execute::start(Arc::clone(&self.core), request, Purpose::Asked)
    }

    /// Waits until workers can be had, and says which walls they stand behind; or why there are none.
    pub async fn ready(&self) -> Result<Vec<WallStatus>, String> {
        let mut status = self.core.pool.status();
        let settled = status
            .wait_for(|status| matches!(status, ZygoteStatus::Ready { .. } | ZygoteStatus::Failed(_)))
            .await;
        match settled.as_deref() {
            Ok(ZygoteStatus::Ready { walls, .. }) => Ok(walls.clone()),
            Ok(ZygoteStatus::Failed(reason)) => Err(reason.clone()),
            Ok(ZygoteStatus::Starting | ZygoteStatus::Preparing(_)) | Err(_) => {
                Err("the gateway is closing".to_owned())
            }
        }
    }

    /// The limits that a program gets if it does not bring its own.
    pub fn limits(&self) -> &Limits {
        &self.core.limits
    }

    /// The worker pool, for measuring and watching.
    pub fn pool(&self) -> &Pool {
        &self.core.pool
    }

    /// Ends the interpreter that a session has, if it has one: at once, or as soon as its program has
    /// ended. The session's next program is told why.
    pub fn forget_variables(&self, session: &str, why: &str) {
        self.core.kept.forget(session, why);
    }

    /// The interpreters that wait for further programs of their sessions.
    pub fn kept_interpreters(&self) -> KeptInterpreters {
        self.core.kept.now()
    }

    pub(crate) fn analyses(&self) -> &Analyses {
        &self.core.analyses
    }

    pub(crate) fn runtime(&self) -> &tokio::runtime::Handle {
        &self.core.runtime
    }

    /// This gateway's scratch space, which goes with it.
    pub(crate) fn scratch_folder(&self) -> &std::path::Path {
        self.core.scratch_folder()
    }

    /// Ends every worker and removes every throw-away folder, and waits until that is done.
    pub async fn shutdown(self) {
        self.core.places.close();
        self.core.kept.close();
        self.core.own_places.close();
        self.core.analyses.close();
        tokio::join!(self.core.pool.close(), self.core.tools.close());
        self.core.scratch.remove();
    }
}

/// Puts a [`Gateway`] together.
pub struct GatewayBuilder {
    worker: WorkerCommand,
    limits: Limits,
    tools: Arc<dyn ToolSource>,
    skills: Option<Skills>,
    folders: Option<Folders>,
    pool: PoolSettings,
    keep: KeepSettings,
    concurrent_executions: Option<usize>,
    queued_executions: usize,
    queue_timeout: Duration,
}

impl GatewayBuilder {
    /// The limits of programs that bring none, and with them the level. Default: production.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What programs can call. Default: nothing.
    pub fn tools(self, tools: Arc<dyn Tools>) -> Self {
        self.tool_source(Arc::new(FixedTools(tools)))
    }

    /// Where each program gets its tools from, such as connected servers. Default: none.
    pub fn tool_source(mut self, tools: Arc<dyn ToolSource>) -> Self {
        self.tools = tools;
        self
    }

    /// What programs can import, and where they save it. Default: nothing.
    pub fn skills(mut self, skills: Skills) -> Self {
        self.skills = Some(skills);
        self
    }

    /// Where caches and scratch space are. Default: the platform's convention.
    pub fn folders(mut self, folders: Folders) -> Self {
        self.folders = Some(folders);
        self
    }

    /// How many workers wait, and how long a checkout may take.
    pub fn pool(mut self, settings: PoolSettings) -> Self {
        self.pool = settings;
        self
    }

    /// How many idle interpreters stay for further programs of their sessions, for how long, and how
    /// much memory they may have together. Default: 16, 30 minutes, 2 GB.
    pub fn kept_interpreters(mut self, settings: KeepSettings) -> Self {
        self.keep = settings;
        self
    }

    /// How many programs run at once. Default: four for each core, at least 16.
    pub fn concurrent_executions(mut self, count: usize) -> Self {
        self.concurrent_executions = Some(count.max(1));
        self
    }

    /// How many more may wait for a place, and for how long. Default: 256, 30 s.
    pub fn queue(mut self, count: usize, timeout: Duration) -> Self {
        self.queued_executions = count;
        self.queue_timeout = timeout;
        self
    }

    /// Starts the workers and returns; they may still be warming up. Needs a tokio runtime.
    pub async fn build(self) -> Result<Gateway, BuildError> {
        let folders = match self.folders {
            Some(folders) => folders,
            None => Folders::from_environment()?,
        };
        let scratch = Arc::new(ScratchFolders::open(&folders.scratch)?);
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let concurrent_executions = self.concurrent_executions.unwrap_or((cores * 4).max(16));
        let settings = Settings {
            concurrent_executions,
            queued_executions: self.queued_executions,
            queue_timeout: self.queue_timeout,
            waiting_workers: self.pool.waiting,
        };
        let required = required_walls(self.limits.level());
        let pool = Pool::start(
            self.worker,
            folders.cache.join("engines"),
            scratch.folder().to_owned(),
            required,
            self.pool,
        );
        let runtime = tokio::runtime::Handle::current();
        let pool = Arc::new(pool);
        let core = Core {
            kept: KeptWorkers::new(self.keep, runtime.clone()),
            analyses: Analyses::new(Arc::clone(&pool), self.limits.clone(), self.queue_timeout, cores),
            pool,
            tools: self.tools,
            limits: self.limits,
            settings,
            places: Arc::new(Semaphore::new(concurrent_executions)),
            own_places: Arc::new(Semaphore::new(OWN_PLACES)),
            skills: self.skills,
            queued: AtomicUsize::new(0),
            runtime,
            scratch,
        };
        core.scratch.make_ahead(core.settings.waiting_workers);
        let core = Arc::new(core);
        if let Some(skills) = &core.skills {
            skills.attach(Arc::downgrade(&core));
        }
        Ok(Gateway { core })
    }
}
