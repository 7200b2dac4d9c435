//! Processes that ran programs on this data folder.

use rusqlite::{Row, params};

use super::numbers::{natural, whole};
use super::{Reply, Store};

/// One of them, as it introduced itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayRecord {
    /// By which executions name it.
    pub id: String,
    pub pid: u64,
    /// Where it serves, or that it was a single command.
    pub role: String,
    pub version: String,
    pub started_ms: i64,
}

impl Store {
    /// Notes a gateway, or what is new about it.
    pub(crate) fn note_gateway(&self, gateway: GatewayRecord) {
        self.later(move |connection| {
            connection.execute(
                "INSERT OR REPLACE INTO gateways (id, pid, role, version, started_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![gateway.id, whole(gateway.pid), gateway.role, gateway.version, gateway.started_ms],
            )?;
            Ok(())
        });
    }

    /// Those of these that are known, the one that began last first.
    pub(crate) fn find_gateways(&self, ids: Vec<String>) -> Reply<Vec<GatewayRecord>> {
        self.run(move |connection| {
            let ids = serde_json::to_string(&ids).unwrap_or_default();
            let mut query = connection.prepare_cached(
                "SELECT id, pid, role, version, started_ms FROM gateways \
                 WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY started_ms DESC, id",
            )?;
            Ok(query.query_map([ids], record)?.collect::<Result<_, _>>()?)
        })
    }

    /// Forgets those that are in none of `alive` and of which no execution is known.
    pub(crate) fn forget_gateways(&self, alive: Vec<String>) -> Reply<usize> {
        self.change(move |transaction| {
            let alive = serde_json::to_string(&alive).unwrap_or_default();
            Ok(transaction.execute(
                "DELETE FROM gateways WHERE id NOT IN (SELECT value FROM json_each(?1)) \
                 AND id NOT IN (SELECT gateway FROM executions)",
                [alive],
            )?)
        })
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<GatewayRecord> {
    Ok(GatewayRecord {
        id: row.get(0)?,
        pid: natural(row.get(1)?),
        role: row.get(2)?,
        version: row.get(3)?,
        started_ms: row.get(4)?,
    })
}
