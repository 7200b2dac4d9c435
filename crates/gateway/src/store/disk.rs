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
    state: Mutex<State>,
    is_copying: AtomicBool,
}

/// How the log was at some moment: another one now means that somebody has written since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastWritten {
    bytes: u64,
    at: SystemTime,
}

enum State {
    NotBegun,
    Running(Worker),
    /// Whatever comes now is done in place.
    Ended,
}

struct Worker {
    tasks: Sender<Task>,
    thread: JoinHandle<()>,
}

impl Disk {
    pub fn of(folder: Option<&Path>) -> Self {
        let folder = folder.map(Path::to_owned);
        let state = Mutex::new(State::NotBegun);
        Self(Arc::new(Shared { folder, state, is_copying: AtomicBool::new(false) }))
    }

    /// Makes everything safe that was committed, and says whether it is.
    pub fn make_safe(&self, told: impl FnOnce(Safe) + Send + 'static) {
        let Some(log) = self.0.folder.as_ref().map(|folder| log_in(folder)) else { return told(Safe::Yes) };
        self.later(Box::new(move || told(sync(&log))));
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
        let mut state = self.0.state.lock();
        if let (State::NotBegun, Some(worker)) = (&*state, Worker::start()) {
            *state = State::Running(worker);
        }
        let unsent = match &*state {
            State::Running(worker) => worker.tasks.send(task).err().map(|unsent| unsent.0),
            State::NotBegun | State::Ended => Some(task),
        };
        drop(state);
        if let Some(task) = unsent {
            task();
        }
    }

    /// Does what was asked for, and ends.
    pub fn end(&self) {
        let state = std::mem::replace(&mut *self.0.state.lock(), State::Ended);
        if let State::Running(Worker { tasks, thread }) = state {
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

/// Whether something would be there after a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Safe {
    Yes,
    Unknown,
}

/// Whether what stands in the log is safe. Where there is no log any more, it is in the file, which was made
/// safe before the log went.
fn sync(log: &Path) -> Safe {
    let is_safe = match File::open(log) {
        Ok(log) => log.sync_data().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    if is_safe { Safe::Yes } else { Safe::Unknown }
}
