//! Applying changes that came over the wire: all of them, or none.

use std::io::Read;
use std::os::fd::BorrowedFd;

use super::bounds::Bounds;
use super::error::FolderError;
use super::placing::place;
use super::plan::Plan;

/// What was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// New ones and those with another content.
    pub files: u64,
    /// Of these.
    pub bytes: u64,
    /// Names that are gone. What has another kind now isn't among them.
    pub removed: u64,
}

/// Applies changes to a folder, within the bounds that it has as a whole.
///
/// The stage is an empty folder of the same file system, of which nobody else knows. New files are written there, the
/// outcome is compared with the bounds, and only then is anything put into the folder, each file with one rename. If
/// that fails halfway, it is taken back. Afterwards the stage holds what was replaced and removed: whoever made it
/// removes it.
///
/// A process that is killed meanwhile leaves a mix of old and new files, each of them whole. A file in whose place a
/// folder comes may be missing; where the file system can't exchange two names, also a folder in whose place a file
/// comes. Both are in the stage.
pub fn apply(
    folder: BorrowedFd<'_>,
    stage: BorrowedFd<'_>,
    input: impl Read,
    bounds: Bounds,
) -> Result<Applied, FolderError> {
    let plan = Plan::read(stage, input, bounds)?;
    let (files, bytes) = (plan.files, plan.bytes);
    let checked = plan.check(folder, bounds)?;
    let removed = place(folder, stage, checked)?;
    Ok(Applied { files, bytes, removed })
}
