//! Sessions, and what their programs keep under keys.

use gristmill_domain::Level;
use gristmill_domain::policy::Seen;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Reply, Store, StoreError, marks, vault};
use crate::native_engine::EngineChoice;
use crate::ports::StateFailure;
use crate::state_values::{Others, check_room};

/// One session as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionRecord {
    pub id: String,
    pub owner: String,
    pub name: Option<String>,
    pub created_ms: i64,
    pub used_ms: i64,
    pub executions: i64,
    pub resets: i64,
    /// The mark of the gateway that keeps its variables, or [`VARIABLES_RESET`].
    pub variables_by: Option<String>,
    pub max_bytes: Option<i64>,
    pub max_files: Option<i64>,
    pub max_output_tokens: Option<i64>,
    /// Which marked data its programs have read.
    pub seen: Seen,
    /// The level that its programs run at, at least.
    pub level: Option<Level>,
    /// The engine of its Python programs if a call says no other.
    pub engine: Option<EngineChoice>,
}

/// What came of remembering a new session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    Done,
    /// The owner has another of this name.
    NameTaken,
    /// So many there are, which is as many as may be.
    TooMany(usize),
}

/// How many sessions there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionCounts {
    pub all: usize,
    pub of_one: usize,
}

/// What came of putting a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Put {
    Done,
    /// There is no room for it, and why.
    NoRoom(StateFailure),
    /// There is no such session any more.
    NoSession,
}

/// In the place of a gateway's mark: variables had been kept, and went with a reset.
pub(crate) const VARIABLES_RESET: &str = "reset";

const COLUMNS: &str = "id, owner, name, created_ms, used_ms, executions, resets, max_bytes, max_files, \
    variables_by, max_output_tokens, seen, level, engine";

fn record(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    Ok(SessionRecord {
        id: row.get(0)?,
        owner: row.get(1)?,
        name: row.get(2)?,
        created_ms: row.get(3)?,
        used_ms: row.get(4)?,
        executions: row.get(5)?,
        resets: row.get(6)?,
        max_bytes: row.get(7)?,
        max_files: row.get(8)?,
        variables_by: row.get(9)?,
        max_output_tokens: row.get(10)?,
        seen: marks::read(row.get(11)?),
        // A level that this gristmill doesn't know is one that promises more than it can.
        level: row.get::<_, Option<String>>(12)?.map(|level| level.parse().unwrap_or(Level::Hardened)),
        // One that this gristmill doesn't know is none of its own.
        engine: row.get::<_, Option<String>>(13)?.and_then(|engine| engine.parse().ok()),
    })
}

fn records(
    connection: &Connection,
    condition: &str,
    parameters: impl rusqlite::Params,
) -> Result<Vec<SessionRecord>, StoreError> {
    let mut query = connection.prepare(&format!("SELECT {COLUMNS} FROM sessions WHERE {condition}"))?;
    let found = query.query_map(parameters, record)?;
    Ok(found.collect::<Result<_, _>>()?)
}

impl Store {
    /// Remembers a new session with its first values, all or nothing.
    pub(crate) fn insert_session(
        &self,
        new: SessionRecord,
        values: Vec<(String, String)>,
        counts: SessionCounts,
    ) -> Reply<Inserted> {
        self.change(move |transaction| {
            let count = |condition: &str, parameters: &[&dyn rusqlite::ToSql]| {
                let query = format!("SELECT count(*) FROM sessions WHERE {condition}");
                transaction.query_row(&query, parameters, |row| row.get::<_, i64>(0))
            };
            if new.name.is_some() && count("owner = ?1 AND name = ?2", &[&new.owner, &new.name])? > 0 {
                return Ok(Inserted::NameTaken);
            }
            let theirs = usize::try_from(count("owner = ?1", &[&new.owner])?).unwrap_or(usize::MAX);
            if theirs >= counts.of_one {
                return Ok(Inserted::TooMany(theirs));
            }
            let all = usize::try_from(count("true", &[])?).unwrap_or(usize::MAX);
            if all >= counts.all {
                return Ok(Inserted::TooMany(all));
            }
            transaction.execute(
                &format!(
                    "INSERT INTO sessions ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
                ),
                params![
                    new.id,
                    new.owner,
                    new.name,
                    new.created_ms,
                    new.used_ms,
                    new.executions,
                    new.resets,
                    new.max_bytes,
                    new.max_files,
                    new.variables_by,
                    new.max_output_tokens,
                    marks::written(&new.seen)?,
                    new.level.map(Level::as_str),
                    new.engine.map(EngineChoice::as_str)
                ],
            )?;
            for (key, value) in &values {
                transaction.execute(
                    "INSERT INTO session_values (session, key, value) VALUES (?1, ?2, ?3)",
                    params![new.id, key, value],
                )?;
            }
            Ok(Inserted::Done)
        })
    }

    /// The session with this id, if it is this owner's; without an owner, whosever it is.
    pub(crate) fn session_by_id(&self, owner: Option<String>, id: String) -> Reply<Option<SessionRecord>> {
        self.run(move |connection| {
            let found = records(connection, "id = ?1 AND owner = coalesce(?2, owner)", params![id, owner])?;
            Ok(found.into_iter().next())
        })
    }

    /// The same by name. Without an owner there may be several.
    pub(crate) fn sessions_by_name(&self, owner: Option<String>, name: String) -> Reply<Vec<SessionRecord>> {
        self.run(move |connection| {
            let condition = "name = ?1 AND owner = coalesce(?2, owner) ORDER BY owner";
            records(connection, condition, params![name, owner])
        })
    }

    /// All of an owner's, or of everyone's, the last used first.
    pub(crate) fn all_sessions(&self, owner: Option<String>) -> Reply<Vec<SessionRecord>> {
        self.run(move |connection| {
            let condition = "owner = coalesce(?1, owner) ORDER BY used_ms DESC, id";
            records(connection, condition, params![owner])
        })
    }

    /// Those that nobody has used since these moments.
    pub(crate) fn idle_sessions(
        &self,
        unnamed_before_ms: i64,
        named_before_ms: i64,
    ) -> Reply<Vec<SessionRecord>> {
        self.run(move |connection| {
            let condition = "used_ms < iif(name IS NULL, ?1, ?2) ORDER BY used_ms";
            records(connection, condition, params![unnamed_before_ms, named_before_ms])
        })
    }

    /// Notes that a session is used; `None` if it is gone. Programs that ran are counted.
    pub(crate) fn use_session(&self, id: String, now_ms: i64, programs: i64) -> Reply<Option<SessionRecord>> {
        self.run(move |connection| {
            let mut query = connection.prepare(&format!(
                "UPDATE sessions SET used_ms = max(used_ms, ?2), executions = executions + ?3 WHERE id = ?1 RETURNING {COLUMNS}"
            ))?;
            Ok(query.query_row(params![id, now_ms, programs], record).optional()?)
        })
    }

    /// Forgets a session, its values and its vault; whether it was there.
    pub(crate) fn delete_session(&self, id: String) -> Reply<bool> {
        self.change(move |transaction| {
            vault::shred(transaction, true)?;
            let gone = transaction.execute("DELETE FROM sessions WHERE id = ?1", [id]);
            vault::shred(transaction, false)?;
            Ok(gone? > 0)
        })
    }

    /// Forgets a session's values, and counts that.
    pub(crate) fn empty_session(&self, id: String) -> Reply<bool> {
        self.change(move |transaction| {
            transaction.execute("DELETE FROM session_values WHERE session = ?1", [&id])?;
            let emptied = transaction.execute(
                "UPDATE sessions SET resets = resets + 1, variables_by = iif(variables_by IS NULL, NULL, ?2) WHERE id = ?1",
                params![id, VARIABLES_RESET],
            )?;
            Ok(emptied > 0)
        })
    }

    /// Notes which gateway keeps a session's variables, or that none does.
    pub(crate) fn note_variables(&self, id: String, by: Option<String>) -> Reply<()> {
        self.run(move |connection| {
            connection.execute("UPDATE sessions SET variables_by = ?2 WHERE id = ?1", params![id, by])?;
            Ok(())
        })
    }

    pub(crate) fn session_value(&self, id: String, key: String) -> Reply<Option<String>> {
        self.run(move |connection| {
            let mut query =
                connection.prepare("SELECT value FROM session_values WHERE session = ?1 AND key = ?2")?;
            Ok(query.query_row([id, key], |row| row.get(0)).optional()?)
        })
    }

    /// Every value of a session, by key.
    pub(crate) fn session_values(&self, id: String) -> Reply<Vec<(String, String)>> {
        self.run(move |connection| {
            let mut query = connection
                .prepare("SELECT key, value FROM session_values WHERE session = ?1 ORDER BY key")?;
            let found = query.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    pub(crate) fn session_keys(&self, id: String) -> Reply<Vec<String>> {
        self.run(move |connection| {
            let mut query =
                connection.prepare("SELECT key FROM session_values WHERE session = ?1 ORDER BY key")?;
            let found = query.query_map([id], |row| row.get(0))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// Puts a value in the place of what was there, within bounds.
    pub(crate) fn put_session_value(&self, id: String, key: String, value: String) -> Reply<Put> {
        self.change(move |transaction| {
            let (keys, bytes): (i64, i64) = transaction
                .prepare(
                    "SELECT count(*), coalesce(sum(octet_length(key) + octet_length(value)), 0)
                     FROM session_values WHERE session = ?1 AND key <> ?2",
                )?
                .query_row(params![id, key], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let count = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
            let others = Others { count: count(keys), bytes: count(bytes) };
            if let Err(failure) = check_room(&key, &value, others) {
                return Ok(Put::NoRoom(failure));
            }
            let put = transaction
                .prepare(
                    "INSERT INTO session_values (session, key, value) SELECT id, ?2, ?3 FROM sessions WHERE id = ?1
                     ON CONFLICT (session, key) DO UPDATE SET value = excluded.value",
                )?
                .execute(params![id, key, value])?;
            Ok(if put > 0 { Put::Done } else { Put::NoSession })
        })
    }

    /// Removes a key; whether it was there.
    pub(crate) fn remove_session_value(&self, id: String, key: String) -> Reply<bool> {
        self.change(move |transaction| {
            let gone = transaction
                .execute("DELETE FROM session_values WHERE session = ?1 AND key = ?2", [id, key])?;
            Ok(gone > 0)
        })
    }

    pub(crate) fn clear_session_values(&self, id: String) -> Reply<()> {
        self.change(move |transaction| {
            transaction.execute("DELETE FROM session_values WHERE session = ?1", [id])?;
            Ok(())
        })
    }
}
