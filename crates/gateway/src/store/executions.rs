//! Executions, one by one: written when they begin and end, found and listed.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::behind::with_audit;
use super::execution_details;
use super::execution_writes::{write_begun, write_ended};
use super::journal::Fact;
use super::numbers::natural;
use super::{
    BegunRow, EndedRow, ExecutionRecord, ExecutionSummary, Found, HistoryFilter, KeptText, RecordedCall,
    RecordedError, RecordedOutcome, Reply, Store, StoreError,
};
use crate::clock::unix_ms;
use crate::report::TokenAccount;

/// Names that are told where several begin alike.
const NAMES_TOLD_MAX: usize = 10;

/// What a list shows of a program.
pub(super) const LISTED_CODE_CHARS: usize = 400;

/// The condition of a filter; its values are in [`FilterValues`].
pub(super) const FILTER: &str = "(:owner IS NULL OR e.owner = :owner) \
     AND (:session IS NULL OR e.session = :session OR e.session IN (SELECT id FROM sessions WHERE name = :session)) \
     AND (NOT :failed OR e.outcome IN ('failed', 'lost')) \
     AND e.started_ms >= :since";

pub(super) const SUMMARY_COLUMNS: &str = "e.number, e.id, e.session, e.owner, e.started_ms, e.duration_ms, e.outcome, \
     e.error_code, e.limits_hit, e.findings, e.calls, e.calls_failed, e.tokens_in, e.tokens_out, e.tokens_inside, \
     e.tokens_estimated, t.own_definition, t.definitions, t.looked_up, e.cpu_ms, e.memory_peak_bytes, \
     (SELECT s.name FROM sessions s WHERE s.id = e.session) AS session_name";

/// Executions with what their calls come to, where that was counted.
pub(super) const WITH_TOKENS: &str = "executions e LEFT JOIN execution_tokens t ON t.execution = e.number";

/// What a filter says, as SQL takes it.
pub(super) struct FilterValues {
    pub owner: Option<String>,
    pub session: Option<String>,
    pub failed: bool,
    pub since: i64,
}

impl From<HistoryFilter> for FilterValues {
    fn from(filter: HistoryFilter) -> Self {
        Self {
            owner: filter.owner.map(|owner| owner.0),
            session: filter.session,
            failed: filter.failed,
            since: filter.since.map_or(i64::MIN, unix_ms),
        }
    }
}

impl FilterValues {
    /// The parameters of [`FILTER`].
    pub fn named(&self) -> [(&'static str, &dyn ToSql); 4] {
        [
            (":owner", &self.owner),
            (":session", &self.session),
            (":failed", &self.failed),
            (":since", &self.since),
        ]
    }
}

impl Store {
    /// Notes that one runs. What waits of the audit about it is written with it.
    pub(crate) fn begin_execution(&self, row: Arc<BegunRow>) {
        if self.in_journal(&row.id, Fact::Begun(Arc::clone(&row))) {
            return;
        }
        let behind = self.behind();
        self.later(move |connection| {
            with_audit(connection, &behind, |transaction| write_begun(transaction, &row).map(drop))
        });
    }

    /// The same at its end. Afterwards it is written: in the journal, or in the database.
    pub(crate) fn end_execution(&self, row: Arc<EndedRow>) -> Reply<()> {
        if self.in_journal(&row.begun.id, Fact::Ended(Arc::clone(&row))) {
            return Box::pin(std::future::ready(Ok(())));
        }
        let behind = self.behind();
        self.run(move |connection| {
            with_audit(connection, &behind, |transaction| write_ended(transaction, &row).map(drop))
        })
    }

    /// Gateways that have executions running, by what they wrote.
    pub(crate) fn gateways_with_running(&self) -> Reply<Vec<String>> {
        self.run(|connection| {
            let mut query =
                connection.prepare("SELECT DISTINCT gateway FROM executions WHERE outcome = 'running'")?;
            Ok(query.query_map((), |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    /// Nobody will tell how these ended.
    pub(crate) fn mark_lost(&self, gateways: Vec<String>) -> Reply<()> {
        self.change(move |transaction| {
            let mut update = transaction.prepare(
                "UPDATE executions SET outcome = 'lost' WHERE outcome = 'running' AND gateway = ?1",
            )?;
            for gateway in gateways {
                update.execute([gateway])?;
            }
            Ok(())
        })
    }

    /// By the beginning of its name.
    pub(crate) fn find_execution(&self, beginning: String, owner: Option<String>) -> Reply<Found> {
        self.run(move |connection| {
            let transaction = connection.transaction()?;
            let mut query = transaction.prepare(
                "SELECT id FROM executions WHERE id >= ?1 AND id < ?1 || '~' AND (?2 IS NULL OR owner = ?2) ORDER BY id LIMIT ?3",
            )?;
            let names = query
                .query_map(params![beginning, owner, NAMES_TOLD_MAX as i64], |row| row.get::<_, String>(0))?
                .collect::<Result<Vec<_>, _>>()?;
            match names.as_slice() {
                [] => Ok(Found::Nothing),
                [id] => {
                    let record = read_record(&transaction, id)?;
                    Ok(record.map_or(Found::Nothing, |record| Found::One(Box::new(record))))
                }
                [_, ..] => Ok(Found::Several(names)),
            }
        })
    }

    /// The newest first, each with the beginning of its program.
    pub(crate) fn list_executions(
        &self,
        filter: HistoryFilter,
        limit: usize,
    ) -> Reply<Vec<ExecutionSummary>> {
        let values = FilterValues::from(filter);
        self.run(move |connection| {
            let mut query = connection.prepare(&format!(
                "SELECT {SUMMARY_COLUMNS}, substr(p.code, 1, {LISTED_CODE_CHARS}) AS code FROM {WITH_TOKENS} \
                 LEFT JOIN programs p ON p.hash = e.program WHERE {FILTER} \
                 ORDER BY e.started_ms DESC, e.number DESC LIMIT {limit}"
            ))?;
            Ok(query.query_map(values.named().as_slice(), summary)?.collect::<Result<_, _>>()?)
        })
    }
}

fn read_record(connection: &Connection, id: &str) -> Result<Option<ExecutionRecord>, StoreError> {
    let mut query = connection.prepare(&format!(
        "SELECT {SUMMARY_COLUMNS}, p.code AS code, e.language, e.level, e.program, e.context, e.context_bytes, \
         e.error_line, e.error_message, e.error_hint, e.error_traceback, e.notes, e.stdout, e.stdout_bytes, \
         e.stderr, e.stderr_bytes, e.result, e.result_bytes, e.gateway \
         FROM {WITH_TOKENS} LEFT JOIN programs p ON p.hash = e.program WHERE e.id = ?1"
    ))?;
    let read = query.query_row([id], |row| Ok((row.get::<_, i64>("number")?, record(row)?))).optional()?;
    let Some((number, mut record)) = read else { return Ok(None) };
    let mut query = connection.prepare(
        "SELECT name, line, ok, sent, time_ms, argument_bytes, argument_tokens, answer_bytes, answer_tokens, \
         error, began_ms FROM execution_calls WHERE execution = ?1 ORDER BY place",
    )?;
    record.tools_called = query.query_map([number], call)?.collect::<Result<_, _>>()?;
    (record.trace_id, record.stages) = execution_details::read(connection, number)?;
    Ok(Some(record))
}

fn record(row: &Row<'_>) -> rusqlite::Result<ExecutionRecord> {
    let summary = summary(row)?;
    let error = match &summary.error_code {
        None => None,
        Some(code) => Some(RecordedError {
            code: code.clone(),
            line: row.get::<_, Option<i64>>("error_line")?.map(natural),
            message: row.get("error_message")?,
            hint: row.get("error_hint")?,
            traceback: row.get("error_traceback")?,
        }),
    };
    let notes: Option<String> = row.get("notes")?;
    let result_bytes: Option<i64> = row.get("result_bytes")?;
    let result = match result_bytes {
        None => None,
        Some(bytes) => Some(KeptText { text: row.get("result")?, bytes: natural(bytes) }),
    };
    Ok(ExecutionRecord {
        summary,
        language: row.get("language")?,
        level: row.get("level")?,
        program_hash: row.get("program")?,
        context: row.get("context")?,
        context_bytes: natural(row.get("context_bytes")?),
        error,
        notes: notes.and_then(|notes| serde_json::from_str(&notes).ok()).unwrap_or_default(),
        stdout: KeptText { text: row.get("stdout")?, bytes: natural(row.get("stdout_bytes")?) },
        stderr: KeptText { text: row.get("stderr")?, bytes: natural(row.get("stderr_bytes")?) },
        result,
        tools_called: Vec::new(),
        stages: Vec::new(),
        trace_id: None,
        gateway: row.get("gateway")?,
    })
}

pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<ExecutionSummary> {
    let (limits_hit, findings): (String, String) = (row.get("limits_hit")?, row.get("findings")?);
    Ok(ExecutionSummary {
        id: row.get("id")?,
        session: row.get("session")?,
        session_name: row.get("session_name")?,
        owner: row.get("owner")?,
        started_ms: row.get("started_ms")?,
        duration_ms: row.get("duration_ms")?,
        outcome: RecordedOutcome::read(&row.get::<_, String>("outcome")?),
        error_code: row.get("error_code")?,
        limits_hit: limits_hit.split_whitespace().map(str::to_owned).collect(),
        findings: findings.split_whitespace().map(str::to_owned).collect(),
        calls: natural(row.get("calls")?),
        calls_failed: natural(row.get("calls_failed")?),
        tokens: TokenAccount {
            program: natural(row.get("tokens_in")?),
            returned: natural(row.get("tokens_out")?),
            inside: natural(row.get("tokens_inside")?),
            own_definition: row.get::<_, Option<i64>>("own_definition")?.map(natural),
            definitions: row.get::<_, Option<i64>>("definitions")?.map(natural),
            looked_up: row.get::<_, Option<i64>>("looked_up")?.map(natural),
            estimated: row.get("tokens_estimated")?,
        },
        cpu_time_ms: row.get("cpu_ms")?,
        memory_peak_bytes: natural(row.get("memory_peak_bytes")?),
        code: row.get("code")?,
    })
}

fn call(row: &Row<'_>) -> rusqlite::Result<RecordedCall> {
    Ok(RecordedCall {
        name: row.get("name")?,
        line: row.get::<_, Option<i64>>("line")?.map(natural),
        ok: row.get("ok")?,
        sent: row.get("sent")?,
        time_ms: row.get("time_ms")?,
        began_ms: row.get("began_ms")?,
        argument_bytes: natural(row.get("argument_bytes")?),
        argument_tokens: natural(row.get("argument_tokens")?),
        answer_bytes: natural(row.get("answer_bytes")?),
        answer_tokens: natural(row.get("answer_tokens")?),
        error: row.get("error")?,
    })
}
