//! Read-only trees on a node, by the hash of their content.
//!
//! ```text
//! <cache>/<hash>        a tree
//!        /<hash>.lock   held by whoever uses it; the time of its last change is that of the last use
//!        /.new-…        being written: its folder is locked
//!        /.gone-…       being removed
//! ```
//! A process that is killed leaves only what the next start removes.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use gristmill_files::{make_private_folder, remove_tree};
use parking_lot::Mutex;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::bounds::{Bounds, DEPTH_MAX};
use super::error::FolderError;
use super::measure::measure;
use super::tree_hash::{TreeHash, tree_hash};
use super::tree_lock::{TreeLock, is_at};
use super::unpack::{Access, unpack_for};

const NEW: &str = ".new-";
const GONE: &str = ".gone-";
const LOCK: &str = ".lock";

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What an entry takes on the disk besides its content, about.
const ENTRY_BYTES: u64 = 4096;

/// How often something is tried that others may come between.
const ATTEMPTS: usize = 16;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// See the module. Several processes may share a folder.
pub struct TreeCache {
    folder: PathBuf,
    bytes_max: u64,
    /// Trees whose content was compared with their hash since this was opened, and what they take. A machine that
    /// lost its power may have lost a part of what it wrote last.
    checked: Mutex<HashMap<TreeHash, u64>>,
    /// Held from making room until the room is taken.
    making_room: Mutex<()>,
}

/// A tree that is not removed before this is dropped. Copies of its descriptor don't keep it.
#[derive(Debug)]
pub struct CachedTree {
    folder: OwnedFd,
    _lock: TreeLock,
}

impl AsFd for CachedTree {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

impl TreeCache {
    /// The cache in this folder, made if it is missing. What others left unfinished is removed.
    pub fn open_at(folder: &Path, bytes_max: u64) -> Result<Self, FolderError> {
        make_private_folder(folder).map_err(FolderError::system("make the cache of trees"))?;
        let (checked, making_room) = (Mutex::default(), Mutex::default());
        let cache = Self { folder: folder.to_owned(), bytes_max, checked, making_room };
        cache.sweep();
        Ok(cache)
    }

    /// A tree, if it is here.
    pub fn open(&self, hash: &TreeHash) -> Option<CachedTree> {
        let path = self.path_of(hash);
        // Or there would be a lock for every tree that anybody ever asked for.
        if !path.is_dir() {
            return None;
        }
        let lock = TreeLock::shared(&self.lock_of(hash)).ok()?;
        let folder = rustix::fs::open(&path, FOLDER, Mode::empty()).ok()?;
        if !self.checked.lock().contains_key(hash) {
            if tree_hash(folder.as_fd(), bounds_of_any()).ok() != Some(*hash) {
                drop(lock);
                self.remove_unused(hash);
                return None;
            }
            let bytes = taken_by(folder.as_fd()).ok()?;
            self.checked.lock().insert(*hash, bytes);
        }
        lock.note_use();
        Some(CachedTree { folder, _lock: lock })
    }

    /// Puts a tree into the cache that somebody sent, unless it is here: then nothing is read. One with another hash
    /// is refused. Those that nobody has used for the longest time make room for it; none does that is in use.
    pub fn put(&self, hash: &TreeHash, input: impl Read, bounds: Bounds) -> Result<CachedTree, FolderError> {
        if let Some(tree) = self.open(hash) {
            return Ok(tree);
        }
        let (path, new) = self.make_new()?;
        let bounds = Bounds { bytes: bounds.bytes.min(self.bytes_max), ..bounds };
        let put = write(hash, &new, input, bounds).and_then(|bytes| {
            let _one = self.making_room.lock();
            self.make_room(bytes)?;
            self.give_name(hash, &path, bytes)
        });
        // Refused, or somebody else was faster.
        if is_at(&new, &path) {
            let _ = remove_tree(&path);
        }
        put
    }

    /// All trees that are here.
    pub fn hashes(&self) -> Vec<TreeHash> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// A written tree becomes the one of its hash.
    fn give_name(&self, hash: &TreeHash, new: &Path, bytes: u64) -> Result<CachedTree, FolderError> {
        let (path, failed) = (self.path_of(hash), FolderError::system("name a tree"));
        for _ in 0..ATTEMPTS {
            let lock = TreeLock::shared(&self.lock_of(hash)).map_err(&failed)?;
            match fs::rename(new, &path) {
                Ok(()) => {
                    self.checked.lock().insert(*hash, bytes);
                    lock.note_use();
                    let folder = rustix::fs::open(&path, FOLDER, Mode::empty())
                        .map_err(FolderError::system("open a tree"))?;
                    return Ok(CachedTree { folder, _lock: lock });
                }
                Err(error) if is_taken(&error) => drop(lock),
                Err(error) => return Err(failed(error)),
            }
            // Somebody else was faster; what they wrote is the same, or isn't that tree and goes.
            if let Some(tree) = self.open(hash) {
                return Ok(tree);
            }
        }
        Err(failed(Errno::BUSY.into()))
    }

    /// A folder to write a tree in, locked.
    fn make_new(&self) -> Result<(PathBuf, OwnedFd), FolderError> {
        let failed = FolderError::system("make a folder for a tree");
        for _ in 0..ATTEMPTS {
            let path = self.unfinished(NEW);
            match DirBuilder::new().mode(0o700).create(&path) {
                // Of a process that had our id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(&failed)?,
            }
            // A start that comes between takes it for a leftover.
            if let Ok(new) = rustix::fs::open(&path, FOLDER, Mode::empty())
                && flock(&new, FlockOperation::NonBlockingLockShared).is_ok()
                && is_at(&new, &path)
            {
                return Ok((path, new));
            }
        }
        Err(failed(Errno::BUSY.into()))
    }

    /// Removes trees until so many bytes more fit. One at a time, or each would count without the other.
    fn make_room(&self, bytes: u64) -> Result<(), FolderError> {
        let mut trees: Vec<_> = self.hashes().into_iter().filter_map(|hash| self.seen(hash)).collect();
        trees.sort_unstable_by_key(|tree| tree.last_use);
        let mut all = trees.iter().fold(bytes, |all, tree| all.saturating_add(tree.bytes));
        for tree in trees {
            if all <= self.bytes_max {
                break;
            }
            if self.remove_unused(&tree.hash) {
                all = all.saturating_sub(tree.bytes);
            }
        }
        match all <= self.bytes_max {
            true => Ok(()),
            false => Err(FolderError::CacheFull { bytes_max: self.bytes_max }),
        }
    }

    fn seen(&self, hash: TreeHash) -> Option<SeenTree> {
        let known = self.checked.lock().get(&hash).copied();
        let bytes = match known {
            Some(bytes) => bytes,
            None => {
                let tree = rustix::fs::open(self.path_of(&hash), FOLDER, Mode::empty()).ok()?;
                taken_by(tree.as_fd()).ok()?
            }
        };
        Some(SeenTree { hash, bytes, last_use: TreeLock::last_use(&self.lock_of(&hash)) })
    }

    /// Whether it could be removed: nobody uses it.
    fn remove_unused(&self, hash: &TreeHash) -> bool {
        let (path, lock_path, gone) = (self.path_of(hash), self.lock_of(hash), self.unfinished(GONE));
        let Ok(Some(lock)) = TreeLock::exclusive(&lock_path) else { return false };
        // Moved first: from here on nobody takes it for a tree.
        let is_moved = fs::rename(&path, &gone).is_ok();
        self.checked.lock().remove(hash);
        let _ = fs::remove_file(&lock_path);
        drop(lock);
        let _ = remove_tree(&gone);
        is_moved
    }

    /// Removes what nobody writes or removes any more.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            let begins = |with: &str| name.as_encoded_bytes().starts_with(with.as_bytes());
            if begins(GONE) {
                let _ = remove_tree(&path);
            } else if begins(NEW) {
                remove_abandoned(&path);
            } else {
                self.sweep_lock(&name, &path);
            }
        }
    }

    /// Removes a lock that has no tree.
    fn sweep_lock(&self, name: &OsStr, path: &Path) {
        let hash = name.to_str().and_then(|name| name.strip_suffix(LOCK)?.parse::<TreeHash>().ok());
        if let Some(hash) = hash
            && !self.path_of(&hash).exists()
            && let Ok(Some(_lock)) = TreeLock::exclusive(path)
        {
            let _ = fs::remove_file(path);
        }
    }

    fn path_of(&self, hash: &TreeHash) -> PathBuf {
        self.folder.join(hash.to_string())
    }

    fn lock_of(&self, hash: &TreeHash) -> PathBuf {
        self.folder.join(format!("{hash}{LOCK}"))
    }

    fn unfinished(&self, begins: &str) -> PathBuf {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("{begins}{}-{count}", std::process::id()))
    }
}

struct SeenTree {
    hash: TreeHash,
    bytes: u64,
    last_use: Option<SystemTime>,
}

/// Unpacks a tree and compares its hash. Gives what it takes.
fn write(hash: &TreeHash, new: &OwnedFd, input: impl Read, bounds: Bounds) -> Result<u64, FolderError> {
    let unpacked = unpack_for(Access::ReadOnly, new.as_fd(), input, bounds)?;
    let found = TreeHash::of(&unpacked.snapshot);
    match found == *hash {
        true => Ok(taken(unpacked.bytes, unpacked.entries)),
        false => Err(FolderError::OtherTree { expected: *hash, found }),
    }
}

fn remove_abandoned(path: &Path) {
    let opened = rustix::fs::open(path, FOLDER, Mode::empty());
    // Locked until it is gone: whoever has just made it makes another.
    if let Ok(folder) = opened
        && flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok()
    {
        let _ = remove_tree(path);
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::EXIST | Errno::NOTEMPTY))
}

/// Of a tree that is here already: it was within somebody's bounds when it came.
fn bounds_of_any() -> Bounds {
    Bounds { bytes: u64::MAX, entries: u64::MAX, file_bytes: u64::MAX, depth: DEPTH_MAX }
}

fn taken_by(tree: BorrowedFd<'_>) -> Result<u64, FolderError> {
    measure(tree).map(|held| taken(held.bytes, held.entries))
}

/// What a tree takes on the disk, about.
fn taken(bytes: u64, entries: u64) -> u64 {
    bytes.saturating_add(entries.saturating_add(1).saturating_mul(ENTRY_BYTES))
}
