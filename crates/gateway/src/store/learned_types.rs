//! What tools' answers were like: one row for each owner and tool.

use gristmill_domain::learned::{Change, LearnedType, Shape, drift};
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::numbers::{natural, whole};
use super::{Reply, Store, StoreError};

/// What no call has confirmed for so long is forgotten.
pub const LEARNED_KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;

/// Tools of one owner: those that were not called for longest go.
const OF_ONE_MAX: i64 = 2_000;

/// After so many answers that were alike, another that isn't is drift. Before, it is learning.
const DRIFT_AFTER: u64 = 10;

/// What is known of the answers of a tool, to one owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedRecord {
    pub owner: String,
    pub server: String,
    pub tool: String,
    /// The hash of the definition, as hex.
    pub definition: String,
    pub learned: LearnedType,
    /// Answers that it was learned from.
    pub calls: u64,
    /// How many of them since it last changed.
    pub unchanged: u64,
    pub first_ms: i64,
    pub last_ms: i64,
    /// How often answers came to differ from what many before were like.
    pub drifts: u64,
    pub drift_ms: Option<i64>,
    /// How the last of these differed, a line each: names of fields and types.
    pub drift: Vec<String>,
}

/// One answer.
#[derive(Clone, Debug)]
pub(crate) struct ObservedAnswer {
    pub owner: String,
    pub server: String,
    pub tool: String,
    pub definition: String,
    pub shape: Shape,
}

/// A tool whose answers came to differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drifted {
    pub server: String,
    pub tool: String,
    pub drifts: u64,
}

/// Differs whenever what is known to an owner does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LearnedStamp {
    rows: i64,
    calls: i64,
    last_ms: i64,
}

const COLUMNS: &str =
    "owner, server, tool, definition, learned, calls, unchanged, first_ms, last_ms, drifts, drift_ms, drift";

impl Store {
    /// Takes answers into account, one after the other. Tells which tools' answers came to differ.
    pub(crate) fn learn(&self, answers: Vec<ObservedAnswer>) -> Reply<Vec<Drifted>> {
        let now = self.now_ms();
        self.change(move |transaction| {
            transaction.execute("DELETE FROM learned_types WHERE last_ms < ?1", [now - LEARNED_KEPT_MS])?;
            let mut drifted = Vec::new();
            for answer in answers {
                drifted.extend(learn_one(transaction, answer, now)?);
            }
            Ok(drifted)
        })
    }

    /// What is known to an owner.
    pub(crate) fn learned_of(&self, owner: &str) -> Reply<Vec<LearnedRecord>> {
        let (owner, since) = (owner.to_owned(), self.now_ms() - LEARNED_KEPT_MS);
        self.run(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM learned_types WHERE owner = ?1 AND last_ms >= ?2");
            let mut query = connection.prepare_cached(&sql)?;
            let found = query.query_map(params![owner, since], record)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    pub(crate) fn learned_stamp(&self, owner: &str) -> Reply<LearnedStamp> {
        let owner = owner.to_owned();
        self.run(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT count(*), ifnull(sum(calls), 0), ifnull(max(last_ms), 0) FROM learned_types WHERE owner = ?1",
            )?;
            let stamp = |row: &Row<'_>| {
                Ok(LearnedStamp { rows: row.get(0)?, calls: row.get(1)?, last_ms: row.get(2)? })
            };
            Ok(query.query_row([owner], stamp)?)
        })
    }

    /// What is known to all owners, by server and tool.
    pub fn list_learned(&self) -> Reply<Vec<LearnedRecord>> {
        let since = self.now_ms() - LEARNED_KEPT_MS;
        self.run(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM learned_types WHERE last_ms >= ?1 ORDER BY server, tool, owner"
            );
            let mut query = connection.prepare(&sql)?;
            let found = query.query_map([since], record)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// Forgets what is known of a server's tools, or of all, to every owner. How much that was.
    pub fn forget_learned(&self, server: Option<&str>) -> Reply<usize> {
        let server = server.map(str::to_owned);
        self.change(move |transaction| {
            let sql = "DELETE FROM learned_types WHERE ?1 IS NULL OR server = ?1";
            Ok(transaction.execute(sql, [server])?)
        })
    }
}

fn learn_one(
    transaction: &Transaction<'_>,
    answer: ObservedAnswer,
    now_ms: i64,
) -> Result<Option<Drifted>, StoreError> {
    let ObservedAnswer { owner, server, tool, definition, shape } = answer;
    let sql = format!("SELECT {COLUMNS} FROM learned_types WHERE owner = ?1 AND server = ?2 AND tool = ?3");
    let known = transaction.prepare_cached(&sql)?.query_row([&owner, &server, &tool], record).optional()?;
    let is_new = known.is_none();
    let mut row = known.filter(|known| known.definition == definition).unwrap_or_else(|| LearnedRecord {
        owner,
        server,
        tool,
        definition,
        learned: LearnedType::default(),
        calls: 0,
        unchanged: 0,
        first_ms: now_ms,
        last_ms: now_ms,
        drifts: 0,
        drift_ms: None,
        drift: Vec::new(),
    });
    let before = (row.unchanged >= DRIFT_AFTER).then(|| row.learned.schema());
    let change = row.learned.learn(shape);
    row.calls = row.calls.saturating_add(1);
    row.unchanged = if change == Change::None { row.unchanged.saturating_add(1) } else { 0 };
    row.last_ms = now_ms;
    let mut drifted = None;
    if let (Change::Widened, Some(before)) = (change, before) {
        row.drifts = row.drifts.saturating_add(1);
        row.drift_ms = Some(now_ms);
        row.drift = drift(&before, &row.learned.schema());
        drifted = Some(Drifted { server: row.server.clone(), tool: row.tool.clone(), drifts: row.drifts });
    }
    if is_new {
        make_room(transaction, &row.owner)?;
    }
    write(transaction, &row)?;
    Ok(drifted)
}

fn make_room(transaction: &Transaction<'_>, owner: &str) -> Result<(), StoreError> {
    transaction.execute(
        "DELETE FROM learned_types WHERE owner = ?1 AND (server, tool) NOT IN \
         (SELECT server, tool FROM learned_types WHERE owner = ?1 ORDER BY last_ms DESC, server, tool LIMIT ?2)",
        params![owner, OF_ONE_MAX - 1],
    )?;
    Ok(())
}

fn write(transaction: &Transaction<'_>, row: &LearnedRecord) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT OR REPLACE INTO learned_types ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
    );
    transaction.prepare_cached(&sql)?.execute(params![
        row.owner,
        row.server,
        row.tool,
        row.definition,
        row.learned.to_json(),
        whole(row.calls),
        whole(row.unchanged),
        row.first_ms,
        row.last_ms,
        whole(row.drifts),
        row.drift_ms,
        row.drift.join("\n"),
    ])?;
    Ok(())
}

fn record(row: &Row<'_>) -> rusqlite::Result<LearnedRecord> {
    let drift: String = row.get(11)?;
    Ok(LearnedRecord {
        owner: row.get(0)?,
        server: row.get(1)?,
        tool: row.get(2)?,
        definition: row.get(3)?,
        // What can't be read is learned anew.
        learned: LearnedType::from_json(&row.get::<_, String>(4)?).unwrap_or_default(),
        calls: natural(row.get(5)?),
        unchanged: natural(row.get(6)?),
        first_ms: row.get(7)?,
        last_ms: row.get(8)?,
        drifts: natural(row.get(9)?),
        drift_ms: row.get(10)?,
        drift: drift.lines().map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gristmill_domain::learned::{NothingPersonal, observe};
    use gristmill_testkit::TestFolder;
    use serde_json::json;

    use super::*;
    use crate::clock::Clock;

    fn answer(owner: &str, tool: &str, definition: &str, json: &str) -> ObservedAnswer {
        ObservedAnswer {
            owner: owner.to_owned(),
            server: "shop".to_owned(),
            tool: tool.to_owned(),
            definition: definition.to_owned(),
            shape: observe(json, &NothingPersonal).expect("JSON"),
        }
    }

    async fn only_row(store: &Store) -> LearnedRecord {
        let mut rows = store.list_learned().await.unwrap();
        assert_eq!(rows.len(), 1);
        rows.remove(0)
    }

    #[tokio::test]
    async fn what_was_learned_outlasts_the_process_and_is_its_owners() {
        let folder = TestFolder::new("learned");
        let store = Store::open(folder.path()).unwrap();
        store.learn(vec![answer("ann", "orders", "d1", r#"{"id":1}"#)]).await.unwrap();
        store.close().await;
        let again = Store::open(folder.path()).unwrap();
        let known = again.learned_of("ann").await.unwrap();
        assert_eq!((known.len(), known[0].calls, known[0].drifts), (1, 1, 0));
        assert_eq!(known[0].learned.schema()["properties"], json!({"id": {"type": "integer"}}));
        assert_eq!(again.learned_of("bob").await.unwrap(), []);
    }

    #[tokio::test]
    async fn a_changed_definition_begins_anew() {
        let store = Store::in_memory().unwrap();
        store.learn(vec![answer("a", "orders", "d1", r#"{"id":1}"#); 4]).await.unwrap();
        store.learn(vec![answer("a", "orders", "d2", r#"{"key":"x"}"#)]).await.unwrap();
        let row = only_row(&store).await;
        assert_eq!((row.calls, row.definition.as_str(), row.drifts), (1, "d2", 0));
        assert_eq!(row.learned.schema()["properties"], json!({"key": {"type": "string"}}));
    }

    #[tokio::test]
    async fn an_answer_unlike_many_before_is_drift_and_one_unlike_few_is_not() {
        let store = Store::in_memory().unwrap();
        let like = answer("a", "orders", "d", r#"{"id":1}"#);
        let other = answer("a", "orders", "d", r#"{"id":1,"total":2}"#);
        let drifted = store.learn(vec![like.clone(), other.clone()]).await.unwrap();
        assert_eq!((drifted, only_row(&store).await.drifts), (vec![], 0));
        store.learn(vec![other; 12]).await.unwrap();
        let drifted = store.learn(vec![answer("a", "orders", "d", r#"{"id":"x"}"#)]).await.unwrap();
        assert_eq!(drifted, [Drifted { server: "shop".into(), tool: "orders".into(), drifts: 1 }]);
        let row = only_row(&store).await;
        assert_eq!((row.calls, row.unchanged, row.drift_ms.is_some()), (15, 0, true));
        assert_eq!(row.drift, ["id: integer -> integer | string"]);
    }

    #[tokio::test]
    async fn what_no_call_confirms_is_forgotten_and_so_is_what_is_wiped() {
        let clock = Clock::held_at(std::time::SystemTime::now());
        let store = Store::in_memory().unwrap().with_clock(clock.clone());
        store.learn(vec![answer("a", "orders", "d", "{}")]).await.unwrap();
        clock.advance(Duration::from_secs(91 * 24 * 3600));
        assert_eq!(store.learned_of("a").await.unwrap(), []);
        store.learn(vec![answer("a", "customers", "d", "{}")]).await.unwrap();
        assert_eq!(only_row(&store).await.tool, "customers");
        let before = store.learned_stamp("a").await.unwrap();
        assert_eq!(store.forget_learned(Some("other")).await.unwrap(), 0);
        assert_eq!(store.forget_learned(Some("shop")).await.unwrap(), 1);
        assert_ne!(store.learned_stamp("a").await.unwrap(), before);
        assert_eq!(store.list_learned().await.unwrap(), []);
    }

    #[tokio::test]
    async fn one_owner_has_so_many_and_takes_none_from_others() {
        let store = Store::in_memory().unwrap();
        let mut answers = vec![answer("bob", "orders", "d", "{}")];
        answers.extend((0..OF_ONE_MAX + 2).map(|number| answer("ann", &format!("t{number}"), "d", "1")));
        store.learn(answers).await.unwrap();
        assert_eq!(store.learned_of("ann").await.unwrap().len() as i64, OF_ONE_MAX);
        assert_eq!(store.learned_of("bob").await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn two_gateways_learn_together() {
        let folder = TestFolder::new("learned-together");
        let stores = [Store::open(folder.path()).unwrap(), Store::open(folder.path()).unwrap()];
        stores[0].learn(vec![answer("a", "orders", "d", r#"{"id":1}"#)]).await.unwrap();
        stores[1].learn(vec![answer("a", "orders", "d", r#"{"name":"x"}"#)]).await.unwrap();
        let row = only_row(&stores[0]).await;
        assert_eq!(row.calls, 2);
        assert_eq!(row.learned.schema()["properties"].as_object().unwrap().len(), 2);
    }
}
