//! Which files of projects the user approved, by path and content.
//!
//! A project's file can name any command. It is used only while it is exactly what the user said
//! yes to: the store holds the hash of that text, and a file that changes is not approved any more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gristmill_files::{FileLock, LockError, WriteError, replace_keeping_mode};
use serde::{Deserialize, Serialize};

use super::read_file::{FileText, ReadError};

/// The name of the store in the data folder.
pub const FILE_NAME: &str = "approvals.json";
const VERSION: u32 = 1;

/// Whether a file may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is what the user approved.
    Approved,
    /// It was approved once, with another content.
    Changed,
    /// It was never approved.
    New,
}

/// The store cannot be used. Nothing counts as approved.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalsError {
    /// It cannot be read.
    #[error("can't use the approvals in {path}: the file {source}", path = .path.display())]
    Read { path: PathBuf, source: ReadError },
    /// It is not ours, or damaged.
    #[error("can't read the approvals in {path}; delete the file and approve again", path = .path.display())]
    Damaged { path: PathBuf },
    /// Others may write to it.
    #[error("the approvals in {path} can be changed by other users; remove the file and approve again", path = .path.display())]
    WritableByOthers { path: PathBuf },
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Nobody else may change it meanwhile, and that could not be had.
    #[error("can't change the approvals: {0}")]
    Lock(#[from] LockError),
    /// A path that cannot be kept.
    #[error("can't approve {path}: its path isn't UTF-8", path = .path.display())]
    PathNotText { path: PathBuf },
}

#[derive(Clone, Debug)]
pub struct Approvals {
    path: PathBuf,
    files: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    files: BTreeMap<String, String>,
}

impl Approvals {
    /// Nothing is approved, and nothing was read.
    pub fn none(path: &Path) -> Self {
        Self { path: path.to_owned(), files: BTreeMap::new() }
    }

    /// Reads the store; a missing one is empty.
    pub fn load(path: &Path) -> Result<Self, ApprovalsError> {
        let read = FileText::read_if_there(path)
            .map_err(|source| ApprovalsError::Read { path: path.to_owned(), source })?;
        let Some(file) = read else { return Ok(Self::none(path)) };
        if file.writable_by_others {
            return Err(ApprovalsError::WritableByOthers { path: path.to_owned() });
        }
        match serde_json::from_slice::<Stored>(&file.bytes) {
            Ok(stored) if stored.version == VERSION => {
                Ok(Self { path: path.to_owned(), files: stored.files })
            }
            Ok(_) | Err(_) => Err(ApprovalsError::Damaged { path: path.to_owned() }),
        }
    }

    /// Whether a file with this content may be used.
    pub fn status(&self, file: &Path, content: &[u8]) -> Status {
        let approved = key(file).ok().and_then(|key| self.files.get(&key));
        match approved {
            Some(hash) if *hash == hash_of(content) => Status::Approved,
            Some(_) => Status::Changed,
            None => Status::New,
        }
    }

    /// From now on a file with exactly this content may be used.
    pub fn approve(&mut self, file: &Path, content: &[u8]) -> Result<(), ApprovalsError> {
        let key = key(file)?;
        self.change(|files| {
            files.insert(key, hash_of(content));
        })
    }

    /// From now on it may not. Says whether it might before.
    pub fn revoke(&mut self, file: &Path) -> Result<bool, ApprovalsError> {
        let key = key(file)?;
        let mut was_there = false;
        self.change(|files| was_there = files.remove(&key).is_some())?;
        Ok(was_there)
    }

    /// Two of us may approve at the same time; neither may undo the other.
    fn change(&mut self, change: impl FnOnce(&mut BTreeMap<String, String>)) -> Result<(), ApprovalsError> {
        let _lock = FileLock::beside(&self.path)?;
        let mut files = Self::load(&self.path)?.files;
        change(&mut files);
        let stored = Stored { version: VERSION, files };
        let mut text = serde_json::to_vec_pretty(&stored)
            .map_err(|_| ApprovalsError::Damaged { path: self.path.clone() })?;
        text.push(b'\n');
        replace_keeping_mode(&self.path, &text)?;
        self.files = stored.files;
        Ok(())
    }
}

/// The same file has one name, whichever way it is reached.
fn key(file: &Path) -> Result<String, ApprovalsError> {
    // One that is gone is known by the same name.
    let gone = || {
        let (folder, name) = (file.parent()?, file.file_name()?);
        Some(fs::canonicalize(folder).ok()?.join(name))
    };
    let real = fs::canonicalize(file).ok().or_else(gone);
    let real = real.or_else(|| std::path::absolute(file).ok()).unwrap_or(file.to_owned());
    real.into_os_string()
        .into_string()
        .map_err(|path| ApprovalsError::PathNotText { path: PathBuf::from(path) })
}

fn hash_of(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}
