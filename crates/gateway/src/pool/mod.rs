//! Workers, waiting ahead of need.
//!
//! The pool keeps a number of warm children waiting, asks for another whenever one is taken, and
//! starts the zygote again when it is lost. A checkout waits a bounded time and then says so. Children
//! that analyze are forked when they are asked for, and never mixed with the others.

mod analysis_checkout;
mod cgroup;
mod child_end;
mod cpu_shares;
mod engine_pools;
mod kept_workers;
mod lost;
mod renewal;
mod scratch;
mod worker;
mod zygote_link;
mod zygote_supervisor;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gristmill_domain::{Level, PERCENT_OF_CORE};
use gristmill_protocol::{EngineId, NativeStart, Wall, WallStatus};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use cgroup::{CgroupLimits, NoCgroup, WorkerCounts};
pub(crate) use engine_pools::{EnginePools, PoolStart};
pub use kept_workers::{Belongings, Interpreter, KeepSettings, KeptInterpreters, KeptWorkers, Lease, Room};
pub use lost::Lost;
pub use scratch::{Scratch, ScratchError, ScratchFolders, is_empty, open_folder};
pub use worker::{Attention, LineError, LineEvent, RawLine, Worker, WorkerEnd};

use crate::spans::POOL;
use analysis_checkout::AnalysisWaiter;
use cgroup::WorkerCgroup;
use cpu_shares::CpuShares;
use worker::Silence;
use zygote_link::ZygoteLink;

/// How to start workers.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    pub(crate) program: PathBuf,
}

impl WorkerCommand {
    /// A binary that answers to `worker-zygote`: `gristmill`, or one of yours.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// The running binary itself.
    pub fn this_executable() -> std::io::Result<Self> {
        Ok(Self::new(std::env::current_exe()?))
    }
}

/// How many, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct PoolSettings {
    /// Children kept waiting. None means that each is forked on demand.
    pub waiting: usize,
    /// How long a checkout may take, the zygote's start included.
    pub checkout_timeout: Duration,
    /// Forks after which the zygote is replaced by a fresh one.
    pub forks_max: u64,
}

impl Default for PoolSettings {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            waiting: (cores * 2).clamp(2, 32),
            checkout_timeout: Duration::from_secs(120),
            forks_max: renewal::FORKS_MAX,
        }
    }
}

/// The walls without which a level refuses to run.
pub fn required_walls(level: Level) -> &'static [Wall] {
    const DEVELOPMENT: &[Wall] = &[Wall::Wasm, Wall::Process];
    #[cfg(target_os = "linux")]
    const PRODUCTION: &[Wall] =
        &[Wall::Wasm, Wall::Process, Wall::Seccomp, Wall::Landlock, Wall::NoNewPrivileges];
    // There is nothing more to ask for; doctor says what is missing.
    #[cfg(not(target_os = "linux"))]
    const PRODUCTION: &[Wall] = DEVELOPMENT;
    const HARDENED: &[Wall] = &[
        Wall::Wasm,
        Wall::Process,
        Wall::Seccomp,
        Wall::Landlock,
        Wall::NoNewPrivileges,
        Wall::Rlimits,
        Wall::UserNamespace,
        Wall::NetworkNamespace,
        Wall::MountNamespace,
        Wall::PidNamespace,
    ];
    match level {
        Level::Development => DEVELOPMENT,
        Level::Production => PRODUCTION,
        Level::Hardened => HARDENED,
    }
}

/// The same for an engine: the native one has no WebAssembly, so it stands behind every other wall. As root it can do
/// without a user namespace, except where the level asks for one. Without any namespace, landlock and the list of
/// system calls are all that holds it: level development, which promises little, takes that as it is; production only
/// if the user says so (`without_namespaces`); hardened never.
pub fn required_walls_of(engine: EngineId, level: Level, without_namespaces: bool) -> &'static [Wall] {
    const NATIVE_ALONE: &[Wall] =
        &[Wall::Process, Wall::Seccomp, Wall::Landlock, Wall::NoNewPrivileges, Wall::Rlimits];
    const NATIVE_HARDENED: &[Wall] = &[
        Wall::Process,
        Wall::Seccomp,
        Wall::Landlock,
        Wall::NoNewPrivileges,
        Wall::Rlimits,
        Wall::NetworkNamespace,
        Wall::MountNamespace,
        Wall::PidNamespace,
        Wall::UserNamespace,
    ];
    const NATIVE: &[Wall] = match NATIVE_HARDENED {
        [others @ .., Wall::UserNamespace] => others,
        all => all,
    };
    match (engine, level) {
        (EngineId::Python | EngineId::TypeScript, level) => required_walls(level),
        (EngineId::Native, Level::Development) => NATIVE_ALONE,
        (EngineId::Native, Level::Production) if without_namespaces => NATIVE_ALONE,
        (EngineId::Native, Level::Production) => NATIVE,
        (EngineId::Native, Level::Hardened) => NATIVE_HARDENED,
    }
}

/// Why there is no worker.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum CheckoutError {
    /// Nothing ran. The zygote says why; a later try starts it again.
    #[error("{0}")]
    Unavailable(String),
    /// Nothing ran. The machine is too busy.
    #[error("no worker was ready within {0:?}")]
    TimedOut(Duration),
}

pub struct Pool {
    shared: Arc<Shared>,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// How long closing waits for the workers to be gone: longer than a supervisor may take, or one that hangs
/// would be left behind.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(7);

/// A zygote that does not live this long counts as one that failed.
const SOUND_AFTER: Duration = Duration::from_secs(5);

/// Between a fork that failed and the next try.
const FORK_RETRY: Duration = Duration::from_millis(100);

pub(crate) struct Shared {
    engine: EngineId,
    command: WorkerCommand,
    cache: PathBuf,
    scratch: PathBuf,
    required: &'static [Wall],
    without_namespaces: bool,
    /// Only for the native engine.
    native: Option<NativeStart>,
    settings: PoolSettings,
    cgroup_limits: CgroupLimits,
    /// `None` before the first worker, and when all are gone.
    cgroup: Mutex<Option<Result<WorkerCgroup, NoCgroup>>>,
    state: Mutex<State>,
    arrived: Notify,
    /// The zygote is to be replaced.
    renewal: Notify,
    closing: CancellationToken,
    status: watch::Sender<ZygoteStatus>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Worker>,
    /// Forks that were asked for and have not arrived.
    asked: usize,
    /// Checkouts that wait now.
    wanting: usize,
    /// Analyses that wait for a child, the first that asked first.
    analyses: VecDeque<AnalysisWaiter>,
    link: Option<Arc<ZygoteLink>>,
    failures_in_a_row: u32,
    failure: Option<String>,
    closed: bool,
    changes: ZygoteChanges,
}

/// How often the zygote became another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZygoteChanges {
    /// It ended by itself, or never came up.
    pub lost: u64,
    /// A fresh one took its place as planned.
    pub renewed: u64,
}

impl State {
    fn is_current(&self, link: &Arc<ZygoteLink>) -> bool {
        self.link.as_ref().is_some_and(|current| Arc::ptr_eq(current, link))
    }
}

/// What is known of the zygote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ZygoteStatus {
    #[default]
    Starting,
    Ready {
        /// The engine and its version.
        engine: String,
        walls: Vec<WallStatus>,
    },
    /// It does not come up; why.
    Failed(String),
}

impl Pool {
    /// A pool of this engine, whose zygote starts when it is first needed.
    pub(crate) fn asleep(engine: EngineId, start: PoolStart) -> Self {
        let PoolStart { command, cache, scratch, level, settings, cgroup_limits, native, .. } = start;
        let without_namespaces = start.native_without_namespaces;
        let shared = Arc::new(Shared {
            engine,
            command,
            cache,
            scratch,
            required: required_walls_of(engine, level, without_namespaces),
            without_namespaces,
            native: native.filter(|_| engine == EngineId::Native),
            settings,
            cgroup_limits,
            cgroup: Mutex::default(),
            state: Mutex::default(),
            arrived: Notify::new(),
            renewal: Notify::new(),
            closing: CancellationToken::new(),
            status: watch::Sender::default(),
        });
        Self { shared, task: Mutex::default() }
    }

    /// Starts its zygote, unless that was done before or the pool is closed. Needs a tokio runtime.
    pub(crate) fn wake(&self) {
        let mut task = self.task.lock();
        if task.is_none() && !self.shared.lock().closed {
            *task = Some(tokio::spawn(zygote_supervisor::keep_running(Arc::downgrade(&self.shared))));
        }
    }

    pub(crate) fn is_awake(&self) -> bool {
        self.task.lock().is_some()
    }

    /// What is known of the zygote, as it changes.
    pub fn status(&self) -> watch::Receiver<ZygoteStatus> {
        self.shared.status.subscribe()
    }

    /// The first sandbox layer that a level wants and these workers do not have. Waits until they are up;
    /// of workers that do not come up, whoever wants one is told.
    pub(crate) async fn lacks(&self, level: Level) -> Option<Wall> {
        self.wake();
        let mut status = self.status();
        let settled = status.wait_for(|status| *status != ZygoteStatus::Starting).await;
        match settled.as_deref() {
            Ok(ZygoteStatus::Ready { walls, .. }) => {
                let Shared { engine, without_namespaces, .. } = *self.shared;
                let required = required_walls_of(engine, level, without_namespaces);
                zygote_supervisor::first_missing(walls, required).copied()
            }
            Ok(ZygoteStatus::Starting | ZygoteStatus::Failed(_)) | Err(_) => None,
        }
    }

    /// A warm child. Asks for another to take its place.
    pub async fn checkout(&self) -> Result<Worker, CheckoutError> {
        self.wake();
        let timeout = self.shared.settings.checkout_timeout;
        match tokio::time::timeout(timeout, self.take()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(CheckoutError::TimedOut(timeout)),
        }
    }

    async fn take(&self) -> Result<Worker, CheckoutError> {
        let _wanting = Wanting::new(&self.shared);
        loop {
            let arrived = self.shared.arrived.notified();
            let candidate = {
                let mut state = self.shared.lock();
                if state.closed {
                    return Err(CheckoutError::Unavailable("the gateway is closing".to_owned()));
                }
                // The one that came last: its memory is still in the CPU's caches.
                let candidate = state.waiting.pop_back();
                if candidate.is_none()
                    && let Some(failure) = &state.failure
                {
                    return Err(CheckoutError::Unavailable(failure.clone()));
                }
                // Behind an execution, not beside it, as long as there are others to take.
                if candidate.is_none() || state.waiting.len() < self.shared.settings.waiting / 2 {
                    self.shared.refill(&mut state, candidate.is_some());
                }
                candidate
            };
            match candidate {
                Some(worker) if worker.silence() == Silence::Kept => {
                    tracing::debug!(target: POOL, worker = worker.id(), "worker taken");
                    return Ok(worker);
                }
                // It spoke before it had a program, or is gone and the zygote has not told yet.
                Some(_) => {}
                None => arrived.await,
            }
        }
    }

    /// Asks for the children that are missing. Called when an execution has ended.
    pub(crate) fn refill(&self) {
        self.shared.refill(&mut self.shared.lock(), false);
    }

    /// How many wait now.
    pub fn waiting(&self) -> usize {
        self.shared.lock().waiting.len()
    }

    /// How often the zygote became another one.
    pub fn zygote_changes(&self) -> ZygoteChanges {
        self.shared.lock().changes
    }

    /// The supervisor's process number.
    pub fn supervisor_pid(&self) -> Option<u32> {
        self.shared.lock().link.as_ref().and_then(|link| link.supervisor_pid())
    }

    /// What all workers may have together, or why that has no bound; `None` while there are none.
    pub fn cgroup(&self) -> Option<Result<CgroupLimits, NoCgroup>> {
        let cgroup = self.shared.cgroup.lock();
        cgroup.as_ref().map(|made| made.as_ref().map(WorkerCgroup::limits).map_err(NoCgroup::clone))
    }

    /// Whether a program that may have a part of a core is slowed down to it, or why that can't be had. Waits until
    /// workers are up; of workers that do not come up, whoever wants one is told.
    pub async fn slows(&self) -> Result<(), NoCgroup> {
        self.wake();
        let mut status = self.status();
        let _ = status.wait_for(|status| *status != ZygoteStatus::Starting).await;
        self.shared.shares().map(drop)
    }

    /// Holds a worker to this part of a core, by the kernel.
    pub(crate) async fn slow(&self, worker: &mut Worker, percent: u64) -> Result<(), NoCgroup> {
        if worker.group.is_none() && percent >= PERCENT_OF_CORE {
            return Ok(());
        }
        let failed = |error: std::io::Error| NoCgroup::Failed(error.to_string());
        if let Some(group) = &worker.group {
            return group.set(percent).map_err(failed);
        }
        let shares = self.shared.shares()?;
        let pid = worker.pid().ok_or_else(|| NoCgroup::Failed("the worker is gone".to_owned()))?;
        // The kernel may take some milliseconds to move a process.
        let moved = tokio::task::spawn_blocking(move || shares.hold(pid, percent)).await;
        let moved = moved.map_err(|error| NoCgroup::Failed(error.to_string()))?;
        worker.group = Some(moved.map_err(failed)?);
        Ok(())
    }

    /// Lets go of every child and waits for the zygote and its supervisor to end.
    pub async fn close(&self) {
        self.let_go();
        let task = self.task.lock().take();
        if let Some(task) = task {
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, task).await;
        }
        let cgroup = self.shared.cgroup.lock().take();
        drop(cgroup);
    }

    fn let_go(&self) {
        {
            let mut state = self.shared.lock();
            state.closed = true;
            state.waiting.clear();
            state.analyses.clear();
            state.link = None;
        }
        self.shared.closing.cancel();
        self.shared.arrived.notify_waiters();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Puts a supervisor into the cgroup of all workers, where one can be had. Blocks on the kernel.
    fn confine(&self, supervisor: u32) {
        let mut cgroup = self.cgroup.lock();
        let made = cgroup.get_or_insert_with(|| WorkerCgroup::make(Path::new("/proc"), self.cgroup_limits));
        let moved = made.as_ref().map_or(Ok(()), |made| made.take(supervisor));
        if let Err(error) = moved {
            *made = Err(NoCgroup::Failed(error.to_string()));
        }
    }

    fn shares(&self) -> Result<Arc<CpuShares>, NoCgroup> {
        match &*self.cgroup.lock() {
            None => Err(NoCgroup::Failed("there are no workers".to_owned())),
            Some(Err(reason)) => Err(reason.clone()),
            Some(Ok(cgroup)) => cgroup.shares().cloned(),
        }
    }

    /// Asks for as many forks as are missing.
    fn refill(&self, state: &mut State, taking: bool) {
        let wanted = self.settings.waiting + state.wanting.saturating_sub(usize::from(taking));
        let coming = state.waiting.len() + state.asked;
        let Some(link) = &state.link else { return };
        for _ in coming..wanted {
            if link.ask_for_fork() {
                state.asked += 1;
            }
        }
    }

    fn child_arrived(&self, worker: Worker) {
        {
            let mut state = self.lock();
            // One that nobody asked for, or not this zygote, ends here: their number has a bound.
            let is_current = state.link.as_ref().is_some_and(|link| worker.is_of(link));
            if state.closed || state.asked == 0 || !is_current {
                return;
            }
            state.asked -= 1;
            state.waiting.push_back(worker);
        }
        self.arrived.notify_one();
    }

    /// A child did not come to wait. Another is asked for, but not at once: whatever went wrong
    /// would go wrong again.
    async fn fork_failed(&self, link: &Arc<ZygoteLink>) {
        tokio::time::sleep(FORK_RETRY).await;
        let mut state = self.lock();
        if !state.is_current(link) {
            return;
        }
        state.asked = state.asked.saturating_sub(1);
        self.refill(&mut state, false);
    }

    fn child_exited(&self, id: u64, link: &Arc<ZygoteLink>) {
        let mut state = self.lock();
        let before = state.waiting.len();
        state.waiting.retain(|worker| worker.id() != id || !worker.is_of(link));
        if state.waiting.len() < before {
            self.refill(&mut state, false);
        }
    }

    fn zygote_ready(&self, link: Arc<ZygoteLink>, engine: String, walls: Vec<WallStatus>) {
        tracing::info!(target: POOL, engine, layers = walls.len(), "workers are ready");
        {
            let mut state = self.lock();
            state.failure = None;
            // One that says it twice does not take its own place.
            if state.is_current(&link) {
                return;
            }
            if let Some(old) = state.link.replace(link) {
                // Those that wait have its memory layout.
                state.waiting.clear();
                state.asked = 0;
                state.changes.renewed += 1;
                old.retire();
            }
            self.refill(&mut state, false);
        }
        self.status.send_replace(ZygoteStatus::Ready { engine, walls });
    }

    /// Has the zygote replaced, unless that was asked for already or it is not the one in use.
    fn renew(&self, link: &Arc<ZygoteLink>) {
        if self.lock().is_current(link) && link.ask_for_renewal() {
            self.renewal.notify_one();
        }
    }

    /// The zygote that was to take the place of the present one did not come up.
    fn renewal_failed(&self) {
        if let Some(link) = &self.lock().link {
            link.renewal_failed();
        }
    }

    /// Gives how many in a row did not last.
    fn zygote_lost(&self, life: &ZygoteLife) -> u32 {
        let came_up = life.ready_for.is_some();
        let lasted = life.ready_for.is_some_and(|time| time > SOUND_AFTER);
        let ready_ms = life.ready_for.map(|time| time.as_millis() as u64);
        tracing::warn!(target: POOL, came_up, ready_ms, "workers are lost and start again");
        let failures = {
            let mut state = self.lock();
            if let Some(link) = state.link.take() {
                link.forget_exits();
            }
            state.waiting.clear();
            state.analyses.clear();
            state.asked = 0;
            state.changes.lost += 1;
            state.failures_in_a_row = if lasted { 0 } else { state.failures_in_a_row + 1 };
            state.failure = (!came_up).then(|| life.reason.clone());
            state.failures_in_a_row
        };
        self.status.send_replace(match came_up {
            true => ZygoteStatus::Starting,
            false => ZygoteStatus::Failed(life.reason.clone()),
        });
        self.arrived.notify_waiters();
        failures
    }
}

/// How one zygote fared.
struct ZygoteLife {
    reason: String,
    /// How long it was up; `None` if it never was.
    ready_for: Option<Duration>,
}

/// Counts a waiting checkout for as long as it waits, however it ends.
struct Wanting<'a>(&'a Shared);

impl<'a> Wanting<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.lock().wanting += 1;
        Self(shared)
    }
}

impl Drop for Wanting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.wanting = state.wanting.saturating_sub(1);
    }
}
