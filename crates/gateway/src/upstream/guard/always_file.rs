//! What people have allowed for good: `policy-approvals.json` in the data folder, of mode 600. A file that
//! cannot be read allows nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_files::{FileLock, FileStamp, read_bounded, replace_private};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::store::{Store, check_leads_beside};

pub const ALWAYS_FILE: &str = "policy-approvals.json";

const FORMAT: u64 = 1;
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
const APPROVALS_MAX: usize = 5_000;

/// One tool that one owner's programs may call although a rule asks about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlwaysApproval {
    pub owner: String,
    /// The rule that asks. Another rule asks again.
    pub rule: String,
    pub server: String,
    pub tool: String,
}

/// The file cannot be used. Everything is asked about.
#[derive(Clone, Debug, thiserror::Error)]
#[error("can't use the approvals in {path}: {why}")]
pub struct AlwaysError {
    path: String,
    why: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: u64,
    approvals: BTreeSet<AlwaysApproval>,
}

/// The approvals of one data folder. Several processes may change them.
pub struct AlwaysApprovals {
    path: PathBuf,
    last: Mutex<Option<(FileStamp, Arc<BTreeSet<AlwaysApproval>>)>>,
    /// Where answers wait for what is written here, too; `None` if none do.
    store: Option<Store>,
}

impl AlwaysApprovals {
    pub fn open(data_folder: &Path) -> Self {
        Self { path: data_folder.join(ALWAYS_FILE), last: Mutex::default(), store: None }
    }

    /// The same, which tells this database's state of its changes.
    pub fn telling(self, store: Option<Store>) -> Self {
        Self { store, ..self }
    }

    /// As the file is now; read again only if it changed.
    pub fn current(&self) -> Result<Arc<BTreeSet<AlwaysApproval>>, AlwaysError> {
        let mut last = self.last.lock();
        // Before reading: whoever replaces the file in between is noticed the next time.
        let Ok(metadata) = std::fs::metadata(&self.path) else { return Ok(Arc::default()) };
        let stamp = FileStamp::from(&metadata);
        if let Some((known, approvals)) = &*last
            && *known == stamp
        {
            return Ok(Arc::clone(approvals));
        }
        *last = None;
        let approvals = Arc::new(self.read()?);
        *last = Some((stamp, Arc::clone(&approvals)));
        Ok(approvals)
    }

    /// From now on, until it is taken back.
    pub fn allow(&self, approval: AlwaysApproval) -> Result<(), AlwaysError> {
        self.change(|approvals| {
            if approvals.len() >= APPROVALS_MAX && !approvals.contains(&approval) {
                return Err(self.error(format!("it has {APPROVALS_MAX} approvals; forget some first")));
            }
            approvals.insert(approval);
            Ok(())
        })
    }

    /// Takes back every approval of this tool; gives how many there were.
    pub fn forget(&self, server: &str, tool: &str) -> Result<usize, AlwaysError> {
        self.change(|approvals| {
            let before = approvals.len();
            approvals.retain(|approval| approval.server != server || approval.tool != tool);
            Ok(before - approvals.len())
        })
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut BTreeSet<AlwaysApproval>) -> Result<T, AlwaysError>,
    ) -> Result<T, AlwaysError> {
        check_leads_beside(&self.path).map_err(|error| self.error(error.to_string()))?;
        let lock = FileLock::beside(&self.path);
        let _lock = lock.map_err(|error| self.error(error.to_string()))?;
        let mut approvals = self.read()?;
        let outcome = change(&mut approvals)?;
        let text = serde_json::to_vec_pretty(&Stored { format: FORMAT, approvals })
            .map_err(|error| self.error(error.to_string()))?;
        replace_private(&self.path, &text).map_err(|error| self.error(error.to_string()))?;
        if let Some(store) = &self.store {
            store.changed(ALWAYS_FILE);
        }
        Ok(outcome)
    }

    fn read(&self) -> Result<BTreeSet<AlwaysApproval>, AlwaysError> {
        let text = read_bounded(&self.path, FILE_BYTES_MAX).map_err(|error| self.error(error.to_string()))?;
        let Some(text) = text else { return Ok(BTreeSet::new()) };
        match serde_json::from_str::<Stored>(&text) {
            Ok(Stored { format: FORMAT, approvals }) => Ok(approvals),
            Ok(_) | Err(_) => Err(self.error("it is damaged; move it away and approve again".to_owned())),
        }
    }

    fn error(&self, why: String) -> AlwaysError {
        AlwaysError { path: self.path.display().to_string(), why }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use gristmill_testkit::TestFolder;

    use super::*;

    #[test]
    fn what_is_allowed_for_good_is_the_owners_alone_and_can_be_taken_back() {
        let folder = TestFolder::new("always");
        let (one, other) = (AlwaysApprovals::open(folder.path()), AlwaysApprovals::open(folder.path()));
        let approval = AlwaysApproval {
            owner: "local".to_owned(),
            rule: "r".to_owned(),
            server: "crm".to_owned(),
            tool: "delete".to_owned(),
        };
        one.allow(approval.clone()).unwrap();
        assert!(other.current().unwrap().contains(&approval));
        let mode = std::fs::metadata(folder.path().join(ALWAYS_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!((other.forget("crm", "delete").unwrap(), other.forget("crm", "x").unwrap()), (1, 0));
        assert!(one.current().unwrap().is_empty());
        std::fs::write(folder.path().join(ALWAYS_FILE), "{}").unwrap();
        assert!(one.current().unwrap_err().to_string().contains("it is damaged"));
    }
}
