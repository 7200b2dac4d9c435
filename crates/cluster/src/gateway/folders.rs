//! The folders of a program, made ready to go to a node, and the changes that come back.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use super::stage::Stage;
use crate::folders::{Bounds, FolderError, Spool, Spooled, TreeHash, TreeHashes, apply, pack, pack_files};
use crate::names::LinkId;
use crate::parts::is_empty;
use gristmill_gateway::MountAccess;
use gristmill_gateway::ports::RemoteHome;

/// Of what is sent, so much stays in memory; more goes to a file.
const MEMORY_MAX: usize = 1 << 20;

/// Trees of tools, skills and packages.
const TREE_BOUNDS: Bounds = Bounds { bytes: 1 << 30, entries: 500_000, file_bytes: 256 << 20, depth: 64 };

/// Stored results that go along: those of one program.
const RESULT_BYTES_MAX: u64 = 256 << 20;
const RESULTS_MAX: u64 = 64;

/// What names and times of a file take in an archive.
const ENTRY_BYTES_MAX: u64 = 1024;

/// What goes along with a program, beside the trees that its node may have.
pub(super) struct Luggage {
    /// `None` if there is nothing in it.
    pub workspace: Option<Spooled>,
    pub results: Option<Spooled>,
    /// By the name of their mount, with the folder's place in the home.
    pub trees: Vec<(String, TreeHash, usize)>,
}

/// The same where nothing has to be packed: an empty workspace, no results, and trees whose hashes are known. Doesn't
/// block for long.
pub(super) fn light_luggage(home: &RemoteHome, trees: &TreeHashes) -> Option<Luggage> {
    let mut luggage = Luggage { workspace: None, results: None, trees: Vec::new() };
    for (place, (mount, folder)) in home.confinement.mounts.iter().zip(&home.folders).enumerate() {
        match (mount.access, mount.name.as_str()) {
            (MountAccess::ReadWrite, "workspace") if !is_empty(folder) => return None,
            (MountAccess::ReadWrite, _) => {}
            (MountAccess::ByName, _) if !home.results.is_empty() => return None,
            (MountAccess::ByName, _) => {}
            (MountAccess::ReadOnly, name) => {
                luggage.trees.push((name.to_owned(), trees.known(folder.as_fd())?, place));
            }
        }
    }
    Some(luggage)
}

/// Packs what a node can't have yet. Blocks on the disk.
pub(super) fn pack_luggage(
    home: &RemoteHome,
    trees: &TreeHashes,
    scratch: &Path,
) -> Result<Luggage, FolderError> {
    let mut luggage = Luggage { workspace: None, results: None, trees: Vec::new() };
    for (place, (mount, folder)) in home.confinement.mounts.iter().zip(&home.folders).enumerate() {
        match (mount.access, mount.name.as_str()) {
            (MountAccess::ReadWrite, "workspace") if !is_empty(folder) => {
                luggage.workspace = Some(packed(folder.as_fd(), workspace_bounds(home), scratch)?);
            }
            (MountAccess::ReadWrite, _) => {}
            (MountAccess::ByName, _) if !home.results.is_empty() => {
                let bounds = Bounds::new(RESULT_BYTES_MAX, RESULTS_MAX);
                let spool = Spool::new(MEMORY_MAX, || unnamed_in(scratch));
                let (found, spool) = pack_files(folder.as_fd(), &home.results, bounds, spool)?;
                if found.files > 0 {
                    luggage.results = Some(finished(spool)?);
                }
            }
            (MountAccess::ByName, _) => {}
            (MountAccess::ReadOnly, name) => {
                let hash = trees.of(folder.as_fd(), TREE_BOUNDS)?;
                luggage.trees.push((name.to_owned(), hash, place));
            }
        }
    }
    Ok(luggage)
}

/// A tree that its node asked for. Blocks on the disk.
pub(super) fn pack_tree(home: &RemoteHome, place: usize, scratch: &Path) -> Result<Spooled, FolderError> {
    match home.folders.get(place) {
        Some(folder) => packed(folder.as_fd(), TREE_BOUNDS, scratch),
        None => Err(FolderError::System { what: "find a tree", source: io::ErrorKind::NotFound.into() }),
    }
}

/// Puts what came back into the workspace, all of it or nothing. Blocks on the disk.
pub(super) fn bring_in(home: &Arc<RemoteHome>, changes: Spooled, link: LinkId) -> Result<(), FolderError> {
    let failed = |source| FolderError::System { what: "make a folder beside the workspace", source };
    let workspace = home.folders.first().ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let stage = Stage::beside(&home.workspace, link).map_err(failed)?;
    apply(workspace.as_fd(), stage.folder.as_fd(), changes, workspace_bounds(home))?;
    Ok(())
}

/// What an archive of changes may take on its way: a workspace, and as much again for names. A node that sends more
/// sends something else.
pub(super) fn changes_bytes_max(home: &RemoteHome) -> u64 {
    let limits = &home.confinement.limits;
    limits.workspace_bytes.saturating_add(limits.workspace_files.saturating_mul(ENTRY_BYTES_MAX))
}

/// Where what comes back is put together.
pub(super) fn spool_in(scratch: &Path) -> Spool<impl FnMut() -> io::Result<File> + Send + use<>> {
    let scratch = scratch.to_owned();
    Spool::new(MEMORY_MAX, move || unnamed_in(&scratch))
}

fn workspace_bounds(home: &RemoteHome) -> Bounds {
    let limits = &home.confinement.limits;
    Bounds {
        file_bytes: limits.file_bytes.max(1),
        ..Bounds::new(limits.workspace_bytes, limits.workspace_files)
    }
}

fn packed(folder: BorrowedFd<'_>, bounds: Bounds, scratch: &Path) -> Result<Spooled, FolderError> {
    let spool = Spool::new(MEMORY_MAX, || unnamed_in(scratch));
    let (_, spool) = pack(folder, bounds, spool)?;
    finished(spool)
}

fn finished<F: FnMut() -> io::Result<File>>(spool: Spool<F>) -> Result<Spooled, FolderError> {
    spool.finish().map_err(|source| FolderError::System { what: "read what was packed", source })
}

fn unnamed_in(scratch: &Path) -> io::Result<File> {
    let folder = File::open(scratch)?;
    crate::folders::unlinked_file(folder.as_fd())
}
