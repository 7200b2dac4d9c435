//! Files with secrets in them.
//!
//! A file that others can read or that belongs to someone else is not read, and no link is followed.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::atomic::{make_private_folder, replace_private};
use crate::lock::LockError;
use crate::stamp::FileStamp;

/// A file or folder that cannot be used as a private one. Nothing of it was read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrivateFileError {
    #[error("{path} contains {holds}, and other users can read it (mode {mode:03o}); run: chmod 600 {path}")]
    OthersCanRead { path: String, holds: &'static str, mode: u32 },
    /// Whoever can write to its folder can replace the file.
    #[error(
        "{path} contains {holds}, and other users can write to it (mode {mode:03o}); run: chmod 700 {path}"
    )]
    OthersCanWrite { path: String, holds: &'static str, mode: u32 },
    #[error("{path} belongs to another user (id {owner}); remove it, or run gristmill as its owner")]
    NotOurs { path: String, owner: u32 },
    /// A link, a pipe or a folder.
    #[error("{path} isn't a regular file; move it away")]
    NotAFile { path: String },
    #[error("{path} is larger than {bytes_max} bytes; move it away")]
    TooLarge { path: String, bytes_max: u64 },
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("{path} can't be {what}: {why}")]
    System { path: String, what: &'static str, why: String },
}

/// A file that only its owner may read. Nothing is opened before it is asked for.
#[derive(Clone, Debug)]
pub struct PrivateFile {
    path: PathBuf,
    holds: &'static str,
}

impl PrivateFile {
    /// `holds` says in a plural word what is in the file, for error messages.
    pub fn new(path: impl Into<PathBuf>, holds: &'static str) -> Self {
        Self { path: path.into(), holds }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Of the file or link at the path itself; `None` if there is none.
    pub fn stamp(&self) -> Option<FileStamp> {
        std::fs::symlink_metadata(&self.path).ok().map(|metadata| FileStamp::from(&metadata))
    }

    /// Its content, and the stamp of exactly that content; `None` if there is no file.
    pub fn read(&self, bytes_max: u64) -> Result<Option<(Vec<u8>, FileStamp)>, PrivateFileError> {
        let path = &self.path;
        let Some(mut file) = self.open()? else { return Ok(None) };
        let metadata = file.metadata().map_err(|error| system(path, "read", &error))?;
        if !metadata.is_file() {
            return Err(PrivateFileError::NotAFile { path: shown(path) });
        }
        check_owner(path, &metadata)?;
        if metadata.mode() & 0o077 != 0 {
            let mode = metadata.mode() & 0o777;
            return Err(PrivateFileError::OthersCanRead { path: shown(path), holds: self.holds, mode });
        }
        let mut bytes = Vec::new();
        let read = Read::by_ref(&mut file).take(bytes_max + 1).read_to_end(&mut bytes);
        read.map_err(|error| system(path, "read", &error))?;
        if bytes.len() as u64 > bytes_max {
            return Err(PrivateFileError::TooLarge { path: shown(path), bytes_max });
        }
        Ok(Some((bytes, FileStamp::from(&metadata))))
    }

    /// Puts a new file of mode 600 in the place of the old one.
    pub fn replace(&self, bytes: &[u8]) -> Result<(), PrivateFileError> {
        replace_private(&self.path, bytes).map_err(|error| system(&self.path, "written", &error))
    }

    fn open(&self) -> Result<Option<File>, PrivateFileError> {
        // A pipe in its place must not hold us up.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        match OpenOptions::new().read(true).custom_flags(flags).open(&self.path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => {
                Err(PrivateFileError::NotAFile { path: shown(&self.path) })
            }
            Err(error) => Err(system(&self.path, "opened", &error)),
        }
    }
}

/// A folder for private files, of mode 700 if it has to be made. One that is someone else's or that
/// others may write to is refused.
pub fn ensure_private_folder(path: &Path, holds: &'static str) -> Result<(), PrivateFileError> {
    make_private_folder(path).map_err(|error| system(path, "created", &error))?;
    let metadata = std::fs::metadata(path).map_err(|error| system(path, "read", &error))?;
    check_owner(path, &metadata)?;
    if metadata.mode() & 0o022 != 0 {
        let mode = metadata.mode() & 0o777;
        return Err(PrivateFileError::OthersCanWrite { path: shown(path), holds, mode });
    }
    Ok(())
}

fn check_owner(path: &Path, metadata: &Metadata) -> Result<(), PrivateFileError> {
    if metadata.uid() == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(PrivateFileError::NotOurs { path: shown(path), owner: metadata.uid() })
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn system(path: &Path, what: &'static str, error: &io::Error) -> PrivateFileError {
    PrivateFileError::System { path: shown(path), what, why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("a test may do this");
    }

    #[test]
    fn a_private_file_is_written_for_its_owner_and_read_back() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("deep/data");
        ensure_private_folder(&folder, "logins").expect("a folder");
        let file = PrivateFile::new(folder.join("tokens.json"), "logins");
        assert_eq!((file.read(10), file.stamp()), (Ok(None), None));
        file.replace(b"one").expect("written");
        let first = file.stamp().expect("a file");
        assert_eq!(file.read(10), Ok(Some((b"one".to_vec(), first))));
        file.replace(b"two").expect("written");
        assert_ne!(file.stamp(), Some(first));
        let mode = |path: &Path| std::fs::metadata(path).expect("there").mode() & 0o777;
        assert_eq!((mode(&folder), mode(file.path())), (0o700, 0o600));
    }

    #[test]
    fn what_others_could_have_seen_or_changed_is_refused_with_the_remedy() {
        let root = tempfile::tempdir().expect("a folder");
        let file = PrivateFile::new(root.path().join("tokens.json"), "logins");
        file.replace(b"secret").expect("written");
        set_mode(file.path(), 0o640);
        let shown = file.path().display();
        assert_eq!(
            file.read(10).expect_err("readable by others").to_string(),
            format!(
                "{shown} contains logins, and other users can read it (mode 640); run: chmod 600 {shown}"
            )
        );
        set_mode(root.path(), 0o770);
        let shown = root.path().display();
        assert_eq!(
            ensure_private_folder(root.path(), "logins").expect_err("others can write").to_string(),
            format!(
                "{shown} contains logins, and other users can write to it (mode 770); run: chmod 700 {shown}"
            )
        );
    }

    #[test]
    fn what_is_too_large_or_no_plain_file_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let file = PrivateFile::new(root.path().join("tokens.json"), "logins");
        file.replace(b"secret").expect("written");
        assert!(matches!(file.read(5), Err(PrivateFileError::TooLarge { bytes_max: 5, .. })));
        assert!(matches!(file.read(6), Ok(Some(_))));
        let link = PrivateFile::new(root.path().join("link"), "logins");
        symlink(file.path(), link.path()).expect("a link");
        let device = PrivateFile::new("/dev/null", "logins");
        let folder = PrivateFile::new(root.path(), "logins");
        for other in [link, device, folder] {
            let refused = Err(PrivateFileError::NotAFile { path: shown(other.path()) });
            assert_eq!(other.read(10), refused);
        }
    }

    #[test]
    fn the_file_of_another_user_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let ours = root.path().join("tokens.json");
        std::fs::write(&ours, "").expect("a file");
        // Only root can give a file away; for everyone else, the root folder is another user's.
        let path = match std::os::unix::fs::chown(&ours, Some(12_345), None) {
            Ok(()) => ours.as_path(),
            Err(_) => Path::new("/"),
        };
        let metadata = std::fs::metadata(path).expect("it is there");
        let refused = PrivateFileError::NotOurs { path: shown(path), owner: metadata.uid() };
        assert_eq!(check_owner(path, &metadata), Err(refused));
    }

    #[test]
    fn a_write_that_fails_names_the_file() {
        let root = tempfile::tempdir().expect("a folder");
        let file = PrivateFile::new(root.path().join("file/below"), "logins");
        std::fs::write(root.path().join("file"), "").expect("a file");
        let refused = file.replace(b"").expect_err("a file is no folder");
        assert!(matches!(refused, PrivateFileError::System { what: "written", .. }), "{refused}");
    }
}
