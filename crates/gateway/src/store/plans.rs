//! Plans: programs whose writes were held, so that a person can approve them from another process, and after
//! a restart.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::{Reply, Store, StoreError};
use crate::ids::Caller;
use crate::ports::{Approval, AuditEvent, Write};

/// What is older is forgotten, approved or not.
pub const PLAN_KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// Plans of one owner: the oldest go.
const OF_ONE_MAX: i64 = 20;

/// A program and what it would write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRecord {
    pub id: String,
    pub owner: String,
    /// Who asked for the dry run, in words for a person.
    pub caller: String,
    /// Such as `python`.
    pub language: String,
    pub program: String,
    pub filename: Option<String>,
    /// Its variables, as a JSON object.
    pub context: String,
    /// Its level and limits, as a JSON object.
    pub limits: String,
    pub writes: Vec<Write>,
    pub created_ms: i64,
    pub expires_ms: i64,
    pub state: PlanState,
}

/// What became of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanState {
    /// Nobody has said anything yet.
    Waiting,
    /// It may run once.
    Approved,
    Denied,
    /// It ran, or runs.
    Used,
}

impl PlanState {
    /// For people, and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            PlanState::Waiting => "waiting",
            PlanState::Approved => "approved",
            PlanState::Denied => "denied",
            PlanState::Used => "used",
        }
    }

    /// What cannot be read cannot be run.
    fn read(text: &str) -> Self {
        let all = [PlanState::Waiting, PlanState::Approved, PlanState::Denied];
        all.into_iter().find(|state| state.as_str() == text).unwrap_or(PlanState::Used)
    }
}

impl PlanRecord {
    /// What an auditor may ask about: a person's answer, for each tool that it is about.
    pub fn approval_events(&self, caller: &Caller, is_approved: bool, by: &str) -> Vec<AuditEvent> {
        let mut tools: Vec<(&str, &str)> =
            self.writes.iter().map(|write| (write.server.as_str(), write.tool.as_str())).collect();
        tools.sort_unstable();
        tools.dedup();
        let scope = format!("plan {}", self.id);
        let decision = if is_approved { "allow" } else { "deny" };
        let event = |(server, tool)| {
            AuditEvent::approval(
                caller,
                &Approval { server, tool, decision, scope: &scope, by, rule: None, reason: None },
            )
        };
        tools.into_iter().map(event).collect()
    }
}

const COLUMNS: &str =
    "id, owner, caller, language, program, filename, context, limits, writes, created_ms, expires_ms, state";

/// Its texts are not needed any more.
const EMPTIED: &str = "program = '', context = '{}', writes = '[]'";

impl Store {
    pub(crate) fn add_plan(&self, new: PlanRecord) -> Reply<()> {
        self.change(move |transaction| {
            sweep(transaction, new.created_ms)?;
            transaction.execute(
                "DELETE FROM plans WHERE owner = ?1 AND id NOT IN \
                 (SELECT id FROM plans WHERE owner = ?1 ORDER BY created_ms DESC, rowid DESC LIMIT ?2)",
                params![new.owner, OF_ONE_MAX - 1],
            )?;
            let writes = serde_json::to_string(&new.writes).unwrap_or_else(|_| "[]".to_owned());
            transaction.execute(
                &format!(
                    "INSERT INTO plans ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
                ),
                params![
                    new.id,
                    new.owner,
                    new.caller,
                    new.language,
                    new.program,
                    new.filename,
                    new.context,
                    new.limits,
                    writes,
                    new.created_ms,
                    new.expires_ms,
                    new.state.as_str(),
                ],
            )?;
            Ok(())
        })
    }

    /// A plan of this owner. That of another is not there, and neither is one that has expired.
    pub(crate) fn plan_of(&self, owner: &str, id: &str) -> Reply<Option<PlanRecord>> {
        let (owner, id, now) = (owner.to_owned(), id.to_owned(), self.now_ms());
        self.run(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM plans WHERE owner = ?1 AND id = ?2 AND expires_ms > ?3");
            Ok(connection.query_row(&sql, params![owner, id, now], record).optional()?)
        })
    }

    /// Takes a plan for its one run; `false` if it is not in this state any more: another run came first, or
    /// a person has denied it meanwhile. One that waited may have been approved.
    pub(crate) fn take_plan(&self, id: &str, state: PlanState) -> Reply<bool> {
        let (id, now) = (id.to_owned(), self.now_ms());
        self.change(move |transaction| {
            let sql = format!(
                "UPDATE plans SET state = 'used', {EMPTIED} WHERE id = ?1 AND expires_ms > ?3 \
                 AND (state = ?2 OR (?2 = 'waiting' AND state = 'approved'))"
            );
            Ok(transaction.execute(&sql, params![id, state.as_str(), now])? == 1)
        })
    }

    /// The plans that a person may look at, of every owner, the newest first.
    pub fn list_plans(&self) -> Reply<Vec<PlanRecord>> {
        let now = self.now_ms();
        self.run(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM plans WHERE expires_ms > ?1 AND state IN ('waiting', 'approved') \
                 ORDER BY created_ms DESC, rowid DESC"
            );
            let mut query = connection.prepare(&sql)?;
            let found = query.query_map([now], record)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// Approves a plan that waits, or denies one that has not run; `false` if it can't be any more.
    pub fn answer_plan(&self, id: &str, is_approved: bool) -> Reply<bool> {
        let (id, now) = (id.to_owned(), self.now_ms());
        self.change(move |transaction| {
            let sql = match is_approved {
                true => {
                    "UPDATE plans SET state = 'approved' WHERE id = ?1 AND state = 'waiting' AND expires_ms > ?2"
                        .to_owned()
                }
                false => format!(
                    "UPDATE plans SET state = 'denied', {EMPTIED} WHERE id = ?1 \
                     AND state IN ('waiting', 'approved') AND expires_ms > ?2"
                ),
            };
            Ok(transaction.execute(&sql, params![id, now])? == 1)
        })
    }

    /// Forgets what has expired.
    pub(crate) fn sweep_plans(&self) -> Reply<()> {
        let now = self.now_ms();
        self.change(move |transaction| sweep(transaction, now))
    }
}

fn sweep(transaction: &Transaction<'_>, now_ms: i64) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM plans WHERE expires_ms <= ?1", [now_ms])?;
    Ok(())
}

fn record(row: &Row<'_>) -> rusqlite::Result<PlanRecord> {
    Ok(PlanRecord {
        id: row.get(0)?,
        owner: row.get(1)?,
        caller: row.get(2)?,
        language: row.get(3)?,
        program: row.get(4)?,
        filename: row.get(5)?,
        context: row.get(6)?,
        limits: row.get(7)?,
        // A list that cannot be read permits nothing.
        writes: serde_json::from_str(&row.get::<_, String>(8)?).unwrap_or_default(),
        created_ms: row.get(9)?,
        expires_ms: row.get(10)?,
        state: PlanState::read(&row.get::<_, String>(11)?),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gristmill_testkit::TestFolder;

    use super::*;
    use crate::clock::Clock;

    fn plan(id: &str, owner: &str, store: &Store) -> PlanRecord {
        let text = str::to_owned;
        let write = Write {
            server: text("crm"),
            tool: text("delete"),
            arguments: text(r#"{"id":1}"#),
            decision: text("ask"),
            effect: text("destructive"),
            definition: String::new(),
        };
        PlanRecord {
            id: text(id),
            owner: text(owner),
            caller: text("you"),
            language: text("python"),
            program: text("secret program"),
            filename: None,
            context: text("{}"),
            limits: text("{}"),
            writes: vec![write],
            created_ms: store.now_ms(),
            expires_ms: store.now_ms() + PLAN_KEPT_MS,
            state: PlanState::Waiting,
        }
    }

    #[tokio::test]
    async fn a_plan_is_its_owners_and_outlasts_the_process() {
        let folder = TestFolder::new("plans");
        let store = Store::open(folder.path()).unwrap();
        let kept = plan("a", "ann", &store);
        store.add_plan(kept.clone()).await.unwrap();
        store.close().await;
        let again = Store::open(folder.path()).unwrap();
        assert_eq!(again.plan_of("ann", "a").await.unwrap(), Some(kept));
        assert_eq!(again.plan_of("bob", "a").await.unwrap(), None);
        assert_eq!(again.plan_of("ann", "b").await.unwrap(), None);
    }

    #[tokio::test]
    async fn of_two_gateways_that_take_a_plan_one_gets_it_and_its_texts_are_gone() {
        let folder = TestFolder::new("plans-taken");
        let stores = [Store::open(folder.path()).unwrap(), Store::open(folder.path()).unwrap()];
        stores[0].add_plan(plan("a", "ann", &stores[0])).await.unwrap();
        assert!(stores[1].answer_plan("a", true).await.unwrap());
        assert!(!stores[1].answer_plan("a", true).await.unwrap(), "it is approved already");
        let (one, other) = tokio::join!(
            stores[0].take_plan("a", PlanState::Approved),
            stores[1].take_plan("a", PlanState::Approved)
        );
        assert_eq!(usize::from(one.unwrap()) + usize::from(other.unwrap()), 1);
        let left = stores[0].plan_of("ann", "a").await.unwrap().unwrap();
        assert_eq!((left.state, left.program.as_str(), left.writes.len()), (PlanState::Used, "", 0));
        assert!(!stores[0].answer_plan("a", false).await.unwrap(), "it ran");
        assert_eq!(stores[0].list_plans().await.unwrap(), []);
    }

    #[tokio::test]
    async fn a_plan_is_forgotten_after_a_day_whatever_was_said_about_it() {
        let clock = Clock::held_at(std::time::SystemTime::now());
        let store = Store::in_memory().unwrap().with_clock(clock.clone());
        store.add_plan(plan("a", "ann", &store)).await.unwrap();
        assert!(store.answer_plan("a", true).await.unwrap());
        clock.advance(Duration::from_secs(24 * 60 * 60));
        assert_eq!(store.plan_of("ann", "a").await.unwrap(), None);
        assert!(!store.take_plan("a", PlanState::Approved).await.unwrap());
        store.sweep_plans().await.unwrap();
        let rows = store.run(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM plans", (), |row| row.get::<_, i64>(0))?)
        });
        assert_eq!(rows.await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_denied_plan_keeps_nothing_and_cannot_run() {
        let store = Store::in_memory().unwrap();
        store.add_plan(plan("a", "ann", &store)).await.unwrap();
        assert!(store.answer_plan("a", true).await.unwrap());
        assert!(store.answer_plan("a", false).await.unwrap(), "a yes can be taken back until it runs");
        assert!(!store.take_plan("a", PlanState::Approved).await.unwrap());
        let left = store.plan_of("ann", "a").await.unwrap().unwrap();
        assert_eq!((left.state, left.program.as_str()), (PlanState::Denied, ""));
    }

    #[tokio::test]
    async fn one_owner_has_so_many_plans_and_takes_none_from_others() {
        let store = Store::in_memory().unwrap();
        store.add_plan(plan("bobs", "bob", &store)).await.unwrap();
        for number in 0..OF_ONE_MAX + 3 {
            store.add_plan(plan(&format!("{number}"), "ann", &store)).await.unwrap();
        }
        let listed = store.list_plans().await.unwrap();
        assert_eq!(listed.len() as i64, OF_ONE_MAX + 1);
        assert_eq!((listed[0].id.as_str(), listed.last().unwrap().id.as_str()), ("22", "bobs"));
    }
}
