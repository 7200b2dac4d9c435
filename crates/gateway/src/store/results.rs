//! Results: whole values under handles, and the keys that the handles are made of.

use gristmill_domain::policy::Seen;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Reply, Store, StoreError, marks};

/// One result as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultRecord {
    pub owner: String,
    pub handle: String,
    pub file_name: String,
    pub kind: String,
    pub media_type: Option<String>,
    pub bytes: i64,
    pub created_ms: i64,
    pub used_ms: i64,
    pub session: Option<String>,
    pub execution: Option<String>,
    /// Which marked data it was made from.
    pub seen: Seen,
}

/// Which file belongs to which result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredFile {
    pub owner: String,
    pub handle: String,
    pub file_name: String,
    pub bytes: i64,
}

/// How much there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultRoom {
    pub bytes_max: u64,
    pub count_max: usize,
}

/// What came of remembering a result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// It is remembered, and these were forgotten for it.
    Made(Vec<StoredFile>),
    /// Nothing was done: others would have to be forgotten first.
    Needed,
    /// Nothing was done: what the same execution has left takes the room.
    Taken,
}

/// What all results come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultsHeld {
    /// How many there are.
    pub count: u64,
    /// Their bytes together.
    pub bytes: u64,
}

const COLUMNS: &str =
    "owner, handle, file_name, kind, media_type, bytes, created_ms, used_ms, session, execution, seen";

fn record(row: &Row<'_>) -> rusqlite::Result<ResultRecord> {
    Ok(ResultRecord {
        owner: row.get(0)?,
        handle: row.get(1)?,
        file_name: row.get(2)?,
        kind: row.get(3)?,
        media_type: row.get(4)?,
        bytes: row.get(5)?,
        created_ms: row.get(6)?,
        used_ms: row.get(7)?,
        session: row.get(8)?,
        execution: row.get(9)?,
        seen: marks::read(row.get(10)?),
    })
}

fn file(row: &Row<'_>) -> rusqlite::Result<StoredFile> {
    Ok(StoredFile { owner: row.get(0)?, handle: row.get(1)?, file_name: row.get(2)?, bytes: row.get(3)? })
}

/// How many, and how large, of one owner or of all.
fn held(connection: &Connection, owner: Option<&str>) -> Result<ResultsHeld, StoreError> {
    let query = "SELECT count(*), coalesce(sum(bytes), 0) FROM results WHERE owner = coalesce(?1, owner)";
    let (count, bytes): (i64, i64) =
        connection.query_row(query, [owner], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    Ok(ResultsHeld { count: number(count), bytes: number(bytes) })
}

/// How many others, and how large, the execution of a result has left.
fn held_beside(connection: &Connection, new: &ResultRecord) -> Result<ResultsHeld, StoreError> {
    let query = "SELECT count(*), coalesce(sum(bytes), 0) FROM results
        WHERE owner = ?1 AND execution = ?2 AND handle <> ?3";
    let (count, bytes): (i64, i64) =
        connection.query_row(query, params![new.owner, new.execution, new.handle], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    Ok(ResultsHeld { count: number(count), bytes: number(bytes) })
}

/// Forgets the one that was used longest ago, of one owner or of all; none that the execution of `new`
/// has left: one answer names them all.
fn forget_oldest(
    connection: &Connection,
    owner: Option<&str>,
    new: Option<&ResultRecord>,
) -> Result<Option<StoredFile>, StoreError> {
    let query = "DELETE FROM results WHERE (owner, handle) = (
            SELECT owner, handle FROM results WHERE owner = coalesce(?1, owner)
            AND NOT (?3 IS NOT NULL AND owner IS ?2 AND execution IS ?3)
            ORDER BY used_ms, handle LIMIT 1
        ) RETURNING owner, handle, file_name, bytes";
    let whose = new.map(|new| new.owner.as_str());
    let execution = new.and_then(|new| new.execution.as_deref());
    Ok(connection.query_row(query, params![owner, whose, execution], file).optional()?)
}

impl ResultRoom {
    fn is_exceeded(self, held: ResultsHeld) -> bool {
        held.bytes > self.bytes_max || held.count > self.count_max as u64
    }

    fn half(self) -> Self {
        Self { bytes_max: self.bytes_max / 2, count_max: self.count_max / 2 }
    }
}

impl Store {
    /// An owner's key; `fresh` becomes it if there is none yet.
    pub(crate) fn result_key(&self, owner: String, fresh: Vec<u8>) -> Reply<Vec<u8>> {
        self.change(move |transaction| {
            transaction.execute(
                "INSERT INTO result_keys (owner, key) VALUES (?1, ?2) ON CONFLICT (owner) DO NOTHING",
                params![owner, fresh],
            )?;
            let query = "SELECT key FROM result_keys WHERE owner = ?1";
            Ok(transaction.query_row(query, [owner], |row| row.get(0))?)
        })
    }

    /// Remembers a result, or that it came once more. Those that were used longest ago are forgotten
    /// for it, if that `may_forget`; first of its own owner's, if that one has more than half of all.
    /// What the same execution has left stays.
    pub(crate) fn insert_result(&self, new: ResultRecord, room: ResultRoom, may_forget: bool) -> Reply<Room> {
        self.change(move |transaction| {
            let number = |number: i64| u64::try_from(number).unwrap_or(0);
            let with_new = |held: ResultsHeld| ResultsHeld {
                count: held.count + 1,
                bytes: held.bytes.saturating_add(number(new.bytes)),
            };
            if !may_forget && room.is_exceeded(with_new(held(transaction, None)?)) {
                return Ok(Room::Needed);
            }
            if room.is_exceeded(with_new(held_beside(transaction, &new)?)) {
                return Ok(Room::Taken);
            }
            // One whose file is gone.
            transaction.execute(
                "DELETE FROM results WHERE owner = ?1 AND handle = ?2",
                params![new.owner, new.handle],
            )?;
            let mut forgotten = Vec::new();
            while room.is_exceeded(with_new(held(transaction, None)?)) {
                let own = held(transaction, Some(&new.owner))?;
                let has_most = own.count > 0 && room.half().is_exceeded(with_new(own));
                let own = match has_most {
                    true => forget_oldest(transaction, Some(&new.owner), Some(&new))?,
                    false => None,
                };
                let gone = match own {
                    Some(own) => Some(own),
                    None => forget_oldest(transaction, None, Some(&new))?,
                };
                match gone {
                    Some(gone) => forgotten.push(gone),
                    None => break,
                }
            }
            transaction.execute(
                &format!(
                    "INSERT INTO results ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
                ),
                params![
                    new.owner,
                    new.handle,
                    new.file_name,
                    new.kind,
                    new.media_type,
                    new.bytes,
                    new.created_ms,
                    new.used_ms,
                    new.session,
                    new.execution,
                    marks::written(&new.seen)?
                ],
            )?;
            Ok(Room::Made(forgotten))
        })
    }

    /// One of an owner's results.
    pub(crate) fn result(&self, owner: String, handle: String) -> Reply<Option<ResultRecord>> {
        self.run(move |connection| {
            let query = format!("SELECT {COLUMNS} FROM results WHERE owner = ?1 AND handle = ?2");
            Ok(connection.query_row(&query, [owner, handle], record).optional()?)
        })
    }

    /// Whose result has this handle: for whoever has the machine.
    pub(crate) fn result_owner(&self, handle: String) -> Reply<Option<String>> {
        self.run(move |connection| {
            let query = "SELECT owner FROM results WHERE handle = ?1 ORDER BY used_ms DESC LIMIT 1";
            Ok(connection.query_row(query, [handle], |row| row.get(0)).optional()?)
        })
    }

    /// Notes that a result came once more; `None` if it is gone.
    pub(crate) fn renew_result(
        &self,
        owner: String,
        handle: String,
        now_ms: i64,
        (session, execution): (Option<String>, Option<String>),
    ) -> Reply<Option<ResultRecord>> {
        self.run(move |connection| {
            let mut query = connection.prepare(&format!(
                "UPDATE results SET used_ms = max(used_ms, ?3), session = coalesce(?4, session), execution = coalesce(?5, execution)
                 WHERE owner = ?1 AND handle = ?2 RETURNING {COLUMNS}"
            ))?;
            let parameters = params![owner, handle, now_ms, session, execution];
            Ok(query.query_row(parameters, record).optional()?)
        })
    }

    /// Notes when results were read.
    pub(crate) fn use_results(&self, used: Vec<(String, String, i64)>) -> Reply<()> {
        self.change(move |transaction| {
            let mut query = transaction
                .prepare("UPDATE results SET used_ms = max(used_ms, ?3) WHERE owner = ?1 AND handle = ?2")?;
            for (owner, handle, used_ms) in used {
                query.execute(params![owner, handle, used_ms])?;
            }
            Ok(())
        })
    }

    /// The newest first, of one owner or of all.
    pub(crate) fn list_results(&self, owner: Option<String>, limit: usize) -> Reply<Vec<ResultRecord>> {
        self.run(move |connection| {
            let mut query = connection.prepare(&format!(
                "SELECT {COLUMNS} FROM results WHERE owner = coalesce(?1, owner)
                 ORDER BY created_ms DESC, handle LIMIT ?2"
            ))?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let found = query.query_map(params![owner, limit], record)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// The file of every result.
    pub(crate) fn result_files(&self) -> Reply<Vec<StoredFile>> {
        self.run(|connection| {
            let mut query = connection.prepare("SELECT owner, handle, file_name, bytes FROM results")?;
            let found = query.query_map((), file)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// Forgets a result; whether it was there.
    pub(crate) fn delete_result(&self, owner: String, handle: String) -> Reply<bool> {
        self.change(move |transaction| {
            let gone = transaction
                .execute("DELETE FROM results WHERE owner = ?1 AND handle = ?2", [owner, handle])?;
            Ok(gone > 0)
        })
    }

    /// Forgets what nobody has used since `before_ms`, and then what is too much, oldest first.
    pub(crate) fn forget_results(&self, before_ms: i64, room: ResultRoom) -> Reply<Vec<StoredFile>> {
        self.change(move |transaction| {
            let mut query = transaction.prepare(
                "DELETE FROM results WHERE used_ms < ?1 RETURNING owner, handle, file_name, bytes",
            )?;
            let mut forgotten =
                query.query_map([before_ms], file)?.collect::<Result<Vec<StoredFile>, _>>()?;
            while room.is_exceeded(held(transaction, None)?) {
                match forget_oldest(transaction, None, None)? {
                    Some(gone) => forgotten.push(gone),
                    None => break,
                }
            }
            Ok(forgotten)
        })
    }

    /// What all results come to.
    pub fn results_held(&self) -> Reply<ResultsHeld> {
        self.run(|connection| held(connection, None))
    }
}
