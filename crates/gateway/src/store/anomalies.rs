//! What the watch has found and learned, and events of gateways that leave the watching to another.

use gristmill_watch::{Anomaly, Called, Executed};
use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::{Reply, Store, StoreError};

/// Findings that are kept; the oldest go.
pub const ANOMALIES_MAX: usize = 10_000;

/// And for how long.
const KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;

/// Events that wait for whoever watches: beyond this the oldest go.
const EVENTS_MAX: i64 = 20_000;

/// Something that happened, for the watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WatchEvent {
    Executed(Executed),
    Called(Called),
}

/// What the watch has learned, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchMemory {
    pub memory: String,
    pub alerts: String,
}

impl Store {
    pub(crate) fn add_anomalies(&self, found: Vec<Anomaly>) -> Reply<()> {
        let now = self.now_ms();
        self.change(move |transaction| {
            for anomaly in &found {
                transaction.execute(
                    "INSERT INTO anomalies (at_ms, severity, finding) VALUES (?1, ?2, ?3)",
                    params![whole(anomaly.at_ms), anomaly.severity.name(), written(anomaly)?],
                )?;
            }
            transaction.execute(
                "DELETE FROM anomalies WHERE at_ms < ?1 \
                 OR id <= (SELECT MAX(id) FROM anomalies) - ?2",
                params![now - KEPT_MS, whole(ANOMALIES_MAX as u64)],
            )?;
            Ok(())
        })
    }

    /// What was found since a moment, in milliseconds since 1970, the newest first.
    pub fn find_anomalies(&self, since_ms: i64, limit: usize) -> Reply<Vec<Anomaly>> {
        let limit = whole(limit.min(ANOMALIES_MAX) as u64);
        self.run(move |connection| {
            let sql = "SELECT finding FROM anomalies WHERE at_ms >= ?1 ORDER BY at_ms DESC, id DESC LIMIT ?2";
            let mut query = connection.prepare(sql)?;
            let rows = query.query_map(params![since_ms, limit], |row| row.get::<_, String>(0))?;
            let texts: Vec<String> = rows.collect::<Result<_, _>>()?;
            // One that a later version wrote differently is left out.
            Ok(texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect())
        })
    }

    pub(crate) fn watch_memory(&self) -> Reply<Option<WatchMemory>> {
        self.run(|connection| {
            let sql = "SELECT memory, alerts FROM watch_memory WHERE id = 1";
            let read = |row: &rusqlite::Row<'_>| Ok(WatchMemory { memory: row.get(0)?, alerts: row.get(1)? });
            Ok(connection.query_row(sql, (), read).optional()?)
        })
    }

    pub(crate) fn keep_watch_memory(&self, kept: WatchMemory) -> Reply<()> {
        let now = self.now_ms();
        self.run(move |connection| {
            connection.execute(
                "INSERT OR REPLACE INTO watch_memory (id, at_ms, memory, alerts) VALUES (1, ?1, ?2, ?3)",
                params![now, kept.memory, kept.alerts],
            )?;
            Ok(())
        })
    }

    /// For whoever watches.
    pub(crate) fn add_watch_events(&self, events: Vec<WatchEvent>) -> Reply<()> {
        self.change(move |transaction| {
            let mut insert = transaction.prepare("INSERT INTO watch_events (event) VALUES (?1)")?;
            for event in &events {
                insert.execute([written(event)?])?;
            }
            let sql = "DELETE FROM watch_events WHERE id <= (SELECT MAX(id) FROM watch_events) - ?1";
            transaction.execute(sql, [EVENTS_MAX])?;
            Ok(())
        })
    }

    /// Takes the oldest ones out.
    pub(crate) fn take_watch_events(&self, limit: usize) -> Reply<Vec<WatchEvent>> {
        let limit = whole(limit as u64);
        self.run(move |connection| {
            // Mostly there is none, and then nobody is kept from writing.
            let any = "SELECT EXISTS (SELECT 1 FROM watch_events)";
            if !connection.query_row(any, (), |row| row.get::<_, bool>(0))? {
                return Ok(Vec::new());
            }
            let sql = "DELETE FROM watch_events WHERE id IN \
                       (SELECT id FROM watch_events ORDER BY id LIMIT ?1) RETURNING id, event";
            let mut query = connection.prepare(sql)?;
            let rows =
                query.query_map([limit], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
            let mut rows: Vec<(i64, String)> = rows.collect::<Result<_, _>>()?;
            rows.sort_unstable_by_key(|(id, _)| *id);
            Ok(rows.iter().filter_map(|(_, text)| serde_json::from_str(text).ok()).collect())
        })
    }
}

fn written(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Other(error.to_string()))
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use gristmill_watch::CallOutcome;

    use super::*;

    fn called(number: u64) -> WatchEvent {
        WatchEvent::Called(Called {
            execution: String::new(),
            caller: "local".to_owned(),
            server: "crm".to_owned(),
            tool: "get".to_owned(),
            at_ms: number,
            outcome: CallOutcome::Answered,
            took_ms: 1,
            answer_bytes: 2,
            shape: u64::MAX,
        })
    }

    #[tokio::test]
    async fn events_are_taken_once_in_their_order() {
        let store = Store::in_memory().unwrap();
        store.add_watch_events((0..5).map(called).collect()).await.unwrap();
        assert_eq!(store.take_watch_events(3).await.unwrap(), (0..3).map(called).collect::<Vec<_>>());
        assert_eq!(store.take_watch_events(9).await.unwrap(), (3..5).map(called).collect::<Vec<_>>());
        assert_eq!(store.take_watch_events(9).await.unwrap(), []);
    }

    #[tokio::test]
    async fn the_last_memory_is_kept() {
        let store = Store::in_memory().unwrap();
        assert_eq!(store.watch_memory().await.unwrap(), None);
        for text in ["1", "2"] {
            let (memory, alerts) = (text.to_owned(), "a".to_owned());
            store.keep_watch_memory(WatchMemory { memory, alerts }).await.unwrap();
        }
        assert_eq!(store.watch_memory().await.unwrap().map(|kept| kept.memory), Some("2".to_owned()));
    }
}
