//! Hosting: workers of ours for programs of other gateways.
//!
//! A node knows nothing of the programs that it runs: it lends a worker behind its own walls and passes on what both
//! sides say, unread. Walls: what another gateway asks for is held to this one's engines, levels and limits; folders
//! are made here, and the program's words never reach anything but its own gateway.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use gristmill_domain::{Level, LimitName, Limits};
use gristmill_protocol::{
    Confinement, EngineId, Mount, MountAccess, PROTOCOL_VERSION, ToWorker, encode_frame,
};
use tokio::sync::OwnedSemaphorePermit;

use crate::execute::{Core, overfilled};
use crate::pool::{Scratch, Worker, WorkerEnd};
use crate::ports::RemoteEnd;

pub use crate::pool::RawLine;

/// Folders that a program has beside its workspace and `/tmp`: what another gateway may send.
const READ_ONLY: [(&str, MountAccess); 4] = [
    ("servers", MountAccess::ReadOnly),
    ("skills", MountAccess::ReadOnly),
    ("packages", MountAccess::ReadOnly),
    ("results", MountAccess::ByName),
];

/// Why a program of another gateway can't run here. Nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostRefusal {
    /// Every place is taken. Another node may have one.
    #[error("every place is taken")]
    Full,
    /// It is not what this node offers.
    #[error("{0}")]
    NotHere(String),
    /// This node failed.
    #[error("{0}")]
    Failed(String),
}

/// A place among those that run, and empty folders.
pub struct HostRoom {
    core: Arc<Core>,
    place: OwnedSemaphorePermit,
    scratch: Scratch,
}

/// A worker that waits for another gateway's program, or runs it. Ends with this value.
pub struct Hosted {
    core: Arc<Core>,
    worker: Option<Worker>,
    engine: EngineId,
    limits: Limits,
    scratch: Option<Scratch>,
    _folders: Vec<OwnedFd>,
    _place: OwnedSemaphorePermit,
}

impl HostRoom {
    pub(crate) fn take(core: &Arc<Core>) -> Result<Self, HostRefusal> {
        let place = Arc::clone(&core.places).try_acquire_owned().map_err(|_| HostRefusal::Full)?;
        let failed =
            |error: io::Error| HostRefusal::Failed(format!("can't create a scratch folder: {error}"));
        let scratch = core.take_scratch().map_err(failed)?;
        Ok(Self { core: Arc::clone(core), place, scratch })
    }

    /// Where its files go before it begins.
    pub fn workspace(&self) -> BorrowedFd<'_> {
        self.scratch.workspace.as_fd()
    }

    /// An empty folder for the results that go along; it goes with the others.
    pub fn make_results(&self) -> io::Result<OwnedFd> {
        self.scratch.make("results")
    }

    /// A worker in these folders. `folders` are those that were sent, by their names in the confinement.
    pub async fn begin(
        self,
        engine: EngineId,
        level: Level,
        confinement: Confinement,
        folders: Vec<(String, OwnedFd)>,
    ) -> Result<Hosted, HostRefusal> {
        let Self { core, place, scratch } = self;
        may_run(&core, engine, level).await?;
        let limits = Limits::of(level);
        let confinement = confined(confinement, &limits)?;
        let (mounts, folders) = mounted(&scratch, &confinement.mounts, folders)?;
        let confinement = Confinement { mounts, ..confinement };
        let frame = encode_frame(&ToWorker::Confine(Box::new(confinement)))
            .map_err(|error| HostRefusal::NotHere(error.to_string()))?;
        let worker = core.pools.of(engine).checkout().await;
        let worker = worker.map_err(|error| HostRefusal::Failed(error.to_string()))?;
        let descriptors: Vec<_> = folders.iter().map(AsFd::as_fd).collect();
        worker.send(&frame, &descriptors).await.map_err(|error| HostRefusal::Failed(error.to_string()))?;
        let (worker, scratch) = (Some(worker), Some(scratch));
        Ok(Hosted { core, worker, engine, limits, scratch, _folders: folders, _place: place })
    }
}

/// Whether this node has such workers.
async fn may_run(core: &Core, engine: EngineId, level: Level) -> Result<(), HostRefusal> {
    let ours = core.limits.level();
    if level < ours {
        return Err(HostRefusal::NotHere(format!("this node runs at level {ours}; {level} is looser")));
    }
    if engine == EngineId::Native && core.native.is_none() {
        return Err(HostRefusal::NotHere("this node has no native engine".to_owned()));
    }
    match core.pools.of(engine).lacks(level).await {
        None => Ok(()),
        Some(wall) => {
            Err(HostRefusal::NotHere(format!("this node lacks the sandbox layer {wall:?} of {level}")))
        }
    }
}

/// What was asked for, held to what a program may have here at the most.
fn confined(mut confinement: Confinement, limits: &Limits) -> Result<Confinement, HostRefusal> {
    if confinement.version != PROTOCOL_VERSION {
        return Err(HostRefusal::NotHere(format!(
            "this node's workers speak version {PROTOCOL_VERSION}, and the gateway's {}",
            confinement.version
        )));
    }
    let most = |name: LimitName| limits.range(name).1;
    let asked = &mut confinement.limits;
    asked.memory_bytes = asked.memory_bytes.min(most(LimitName::Memory));
    asked.cpu_ms = asked.cpu_ms.min(most(LimitName::CpuTime));
    asked.open_files = asked.open_files.min(most(LimitName::OpenFiles) as u32);
    asked.file_bytes = asked.file_bytes.min(most(LimitName::FileBytes));
    asked.workspace_bytes = asked.workspace_bytes.min(most(LimitName::WorkspaceBytes));
    asked.workspace_files = asked.workspace_files.min(most(LimitName::WorkspaceFiles));
    Ok(confinement)
}

/// The folders in the order of the mounts: workspace and `/tmp` are this node's own.
fn mounted(
    scratch: &Scratch,
    asked: &[Mount],
    mut sent: Vec<(String, OwnedFd)>,
) -> Result<(Vec<Mount>, Vec<OwnedFd>), HostRefusal> {
    let failed = |error: io::Error| HostRefusal::Failed(format!("can't open a folder: {error}"));
    let mount = |name: &str, access| Mount { name: name.to_owned(), access };
    let mut mounts = vec![mount("workspace", MountAccess::ReadWrite), mount("tmp", MountAccess::ReadWrite)];
    let mut folders =
        vec![scratch.workspace.try_clone().map_err(failed)?, scratch.tmp.try_clone().map_err(failed)?];
    for (name, access) in READ_ONLY {
        if asked.iter().all(|mount| mount.name != name) {
            continue;
        }
        // One that wasn't sent is missing, as it would be where it is missing at home.
        if let Some(at) = sent.iter().position(|(sent, _)| sent == name) {
            mounts.push(mount(name, access));
            folders.push(sent.swap_remove(at).1);
        }
    }
    Ok((mounts, folders))
}

impl Hosted {
    /// To pass on what both sides say.
    pub fn line(&self) -> Option<RawLine> {
        self.worker.as_ref().map(Worker::raw_line)
    }

    pub fn kill(&self) {
        if let Some(worker) = &self.worker {
            worker.kill();
        }
    }

    /// How it ended. Waits a moment for that.
    pub async fn end(&mut self) -> RemoteEnd {
        let Some(worker) = &mut self.worker else { return RemoteEnd::Unknown };
        match worker.end().await {
            WorkerEnd::Told(end) => RemoteEnd::Told { exit: end.exit, used: end.used, limit: None },
            WorkerEnd::Overfilled(limit, end) => {
                RemoteEnd::Told { exit: end.exit, used: end.used, limit: Some(limit) }
            }
            WorkerEnd::NodeLost | WorkerEnd::Unknown => RemoteEnd::Unknown,
        }
    }

    /// Waits until its files take too much room, where its engine doesn't count them itself.
    pub async fn overfilled(&self) -> LimitName {
        let folders =
            self.scratch.as_ref().map(|scratch| [scratch.workspace.try_clone(), scratch.tmp.try_clone()]);
        match folders {
            Some([Ok(workspace), Ok(tmp)]) if self.engine == EngineId::Native => {
                overfilled(&self.limits, &[workspace, tmp]).await
            }
            Some(_) | None => std::future::pending().await,
        }
    }

    /// What its program has left so far.
    pub fn workspace(&self) -> io::Result<OwnedFd> {
        match &self.scratch {
            Some(scratch) => scratch.workspace.try_clone(),
            None => Err(io::Error::other("it has ended")),
        }
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        let (worker, scratch) = (self.worker.take(), self.scratch.take());
        let (core, engine) = (Arc::clone(&self.core), self.engine);
        self.core.runtime.spawn_blocking(move || {
            // The folders go after the process that could write into them.
            drop(worker);
            drop(scratch);
            core.refill(engine);
        });
    }
}
