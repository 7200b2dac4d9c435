//! Throw-away folders: one workspace and one `/tmp` for each execution, made ahead of need and
//! removed behind it.
//!
//! All of a gateway's live in one folder that it holds a lock on. When a gateway is gone without
//! having cleaned up, its supervisor does; and when that is gone too, the next gateway to start does.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gristmill_files::remove_tree;
use parking_lot::Mutex;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};

/// The scratch folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("can't use the scratch folder {}: {reason}; set GRISTMILL_SCRATCH_DIR to a folder of your own", .folder.display())]
pub struct ScratchError {
    folder: PathBuf,
    reason: String,
}

/// One execution's folders. Removed when this value is dropped.
pub struct Scratch {
    path: PathBuf,
    pub workspace: OwnedFd,
    pub tmp: OwnedFd,
}

pub struct ScratchFolders {
    folder: PathBuf,
    ready: Arc<Mutex<Vec<Scratch>>>,
    making: Mutex<()>,
    next: AtomicU64,
    removed: AtomicBool,
    _lock: File,
}

impl ScratchFolders {
    /// Makes this gateway's folder below `base`, and clears away what dead gateways left there.
    pub fn open(base: &Path) -> Result<Self, ScratchError> {
        let failed = |reason: String| ScratchError { folder: base.to_owned(), reason };
        make_private(base).map_err(|error| failed(error.to_string()))?;
        let metadata = fs::symlink_metadata(base).map_err(|error| failed(error.to_string()))?;
        let user = rustix::process::geteuid().as_raw();
        if !metadata.is_dir() || metadata.uid() != user || metadata.mode() & 0o077 != 0 {
            return Err(failed("it must be your own folder with mode 700".to_owned()));
        }
        // One gateway at a time: a folder that is just being made must not look abandoned.
        let base_lock = File::create(base.join("lock")).map_err(|error| failed(error.to_string()))?;
        flock(&base_lock, FlockOperation::LockExclusive).map_err(|error| failed(error.to_string()))?;
        sweep(base);
        let nonce = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos() as u64);
        let folder = base.join(format!("gateway-{}-{nonce:x}", std::process::id()));
        make_private(&folder).map_err(|error| failed(error.to_string()))?;
        let lock = File::create(folder.join("lock")).map_err(|error| failed(error.to_string()))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            folder,
            ready: Arc::default(),
            making: Mutex::default(),
            next: AtomicU64::new(1),
            removed: AtomicBool::new(false),
            _lock: lock,
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Folders for one execution: those made ahead, or new ones.
    pub fn take(&self) -> io::Result<Scratch> {
        let ready = self.ready.lock().pop();
        match ready {
            Some(scratch) => Ok(scratch),
            None => self.make(),
        }
    }

    /// Makes folders until `count` are ready. Blocks on the disk.
    pub fn make_ahead(&self, count: usize) {
        // One at a time, or each of several would make all that are missing.
        let _one = self.making.lock();
        loop {
            if self.ready.lock().len() >= count {
                return;
            }
            let Ok(scratch) = self.make() else { return };
            self.ready.lock().push(scratch);
        }
    }

    fn make(&self) -> io::Result<Scratch> {
        if self.removed.load(Ordering::Relaxed) {
            return Err(io::Error::other("the gateway is closing"));
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(number.to_string());
        // Not the parents: a folder that was removed must stay so.
        let make = |path: &Path| DirBuilder::new().mode(0o700).create(path);
        make(&path)?;
        let (workspace, tmp) = (path.join("workspace"), path.join("tmp"));
        make(&workspace)?;
        make(&tmp)?;
        Ok(Scratch { workspace: open_folder(&workspace)?, tmp: open_folder(&tmp)?, path })
    }

    /// Removes this gateway's folder and everything in it.
    pub fn remove(&self) {
        self.removed.store(true, Ordering::Relaxed);
        self.ready.lock().clear();
        let _ = remove_tree(&self.folder);
    }
}

impl Scratch {
    /// Whether there is anything in its workspace.
    pub fn is_used(&self) -> bool {
        !is_empty(&self.workspace)
    }

    /// A further folder, which goes with these.
    pub fn make(&self, name: &str) -> io::Result<OwnedFd> {
        let path = self.path.join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        open_folder(&path)
    }

    /// Where its workspace is.
    pub fn workspace_path(&self) -> PathBuf {
        self.path.join("workspace")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        // The usual case is an empty workspace, and costs three system calls.
        let quick = fs::remove_dir(path.join("workspace"))
            .and_then(|()| fs::remove_dir(path.join("tmp")))
            .and_then(|()| fs::remove_dir(&path));
        if quick.is_ok() {
            return;
        }
        let _ = remove_tree(&path);
    }
}

/// Whether there is nothing in a folder. One that cannot be read may hold something.
pub fn is_empty(folder: &OwnedFd) -> bool {
    let Ok(entries) = rustix::fs::Dir::read_from(folder) else { return false };
    let found: Vec<_> = entries.take(3).collect();
    // Two are the folder itself and the one above.
    found.len() <= 2 && found.iter().all(Result::is_ok)
}

/// Opens a folder as a starting point for everything beneath it.
pub fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn make_private(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().mode(0o700).recursive(true).create(path)
        }
        outcome => outcome,
    }
}

/// A folder whose lock can be had belongs to nobody any more.
fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with("gateway-") {
            continue;
        }
        // Whoever makes one holds the lock on all of them until it is locked itself.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let abandoned = match rustix::fs::open(entry.path().join("lock"), flags, Mode::empty()) {
            Ok(lock) => flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
            Err(_) => true,
        };
        if abandoned {
            let _ = remove_tree(&entry.path());
        }
    }
}
