//! What is written of an execution when it begins and when it ends, in whichever transaction.

use rusqlite::{Connection, named_params, params};

use super::execution_details;
use super::numbers::whole;
use super::{BegunRow, EndedRow, StoreError};
use crate::report::TokenAccount;

/// Whether it was not known before.
pub(super) fn write_begun(connection: &Connection, row: &BegunRow) -> Result<bool, StoreError> {
    if let Some(code) = &row.code {
        connection
            .prepare_cached("INSERT OR IGNORE INTO programs (hash, code) VALUES (?1, ?2)")?
            .execute([&row.program, code])?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO executions (id, gateway, owner, session, language, level, program, started_ms, outcome, \
         weight, context_bytes, context) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'running', ?9, ?10, ?11) \
         ON CONFLICT (id) DO NOTHING",
    )?;
    let inserted = insert.execute(params![
        row.id,
        row.gateway,
        row.owner,
        row.session,
        row.language,
        row.level,
        row.program,
        row.started_ms,
        whole(row.weight as u64),
        whole(row.context_bytes),
        row.context,
    ])?;
    Ok(inserted > 0)
}

/// Whether it had not ended before.
pub(super) fn write_ended(connection: &Connection, row: &EndedRow) -> Result<bool, StoreError> {
    if write_end(connection, row)? || (write_begun(connection, &row.begun)? && write_end(connection, row)?) {
        write_tokens(connection, row)?;
        execution_details::write(connection, row)?;
        write_calls(connection, row)?;
        return Ok(true);
    }
    Ok(false)
}

/// Whether there was a beginning without an end.
fn write_end(connection: &Connection, row: &EndedRow) -> Result<bool, StoreError> {
    let mut update = connection.prepare_cached(
        "UPDATE executions SET session = :session, outcome = :outcome, duration_ms = :duration_ms, \
         cpu_ms = :cpu_ms, memory_peak_bytes = :memory, calls = :calls, calls_failed = :calls_failed, \
         tokens_in = :tokens_in, tokens_out = :tokens_out, tokens_inside = :tokens_inside, \
         tokens_estimated = :tokens_estimated, weight = :weight, stdout_bytes = :stdout_bytes, \
         stderr_bytes = :stderr_bytes, result_bytes = :result_bytes, limits_hit = :limits_hit, findings = :findings, \
         error_code = :error_code, error_line = :error_line, error_message = :error_message, \
         error_hint = :error_hint, error_traceback = :error_traceback, notes = :notes, stdout = :stdout, \
         stderr = :stderr, result = :result WHERE id = :id AND outcome IN ('running', 'lost')",
    )?;
    let error = row.error.as_ref();
    let result = row.result.as_ref();
    let changed = update.execute(named_params! {
        ":id": row.begun.id,
        ":session": row.session,
        ":outcome": row.outcome.as_str(),
        ":duration_ms": row.duration_ms,
        ":cpu_ms": row.cpu_ms,
        ":memory": whole(row.memory_peak_bytes),
        ":calls": whole(row.calls),
        ":calls_failed": whole(row.calls_failed),
        ":tokens_in": whole(row.tokens.program),
        ":tokens_out": whole(row.tokens.returned),
        ":tokens_inside": whole(row.tokens.inside),
        ":tokens_estimated": row.tokens.estimated,
        ":weight": whole(row.weight as u64),
        ":stdout_bytes": whole(row.stdout.bytes),
        ":stderr_bytes": whole(row.stderr.bytes),
        ":result_bytes": result.map(|result| whole(result.bytes)),
        ":limits_hit": row.limits_hit,
        ":findings": row.findings,
        ":error_code": error.map(|error| &error.code),
        ":error_line": error.and_then(|error| error.line).map(whole),
        ":error_message": error.and_then(|error| error.message.as_ref()),
        ":error_hint": error.and_then(|error| error.hint.as_ref()),
        ":error_traceback": error.and_then(|error| error.traceback.as_ref()),
        ":notes": row.notes,
        ":stdout": row.stdout.text,
        ":stderr": row.stderr.text,
        ":result": result.and_then(|result| result.text.as_ref()),
    })?;
    Ok(changed > 0)
}

fn write_tokens(connection: &Connection, row: &EndedRow) -> Result<(), StoreError> {
    let TokenAccount { own_definition, definitions, looked_up, .. } = row.tokens;
    let mut insert = connection.prepare_cached(
        "INSERT INTO execution_tokens (execution, own_definition, definitions, looked_up) \
         SELECT number, ?2, ?3, ?4 FROM executions WHERE id = ?1",
    )?;
    let counted = [own_definition, definitions, looked_up].map(|tokens| whole(tokens.unwrap_or_default()));
    insert.execute(params![row.begun.id, counted[0], counted[1], counted[2]])?;
    Ok(())
}

fn write_calls(connection: &Connection, row: &EndedRow) -> Result<(), StoreError> {
    if row.tools_called.is_empty() {
        return Ok(());
    }
    let number: i64 = connection
        .prepare_cached("SELECT number FROM executions WHERE id = ?1")?
        .query_row([&row.begun.id], |row| row.get(0))?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO execution_calls (execution, place, name, line, ok, sent, time_ms, argument_bytes, \
         argument_tokens, answer_bytes, answer_tokens, error, began_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    for (place, call) in row.tools_called.iter().enumerate() {
        insert.execute(params![
            number,
            whole(place as u64),
            call.name,
            call.line.map(whole),
            call.ok,
            call.sent,
            call.time_ms,
            whole(call.argument_bytes),
            whole(call.argument_tokens),
            whole(call.answer_bytes),
            whole(call.answer_tokens),
            call.error,
            call.began_ms,
        ])?;
    }
    Ok(())
}
