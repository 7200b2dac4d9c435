//! Writes a file so that there is always a whole one: beside it, to the disk, then in its place.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A file that could not be written. What was there before is untouched.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be written: {source}", path = .path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

/// Replaces or creates it. A link stays, and what it points to is replaced. A new file is for its
/// owner only, and so are the folders that are made for it; an old one keeps its mode.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    replace(path, bytes).map_err(|source| WriteError { path: path.to_owned(), source })
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = real_path(path)?;
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mode = match fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok(metadata) => metadata.permissions().mode() & 0o777,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0o600,
        Err(error) => return Err(error),
    };
    let (mut file, temporary) = create_beside(&path, folder)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.set_permissions(Permissions::from_mode(mode)))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        // The first error is the one worth telling.
        drop(fs::remove_file(&temporary));
    }
    written?;
    // The rename itself reaches the disk with its folder; some file systems cannot do this.
    drop(File::open(folder).and_then(|folder| folder.sync_all()));
    Ok(())
}

/// Takes it away from everyone but its owner.
pub fn keep_private(path: &Path) -> Result<(), WriteError> {
    let mode = |path: &Path| fs::metadata(path).map(|metadata| metadata.permissions().mode());
    let kept = mode(path).and_then(|mode| fs::set_permissions(path, Permissions::from_mode(mode & 0o700)));
    kept.map_err(|source| WriteError { path: path.to_owned(), source })
}

/// Holds a file for us alone, by a lock file beside it, until the returned one is dropped. Its folder
/// is made if it is not there.
pub fn lock(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let path = path.with_extension("lock");
    let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(file)
}

/// Where the bytes go: through links, and to an absolute path.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(path) {
            Ok(_) => Err(io::Error::new(io::ErrorKind::NotFound, "it is a link to a file that is not there")),
            Err(_) => std::path::absolute(path),
        },
        Err(error) => Err(error),
    }
}

fn create_beside(path: &Path, folder: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    for attempt in 0..100_u32 {
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{attempt}.tmp", std::process::id()));
        let temporary = folder.join(temporary);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
