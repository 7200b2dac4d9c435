//! From any earlier version of the database to this one, step by step, all or nothing.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::database::APPLICATION_ID;
use super::error::StoreError;

/// One step each. Never changed once they are out; a change is a new step.
const STEPS: &[&str] = &[
    include_str!("migrations/1_sessions.sql"),
    include_str!("migrations/2_executions.sql"),
    include_str!("migrations/3_skills.sql"),
    include_str!("migrations/6_session_answers.sql"),
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
