//! Changes of another machine's data folder, brought to this one.

use std::path::Path;

use super::Fetch;
use super::error::{ApplyError, ScanError};
use super::path::TreePath;
use super::placing::Placing;
use super::root::Root;
use crate::kept;
use crate::manifest::{Changes, Node};
use crate::seal::Seal;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Files that were written, and folders that were made.
    pub written: u64,
    /// Files and folders that were there already; their permissions and times may have been set.
    pub there: u64,
    /// Files and folders that were removed, each with all that was in it.
    pub removed: u64,
    /// Of contents that were fetched.
    pub bytes_fetched: u64,
}

/// Makes a data folder what it is after these changes; it is created if it is missing. They can be applied again,
/// also after they were applied in part. Nothing is brought to the disk: after a crash of the machine the folder has to
/// be [reconciled](super::reconcile). Blocks.
pub fn apply(
    data_folder: &Path,
    changes: &Changes,
    seal: &Seal,
    fetch: &mut Fetch<'_>,
) -> Result<Applied, ApplyError> {
    changes.nodes.iter().try_for_each(|(path, node)| check(path, node.as_ref()))?;
    let root = open(data_folder)?;
    let mut placing = Placing::new(&root, seal, fetch);
    let outcome = placing.all(changes);
    placing.finish(outcome)
}

/// Whether a change is one that a machine of ours makes.
pub(super) fn check(path: &TreePath, node: Option<&Node>) -> Result<(), ApplyError> {
    let is_ours = node.map_or_else(|| kept::is_kept(path), |node| kept::may_be(path, node));
    if is_ours { Ok(()) } else { Err(ApplyError::NotKept { path: path.clone() }) }
}

pub(super) fn open(data_folder: &Path) -> Result<Root, ApplyError> {
    let opened = gristmill_files::make_private_folder(data_folder).and_then(|()| Root::open(data_folder));
    opened.map_err(|source| {
        let path = data_folder.display().to_string();
        ScanError::Folder { path, source }.into()
    })
}
