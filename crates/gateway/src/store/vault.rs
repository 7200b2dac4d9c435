//! What tokens stand for, sealed: here is which rows there are, and nothing of what they say.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Statement, Transaction, TransactionBehavior, params};

use super::{Reply, Store, StoreError};

/// How long a client's values are kept after their last use.
const CLIENT_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// A use is noted once in this time.
pub(crate) const VAULT_USE_NOTED: Duration = Duration::from_secs(10 * 60);

/// Of one scope: nobody looks at more, and random nonces stay far from meeting.
const SCOPE_VALUES_MAX: i64 = 100_000;
const SCOPE_BYTES_MAX: i64 = 64 << 20;

/// Of all scopes together.
const ALL_BYTES_MAX: i64 = 512 << 20;

/// Clients of one owner; each calls itself what it likes. The one that is longest unused makes room.
const CLIENTS_MAX: i64 = 1_000;

const SEALED: &str = "SELECT sealed FROM vault_values WHERE scope = ?1 AND code = ?2";

/// Whose values: everything under one salt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum VaultOf {
    Session(String),
    /// Whatever it asks for without a session.
    Client {
        owner: String,
        client: String,
    },
}

/// Tells the keys outside of the database apart.
pub(crate) type VaultKeyId = [u8; 8];

/// A scope as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VaultScope {
    pub id: i64,
    pub salt: Vec<u8>,
}

/// A value that nobody reads without its key; `None` if there is none.
pub(crate) type Sealed = Option<Vec<u8>>;

/// How many values of one kind are in one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VaultCount {
    pub owner: String,
    pub session: Option<String>,
    pub session_name: Option<String>,
    pub client: Option<String>,
    pub key: Vec<u8>,
    pub used_ms: i64,
    pub kind: String,
    pub values: u64,
    pub bytes: u64,
}

/// The values of one scope, within a transaction.
pub(crate) struct VaultRows<'t> {
    scope: VaultScope,
    count: i64,
    bytes: i64,
    others_bytes: i64,
    read: Statement<'t>,
    write: Statement<'t>,
}

impl<'t> VaultRows<'t> {
    fn of(transaction: &'t Transaction<'_>, found: Found) -> Result<Self, StoreError> {
        let Found { scope, count, bytes, .. } = found;
        let others = "SELECT coalesce(sum(bytes), 0) FROM vault_scopes WHERE id <> ?1";
        let others_bytes = transaction.query_row(others, [scope.id], |row| row.get(0))?;
        let write = transaction.prepare(
            "INSERT INTO vault_values (scope, code, kind, sealed) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (scope, code) DO UPDATE SET kind = excluded.kind, sealed = excluded.sealed",
        )?;
        Ok(Self { scope, count, bytes, others_bytes, read: transaction.prepare(SEALED)?, write })
    }

    pub fn scope(&self) -> &VaultScope {
        &self.scope
    }

    pub fn sealed(&mut self, code: u64) -> Result<Option<Vec<u8>>, StoreError> {
        sealed(&mut self.read, self.scope.id, code)
    }

    /// Puts a value in the place of what was there; whether there was room for it.
    pub fn put(&mut self, code: u64, kind: &str, sealed: &[u8]) -> Result<bool, StoreError> {
        let before = self.sealed(code)?.map(|before| size(&before));
        let (more, grown) = (i64::from(before.is_none()), size(sealed) - before.unwrap_or_default());
        let (count, bytes) = (self.count + more, self.bytes + grown);
        if count > SCOPE_VALUES_MAX
            || bytes > SCOPE_BYTES_MAX
            || bytes.saturating_add(self.others_bytes) > ALL_BYTES_MAX
        {
            return Ok(false);
        }
        self.write.execute(params![self.scope.id, number(code), kind, sealed])?;
        (self.count, self.bytes) = (count, bytes);
        Ok(true)
    }
}

impl Store {
    /// Works on the values of a scope, all or nothing. One that isn't there is made with this salt; `None` if its
    /// session is gone.
    pub(crate) fn change_vault<T: Send + 'static>(
        &self,
        of: VaultOf,
        key: VaultKeyId,
        salt: [u8; 32],
        work: impl FnOnce(&mut VaultRows<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<Option<(VaultScope, T)>> {
        let now_ms = self.now_ms();
        self.change(move |transaction| {
            let found = match find(transaction, &of, key)? {
                Some(found) => Some(found),
                None => {
                    insert(transaction, &of, key, &salt, now_ms)?;
                    find(transaction, &of, key)?
                }
            };
            let Some(found) = found else { return Ok(None) };
            let mut rows = VaultRows::of(transaction, found)?;
            let outcome = work(&mut rows)?;
            let VaultRows { scope, count, bytes, .. } = rows;
            transaction.execute(
                "UPDATE vault_scopes SET count = ?2, bytes = ?3, used_ms = max(used_ms, ?4) WHERE id = ?1",
                params![scope.id, count, bytes, now_ms],
            )?;
            Ok(Some((scope, outcome)))
        })
    }

    /// Values of a scope by their codes, in their order; `None` if there is no such scope.
    pub(crate) fn vault_values(
        &self,
        of: VaultOf,
        key: VaultKeyId,
        codes: Vec<u64>,
    ) -> Reply<Option<(VaultScope, Vec<Sealed>)>> {
        let now_ms = self.now_ms();
        self.run(move |connection| {
            let Some(Found { scope, used_ms, .. }) = find(connection, &of, key)? else { return Ok(None) };
            if now_ms.saturating_sub(used_ms) >= millis(VAULT_USE_NOTED) {
                let sql = "UPDATE vault_scopes SET used_ms = ?2 WHERE id = ?1";
                connection.execute(sql, params![scope.id, now_ms])?;
            }
            let mut read = connection.prepare(SEALED)?;
            let found = codes.into_iter().map(|code| sealed(&mut read, scope.id, code));
            let found = found.collect::<Result<_, _>>()?;
            Ok(Some((scope, found)))
        })
    }

    /// How much there is of what, by scope and kind; of one owner or of everyone. The last used first.
    pub(crate) fn vault_counts(&self, owner: Option<String>) -> Reply<Vec<VaultCount>> {
        self.run(move |connection| {
            let mut query = connection.prepare(
                "SELECT vault_scopes.owner, session, name, client, key, vault_scopes.used_ms, kind, count(*),
                 sum(octet_length(sealed))
                 FROM vault_scopes JOIN vault_values ON scope = vault_scopes.id
                 LEFT JOIN sessions ON sessions.id = session
                 WHERE vault_scopes.owner = coalesce(?1, vault_scopes.owner)
                 GROUP BY vault_scopes.id, kind ORDER BY vault_scopes.used_ms DESC, vault_scopes.id, kind",
            )?;
            let found = query.query_map([owner], |row| {
                Ok(VaultCount {
                    owner: row.get(0)?,
                    session: row.get(1)?,
                    session_name: row.get(2)?,
                    client: row.get(3)?,
                    key: row.get(4)?,
                    used_ms: row.get(5)?,
                    kind: row.get(6)?,
                    values: row.get::<_, i64>(7)?.unsigned_abs(),
                    bytes: row.get::<_, i64>(8)?.unsigned_abs(),
                })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// Removes the values of one session or of all scopes, of one owner or of everyone; how many there were.
    pub(crate) fn wipe_vault(&self, owner: Option<String>, session: Option<String>) -> Reply<u64> {
        let is_shared = self.is_shared();
        self.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let condition = "owner = coalesce(?1, owner) AND (?2 IS NULL OR session = ?2)";
            let gone = remove(&transaction, condition, params![owner, session])?;
            transaction.commit()?;
            // The log still has what was there. If somebody reads it now, it is emptied later; where the state is
            // shared, somebody always does, and would be waited for.
            if !is_shared {
                let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()));
            }
            Ok(gone)
        })
    }

    /// Removes the values of clients that have been idle for too long.
    pub(crate) fn remove_idle_vaults(&self) -> Reply<u64> {
        let before_ms = self.now_ms().saturating_sub(millis(CLIENT_KEPT + VAULT_USE_NOTED));
        self.change(move |transaction| remove(transaction, "session IS NULL AND used_ms < ?1", [before_ms]))
    }
}

/// Overwrites what is deleted from now on, as long as this is set: a salt must not stay behind on the disk.
pub(super) fn shred(connection: &Connection, is_on: bool) -> Result<(), StoreError> {
    Ok(connection.pragma_update(None, "secure_delete", is_on)?)
}

fn remove(
    transaction: &Transaction<'_>,
    condition: &str,
    parameters: impl rusqlite::Params,
) -> Result<u64, StoreError> {
    shred(transaction, true)?;
    let sql = format!("DELETE FROM vault_scopes WHERE {condition} RETURNING count");
    let mut query = transaction.prepare(&sql)?;
    let counts = query.query_map(parameters, |row| row.get::<_, i64>(0))?;
    let gone = counts.sum::<Result<i64, _>>();
    shred(transaction, false)?;
    Ok(gone?.unsigned_abs())
}

struct Found {
    scope: VaultScope,
    count: i64,
    bytes: i64,
    used_ms: i64,
}

fn find(connection: &Connection, of: &VaultOf, key: VaultKeyId) -> Result<Option<Found>, StoreError> {
    let columns = "SELECT id, salt, count, bytes, used_ms FROM vault_scopes";
    let read = |row: &rusqlite::Row<'_>| {
        let scope = VaultScope { id: row.get(0)?, salt: row.get(1)? };
        Ok(Found { scope, count: row.get(2)?, bytes: row.get(3)?, used_ms: row.get(4)? })
    };
    let found = match of {
        VaultOf::Session(id) => {
            let sql = format!("{columns} WHERE session = ?1 AND key = ?2");
            connection.query_row(&sql, params![id, key], read)
        }
        VaultOf::Client { owner, client } => {
            let sql = format!("{columns} WHERE session IS NULL AND owner = ?1 AND client = ?2 AND key = ?3");
            connection.query_row(&sql, params![owner, client, key], read)
        }
    };
    Ok(found.optional()?)
}

fn insert(
    transaction: &Transaction<'_>,
    of: &VaultOf,
    key: VaultKeyId,
    salt: &[u8],
    now_ms: i64,
) -> Result<(), StoreError> {
    match of {
        VaultOf::Session(id) => transaction.execute(
            "INSERT INTO vault_scopes (key, session, owner, salt, used_ms)
             SELECT ?1, id, owner, ?3, ?4 FROM sessions WHERE id = ?2",
            params![key, id, salt, now_ms],
        )?,
        VaultOf::Client { owner, client } => {
            let oldest = "id IN (SELECT id FROM vault_scopes WHERE session IS NULL AND owner = ?1
                          ORDER BY used_ms DESC LIMIT -1 OFFSET ?2)";
            remove(transaction, oldest, params![owner, CLIENTS_MAX - 1])?;
            transaction.execute(
                "INSERT INTO vault_scopes (key, owner, client, salt, used_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![key, owner, client, salt, now_ms],
            )?
        }
    };
    Ok(())
}

fn sealed(read: &mut Statement<'_>, scope: i64, code: u64) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(read.query_row(params![scope, number(code)], |row| row.get(0)).optional()?)
}

fn number(code: u64) -> i64 {
    i64::try_from(code).unwrap_or(i64::MAX)
}

fn size(sealed: &[u8]) -> i64 {
    i64::try_from(sealed.len()).unwrap_or(i64::MAX)
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
