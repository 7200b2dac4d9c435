//! Where results lie on the disk: a folder for each owner, and one for files on their way in.
//!
//! Walls: names are made here and nowhere else: of hashes and handles, never of what anybody said.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gristmill_files::{FileLock, LockError};
use rustix::fs::{FlockOperation, OFlags, flock};

use super::ResultsError;
use crate::ids::Owner;
use crate::ids::unguessable;
use crate::store::StoredFile;

/// The folder of all results, in the data folder.
pub const RESULTS_FOLDER: &str = "results";

/// Files that are not whole yet. No owner's folder has such a name.
const INCOMING: &str = "incoming";

/// Held while files and rows change together.
const LOCK_NAME: &str = "lock";

/// Hexadecimal digits of an owner's folder: 128 bits.
const FOLDER_DIGITS: usize = 32;

/// How long another process may hold the lock. Each of us needs it for milliseconds.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// A file on its way in may not be locked yet; after so long it is not going to be.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(600);

pub(super) struct Place {
    folder: PathBuf,
}

/// Nobody else changes files and rows meanwhile; let go of when it is dropped.
pub(super) struct ResultsLock {
    _lock: FileLock,
}

/// A file that somebody fills, to become a result. It is removed if it does not.
pub struct NewResult {
    file: File,
    /// `None` when it has its place.
    path: Option<PathBuf>,
    owner: Owner,
}

impl NewResult {
    /// The file, empty at first, to be written from its beginning. Whoever writes it must be done before
    /// it is kept.
    pub fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Where it lies until it has its place.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(super) fn fill(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.file).write_all(bytes)
    }

    fn move_to(mut self, target: &Path) -> io::Result<()> {
        if let Some(path) = &self.path {
            fs::rename(path, target)?;
            self.path = None;
        }
        Ok(())
    }
}

impl Drop for NewResult {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            // What cannot be removed now is removed by a sweep.
            let _ = fs::remove_file(path);
        }
    }
}

impl Place {
    pub fn open(folder: PathBuf) -> Result<Self, ResultsError> {
        let place = Self { folder };
        let made = make_private(&place.folder).and_then(|()| make_private(&place.folder.join(INCOMING)));
        made.map_err(|error| place.failed(&error))?;
        Ok(place)
    }

    pub fn failed(&self, error: &io::Error) -> ResultsError {
        ResultsError::Folder { folder: self.folder.clone(), why: error.to_string() }
    }

    /// Of an owner, there or not.
    fn folder_of(&self, owner: &str) -> PathBuf {
        let hash = blake3::hash(owner.as_bytes()).to_hex();
        self.folder.join(hash.as_str().chars().take(FOLDER_DIGITS).collect::<String>())
    }

    /// The same, made if it is not there.
    pub fn made_folder_of(&self, owner: &Owner) -> io::Result<PathBuf> {
        let folder = self.folder_of(&owner.0);
        make_private(&folder)?;
        Ok(folder)
    }

    fn path_of(&self, owner: &str, file_name: &str) -> PathBuf {
        self.folder_of(owner).join(file_name)
    }

    /// The same, as a path in the data folder.
    pub fn path_in_data(&self, owner: &str, file_name: &str) -> String {
        let owners = self.folder_of(owner);
        let owners = owners.file_name().unwrap_or_default().to_string_lossy();
        format!("{RESULTS_FOLDER}/{owners}/{file_name}")
    }

    /// Waits until nobody else changes results; blocks.
    pub fn lock(&self) -> Result<ResultsLock, ResultsError> {
        match FileLock::take_within(&self.folder.join(LOCK_NAME), LOCK_WAIT) {
            Ok(lock) => Ok(ResultsLock { _lock: lock }),
            Err(LockError::Held { .. }) => Err(ResultsError::Busy),
            Err(error @ LockError::System { .. }) => Err(self.failed(&error.into())),
        }
    }

    /// An empty file that is locked as long as anybody has it open.
    pub fn new_file(&self, owner: &Owner) -> Result<NewResult, ResultsError> {
        let failed = |error: io::Error| self.failed(&error);
        let name = unguessable::new().map_err(|error| failed(io::Error::other(error.to_string())))?;
        let path = self.folder.join(INCOMING).join(name);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        let new = NewResult { file, path: Some(path), owner: owner.clone() };
        flock(&new.file, FlockOperation::NonBlockingLockExclusive).map_err(|error| failed(error.into()))?;
        Ok(new)
    }

    /// An empty file that has no name: nothing is left of it, whatever happens.
    pub fn nameless_file(&self) -> Result<File, ResultsError> {
        let mut new = self.new_file(&Owner::local())?;
        if let Some(path) = new.path.take() {
            fs::remove_file(path).map_err(|error| self.failed(&error))?;
        }
        new.file.try_clone().map_err(|error| self.failed(&error))
    }

    /// Gives a whole file its name.
    pub fn take_in(&self, new: NewResult, file_name: &str) -> io::Result<()> {
        let target = self.made_folder_of(&new.owner)?.join(file_name);
        // A file is replaced; a folder would stay in the way.
        if fs::symlink_metadata(&target).is_ok_and(|found| found.is_dir()) {
            remove_any(&target)?;
        }
        new.move_to(&target)
    }

    /// The file of a result; `None` if it is gone, or is not what was kept.
    pub fn open_file(&self, owner: &str, file_name: &str, bytes: u64) -> io::Result<Option<File>> {
        let mut options = OpenOptions::new();
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        options.read(true).custom_flags(flags.bits() as i32);
        match options.open(self.path_of(owner, file_name)) {
            Ok(file) => {
                let found = file.metadata()?;
                Ok((found.is_file() && found.len() == bytes).then_some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a result's file is there as it was kept.
    fn is_whole(&self, file: &StoredFile) -> bool {
        let found = fs::symlink_metadata(self.path_of(&file.owner, &file.file_name));
        let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        match found {
            Ok(found) => found.is_file() && i64::try_from(found.len()) == Ok(file.bytes),
            // What cannot be looked at now may be there.
            Err(error) => !is_gone(&error),
        }
    }

    /// Those of the results whose files are gone or damaged.
    pub fn lost(&self, files: Vec<StoredFile>) -> Vec<StoredFile> {
        files.into_iter().filter(|file| !self.is_whole(file)).collect()
    }

    /// When the files were read last, as far as the file system notes it: owner, handle, milliseconds.
    pub fn reads(&self, files: &[StoredFile]) -> Vec<(String, String, i64)> {
        let read_ms = |file: &StoredFile| {
            let found = fs::symlink_metadata(self.path_of(&file.owner, &file.file_name)).ok()?;
            let ms = found.atime().checked_mul(1_000)?.checked_add(found.atime_nsec() / 1_000_000)?;
            Some((file.owner.clone(), file.handle.clone(), ms))
        };
        files.iter().filter_map(read_ms).collect()
    }

    /// Of an owner's file; `None` if it is gone.
    pub fn metadata(&self, owner: &Owner, file_name: &str) -> io::Result<Option<Metadata>> {
        match fs::symlink_metadata(self.path_of(&owner.0, file_name)) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes files whose results are forgotten.
    pub fn remove(&self, files: &[StoredFile]) {
        for file in files {
            // What cannot be removed now is removed by a later sweep.
            let _ = remove_any(&self.path_of(&file.owner, &file.file_name));
        }
    }

    /// Removes what belongs to no result, and what was never finished; gives how many.
    pub fn remove_strays(&self, known: &[StoredFile]) -> usize {
        let known: HashSet<PathBuf> =
            known.iter().map(|file| self.path_of(&file.owner, &file.file_name)).collect();
        let mut removed = 0;
        for folder in entries(&self.folder).into_iter().filter(|path| is_owners(path)) {
            let strays = entries(&folder).into_iter().filter(|path| !known.contains(path));
            removed += strays.filter(|path| remove_any(path).is_ok()).count();
        }
        let incoming = entries(&self.folder.join(INCOMING));
        removed + incoming.iter().filter(|path| is_left_behind(path) && fs::remove_file(path).is_ok()).count()
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Removes what lies in an owner's folder, also what we did not make: nothing but files is ours.
fn remove_any(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => gristmill_files::remove_tree(path),
        false => fs::remove_file(path),
    }
}

/// Whether a folder is one that we made for an owner.
fn is_owners(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_hash = name.len() == FOLDER_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash && fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Whether nobody fills a file any more.
fn is_left_behind(path: &Path) -> bool {
    let age = fs::symlink_metadata(path).and_then(|found| found.modified());
    // One that is marked says that it was changed in the future.
    let is_old = age.is_ok_and(|at| at.elapsed().map_or(true, |age| age > LEFT_BEHIND_AFTER));
    is_old
        && File::open(path).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok())
}

/// A folder for us alone; one that is there must be a folder.
fn make_private(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            match fs::symlink_metadata(path)?.is_dir() {
                true => Ok(()),
                false => Err(io::Error::other("something else is in the place of its folder")),
            }
        }
        outcome => outcome,
    }
}
