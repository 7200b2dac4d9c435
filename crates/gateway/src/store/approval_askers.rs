//! Whether whoever asks about a call is still there. A gateway that was killed takes nothing back: its questions stay
//! in the table as ones that wait.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension};

use super::{ApprovalRecord, ApprovalState, Store};
use crate::alive::is_gateway_alive;

/// Beyond the time that a call waits, for one whose program isn't known.
const LATE_MS: i64 = 60_000;

/// See the module.
pub(super) struct Askers {
    folder: Option<PathBuf>,
    now_ms: i64,
}

impl Askers {
    pub fn of(store: &Store) -> Self {
        Self { folder: store.folder().map(Path::to_owned), now_ms: store.now_ms() }
    }

    /// The question as it is: one whose program is gone doesn't wait.
    pub fn seen(&self, record: ApprovalRecord, connection: &Connection) -> rusqlite::Result<ApprovalRecord> {
        let is_gone = record.state == ApprovalState::Waiting && self.is_gone(&record, connection)?;
        Ok(if is_gone { ApprovalRecord { state: ApprovalState::Gone, ..record } } else { record })
    }

    /// A program that isn't in the table is one that has just begun, or one of which no history is kept. Then only
    /// the time tells.
    fn is_gone(&self, record: &ApprovalRecord, connection: &Connection) -> rusqlite::Result<bool> {
        let mut query =
            connection.prepare_cached("SELECT gateway, outcome = 'running' FROM executions WHERE id = ?1")?;
        let program: Option<(String, bool)> =
            query.query_row([&record.execution], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        Ok(match (program, &self.folder) {
            (Some((_, false)), _) => true,
            // A database in memory is this process's alone.
            (Some((_, true)), None) => false,
            (Some((gateway, true)), Some(folder)) => !is_gateway_alive(folder, &gateway),
            (None, _) => self.now_ms > record.gives_up_ms().saturating_add(LATE_MS),
        })
    }
}

#[cfg(test)]
mod tests {
    use gristmill_domain::policy::Answered;
    use gristmill_testkit::TestFolder;

    use super::*;
    use crate::alive::Alive;

    /// A question, and the program that asks it.
    async fn ask(store: &Store, id: &str, program: Option<(&str, &str)>) -> ApprovalRecord {
        if let Some((gateway, outcome)) = program {
            let (id, gateway, outcome) = (id.to_owned(), gateway.to_owned(), outcome.to_owned());
            let insert = store.change(move |transaction| {
                let sql = "INSERT INTO executions (id, gateway, owner, session, language, level, program, started_ms, \
                     outcome, weight, context_bytes) VALUES (?1, ?2, 'local', '', 'python', 'production', '', 0, ?3, 0, 0)";
                Ok(transaction.execute(sql, [id, gateway, outcome])?)
            });
            insert.await.unwrap();
        }
        let record = ApprovalRecord {
            id: id.to_owned(),
            owner: "local".to_owned(),
            caller: "this program".to_owned(),
            scope: "scope".to_owned(),
            rule: "destructive".to_owned(),
            why: "it destroys".to_owned(),
            server: "crm".to_owned(),
            tool: "delete".to_owned(),
            arguments: "{}".to_owned(),
            digest: "d".to_owned(),
            asked_ms: store.now_ms(),
            state: ApprovalState::Waiting,
            reason: None,
            execution: Some(id.to_owned()),
        };
        store.add_approval(record.clone()).await.unwrap();
        record
    }

    async fn state(store: &Store, id: &str) -> ApprovalState {
        let listed = store.list_approvals().await.unwrap().into_iter().find(|record| record.id == id);
        let found = store.find_approval(id).await.unwrap();
        assert_eq!(listed, found);
        found.unwrap().state
    }

    #[tokio::test]
    async fn a_question_whose_gateway_is_gone_does_not_wait_and_takes_no_answer() {
        let folder = TestFolder::new("askers");
        let store = Store::open(folder.path()).unwrap();
        let alive = Alive::take(store.folder()).unwrap();
        // As one that was killed leaves it: a file, and no lock.
        std::fs::write(folder.path().join("gateways/killed"), "").unwrap();
        let asked = ask(&store, "of-killed", Some(("killed", "running"))).await;
        ask(&store, "of-forgotten", Some(("not-even-a-file", "running"))).await;
        ask(&store, "of-lost", Some((&alive.gateway, "lost"))).await;
        ask(&store, "of-running", Some((&alive.gateway, "running"))).await;
        ask(&store, "just-begun", None).await;
        for id in ["of-killed", "of-forgotten", "of-lost"] {
            assert_eq!(state(&store, id).await, ApprovalState::Gone, "{id}");
            for answered in [Answered::Once, Answered::Session, Answered::No] {
                assert!(!store.answer_approval(id, answered).await.unwrap(), "{id}");
            }
        }
        assert_eq!(store.take_approval(asked).await.unwrap(), None);
        for id in ["of-running", "just-begun"] {
            assert_eq!(state(&store, id).await, ApprovalState::Waiting, "{id}");
            assert!(store.answer_approval(id, Answered::Once).await.unwrap(), "{id}");
        }
        assert!(folder.path().join("gateways/killed").exists(), "whoever looks clears nothing away");
    }

    #[tokio::test]
    async fn a_question_of_nobody_known_waits_as_long_as_any_call_does() {
        let store = Store::in_memory().unwrap();
        let record = ask(&store, "a", None).await;
        let askers = |late_ms: i64| Askers { folder: None, now_ms: record.gives_up_ms() + late_ms };
        let state_then = async |late_ms: i64| {
            let (askers, record) = (askers(late_ms), record.clone());
            store.run(move |connection| Ok(askers.seen(record, connection)?.state)).await.unwrap()
        };
        assert_eq!(state_then(LATE_MS).await, ApprovalState::Waiting);
        assert_eq!(state_then(LATE_MS + 1).await, ApprovalState::Gone);
    }
}
