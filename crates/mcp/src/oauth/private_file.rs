//! A file that only its owner reads, replaced as a whole, and locks between processes.
//!
//! Walls: a file that others can read or that belongs to someone else is not read; links are not
//! followed. A reader sees the old file or the new one, never a part.

use std::fs::{DirBuilder, File};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// Between two attempts at a lock, at most.
const LOCK_PAUSE_MAX: Duration = Duration::from_millis(100);

/// A file or folder that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrivateFileError {
    /// Others could read it.
    #[error("{path} holds logins and can be read by others (mode {mode:03o}); run: chmod 600 {path}")]
    OthersCanRead {
        /// Which.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// Others could replace what is in it.
    #[error("{path} holds logins and can be written to by others (mode {mode:03o}); run: chmod 700 {path}")]
    OthersCanWrite {
        /// Which folder.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// It is someone else's.
    #[error("{path} belongs to another user (id {owner}); remove it, or run gristmill as its owner")]
    NotOurs {
        /// Which.
        path: String,
        /// Whose.
        owner: u32,
    },
    /// A link, a pipe, a folder.
    #[error("{path} is not a plain file; move it away")]
    NotAFile {
        /// Which.
        path: String,
    },
    /// Larger than any real one.
    #[error("{path} is larger than {bytes_max} bytes; move it away and log in again")]
    TooLarge {
        /// Which.
        path: String,
        /// The limit.
        bytes_max: u64,
    },
    /// Another process keeps it.
    #[error("{path} has been locked by another process for {seconds} s; is another gristmill hanging?")]
    Locked {
        /// Which.
        path: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The system said no.
    #[error("{path} cannot be {what}: {why}")]
    System {
        /// Which.
        path: String,
        /// What we wanted.
        what: &'static str,
        /// Its words.
        why: String,
    },
}

/// Which file it was. Another one has taken its place if these differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

/// The stamp without reading; None if there is no file.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    std::fs::symlink_metadata(path).ok().map(|about| stamp_of(&about))
}

fn stamp_of(about: &std::fs::Metadata) -> Stamp {
    Stamp { inode: about.ino(), bytes: about.size(), changed: (about.ctime(), about.ctime_nsec()) }
}

/// All of a private file; None if there is none.
pub(super) fn read(path: &Path, bytes_max: u64) -> Result<Option<(Vec<u8>, Stamp)>, PrivateFileError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(PrivateFileError::NotAFile { path: shown(path) }),
        Err(error) => return Err(system(path, "opened", error)),
    };
    let about = file.metadata().map_err(|error| system(path, "read", error))?;
    if !about.is_file() {
        return Err(PrivateFileError::NotAFile { path: shown(path) });
    }
    check_owner(path, &about)?;
    if about.mode() & 0o077 != 0 {
        return Err(PrivateFileError::OthersCanRead { path: shown(path), mode: about.mode() & 0o777 });
    }
    let mut bytes = Vec::new();
    let limited = Read::by_ref(&mut file).take(bytes_max + 1).read_to_end(&mut bytes);
    limited.map_err(|error| system(path, "read", error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(PrivateFileError::TooLarge { path: shown(path), bytes_max });
    }
    Ok(Some((bytes, stamp_of(&about))))
}

/// Puts a new file in the place of the old one.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), PrivateFileError> {
    gristmill_gateway::private_file::replace(path, bytes).map_err(|error| system(path, "written", error))
}

/// A folder of mode 700, made if it is not there. One that others may write to is refused.
pub(super) fn ensure_folder(path: &Path) -> Result<(), PrivateFileError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| system(path, "created", error))?;
    let about = std::fs::metadata(path).map_err(|error| system(path, "read", error))?;
    check_owner(path, &about)?;
    if about.mode() & 0o022 != 0 {
        return Err(PrivateFileError::OthersCanWrite { path: shown(path), mode: about.mode() & 0o777 });
    }
    Ok(())
}

fn check_owner(path: &Path, about: &std::fs::Metadata) -> Result<(), PrivateFileError> {
    if about.uid() == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(PrivateFileError::NotOurs { path: shown(path), owner: about.uid() })
}

/// A lock that is held until this is dropped; the kernel releases it if the process dies.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "dropping it releases the lock")] File);

/// Waits for a lock without blocking the thread.
pub(super) async fn lock(path: PathBuf, patience: Duration) -> Result<Lock, PrivateFileError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR);
    let file = File::from(file.map_err(|error| system(&path, "opened", error))?);
    let mut pause = Duration::from_millis(2);
    let mut waited = Duration::ZERO;
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Lock(file)),
            Err(Errno::WOULDBLOCK | Errno::INTR) if waited < patience => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                return Err(PrivateFileError::Locked { path: shown(&path), seconds: patience.as_secs() });
            }
            Err(error) => return Err(system(&path, "locked", error)),
        }
        tokio::time::sleep(pause).await;
        waited += pause;
        pause = (pause * 2).min(LOCK_PAUSE_MAX);
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn system(path: &Path, what: &'static str, error: impl Into<std::io::Error>) -> PrivateFileError {
    PrivateFileError::System { path: shown(path), what, why: error.into().to_string() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use gristmill_testkit::TestFolder;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("there").mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    }

    #[test]
    fn a_private_file_is_written_for_its_owner_and_read_back() {
        let test = TestFolder::new("private-file");
        let folder = test.path().join("deep/data");
        ensure_folder(&folder).expect("a folder");
        let path = folder.join("tokens.json");
        assert_eq!(read(&path, 10), Ok(None));
        replace(&path, b"one").expect("written");
        let first = stamp(&path);
        assert_eq!(read(&path, 10), Ok(Some((b"one".to_vec(), first.expect("a file")))));
        replace(&path, b"two").expect("written");
        assert_ne!(stamp(&path), first);
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
        let names: Vec<_> =
            std::fs::read_dir(&folder).expect("a folder").flatten().map(|e| e.file_name()).collect();
        assert_eq!(names, ["tokens.json"]);
    }

    #[test]
    fn what_others_could_have_seen_or_changed_is_refused_with_the_remedy() {
        let test = TestFolder::new("private-file-refused");
        let path = test.path().join("tokens.json");
        replace(&path, b"secret").expect("written");
        set_mode(&path, 0o640);
        let shown = path.display();
        let refused = read(&path, 10).expect_err("readable by others").to_string();
        assert_eq!(
            refused,
            format!("{shown} holds logins and can be read by others (mode 640); run: chmod 600 {shown}")
        );
        set_mode(&path, 0o600);
        assert!(matches!(read(&path, 5), Err(PrivateFileError::TooLarge { bytes_max: 5, .. })));
        let link = test.path().join("link");
        symlink(&path, &link).expect("a link");
        assert!(matches!(read(&link, 10), Err(PrivateFileError::NotAFile { .. })));
        assert!(matches!(read(test.path(), 10), Err(PrivateFileError::NotAFile { .. })));
        set_mode(test.path(), 0o770);
        let refused = ensure_folder(test.path()).expect_err("others can write").to_string();
        assert!(refused.ends_with(&format!("run: chmod 700 {}", test.path().display())), "{refused}");
    }

    #[tokio::test]
    async fn a_lock_is_held_by_one_and_waited_for_by_the_other() {
        let test = TestFolder::new("private-file-lock");
        let path = test.path().join("x.lock");
        let held = lock(path.clone(), Duration::ZERO).await.expect("free");
        let refused = lock(path.clone(), Duration::ZERO).await.expect_err("held");
        assert_eq!(refused, PrivateFileError::Locked { path: path.display().to_string(), seconds: 0 });
        let waiting = tokio::spawn(lock(path.clone(), Duration::from_secs(30)));
        tokio::task::yield_now().await;
        drop(held);
        waiting.await.expect("no panic").expect("free again");
    }
}
