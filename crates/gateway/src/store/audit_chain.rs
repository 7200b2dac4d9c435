//! The end of the audit's chain: events are linked to it, in whichever transaction.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::StoreError;
use super::audit_link::link;
use super::audit_rows::{AuditHash, AuditHead, AuditRow, RowEffect, SignedHead};
use super::numbers::{natural, whole};

const SIGNED: &str = "SELECT number, kind = 'anchor', hash, at_ms, signature FROM audit_checkpoints";

pub(super) fn in_transaction(
    connection: &mut Connection,
    job: impl FnOnce(&Transaction<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    // At once a writer: what comes after the chain's head is ours, whoever else writes.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    job(&transaction)?;
    Ok(transaction.commit()?)
}

/// Links events to the chain; tells how far it goes then.
pub(super) fn append<'a>(
    transaction: &Transaction<'_>,
    rows: impl IntoIterator<Item = &'a AuditRow>,
) -> Result<AuditHead, StoreError> {
    let mut head = head(transaction)?;
    let mut insert =
        transaction.prepare_cached("INSERT INTO audit_events (number, hash, event) VALUES (?1, ?2, ?3)")?;
    for AuditRow { text, effect } in rows {
        let number = head.number + 1;
        match effect {
            RowEffect::None => {}
            RowEffect::Opens { execution, gateway } => {
                transaction
                    .prepare_cached(
                        "INSERT OR IGNORE INTO audit_open (execution, gateway, begun) VALUES (?1, ?2, ?3)",
                    )?
                    .execute(params![execution, gateway, whole(number)])?;
            }
            RowEffect::Closes { execution } => {
                let closed = transaction
                    .prepare_cached("DELETE FROM audit_open WHERE execution = ?1")?
                    .execute([execution])?;
                if closed == 0 {
                    continue;
                }
            }
        }
        head = AuditHead { number, hash: link(&head.hash, number, text) };
        insert.execute(params![whole(number), head.hash, text])?;
    }
    Ok(head)
}

/// The last event, or where the chain begins.
pub(super) fn head(connection: &Connection) -> Result<AuditHead, StoreError> {
    let last = connection
        .prepare_cached("SELECT number, hash FROM audit_events ORDER BY number DESC LIMIT 1")?
        .query_row((), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, AuditHash>(1)?)))
        .optional()?;
    if let Some((number, hash)) = last {
        return Ok(AuditHead { number: natural(number), hash });
    }
    let signed = last_signed(connection)?;
    let begin = signed.and_then(|head| Some((head.number, AuditHash::try_from(&head.hash[..]).ok()?)));
    let (number, hash) = begin.unwrap_or((0, [0; 32]));
    Ok(AuditHead { number, hash })
}

pub(super) fn last_signed(connection: &Connection) -> Result<Option<SignedHead>, StoreError> {
    let mut query = connection.prepare(&format!("{SIGNED} ORDER BY number DESC, kind LIMIT 1"))?;
    Ok(query.query_row((), signed_head).optional()?)
}

/// In their order; an anchor comes before a checkpoint of the same number.
pub(super) fn all_signed(connection: &Connection) -> Result<Vec<SignedHead>, StoreError> {
    let mut query = connection.prepare(&format!("{SIGNED} ORDER BY number, kind"))?;
    Ok(query.query_map((), signed_head)?.collect::<Result<_, _>>()?)
}

fn signed_head(row: &Row<'_>) -> rusqlite::Result<SignedHead> {
    Ok(SignedHead {
        number: natural(row.get(0)?),
        is_anchor: row.get(1)?,
        hash: row.get(2)?,
        at_ms: row.get(3)?,
        signature: row.get(4)?,
    })
}
