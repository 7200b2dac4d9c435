//! The files of a workspace, listed.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_domain::Glob;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::file_error::FileError;
use super::inside_path::DEPTH_MAX;

/// Entries that are looked at: as many as a workspace may have in production, and some more. What
/// lies beyond is said to be there.
const ENTRIES_MAX: usize = 100_000;

/// What a listing found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub files: Vec<ListedFile>,
    /// How many fit the pattern, with those that are not shown.
    pub total: usize,
    /// Whether some of the workspace was not looked at, since it is too large or too deep.
    pub is_cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// From the workspace on. Names that are not UTF-8 have marks in them.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// When it was changed last.
    pub changed: SystemTime,
    pub kind: FileKind,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file that can be read.
    File,
    /// A folder with nothing in it; others are seen by what they hold.
    EmptyFolder,
    /// A link, a device, a pipe: programs make none, and none is opened.
    Other,
}

struct Walk<'a> {
    pattern: Option<&'a Glob>,
    found: Vec<ListedFile>,
    seen: usize,
    is_cut: bool,
}

/// Lists what fits a pattern, `count_max` of it at most. Blocks on the disk.
pub(super) fn list(root: &OwnedFd, pattern: Option<&str>, count_max: usize) -> Result<Listing, FileError> {
    let glob = match pattern.filter(|pattern| !pattern.is_empty()) {
        None => None,
        Some(pattern) => {
            // As a program would write it.
            let inside = pattern.strip_prefix("/workspace/").unwrap_or(pattern);
            Some(Glob::read(inside).ok_or(FileError::BadPattern)?)
        }
    };
    let mut walk = Walk { pattern: glob.as_ref(), found: Vec::new(), seen: 0, is_cut: false };
    walk.folder(root, "", 0).map_err(|error| FileError::system(".", error))?;
    let Walk { mut found, is_cut, .. } = walk;
    found.sort_by(|one, other| one.path.cmp(&other.path));
    let total = found.len();
    found.truncate(count_max);
    Ok(Listing { files: found, total, is_cut })
}

impl Walk<'_> {
    /// Whether the folder had anything in it.
    fn folder(&mut self, folder: &OwnedFd, prefix: &str, depth: usize) -> Result<bool, rustix::io::Errno> {
        let mut is_used = false;
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            is_used = true;
            self.seen += 1;
            if self.seen > ENTRIES_MAX {
                self.is_cut = true;
                break;
            }
            // Gone between two looks: a program may be at work.
            let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let path = format!("{prefix}{}", name.to_string_lossy());
            let kind = match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => match self.below(folder, name, &path, depth) {
                    true => continue,
                    false => FileKind::EmptyFolder,
                },
                FileType::RegularFile if stat.st_nlink == 1 => FileKind::File,
                _ => FileKind::Other,
            };
            if self.pattern.is_none_or(|pattern| pattern.fits(&path)) {
                let size = u64::try_from(stat.st_size).unwrap_or(0);
                let size = if kind == FileKind::File { size } else { 0 };
                let changed = UNIX_EPOCH + Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
                self.found.push(ListedFile { path, size, changed, kind });
            }
        }
        Ok(is_used)
    }

    /// Whether the folder below had anything in it, as far as can be seen.
    fn below(&mut self, folder: &OwnedFd, name: &std::ffi::CStr, path: &str, depth: usize) -> bool {
        if depth + 1 >= DEPTH_MAX {
            self.is_cut = true;
            return true;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(below) = rustix::fs::openat(folder.as_fd(), name, flags, Mode::empty()) else { return false };
        self.folder(&below, &format!("{path}/"), depth + 1).unwrap_or(false)
    }
}
