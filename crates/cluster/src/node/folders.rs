//! Folders of a program that a node gets, and the changes that it sends back.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use gristmill_gateway::ProgramLimits;

use crate::folders::{
    Bounds, FolderError, Snapshot, Spool, Spooled, TreeHash, changes, snapshot, unlinked_file, unpack,
};
use crate::wire::{Part, PartOf};

/// Of what comes, so much stays in memory; more goes to a file.
const MEMORY_MAX: usize = 1 << 20;

/// What a gateway may send of one folder.
const SENT_BYTES_MAX: u64 = 2 << 30;

/// Stored results that go along.
const RESULTS: Bounds = Bounds { bytes: 256 << 20, entries: 64, file_bytes: 256 << 20, depth: 1 };

type Opening = Box<dyn FnMut() -> io::Result<File> + Send>;

/// Folders that come in parts.
pub(super) struct Arriving {
    scratch: PathBuf,
    expected: Vec<PartOf>,
    begun: Vec<(PartOf, Spool<Opening>, u64)>,
}

impl Arriving {
    pub fn new(scratch: &Path) -> Self {
        Self { scratch: scratch.to_owned(), expected: Vec::new(), begun: Vec::new() }
    }

    pub fn expect(&mut self, of: PartOf) {
        if !self.expected.contains(&of) {
            self.expected.push(of);
        }
    }

    pub fn is_complete(&self) -> bool {
        self.expected.is_empty()
    }

    /// Takes a part; gives the folder's archive once it is whole. Blocks on the disk.
    pub fn take(&mut self, part: Part) -> Result<Option<(PartOf, Spooled)>, FolderError> {
        let Part { of, bytes, is_last } = part;
        if !self.expected.contains(&of) {
            return Err(FolderError::Damaged("nobody asked for it"));
        }
        let at = match self.begun.iter().position(|(known, ..)| *known == of) {
            Some(at) => at,
            None => {
                let scratch = self.scratch.clone();
                let open: Opening = Box::new(move || unlinked_file(File::open(&scratch)?.as_fd()));
                self.begun.push((of, Spool::new(MEMORY_MAX, open), 0));
                self.begun.len() - 1
            }
        };
        let (_, spool, sent) = &mut self.begun[at];
        *sent += bytes.len() as u64;
        if *sent > SENT_BYTES_MAX {
            return Err(FolderError::TooManyBytes { bytes_max: SENT_BYTES_MAX });
        }
        spool.write_all(&bytes).map_err(FolderError::Write)?;
        if !is_last {
            return Ok(None);
        }
        let (of, spool, _) = self.begun.swap_remove(at);
        self.expected.retain(|expected| *expected != of);
        Ok(Some((of, spool.finish().map_err(FolderError::Read)?)))
    }
}

/// Puts a program's files where it will find them, and takes note of them. Blocks on the disk.
pub(super) fn fill_workspace(
    workspace: &OwnedFd,
    archive: Option<Spooled>,
    limits: &ProgramLimits,
) -> Result<Snapshot, FolderError> {
    let Some(archive) = archive else { return Ok(Snapshot::empty()) };
    let bounds = workspace_bounds(limits);
    unpack(workspace.as_fd(), archive, bounds)?;
    snapshot(workspace.as_fd(), bounds)
}

/// The same of stored results.
pub(super) fn fill_results(folder: &OwnedFd, archive: Spooled) -> Result<(), FolderError> {
    unpack(folder.as_fd(), archive, RESULTS).map(|_| ())
}

/// What a program has changed in its workspace, `None` if that is nothing. Blocks on the disk.
pub(super) fn changed(
    workspace: &OwnedFd,
    before: &Snapshot,
    limits: &ProgramLimits,
    scratch: &Path,
) -> Result<(Option<Spooled>, Snapshot), FolderError> {
    let spool = Spool::new(MEMORY_MAX, || unlinked_file(File::open(scratch)?.as_fd()));
    let (changed, spool) = changes(workspace.as_fd(), before, workspace_bounds(limits), spool)?;
    let archive = match changed.is_empty() {
        true => None,
        false => Some(spool.finish().map_err(FolderError::Read)?),
    };
    Ok((archive, changed.snapshot))
}

/// What a tree is wanted for.
pub(super) struct WantedTree {
    pub mount: String,
    pub hash: TreeHash,
}

fn workspace_bounds(limits: &ProgramLimits) -> Bounds {
    Bounds {
        file_bytes: limits.file_bytes.max(1),
        ..Bounds::new(limits.workspace_bytes, limits.workspace_files)
    }
}
