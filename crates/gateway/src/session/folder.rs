//! One session's folder: made, locked, filled, taken away.
//!
//! ```text
//! <data>/sessions/<id>/workspace    its files
//!                     /incoming     files that are being written, before they get their names
//!                     /debug        there if each stage of its programs is to be logged
//!                     /lock         held by whoever uses it; the kernel lets go when that one dies
//! <data>/sessions/.gone-<id>-…      what is being removed
//! ```

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use gristmill_files::{FileLock, remove_tree};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::folder_size::DEPTH_MAX;
use crate::ids::SessionId;
use crate::ids::unguessable;

/// The file whose being there says that the session is debugged.
const DEBUG: &str = "debug";

/// The folder of all sessions, in the data folder.
pub(super) const ALL: &str = "sessions";

/// How the folders of removed sessions begin.
pub(super) const GONE: &str = ".gone-";

/// A session's folder, as a path in the data folder.
pub(super) fn path_in_data(id: &str) -> String {
    format!("{ALL}/{id}")
}

#[derive(Clone, Debug)]
pub(super) struct SessionFolder {
    all: PathBuf,
    path: PathBuf,
}

/// Held as long as this lives.
#[derive(Debug)]
pub(super) struct FolderLock {
    _lock: FileLock,
}

impl SessionFolder {
    pub fn of(all: &Path, id: &SessionId) -> Self {
        Self { all: all.to_owned(), path: all.join(id.as_str()) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn workspace(&self) -> PathBuf {
        self.path.join("workspace")
    }

    pub fn incoming(&self) -> PathBuf {
        self.path.join("incoming")
    }

    /// Whether each stage of its programs is logged, by whichever gateway.
    pub fn is_debugged(&self) -> bool {
        self.path.join(DEBUG).exists()
    }

    /// Has each stage of its programs logged from the next one on, or not any more.
    pub fn set_debugged(&self, is_debugged: bool) -> io::Result<()> {
        let mark = self.path.join(DEBUG);
        match is_debugged {
            true => self.make().and_then(|()| File::create(mark).map(drop)),
            false => match fs::remove_file(mark) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            },
        }
    }

    /// Makes what is missing of it, all but the workspace.
    fn make(&self) -> io::Result<()> {
        make_folder(&self.path)?;
        make_folder(&self.incoming())
    }

    /// Makes the workspace if it is missing.
    pub fn make_workspace(&self) -> io::Result<()> {
        make_folder(&self.workspace())
    }

    /// Takes the lock, unless somebody has it. The folder is made if it is missing.
    pub fn try_lock(&self) -> io::Result<Option<FolderLock>> {
        // Again if the folder was taken away between two steps.
        for _ in 0..8 {
            match self.make().and_then(|()| self.lock_once()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                outcome => return outcome,
            }
        }
        Err(io::Error::other("it is taken away again and again"))
    }

    fn lock_once(&self) -> io::Result<Option<FolderLock>> {
        let path = self.path.join("lock");
        let Some(lock) = FileLock::try_take(&path)? else { return Ok(None) };
        // The lock of a folder that was taken away meanwhile locks nothing.
        match lock.is_still_at(&path)? {
            true => Ok(Some(FolderLock { _lock: lock })),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Whether anybody uses it. Nothing is made.
    pub fn is_locked(&self) -> bool {
        FileLock::is_held(&self.path.join("lock"))
    }

    /// Gives its files another place in one step, from which [`remove`] takes them. A kill in
    /// between leaves them there for the next start.
    pub fn take_away(&self, _lock: &FolderLock) -> io::Result<PathBuf> {
        let gone = self.gone_place()?;
        fs::rename(&self.path, &gone)?;
        Ok(gone)
    }

    /// The same for the workspace alone; an empty one takes its place.
    pub fn take_workspace_away(&self, _lock: &FolderLock) -> io::Result<Option<PathBuf>> {
        let gone = self.gone_place()?;
        match fs::rename(self.workspace(), &gone) {
            Ok(()) => self.make_workspace().map(|()| Some(gone)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.make_workspace().map(|()| None),
            Err(error) => Err(error),
        }
    }

    fn gone_place(&self) -> io::Result<PathBuf> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let nonce = unguessable::new().map_err(|error| io::Error::other(error.to_string()))?;
        Ok(self.all.join(format!("{GONE}{name}-{nonce}")))
    }

    /// Takes over a folder with a program's files as the workspace. Blocks on the disk.
    pub fn take_over(&self, _lock: &FolderLock, files: &Path, bounds: CopyBounds) -> io::Result<()> {
        let workspace = self.workspace();
        match fs::rename(files, &workspace) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                make_folder(&workspace)?;
                let mut left = bounds;
                copy(&open_folder(files)?, &open_folder(&workspace)?, 0, &mut left)
            }
            outcome => outcome,
        }
    }
}

/// What may be copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyBounds {
    pub bytes: u64,
    pub files: u64,
}

/// Removes a folder with everything in it. Blocks on the disk.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match remove_tree(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

/// Makes a folder that only its owner enters, if it is not there. A link in its place is not one.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let kind = fs::symlink_metadata(path)?;
            if kind.is_dir() { Ok(()) } else { Err(io::Error::other("something else is in its place")) }
        }
        outcome => outcome,
    }
}

/// Opens a folder, but no link to one.
pub(super) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Copies plain files and folders by descriptor; whatever else there is, is left out.
fn copy(from: &OwnedFd, to: &OwnedFd, depth: usize, left: &mut CopyBounds) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(io::Error::other(format!("it has folders nested more than {DEPTH_MAX} levels deep")));
    }
    for entry in rustix::fs::Dir::read_from(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        left.files = left.files.checked_sub(1).ok_or_else(too_much)?;
        let stat = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                rustix::fs::mkdirat(to, name, Mode::from_raw_mode(0o700))?;
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let below = |folder| rustix::fs::openat(folder, name, flags, Mode::empty());
                copy(&below(from)?, &below(to)?, depth + 1, left)?;
            }
            FileType::RegularFile => {
                left.bytes =
                    left.bytes.checked_sub(u64::try_from(stat.st_size).unwrap_or(0)).ok_or_else(too_much)?;
                let read = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let write =
                    OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mut source = File::from(rustix::fs::openat(from, name, read, Mode::empty())?);
                let mode = Mode::from_raw_mode(0o600);
                let mut target = File::from(rustix::fs::openat(to, name, write, mode)?);
                io::copy(&mut source, &mut target)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn too_much() -> io::Error {
    io::Error::other("it holds more than a workspace may")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_testkit::TestFolder;

    /// As it is done where the scratch space is another file system.
    #[test]
    fn what_is_copied_is_whole_within_its_bounds_and_has_no_links() {
        let folder = TestFolder::new("copy");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("deep/er")).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("deep/a.txt"), "content").unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink("../secret", from.join("link")).unwrap();
        let copied = |bytes: u64, files: u64, to: &Path| {
            copy(&open_folder(&from).unwrap(), &open_folder(to).unwrap(), 0, &mut CopyBounds { bytes, files })
        };
        copied(7, 4, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("deep/a.txt")).unwrap(), "content");
        assert!(to.join("deep/er").is_dir());
        assert!(fs::symlink_metadata(to.join("link")).is_err());
        for (number, (bytes, files)) in [(6, 4), (7, 3)].into_iter().enumerate() {
            let other = folder.path().join(number.to_string());
            fs::create_dir(&other).unwrap();
            let refused = copied(bytes, files, &other).unwrap_err();
            assert_eq!(refused.to_string(), "it holds more than a workspace may");
        }
    }
}
