//! A data folder whose state is shared: which cluster it belongs to, and where its copy of the database is.
//!
//! ```text
//! <data>/replica/cluster.json   its state is shared, with whom
//!               /member.lock    held by the gateway that stands by or leads here: one for each data folder
//!               /leads.lock     held while it leads, and modified whenever it's heard; without it nobody opens the
//!                               database here
//!               /gristmill.db   the database as the log has it
//! <data>/gristmill.db           the same, as long as the gateway here leads
//! ```

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gristmill_files::{FileLock, LockError, make_private_folder, replace_private};
use gristmill_gateway::store::{FILE_NAME, LEADS_LOCK, MEMBER_FILE};
use gristmill_replica::database;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::error::StateError;
use crate::names::ClusterName;

const FOLDER: &str = "replica";
const MEMBER_LOCK: &str = "replica/member.lock";

/// Being copied. A gateway that was killed leaves it, and so does a disk that is full.
const UNFINISHED_DATABASE: &str = "database.unfinished";
const UNFINISHED: [&str; 3] = ["gristmill.snapshot", "gristmill.unfinished", UNFINISHED_DATABASE];

/// Commands look for a moment whether somebody holds the lock of the gateway that leads, and hold it themselves then.
const LOOKED_WITHIN: Duration = Duration::from_millis(100);

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
    #[serde(default)]
    pub origin: Origin,
}

/// How a data folder came to the state that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Origin {
    /// It got a copy.
    #[default]
    Elsewhere,
    /// The state is to begin with what lies in it, and nobody else knows of it so far.
    Begins,
    /// The state began with what lay in it. What can't be shared is nowhere else.
    Here,
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
        for name in UNFINISHED {
            // What can't be removed is overwritten when it's needed.
            let _ = std::fs::remove_file(data.join(FOLDER).join(name));
        }
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

    /// From here on it's shared, and commands are refused unless the gateway here leads.
    pub fn join(&self, cluster: &ClusterName, id: &str, origin: Origin) -> Result<(), StateError> {
        let membership = Membership { cluster: cluster.to_string(), id: id.to_owned(), origin };
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

    /// The database that a gateway works on is as the copy has it. Before [`lead_lock`](Self::lead_lock): nobody opens
    /// one that isn't whole.
    pub fn make_database(&self) -> Result<(), StateError> {
        self.remove_database()?;
        let (copy, database) = (self.copy(), self.database());
        if copy.exists() {
            // Whole or not at all: half of it would be taken for what the log has.
            let unfinished = self.data.join(FOLDER).join(UNFINISHED_DATABASE);
            let copied =
                std::fs::copy(&copy, &unfinished).and_then(|_| std::fs::rename(&unfinished, &database));
            copied.map_err(|error| self.failed(format!("the copy of the database: {error}")))?;
        }
        Ok(())
    }

    /// The gateway here leads as long as this is held, from the next [`stamp_lead`](Self::stamp_lead) on.
    pub fn lead_lock(&self) -> Result<FileLock, StateError> {
        // Before it's held: it mustn't count by what it was when this gateway led last.
        let stamped = self.stamp(SystemTime::UNIX_EPOCH);
        stamped.map_err(|error| self.failed(format!("{LEADS_LOCK}: {error}")))?;
        match FileLock::take_within(&self.data.join(LEADS_LOCK), LOOKED_WITHIN) {
            Ok(lock) => Ok(lock),
            Err(LockError::Held { .. }) => Err(StateError::InUse { folder: self.data.clone() }),
            Err(error @ LockError::System { .. }) => Err(self.failed(error.to_string())),
        }
    }

    /// The gateway here leads, as it has just heard. Where that can't be noted, commands are refused.
    pub fn stamp_lead(&self) {
        let _ = self.stamp(SystemTime::now());
    }

    fn stamp(&self, heard: SystemTime) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        options
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .open(self.data.join(LEADS_LOCK))?
            .set_modified(heard)
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

#[cfg(test)]
mod tests {
    use gristmill_gateway::store::check_leads;
    use gristmill_testkit::TestFolder;

    use super::*;

    fn cluster() -> ClusterName {
        "team".parse().expect("a name")
    }

    #[test]
    fn what_a_killed_gateway_left_half_done_is_removed() {
        let data = TestFolder::new("state-folder-left");
        let replica = data.path().join(FOLDER);
        std::fs::create_dir_all(&replica).expect("made");
        for name in UNFINISHED.iter().chain(&[FILE_NAME]) {
            std::fs::write(replica.join(name), "pages").expect("written");
        }
        let folder = SharedFolder::open(data.path()).expect("opened");
        assert!(UNFINISHED.iter().all(|name| !replica.join(name).exists()));
        assert!(folder.copy().exists());
    }

    #[test]
    fn how_a_folder_came_to_its_state_is_remembered() {
        let data = TestFolder::new("state-folder-origin");
        let folder = SharedFolder::open(data.path()).expect("opened");
        let origin = || folder.membership().expect("read").map(|membership| membership.origin);
        assert_eq!(origin(), None);
        for joined in [Origin::Begins, Origin::Here, Origin::Elsewhere] {
            folder.join(&cluster(), "1", joined).expect("joined");
            assert_eq!(origin(), Some(joined));
        }
        std::fs::write(data.path().join(MEMBER_FILE), r#"{"cluster":"team","id":"1"}"#).expect("written");
        assert_eq!(origin(), Some(Origin::Elsewhere));
        folder.leave();
        assert_eq!(origin(), None);
    }

    #[test]
    fn commands_are_let_in_once_the_database_is_whole_and_the_gateway_was_heard() {
        let data = TestFolder::new("state-folder-lead");
        let folder = SharedFolder::open(data.path()).expect("opened");
        folder.join(&cluster(), "1", Origin::Elsewhere).expect("joined");
        std::fs::write(folder.copy(), "pages").expect("written");
        std::fs::write(folder.database(), "old pages").expect("written");
        let leads = || check_leads(data.path()).is_ok();
        folder.make_database().expect("made");
        assert_eq!(std::fs::read(folder.database()).expect("there"), b"pages");
        assert!(!leads());
        // As it was left when this gateway led last.
        folder.stamp_lead();
        let lock = folder.lead_lock().expect("free");
        assert!(!leads());
        folder.stamp_lead();
        assert!(leads());
        drop(lock);
        assert!(!leads());
        std::fs::remove_file(folder.copy()).expect("removed");
        folder.make_database().expect("made");
        assert!(!folder.database().exists());
    }

    #[test]
    fn another_one_that_leads_here_is_told() {
        let data = TestFolder::new("state-folder-held");
        let folder = SharedFolder::open(data.path()).expect("opened");
        let _held = folder.lead_lock().expect("free");
        let refused = folder.lead_lock().expect_err("held");
        assert!(matches!(refused, StateError::InUse { .. }), "{refused}");
    }
}
