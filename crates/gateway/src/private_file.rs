//! Files that only their owner reads, replaced whole or not at all.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Nobody writes for so long.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(600);

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Writes the file anew: whoever reads it sees the old content or the new one, also after a crash.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    remove_leftovers(folder, &name);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let new = folder.join(format!(".{name}.{}-{count}.new", std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&new, path)?;
        // The new name reaches the disk with its folder; some file systems cannot do this.
        drop(File::open(folder).and_then(|folder| folder.sync_all()));
        Ok(())
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

/// What was being written when someone was killed.
fn remove_leftovers(folder: &Path, name: &str) {
    let beginning = format!(".{name}.");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let other = entry.file_name().to_string_lossy().into_owned();
        let age = entry.metadata().and_then(|metadata| metadata.modified());
        let is_old = age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFT_BEHIND_AFTER));
        if is_old && other.starts_with(&beginning) && other.ends_with(".new") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The file's text; `None` if there is no file. One that is larger is refused.
pub(crate) fn read(path: &Path, bytes_max: u64) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(bytes_max + 1).read_to_string(&mut text)?;
    if text.len() as u64 > bytes_max {
        return Err(io::Error::other("it is larger than it can be"));
    }
    Ok(Some(text))
}

/// Holds a lock on a file beside the data, so that two gateways do not undo each other's changes.
pub(crate) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits until it has the lock.
    pub(crate) fn take(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(Self { _file: file })
    }
}
