//! What pages show of an execution beside its record: its stages, its trace, what it stored.

use rusqlite::{Connection, OptionalExtension, params};

use super::execution_record::RecordedStage;
use super::execution_rows::EndedRow;
use super::{Reply, Store, StoreError};

/// Results of one execution that are named.
const RESULTS_MAX: usize = 20;

/// A result that an execution left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftResult {
    pub handle: String,
    /// `json`, `text` or `binary`.
    pub kind: String,
    pub bytes: u64,
}

impl Store {
    /// What an execution left, the largest first.
    pub fn results_of_execution(&self, owner: &str, execution: &str) -> Reply<Vec<LeftResult>> {
        let (owner, execution) = (owner.to_owned(), execution.to_owned());
        self.run(move |connection| {
            let mut query = connection.prepare_cached(&format!(
                "SELECT handle, kind, bytes FROM results INDEXED BY results_by_execution \
                 WHERE execution = ?1 AND owner = ?2 ORDER BY bytes DESC, handle LIMIT {RESULTS_MAX}"
            ))?;
            let found = query.query_map([execution, owner], |row| {
                let bytes = super::numbers::natural(row.get(2)?);
                Ok(LeftResult { handle: row.get(0)?, kind: row.get(1)?, bytes })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}

/// Written with the end of an execution, if there is anything to say.
pub(super) fn write(connection: &Connection, row: &EndedRow) -> Result<(), StoreError> {
    let trace_id = &row.begun.trace_id;
    if row.stages.is_empty() && trace_id.is_none() {
        return Ok(());
    }
    let stages = serde_json::to_string(&row.stages).unwrap_or_else(|_| "[]".to_owned());
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO execution_details (execution, trace_id, stages) \
         SELECT number, ?2, ?3 FROM executions WHERE id = ?1",
    )?;
    insert.execute(params![row.begun.id, trace_id, stages])?;
    Ok(())
}

/// The trace and the stages of an execution, by its number.
pub(super) fn read(
    connection: &Connection,
    number: i64,
) -> Result<(Option<String>, Vec<RecordedStage>), StoreError> {
    let sql = "SELECT trace_id, stages FROM execution_details WHERE execution = ?1";
    let found = connection
        .prepare_cached(sql)?
        .query_row([number], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))
        .optional()?;
    let Some((trace_id, stages)) = found else { return Ok((None, Vec::new())) };
    Ok((trace_id, serde_json::from_str(&stages).unwrap_or_default()))
}
