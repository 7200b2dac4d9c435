//! A folder as an archive.

use std::io::Write;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use super::archive_writer::{ArchiveWriter, Kind};
use super::beneath;
use super::bounds::{Bounds, Count};
use super::error::FolderError;
use super::name::Name;
use super::walk::{Locked, Step, Walk};

/// What an archive holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    pub files: u64,
    pub folders: u64,
    /// Of the files.
    pub bytes: u64,
    /// What is neither a file nor a folder, or can't be read.
    pub left_out: u64,
}

/// Writes a folder as an archive: files with their content and the second of their last change, and folders. Others
/// may change it meanwhile; each file is then as it was at some moment, in parts perhaps at several.
pub fn pack<W: Write>(folder: BorrowedFd<'_>, bounds: Bounds, out: W) -> Result<(Packed, W), FolderError> {
    let mut archive = ArchiveWriter::new(out, Kind::Folder, bounds)?;
    let mut walk = Walk::of(folder, Locked::LeaveOut, bounds)?;
    let mut packed = Packed::default();
    while let Some(step) = walk.next_step()? {
        match step {
            Step::Folder(name) => {
                packed.folders += 1;
                archive.folder(&name)?;
            }
            Step::Up => archive.up()?,
            Step::File(name, mut file) => {
                packed.files += 1;
                archive.file(&name, &mut file)?;
            }
            // The walk has counted it.
            Step::Unreadable => {}
        }
    }
    packed.bytes = archive.bytes();
    packed.left_out = walk.left_out();
    Ok((packed, archive.finish()?))
}

/// Writes an archive of some files that lie side by side in a folder. The folder isn't listed, so its descriptor may
/// be one that can't be. A name that no file has is passed over.
pub fn pack_files<W: Write>(
    folder: BorrowedFd<'_>,
    names: &[impl AsRef<str>],
    bounds: Bounds,
    out: W,
) -> Result<(Packed, W), FolderError> {
    let mut archive = ArchiveWriter::new(out, Kind::Folder, bounds)?;
    let (mut packed, mut count) = (Packed::default(), Count::new(bounds));
    let mut sorted: Vec<_> = names.iter().map(|name| Name::read(name.as_ref().as_bytes())).collect();
    sorted.sort_unstable();
    sorted.dedup();
    for name in sorted {
        count.entry()?;
        let opened = match &name {
            Some(name) => beneath::open_file(folder, name),
            None => Ok(None),
        };
        match (name, opened) {
            (Some(name), Ok(Some(mut file))) => {
                packed.files += 1;
                archive.file(&name, &mut file)?;
            }
            (
                _,
                Ok(_)
                | Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::XDEV | Errno::NXIO | Errno::ACCESS),
            ) => {
                packed.left_out += 1;
            }
            (_, Err(error)) => return Err(FolderError::errno("open a file of the folder", error)),
        }
    }
    packed.bytes = archive.bytes();
    Ok((packed, archive.finish()?))
}
