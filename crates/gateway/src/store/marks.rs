//! Which marked data sessions have read, and results were made from.

use gristmill_domain::policy::Seen;
use rusqlite::{OptionalExtension, params};

use super::{Reply, Store, StoreError};

/// A result that was made from marked data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MarkedResult {
    pub file_name: String,
    pub seen: Seen,
}

impl Store {
    /// What programs of a session have read; nothing if there is no such session.
    pub(crate) fn session_seen(&self, id: String) -> Reply<Seen> {
        self.run(move |connection| {
            let mut query = connection.prepare("SELECT seen FROM sessions WHERE id = ?1")?;
            let found: Option<Option<String>> = query.query_row([id], |row| row.get(0)).optional()?;
            Ok(read(found.flatten()))
        })
    }

    /// Adds to what programs of a session have read.
    pub(crate) fn add_session_seen(&self, id: String, new: Seen) -> Reply<()> {
        self.change(move |transaction| {
            let query = "SELECT seen FROM sessions WHERE id = ?1";
            let found: Option<Option<String>> =
                transaction.query_row(query, [&id], |row| row.get(0)).optional()?;
            let mut seen = read(found.flatten());
            if seen.add(&new) {
                let sql = "UPDATE sessions SET seen = ?2 WHERE id = ?1";
                transaction.execute(sql, params![id, written(&seen)?])?;
            }
            Ok(())
        })
    }

    /// An owner's results that were made from marked data.
    pub(crate) fn marked_results(&self, owner: String) -> Reply<Vec<MarkedResult>> {
        self.run(move |connection| {
            let mut query = connection
                .prepare("SELECT file_name, seen FROM results WHERE owner = ?1 AND seen IS NOT NULL")?;
            let found = query.query_map([owner], |row| {
                Ok(MarkedResult { file_name: row.get(0)?, seen: read(row.get(1)?) })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// Adds to what a result was made from.
    pub(crate) fn add_result_seen(&self, owner: String, handle: String, new: Seen) -> Reply<()> {
        self.change(move |transaction| {
            let query = "SELECT seen FROM results WHERE owner = ?1 AND handle = ?2";
            let found: Option<Option<String>> =
                transaction.query_row(query, params![owner, handle], |row| row.get(0)).optional()?;
            let mut seen = read(found.flatten());
            if seen.add(&new) {
                let sql = "UPDATE results SET seen = ?3 WHERE owner = ?1 AND handle = ?2";
                transaction.execute(sql, params![owner, handle, written(&seen)?])?;
            }
            Ok(())
        })
    }
}

/// As a column has it. What cannot be read counts as everything.
pub(super) fn read(text: Option<String>) -> Seen {
    text.map(|text| serde_json::from_str(&text).unwrap_or_else(|_| Seen::unknown())).unwrap_or_default()
}

/// As a column has it: nothing for nothing.
pub(super) fn written(seen: &Seen) -> Result<Option<String>, StoreError> {
    if seen.is_empty() {
        return Ok(None);
    }
    serde_json::to_string(seen).map(Some).map_err(|error| StoreError::Other(error.to_string()))
}
