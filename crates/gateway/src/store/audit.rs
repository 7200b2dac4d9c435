//! Events of the audit: appended, signed, read. What their hashes and signatures are made of is not known
//! here.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use tokio::sync::oneshot;

use super::audit_chain::{all_signed, append, head, last_signed};
use super::audit_rows::{
    AuditBatch, AuditFilter, AuditHash, AuditHead, AuditKeep, AuditRecord, AuditRow, AuditSigner, AuditSize,
    RowEffect, SignedHead,
};
use super::behind::{Behind, write_with};
use super::numbers::{natural, whole};
use super::{Reply, Store, StoreError};

impl Store {
    /// Writes what waits.
    pub(crate) fn append_audit(&self, batch: Arc<dyn AuditBatch>) -> Reply<()> {
        let behind = self.behind();
        self.run(move |connection| append_waiting(connection, &behind, &*batch))
    }

    /// The same, when there is time for it.
    pub(crate) fn append_audit_later(&self, batch: Arc<dyn AuditBatch>) {
        let behind = self.behind();
        self.later(move |connection| append_waiting(connection, &behind, &*batch));
    }

    /// Signs the chain as far as it goes, unless that was done. The mark outside follows when what is signed is
    /// safe: a machine that loses power must not look like somebody who cut the chain.
    pub(crate) fn sign_audit(&self, signer: Arc<dyn AuditSigner>) -> Reply<Option<SignedHead>> {
        let (at_ms, disk, signing) = (self.now_ms(), self.inner.disk.clone(), Arc::clone(&signer));
        let signed = self.run(move |connection| sign(connection, &*signing, at_ms));
        Box::pin(async move {
            let signed = signed.await?;
            if let Some(head) = signed.clone() {
                let (done, marked) = oneshot::channel();
                disk.make_safe(move |safe| {
                    signer.reached_disk(&head, safe);
                    // Nobody waits any more: the mark is there all the same.
                    let _ = done.send(());
                });
                let _ = marked.await;
            }
            Ok(signed)
        })
    }

    /// The same, when there is time for it.
    pub(crate) fn sign_audit_later(&self, signer: Arc<dyn AuditSigner>) {
        let (at_ms, disk) = (self.now_ms(), self.inner.disk.clone());
        self.later(move |connection| {
            if let Some(head) = sign(connection, &*signer, at_ms)? {
                disk.make_safe(move |safe| signer.reached_disk(&head, safe));
            }
            Ok(())
        });
    }

    /// Gateways that have executions without a final event.
    pub(crate) fn gateways_in_audit(&self) -> Reply<Vec<String>> {
        self.run(|connection| {
            let mut query = connection.prepare("SELECT DISTINCT gateway FROM audit_open")?;
            Ok(query.query_map((), |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    /// Writes final events for the executions of these gateways: `last` makes one of the first event.
    pub(crate) fn close_audit_of(
        &self,
        gateways: Vec<String>,
        last: impl Fn(&str, Option<&str>) -> String + Send + 'static,
    ) -> Reply<()> {
        self.change(move |transaction| {
            let mut open = transaction.prepare(
                "SELECT o.execution, e.event FROM audit_open o LEFT JOIN audit_events e ON e.number = o.begun \
                 WHERE o.gateway = ?1 ORDER BY o.begun",
            )?;
            let mut rows = Vec::new();
            for gateway in gateways {
                let found = open.query_map([gateway], |row| {
                    Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?))
                })?;
                for found in found {
                    let (execution, begun) = found?;
                    let text = last(&execution, begun.as_deref());
                    rows.push(AuditRow { text, effect: RowEffect::Closes { execution } });
                }
            }
            append(transaction, &rows).map(drop)
        })
    }

    /// The newest first.
    pub(crate) fn find_audit(&self, filter: AuditFilter, limit: usize) -> Reply<Vec<AuditRecord>> {
        self.run(move |connection| {
            let kinds = serde_json::to_string(&filter.kinds).unwrap_or_default();
            let mut query = connection.prepare(
                "SELECT number, hash, event FROM audit_events WHERE \
                 (?1 = '[]' OR event ->> 'kind' IN (SELECT value FROM json_each(?1))) \
                 AND (?2 IS NULL OR event ->> 'server' = ?2) AND (?3 IS NULL OR event ->> 'tool' = ?3) \
                 AND (?4 IS NULL OR event ->> 'caller' = ?4 OR event ->> 'token' = ?4) \
                 AND (?5 IS NULL OR substr(event ->> 'session', 1, length(?5)) = ?5) \
                 AND (?6 IS NULL OR substr(event ->> 'execution', 1, length(?6)) = ?6) \
                 AND (?7 IS NULL OR event ->> 'at' >= ?7) \
                 AND number > (SELECT coalesce(max(number), 0) FROM audit_events) - ?9 \
                 ORDER BY number DESC LIMIT ?8",
            )?;
            let AuditFilter { kinds: _, server, tool, caller, session, execution, since, newest } = filter;
            let newest = newest.map_or(i64::MAX, |newest| whole(newest as u64));
            let limit = whole(limit as u64);
            let values = params![kinds, server, tool, caller, session, execution, since, limit, newest];
            Ok(query.query_map(values, record)?.collect::<Result<_, _>>()?)
        })
    }

    /// Those of one execution, the oldest first.
    pub(crate) fn audit_of_execution(&self, id: &str, limit: usize) -> Reply<Vec<AuditRecord>> {
        let id = id.to_owned();
        self.run(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT number, hash, event FROM audit_events INDEXED BY audit_by_execution \
                 WHERE event ->> 'execution' = ?1 ORDER BY number LIMIT ?2",
            )?;
            Ok(query.query_map(params![id, whole(limit as u64)], record)?.collect::<Result<_, _>>()?)
        })
    }

    /// Those after a number, the oldest first.
    pub(crate) fn audit_after(&self, number: u64, limit: usize) -> Reply<Vec<AuditRecord>> {
        self.run(move |connection| {
            let mut query = connection.prepare(
                "SELECT number, hash, event FROM audit_events WHERE number > ?1 ORDER BY number LIMIT ?2",
            )?;
            let values = [whole(number), whole(limit as u64)];
            Ok(query.query_map(values, record)?.collect::<Result<_, _>>()?)
        })
    }

    /// Shows all of the chain, as it is at one moment: first what was signed, then each event in its order.
    pub(crate) fn walk_audit<T: Send + 'static>(
        &self,
        begin: impl FnOnce(Vec<SignedHead>) -> T + Send + 'static,
        visit: impl Fn(&mut T, AuditRecord) + Send + 'static,
    ) -> Reply<T> {
        self.run(move |connection| {
            let transaction = connection.transaction()?;
            let mut seen = begin(all_signed(&transaction)?);
            let mut query =
                transaction.prepare("SELECT number, hash, event FROM audit_events ORDER BY number")?;
            let mut rows = query.query(())?;
            while let Some(row) = rows.next()? {
                visit(&mut seen, record(row)?);
            }
            Ok(seen)
        })
    }

    pub(crate) fn audit_size(&self) -> Reply<AuditSize> {
        self.run(|connection| {
            // One query for each: both at once would read every row. Numbers have no gaps; whether one is
            // missing is for `verify` to say.
            let at = |which: &str| {
                let sql = format!("SELECT {which}(number) FROM audit_events");
                connection.query_row(&sql, (), |row| row.get::<_, Option<i64>>(0))
            };
            let (first, last) = (at("min")?.map_or(0, natural), at("max")?.map_or(0, natural));
            let events = if last == 0 { 0 } else { last - first + 1 };
            let signed = last_signed(connection)?.map(|head| (head.number, head.at_ms));
            Ok(AuditSize { events, first, last, signed })
        })
    }

    /// Lets go of what is too old or too much, up to something that was signed; gives how many events went.
    /// What stays can be proven from there on.
    pub(crate) fn cut_audit(&self, keep: AuditKeep, signer: Arc<dyn AuditSigner>) -> Reply<usize> {
        let at_ms = self.now_ms();
        self.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some(through) = cut_through(&transaction, &keep)? else { return Ok(0) };
            let signed = all_signed(&transaction)?.into_iter().rfind(|head| head.number <= through);
            let Some(hash) = signed.as_ref().and_then(|head| AuditHash::try_from(&head.hash[..]).ok()) else {
                return Ok(0);
            };
            let number = signed.map_or(0, |head| head.number);
            let removed =
                transaction.execute("DELETE FROM audit_events WHERE number <= ?1", [whole(number)])?;
            if removed == 0 {
                return Ok(0);
            }
            let anchor = signer.sign(number, true, &hash, at_ms);
            transaction.execute("DELETE FROM audit_checkpoints WHERE number <= ?1", [whole(number)])?;
            insert_signed(&transaction, &anchor)?;
            append(&transaction, &[signer.cut(&anchor)])?;
            transaction.commit()?;
            Ok(removed)
        })
    }
}

fn append_waiting(
    connection: &mut Connection,
    behind: &Behind,
    batch: &dyn AuditBatch,
) -> Result<(), StoreError> {
    match batch.is_empty() {
        true => Ok(()),
        false => write_with(connection, behind, batch, |_| Ok(())),
    }
}

fn sign(
    connection: &mut Connection,
    signer: &dyn AuditSigner,
    at_ms: i64,
) -> Result<Option<SignedHead>, StoreError> {
    let signed = sign_head(connection, signer, at_ms);
    if let Ok(Some(head)) = &signed {
        signer.signed(head);
    }
    signed
}

fn sign_head(
    connection: &mut Connection,
    signer: &dyn AuditSigner,
    at_ms: i64,
) -> Result<Option<SignedHead>, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut head = head(&transaction)?;
    if head.number == 0 {
        return Ok(None);
    }
    let mark = signer.mark();
    let is_met = match &mark {
        Some(mark) => leads_through(&transaction, mark, &head)?,
        None => false,
    };
    if let Some(last) = last_signed(&transaction)?.filter(|last| last.number == head.number) {
        // A mark that a killed process left behind follows.
        let is_behind = is_met && mark.is_some_and(|mark| mark.number < last.number);
        return Ok((is_behind && signer.has_signed(&last)).then_some(last));
    }
    if !is_met {
        head = append(&transaction, &[signer.broken(mark.as_ref(), &head)])?;
    }
    let signed = signer.sign(head.number, false, &head.hash, at_ms);
    insert_signed(&transaction, &signed)?;
    transaction.commit()?;
    Ok(Some(signed))
}

/// Whether what was signed once is part of the chain, or of what was let go of.
fn leads_through(connection: &Connection, mark: &SignedHead, head: &AuditHead) -> Result<bool, StoreError> {
    if mark.number > head.number {
        return Ok(false);
    }
    let mut query = connection.prepare("SELECT hash FROM audit_events WHERE number = ?1")?;
    let hash = query.query_row([whole(mark.number)], |row| row.get::<_, Vec<u8>>(0)).optional()?;
    match hash {
        Some(hash) => Ok(hash == mark.hash),
        None => {
            let anchor = all_signed(connection)?.into_iter().find(|signed| signed.is_anchor);
            Ok(mark.number == 0 || anchor.is_some_and(|anchor| anchor.number >= mark.number))
        }
    }
}

fn insert_signed(connection: &Connection, head: &SignedHead) -> Result<(), StoreError> {
    let kind = if head.is_anchor { "anchor" } else { "checkpoint" };
    connection
        .prepare("INSERT OR REPLACE INTO audit_checkpoints (number, kind, hash, at_ms, signature) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![whole(head.number), kind, head.hash, head.at_ms, head.signature])?;
    Ok(())
}

/// The number up to which events are too old or too many.
fn cut_through(connection: &Connection, keep: &AuditKeep) -> Result<Option<u64>, StoreError> {
    let mut query = connection
        .prepare("SELECT number FROM audit_events WHERE event ->> 'at' >= ?1 ORDER BY number LIMIT 1")?;
    let first_kept: Option<i64> = query.query_row([&keep.before], |row| row.get(0)).optional()?;
    let last: Option<i64> =
        connection.query_row("SELECT max(number) FROM audit_events", (), |row| row.get(0))?;
    let by_age = first_kept.map(|number| number - 1).or(last);
    Ok(by_age.map(natural).max(keep.beyond).filter(|number| *number > 0))
}

fn record(row: &Row<'_>) -> rusqlite::Result<AuditRecord> {
    Ok(AuditRecord { number: natural(row.get(0)?), hash: row.get(1)?, text: row.get(2)? })
}
