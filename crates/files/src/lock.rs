//! Locks between processes, each on a file of its own. The kernel releases them however a process ends.
//!
//! A lock file that is missing is made, with mode 600. Its folder must be there.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::atomic::make_private_folder;

const FIRST_PAUSE: Duration = Duration::from_millis(2);
const PAUSE_MAX: Duration = Duration::from_millis(25);

/// A lock that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Another process is still at work, or hangs.
    #[error("{path} has been locked by another process for {seconds} s; is another gristmill hanging?")]
    Held { path: String, seconds: u64 },
    #[error("{path} can't be {what}: {why}")]
    System { path: String, what: &'static str, why: String, kind: io::ErrorKind },
}

impl From<LockError> for io::Error {
    fn from(error: LockError) -> Self {
        let kind = match &error {
            LockError::Held { .. } => io::ErrorKind::WouldBlock,
            LockError::System { kind, .. } => *kind,
        };
        io::Error::new(kind, error)
    }
}

/// Held until it is dropped.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// For whoever changes the file at `path`: waits for the lock on `<name>.lock` beside it, with the
    /// file's extension left out. The folder is made if it is missing.
    pub fn beside(path: &Path) -> Result<Self, LockError> {
        if let Some(folder) = path.parent() {
            make_private_folder(folder).map_err(|error| system(folder, "created", &error))?;
        }
        Self::take(&path.with_extension("lock"))
    }

    /// Waits as long as it takes.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let file = open(path)?;
        loop {
            match file.lock() {
                Ok(()) => return Ok(Self { file }),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(system(path, "locked", &error)),
            }
        }
    }

    /// Waits up to `patience`, and blocks the thread while it does.
    pub fn take_within(path: &Path, patience: Duration) -> Result<Self, LockError> {
        let mut attempts = LockAttempts::open(path, patience)?;
        loop {
            match attempts.attempt()? {
                LockAttempt::Taken(lock) => return Ok(lock),
                LockAttempt::HeldByOther { pause } => std::thread::sleep(pause),
            }
        }
    }

    /// Does not wait: `None` if somebody has the lock.
    pub fn try_take(path: &Path) -> Result<Option<Self>, LockError> {
        let file = open(path)?;
        let taken = try_lock(&file).map_err(|error| system(path, "locked", &error))?;
        Ok(taken.then_some(Self { file }))
    }

    /// Whether somebody has the lock at this moment. Nothing is made.
    pub fn is_held(path: &Path) -> bool {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
        opened.is_ok_and(|file| file.try_lock_shared().is_err())
    }

    /// Whether the lock file is still the one at `path`. A lock on a file that was removed or replaced
    /// keeps nobody out.
    pub fn is_still_at(&self, path: &Path) -> io::Result<bool> {
        let (held, there) = (self.file.metadata()?, std::fs::symlink_metadata(path)?);
        Ok((held.dev(), held.ino()) == (there.dev(), there.ino()))
    }
}

/// Taking a lock in steps, for whoever must not block the thread between them.
#[derive(Debug)]
pub struct LockAttempts {
    path: PathBuf,
    file: Option<File>,
    patience: Duration,
    waited: Duration,
    pause: Duration,
}

/// What came of one step.
#[derive(Debug)]
pub enum LockAttempt {
    Taken(FileLock),
    /// The next step is worth trying after this pause.
    HeldByOther {
        pause: Duration,
    },
}

impl LockAttempts {
    /// Nothing is locked yet.
    pub fn open(path: &Path, patience: Duration) -> Result<Self, LockError> {
        let file = Some(open(path)?);
        Ok(Self { path: path.to_owned(), file, patience, waited: Duration::ZERO, pause: FIRST_PAUSE })
    }

    /// Tries once. [`LockError::Held`] when the pauses together are as long as the patience.
    pub fn attempt(&mut self) -> Result<LockAttempt, LockError> {
        let file = match self.file.take() {
            Some(file) => file,
            // Tried again after it was taken: another lock is wanted, so another file.
            None => open(&self.path)?,
        };
        if try_lock(&file).map_err(|error| system(&self.path, "locked", &error))? {
            return Ok(LockAttempt::Taken(FileLock { file }));
        }
        self.file = Some(file);
        if self.waited >= self.patience {
            return Err(LockError::Held { path: shown(&self.path), seconds: self.patience.as_secs() });
        }
        let pause = self.pause;
        self.waited += pause;
        self.pause = (pause * 2).min(PAUSE_MAX);
        Ok(LockAttempt::HeldByOther { pause })
    }
}

/// Through no link: whoever can plant one must not choose which file we create.
fn open(path: &Path) -> Result<File, LockError> {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    let mut options = OpenOptions::new();
    let opened = options.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags).open(path);
    opened.map_err(|error| system(path, "opened", &error))
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn system(path: &Path, what: &'static str, error: &io::Error) -> LockError {
    LockError::System { path: shown(path), what, why: error.to_string(), kind: error.kind() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.lock");
        (folder, path)
    }

    #[test]
    fn a_lock_is_held_by_one_until_it_is_dropped() {
        let (_folder, path) = place();
        assert!(!FileLock::is_held(&path), "there is nothing yet");
        let held = FileLock::take(&path).expect("free");
        assert!(FileLock::is_held(&path));
        assert!(FileLock::try_take(&path).expect("it can be tried").is_none());
        assert_eq!(
            FileLock::take_within(&path, Duration::ZERO).expect_err("held"),
            LockError::Held { path: path.display().to_string(), seconds: 0 }
        );
        drop(held);
        assert!(!FileLock::is_held(&path));
        assert!(FileLock::try_take(&path).expect("it can be tried").is_some());
    }

    #[test]
    fn whoever_waits_gets_the_lock_when_it_is_free() {
        let (_folder, path) = place();
        let held = FileLock::take(&path).expect("free");
        let waiting = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| FileLock::take(&path));
            drop(held);
            waiting.join().expect("no panic")
        });
        waiting.expect("free again");
    }

    #[test]
    fn attempts_pause_longer_and_longer_and_then_give_up() {
        let (_folder, path) = place();
        let held = FileLock::take(&path).expect("free");
        let mut attempts = LockAttempts::open(&path, Duration::from_millis(100)).expect("a lock file");
        let mut pauses = Vec::new();
        let refused = loop {
            match attempts.attempt() {
                Ok(LockAttempt::HeldByOther { pause }) => pauses.push(pause.as_millis()),
                Ok(LockAttempt::Taken(lock)) => panic!("{lock:?} is held"),
                Err(error) => break error,
            }
        };
        assert_eq!(pauses, [2, 4, 8, 16, 25, 25, 25]);
        assert!(matches!(refused, LockError::Held { .. }), "{refused}");
        drop(held);
        assert!(matches!(attempts.attempt(), Ok(LockAttempt::Taken(_))), "free again");
    }

    #[test]
    fn the_folder_is_made_for_a_lock_beside_a_file_alone() {
        let (folder, _) = place();
        let file = folder.path().join("new/data.json");
        let refused = FileLock::try_take(&file.with_extension("lock")).expect_err("no folder");
        assert!(matches!(refused, LockError::System { kind: io::ErrorKind::NotFound, .. }), "{refused}");
        assert!(!folder.path().join("new").exists());
        let _held = FileLock::beside(&file).expect("free");
        assert_eq!(std::fs::metadata(folder.path().join("new")).expect("made").mode() & 0o777, 0o700);
        assert!(FileLock::is_held(&folder.path().join("new/data.lock")));
    }

    #[test]
    fn as_an_error_of_the_system_it_keeps_its_kind() {
        let (folder, _) = place();
        let error: io::Error =
            FileLock::take(&folder.path().join("none/x.lock")).expect_err("no folder").into();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let held = LockError::Held { path: "x.lock".to_owned(), seconds: 3 };
        assert_eq!(
            io::Error::from(held).to_string(),
            "x.lock has been locked by another process for 3 s; is another gristmill hanging?"
        );
    }

    #[test]
    fn a_lock_file_is_private_and_never_behind_a_link() {
        let (folder, path) = place();
        drop(FileLock::take(&path).expect("free"));
        assert_eq!(std::fs::metadata(&path).expect("a file").mode() & 0o777, 0o600);
        let link = folder.path().join("link");
        symlink(folder.path().join("elsewhere"), &link).expect("a link");
        assert!(matches!(FileLock::take(&link), Err(LockError::System { what: "opened", .. })));
        assert!(!folder.path().join("elsewhere").exists());
    }

    #[test]
    fn a_lock_knows_when_its_file_was_replaced() {
        let (_folder, path) = place();
        let lock = FileLock::take(&path).expect("free");
        assert!(lock.is_still_at(&path).expect("a file"));
        std::fs::remove_file(&path).expect("removed");
        let other = FileLock::take(&path).expect("a new file");
        assert!(!lock.is_still_at(&path).expect("a file"));
        assert!(other.is_still_at(&path).expect("a file"));
    }
}
