//! What waits for the disk, beside the jobs, which don't: the log is copied into the file, and marks are
//! written once what they vouch for is safe.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::SystemTime;

use parking_lot::Mutex;

use super::{FILE_NAME, database};

/// Jobs between two copies. Most write a dozen pages.
const JOBS_BETWEEN_COPIES: u32 = 64;

type Task = Box<dyn FnOnce() + Send>;

/// One thread, begun when there is something to do. Without a file nothing waits for a disk.
#[derive(Clone)]
pub(super) struct Disk(Arc<Shared>);

struct Shared {
    /// The folder of the database; `None` for one in memory.
    folder: Option<PathBuf>,
    worker: Mutex<Option<Worker>>,
    is_copying: AtomicBool,
}

/// How the log was at some moment: another one now means that somebody has written since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastWritten {
    bytes: u64,
    at: SystemTime,
}

struct Worker {
    tasks: Sender<Task>,
    thread: JoinHandle<()>,
}

impl Disk {
    pub fn of(folder: Option<&Path>) -> Self {
        let folder = folder.map(Path::to_owned);
        Self(Arc::new(Shared { folder, worker: Mutex::new(None), is_copying: AtomicBool::new(false) }))
    }

    /// Once everything that was committed is safe.
    pub fn once_safe(&self, act: impl FnOnce() + Send + 'static) {
        let Some(log) = self.0.folder.as_ref().map(|folder| log_in(folder)) else { return act() };
        self.later(Box::new(move || {
            if sync(&log) {
                act();
            }
        }));
    }

    pub fn last_written(&self) -> Option<LastWritten> {
        let log = std::fs::metadata(log_in(self.0.folder.as_ref()?)).ok()?;
        Some(LastWritten { bytes: log.len(), at: log.modified().ok()? })
    }

    /// Copies the log, unless that is being done.
    fn copy_log(&self) {
        let Some(folder) = self.0.folder.clone() else { return };
        if self.0.is_copying.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::clone(&self.0);
        self.later(Box::new(move || {
            database::copy_log(&folder);
            shared.is_copying.store(false, Ordering::Release);
        }));
    }

    /// In place, where there is no thread to be had.
    fn later(&self, task: Task) {
        let mut worker = self.0.worker.lock();
        if worker.is_none() {
            *worker = Worker::start();
        }
        let unsent = match worker.as_ref() {
            Some(worker) => worker.tasks.send(task).err().map(|unsent| unsent.0),
            None => Some(task),
        };
        drop(worker);
        if let Some(task) = unsent {
            task();
        }
    }

    /// Does what was asked for, and ends.
    pub fn end(&self) {
        let worker = self.0.worker.lock().take();
        if let Some(Worker { tasks, thread }) = worker {
            drop(tasks);
            let _ = thread.join();
        }
    }
}

impl Worker {
    fn start() -> Option<Self> {
        let (tasks, waiting) = channel::<Task>();
        let work = move || waiting.into_iter().for_each(|task| task());
        let thread = std::thread::Builder::new().name("store-disk".to_owned()).spawn(work).ok()?;
        Some(Self { tasks, thread })
    }
}

/// Counts jobs, and has the log copied every now and then.
pub(super) struct Upkeep {
    disk: Disk,
    jobs: u32,
}

impl Upkeep {
    pub fn new(disk: Disk) -> Self {
        Self { disk, jobs: 0 }
    }

    pub fn after_job(&mut self) {
        self.jobs += 1;
        if self.jobs == JOBS_BETWEEN_COPIES {
            self.jobs = 0;
            self.disk.copy_log();
        }
    }

    pub fn end(self) {
        self.disk.end();
    }
}

fn log_in(folder: &Path) -> PathBuf {
    folder.join(format!("{FILE_NAME}-wal"))
}

/// Whether what stands in the log is safe. Where there is no log any more, it is in the file, which was made
/// safe before the log went.
fn sync(log: &Path) -> bool {
    match File::open(log) {
        Ok(log) => log.sync_data().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}
