//! Prepare: open the folders, measure the workspace, write the program's frame.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use gristmill_domain::{Code, Limits};
use gristmill_protocol::{Mount, MountAccess, PROTOCOL_VERSION, Program, ToWorker, encode_frame};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use tokio::sync::OwnedSemaphorePermit;

use super::admit::{Admitted, worker_limits};
use super::{Purpose, Refusal, WorkspaceChoice};
use crate::builder::Core;
use crate::pool::Scratch;
use crate::ports::{Asker, Tools};
use crate::skills::ProgramSkills;

/// A program that only needs a worker.
pub(super) struct Prepared {
    /// The message to the worker, as bytes.
    pub frame: Vec<u8>,
    /// The folders that go with it, in the message's order.
    pub folders: Vec<OwnedFd>,
    pub limits: Limits,
    /// What it can call, as it was when it began.
    pub tools: Arc<dyn Tools>,
    /// What was saved, as it was when it began.
    pub skills: Arc<ProgramSkills>,
    pub asker: Asker,
    /// Removed when the execution ends.
    pub scratch: Scratch,
    pub place: OwnedSemaphorePermit,
}

pub(super) async fn prepare(core: &Core, admitted: Admitted, purpose: Purpose) -> Result<Prepared, Refusal> {
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
    let tools = core.tools.freeze().await;
    if let Some(tree) = tools.tree() {
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
    let skills = match (purpose, &core.skills) {
        (Purpose::Asked, Some(skills)) => ProgramSkills::new(Some(skills.clone()), skills.freeze().await),
        (Purpose::Asked, None) => ProgramSkills::default(),
        (Purpose::Ours(frozen), _) => ProgramSkills::new(None, frozen),
    };
    // A tree that went missing costs the imports from it, and nothing else.
    if let Some(Ok(opened)) = skills.frozen().folder().map(crate::pool::open_folder) {
        mounts.push(mount("skills", MountAccess::ReadOnly));
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
    let Admitted { limits, asker, place, .. } = admitted;
    Ok(Prepared { frame, folders, limits, tools, skills: Arc::new(skills), asker, scratch, place })
}

async fn open_kept(path: PathBuf) -> Result<(OwnedFd, u64, u64), Refusal> {
    let shown = path.display().to_string();
    let opened = tokio::task::spawn_blocking(move || {
        let folder = crate::pool::open_folder(&path)?;
        let mut found = (0, 0);
        measure(&folder, 0, &mut found)?;
        Ok::<_, std::io::Error>((folder, found.0, found.1))
    });
    let outcome =
        opened.await.map_err(|error| std::io::Error::other(error.to_string())).and_then(|inner| inner);
    outcome.map_err(|error| {
        Refusal::new(
            Code::Workspace,
            format!("the workspace {shown} cannot be used: {error}"),
            "name a folder that exists, all of which you may read",
        )
    })
}

/// More entries than any limit permits: there is no need to count on.
const ENTRIES_MAX: u64 = 1_000_001;

/// Deeper than any program can make it.
const DEPTH_MAX: usize = 256;

/// Bytes and entries below a folder, links not followed. By descriptor: a path can be too long to
/// be named, and what cannot be named must still count.
fn measure(folder: &OwnedFd, depth: usize, found: &mut (u64, u64)) -> std::io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(std::io::Error::other(format!("it has folders more than {DEPTH_MAX} levels deep")));
    }
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        found.1 += 1;
        if found.1 > ENTRIES_MAX {
            return Ok(());
        }
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let below = rustix::fs::openat(folder, name, flags, Mode::empty())?;
            measure(&below, depth + 1, found)?;
        } else {
            found.0 += u64::try_from(stat.st_size).unwrap_or(0);
        }
    }
    Ok(())
}
