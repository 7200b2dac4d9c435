//! Prepare: open the folders, measure the workspace, write the program's frame.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gristmill_domain::{Code, Limits};
use gristmill_protocol::{Mount, MountAccess, PROTOCOL_VERSION, Program, ToWorker, encode_frame};
use tokio::sync::OwnedSemaphorePermit;

use super::admit::{Admitted, worker_limits};
use super::{Refusal, WorkspaceChoice};
use crate::builder::Core;
use crate::pool::Scratch;

/// A program that only needs a worker.
pub(super) struct Prepared {
    /// The message to the worker, as bytes.
    pub frame: Vec<u8>,
    /// The folders that go with it, in the message's order.
    pub folders: Vec<OwnedFd>,
    pub limits: Limits,
    /// Removed when the execution ends.
    pub scratch: Scratch,
    pub place: OwnedSemaphorePermit,
}

pub(super) async fn prepare(core: &Core, admitted: Admitted) -> Result<Prepared, Refusal> {
    let failed = |error: std::io::Error| {
        Refusal::new(
            Code::WorkerUnavailable,
            format!("no scratch folder can be made: {error}"),
            "free some disk space, or set GRISTMILL_SCRATCH_DIR to a folder with room",
        )
    };
    let scratch = core.take_scratch().map_err(failed)?;
    let tmp = scratch.tmp.try_clone().map_err(failed)?;
    let (workspace, bytes_used, files_used) = match admitted.workspace {
        WorkspaceChoice::ThrowAway => (scratch.workspace.try_clone().map_err(failed)?, 0, 0),
        WorkspaceChoice::Kept(path) => open_kept(path).await?,
    };
    let mount = |name: &str, access| Mount { name: name.to_owned(), access };
    let mut mounts = vec![mount("workspace", MountAccess::ReadWrite), mount("tmp", MountAccess::ReadWrite)];
    let mut folders = vec![workspace, tmp];
    if let Some(tree) = core.tools.tree() {
        mounts.push(mount("servers", MountAccess::ReadOnly));
        let opened = crate::pool::open_folder(tree).map_err(|error| {
            Refusal::new(
                Code::WorkerUnavailable,
                format!("the tree of tools at {} cannot be opened: {error}", tree.display()),
                "start gristmill again, so that it is written anew",
            )
        })?;
        folders.push(opened);
    }
    let program = Program {
        version: PROTOCOL_VERSION,
        code: admitted.code,
        context: admitted.context,
        limits: worker_limits(&admitted.limits, bytes_used, files_used),
        mounts,
    };
    let frame = encode_frame(&ToWorker::Run(Box::new(program))).map_err(|error| {
        Refusal::new(Code::BadRequest, error.to_string(), "make the program or its context smaller")
    })?;
    Ok(Prepared { frame, folders, limits: admitted.limits, scratch, place: admitted.place })
}

async fn open_kept(path: PathBuf) -> Result<(OwnedFd, u64, u64), Refusal> {
    let shown = path.display().to_string();
    let opened = tokio::task::spawn_blocking(move || {
        let folder = crate::pool::open_folder(&path)?;
        let (bytes, files) = measure(&path);
        Ok::<_, std::io::Error>((folder, bytes, files))
    });
    let outcome =
        opened.await.map_err(|error| std::io::Error::other(error.to_string())).and_then(|inner| inner);
    outcome.map_err(|error| {
        Refusal::new(
            Code::Workspace,
            format!("the workspace {shown} cannot be opened: {error}"),
            "name a folder that exists and that you may read and write",
        )
    })
}

/// More entries than any limit permits: there is no need to count on.
const ENTRIES_MAX: u64 = 1_000_001;

/// Bytes and entries below a folder, links not followed.
fn measure(folder: &Path) -> (u64, u64) {
    let mut found = (0u64, 0u64);
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            found.1 += 1;
            if found.1 > ENTRIES_MAX {
                return found;
            }
            match metadata.is_dir() {
                true => left.push(entry.path()),
                false => found.0 += metadata.size(),
            }
        }
    }
    found
}
