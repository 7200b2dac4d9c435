//! Looking after the database: is it whole, how large is it, a copy of it.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{FILE_NAME, Reply, Store, StoreError, migrations};

/// More than this many faults say no more than these do.
const FAULTS_MAX: u32 = 20;

/// How the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The version of its tables.
    pub version: i64,
    /// Its size, with the log beside it.
    pub bytes: u64,
    /// What is wrong with it; nothing, as a rule.
    pub faults: Vec<String>,
}

/// No copy was made; nothing was overwritten.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is something already.
    #[error("{} already exists; pick another file", .0.display())]
    Exists(PathBuf),
    /// It cannot be written there.
    #[error("can't write {}: {why}", .file.display())]
    Unwritable {
        file: PathBuf,
        /// What the system says.
        why: String,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Reads all of it and says what is wrong.
    pub fn health(&self) -> Reply<Health> {
        let bytes = self.folder().map_or(0, |folder| {
            ["", "-wal", "-shm"]
                .iter()
                .filter_map(|end| std::fs::metadata(folder.join(format!("{FILE_NAME}{end}"))).ok())
                .map(|metadata| metadata.len())
                .sum()
        });
        self.run(move |connection| {
            let mut look = connection.prepare(&format!("PRAGMA integrity_check({FAULTS_MAX})"))?;
            let found = look.query_map((), |row| row.get::<_, String>(0))?;
            let mut faults = found.collect::<Result<Vec<_>, _>>()?;
            faults.retain(|fault| fault != "ok");
            let mut look = connection.prepare("PRAGMA foreign_key_check")?;
            let lost = look.query_map((), |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
            if let Some(table) = lost.first() {
                faults.push(format!("{} rows of {table} belong to nothing", lost.len()));
            }
            Ok(Health { version: migrations::VERSION, bytes, faults })
        })
    }

    /// Whether it can be written now: writes what stands there already.
    pub fn check_writable(&self) -> Reply<()> {
        self.change(|transaction| Ok(transaction.pragma_update(None, "user_version", migrations::VERSION)?))
    }

    /// Writes a copy as it is at this moment, while everyone goes on. The file appears whole or not
    /// at all.
    pub async fn backup(&self, to: &Path) -> Result<(), BackupError> {
        if to.symlink_metadata().is_ok() {
            return Err(BackupError::Exists(to.to_owned()));
        }
        let unwritable =
            |error: std::io::Error| BackupError::Unwritable { file: to.to_owned(), why: error.to_string() };
        let name = to.file_name().ok_or_else(|| unwritable(std::io::ErrorKind::InvalidInput.into()))?;
        let mut new = name.to_owned();
        new.push(format!(".{}.new", std::process::id()));
        let new = to.with_file_name(new);
        // The file first, for its mode; SQLite takes an empty one.
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).map_err(unwritable)?;
        let place = new.to_string_lossy().into_owned();
        let copied = self
            .run(move |connection| {
                connection.execute("VACUUM INTO ?1", [place])?;
                Ok(())
            })
            .await;
        let outcome = match copied {
            Ok(()) => put_in_place(&new, to).map_err(unwritable),
            Err(error) => Err(error.into()),
        };
        if outcome.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        outcome
    }
}

/// Under its name, on the disk, unless somebody was quicker.
fn put_in_place(new: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::File::open(new)?.sync_all()?;
    std::fs::hard_link(new, to)?;
    std::fs::remove_file(new)
}
