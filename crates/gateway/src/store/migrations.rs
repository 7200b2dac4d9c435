//! From any earlier version of the database to this one, step by step, all or nothing.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::error::StoreError;

/// What stands in the file's head: `Gris`.
pub(super) const APPLICATION_ID: i64 = 0x4772_6973;

/// One step each. Never changed once they are out; a change is a new step.
const STEPS: &[&str] = &[
    include_str!("migrations/1_sessions.sql"),
    include_str!("migrations/2_executions.sql"),
    include_str!("migrations/3_skills.sql"),
    include_str!("migrations/4_results.sql"),
    include_str!("migrations/5_token_accounts.sql"),
    include_str!("migrations/6_session_answers.sql"),
    include_str!("migrations/7_skill_origins.sql"),
    include_str!("migrations/8_audit.sql"),
    include_str!("migrations/9_findings.sql"),
    include_str!("migrations/10_approvals.sql"),
    include_str!("migrations/11_skills_begun.sql"),
    include_str!("migrations/12_marks.sql"),
    include_str!("migrations/13_plans.sql"),
    include_str!("migrations/14_levels_and_budgets.sql"),
    include_str!("migrations/15_vault.sql"),
    include_str!("migrations/16_anomalies.sql"),
    include_str!("migrations/17_dashboard.sql"),
    include_str!("migrations/18_programs.sql"),
    include_str!("migrations/19_learned_types.sql"),
    include_str!("migrations/20_session_engines.sql"),
];

/// The version that this gristmill writes.
pub(super) const VERSION: i64 = STEPS.len() as i64;

/// Whether the database is one that we know how to use.
pub(super) fn check_known(connection: &Connection, file: &Path) -> Result<(), StoreError> {
    let found = version(connection)?;
    match found <= VERSION {
        true => Ok(()),
        false => Err(StoreError::Newer { file: file.to_owned(), found, known: VERSION }),
    }
}

pub(super) fn bring_up_to_date(connection: &mut Connection, file: &Path) -> Result<(), StoreError> {
    if version(connection)? == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Again: another gateway may have come first.
    check_known(&transaction, file)?;
    let done = usize::try_from(version(&transaction)?).unwrap_or(0);
    for step in &STEPS[done..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(())
}

fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.query_row("PRAGMA user_version", (), |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use gristmill_testkit::TestFolder;

    use super::super::{FILE_NAME, Store};
    use super::*;
    use crate::report::TokenAccount;
    use crate::store::{DirectCalls, HistoryFilter};

    /// A database as it was after so many steps.
    fn at_version(folder: &Path, version: usize) -> Connection {
        let connection = Connection::open(folder.join(FILE_NAME)).unwrap();
        for step in STEPS.iter().take(version) {
            connection.execute_batch(step).unwrap();
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        connection.pragma_update(None, "user_version", version as i64).unwrap();
        connection
    }

    #[tokio::test]
    async fn executions_from_before_definitions_were_counted_stay_and_are_no_losses() {
        let folder = TestFolder::new("migrations");
        let old = at_version(folder.path(), 3);
        for number in 0..6 {
            old.execute(
                "INSERT INTO executions (id, gateway, owner, session, language, level, program, started_ms, \
                 outcome, calls, tokens_in, tokens_out, tokens_inside, weight, context_bytes) \
                 VALUES (?1, 'g', 'a', '', 'python', 'production', 'hash', 1, 'ok', 1, 50, 5, 20, 600, 0)",
                [format!("old{number}")],
            )
            .unwrap();
        }
        drop(old);
        let store = Store::open(folder.path()).unwrap();
        let listed = store.list_executions(HistoryFilter::default(), 10).await.unwrap();
        let account = TokenAccount { program: 50, returned: 5, inside: 20, ..TokenAccount::default() };
        let accounts: Vec<TokenAccount> = listed.iter().map(|summary| summary.tokens).collect();
        assert_eq!(accounts, [account; 6]);
        let stats = store.execution_stats(HistoryFilter::default()).await.unwrap();
        assert_eq!((stats.executions, stats.tokens.definitions, stats.tokens.inside), (6, None, 120));
        assert_eq!((stats.direct, stats.hint()), (DirectCalls::default(), None));
    }
}
