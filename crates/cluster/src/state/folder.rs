//! A data folder whose state is shared: which cluster it belongs to, and where its copy of the database is.
//!
//! ```text
//! <data>/replica/cluster.json   its state is shared, with whom
//!               /member.lock    held by the gateway that stands by or leads here: one for each data folder
//!               /leads.lock     held while it leads; without it nobody opens the database here
//!               /gristmill.db   the database as the log has it
//! <data>/gristmill.db           the same, as long as the gateway here leads
//! ```

use std::io;
use std::path::{Path, PathBuf};

use gristmill_files::{FileLock, LockError, make_private_folder, replace_private};
use gristmill_gateway::store::{FILE_NAME, LEADS_LOCK, MEMBER_FILE};
use gristmill_replica::database;
use serde::{Deserialize, Serialize};

use super::error::StateError;
use crate::names::ClusterName;

const FOLDER: &str = "replica";
const MEMBER_LOCK: &str = "replica/member.lock";

/// What a data folder has whose gateway has a state of its own: these files, anything in these folders, and rows in
/// these tables.
const OWN_FILES: [&str; 3] = ["access-tokens.json", "policy-approvals.json", "tokens.json"];
const OWN_FOLDERS: [&str; 3] = ["results", "sessions", "skills"];
const OWN_TABLES: [&str; 5] = ["executions", "sessions", "results", "skill_versions", "vault_values"];

/// What commands leave in a data folder before its gateway has done anything, such as `add`. It's put beside the state
/// that takes its place.
const SET_ASIDE: [&str; 9] = [
    FILE_NAME,
    "gristmill.db-wal",
    "gristmill.db-shm",
    "approval-links.key",
    "audit.key",
    "audit.mark",
    "local-token",
    "pins.json",
    "vault.key",
];
const ASIDE_FOLDER: &str = "before-sharing";

/// More is no such file.
const MEMBER_BYTES_MAX: usize = 4 * 1024;

/// Beside a database while it's open, or after a kill.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// A data folder that this process alone shares.
pub(super) struct SharedFolder {
    data: PathBuf,
    _member: FileLock,
}

/// With whom a state is shared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Membership {
    pub cluster: String,
    /// Of the state: a cluster that began anew under its name has another.
    pub id: String,
}

impl SharedFolder {
    pub fn open(data: &Path) -> Result<Self, StateError> {
        let failed =
            |error: io::Error| StateError::Folder { folder: data.to_owned(), why: error.to_string() };
        make_private_folder(data).map_err(failed)?;
        make_private_folder(&data.join(FOLDER)).map_err(failed)?;
        let lock = FileLock::try_take(&data.join(MEMBER_LOCK));
        let lock = lock.map_err(|error: LockError| failed(error.into()))?;
        let member = lock.ok_or_else(|| StateError::InUse { folder: data.to_owned() })?;
        Ok(Self { data: data.to_owned(), _member: member })
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The copy of the database.
    pub fn copy(&self) -> PathBuf {
        self.data.join(FOLDER).join(FILE_NAME)
    }

    /// The database that a gateway works on.
    pub fn database(&self) -> PathBuf {
        self.data.join(FILE_NAME)
    }

    /// With whom it's shared already; `None` if it never was.
    pub fn membership(&self) -> Result<Option<Membership>, StateError> {
        let path = self.data.join(MEMBER_FILE);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) if bytes.len() <= MEMBER_BYTES_MAX => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Ok(_) => return Err(self.failed("replica/cluster.json is too large".to_owned())),
            Err(error) => return Err(self.failed(format!("replica/cluster.json: {error}"))),
        };
        let read = serde_json::from_slice(&bytes);
        read.map(Some).map_err(|error| self.failed(format!("replica/cluster.json: {error}")))
    }

    /// From here on it's shared.
    pub fn join(&self, cluster: &ClusterName, id: &str) -> Result<(), StateError> {
        let membership = Membership { cluster: cluster.to_string(), id: id.to_owned() };
        let text = serde_json::to_vec(&membership).map_err(|error| self.failed(error.to_string()))?;
        let written = replace_private(&self.data.join(MEMBER_FILE), &text);
        written.map_err(|error| self.failed(error.to_string()))
    }

    /// It isn't, after all.
    pub fn leave(&self) {
        let _ = std::fs::remove_file(self.data.join(MEMBER_FILE));
    }

    /// Whether something lies in it that was never shared, and that somebody would miss.
    pub fn has_own_state(&self) -> Result<bool, StateError> {
        let is_filled = |name: &&str| {
            std::fs::read_dir(self.data.join(name)).is_ok_and(|mut entries| {
                entries.any(|entry| entry.is_ok_and(|entry| !is_passing(&entry.file_name())))
            })
        };
        let has_files = OWN_FILES.iter().any(|name| self.data.join(name).exists());
        Ok(has_files
            || OWN_FOLDERS.iter().any(is_filled)
            || database::has_rows(&self.database(), &OWN_TABLES)?)
    }

    /// Puts what lies in it elsewhere, in the same folder; gives where, if there was anything.
    pub fn set_aside(&self) -> Result<Option<PathBuf>, StateError> {
        let to = self.data.join(ASIDE_FOLDER);
        let moved = || -> io::Result<bool> {
            let mut is_any = false;
            for name in SET_ASIDE {
                let from = self.data.join(name);
                if from.exists() {
                    make_private_folder(&to)?;
                    std::fs::rename(&from, to.join(name))?;
                    is_any = true;
                }
            }
            Ok(is_any)
        };
        let is_any = moved().map_err(|error| self.failed(error.to_string()))?;
        Ok(is_any.then_some(to))
    }

    /// Nobody works on the database here any more.
    pub fn remove_database(&self) -> Result<(), StateError> {
        remove_database(&self.database()).map_err(|error| self.failed(error.to_string()))
    }

    /// The gateway here leads: it works on the database as the copy has it.
    pub fn lead(&self) -> Result<FileLock, StateError> {
        let lock = FileLock::try_take(&self.data.join(LEADS_LOCK));
        let lock = lock.map_err(|error| self.failed(io::Error::from(error).to_string()))?;
        let lock = lock.ok_or_else(|| StateError::InUse { folder: self.data.clone() })?;
        self.remove_database()?;
        let (copy, database) = (self.copy(), self.database());
        if copy.exists() {
            // Whole or not at all: half of it would be taken for what the log has.
            let unfinished = self.data.join(FOLDER).join("database.unfinished");
            let copied =
                std::fs::copy(&copy, &unfinished).and_then(|_| std::fs::rename(&unfinished, &database));
            copied.map_err(|error| self.failed(format!("the copy of the database: {error}")))?;
        }
        Ok(lock)
    }

    fn failed(&self, why: String) -> StateError {
        StateError::Folder { folder: self.data.clone(), why }
    }
}

/// What gateways make in a folder before anything is in it.
fn is_passing(name: &std::ffi::OsStr) -> bool {
    name == "incoming" || name == "lock"
}

/// A database with what SQLite puts beside it.
pub(super) fn remove_database(database: &Path) -> io::Result<()> {
    let beside = BESIDE.map(|end| {
        let mut name = database.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    });
    for path in beside.iter().map(PathBuf::as_path).chain([database]) {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}
