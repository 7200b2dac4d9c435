//! Executions together: what they come to, and which are let go of.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::executions::{FILTER, FilterValues, WITH_TOKENS};
use super::numbers::{natural, whole};
use super::{DirectCalls, HistoryFilter, Reply, Stats, Store, StoreError, ToolStats};
use crate::report::TokenAccount;

/// Tools that are named.
const TOOLS_MAX: usize = 10;

/// Those that have an end, and so a time.
pub(super) const ENDED: &str = "e.outcome IN ('ok', 'failed', 'cancelled')";

/// Of those that have an end: whether a call reached a tool whose definition was looked for. Without
/// that there is nothing to compare.
pub(super) const COMPARED: &str = "e.tokens_inside > 0 AND t.definitions IS NOT NULL";

/// What one saved, as [`TokenAccount::saved`] has it.
const SAVED: &str = "(t.definitions + e.tokens_inside - e.tokens_in - e.tokens_out - t.own_definition)";

impl Store {
    /// Everything about the executions that were asked for.
    pub(crate) fn execution_stats(&self, filter: HistoryFilter) -> Reply<Stats> {
        let values = FilterValues::from(filter);
        self.run(move |connection| {
            // One moment for all of it: other gateways write meanwhile.
            let transaction = connection.transaction()?;
            let (mut stats, ended) = totals(&transaction, &values)?;
            stats.direct = direct_calls(&transaction, &values)?;
            stats.p95_ms = p95(&transaction, &values, ended)?;
            stats.tools = tools(&transaction, &values)?;
            stats.limits_hit = limits(&transaction, &values)?;
            Ok(stats)
        })
    }

    /// Removes some of those that began before a moment, or that are more than may be kept; gives
    /// how many. What runs stays.
    pub(crate) fn remove_executions(&self, before_ms: i64, bytes_max: u64, at_once: usize) -> Reply<usize> {
        let at_once = whole(at_once as u64);
        self.change(move |transaction| {
            let old = transaction.execute(
                "DELETE FROM executions WHERE number IN (SELECT number FROM executions \
                 WHERE started_ms < ?1 AND outcome <> 'running' ORDER BY started_ms LIMIT ?2)",
                [before_ms, at_once],
            )?;
            let held: i64 =
                transaction
                    .query_row("SELECT coalesce(sum(weight), 0) FROM executions", (), |row| row.get(0))?;
            if old > 0 || natural(held) <= bytes_max {
                return Ok(old);
            }
            // The newest fit first; what no longer does is removed, the oldest first.
            Ok(transaction.execute(
                "DELETE FROM executions WHERE outcome <> 'running' AND number IN (SELECT number FROM \
                 (SELECT number, started_ms, sum(weight) OVER (ORDER BY started_ms DESC, number DESC \
                 ROWS UNBOUNDED PRECEDING) AS held FROM executions) WHERE held > ?1 \
                 ORDER BY started_ms, number LIMIT ?2)",
                [whole(bytes_max), at_once],
            )?)
        })
    }

    /// Texts of programs of which no execution is known any more.
    pub(crate) fn remove_unused_programs(&self) -> Reply<()> {
        self.change(|transaction| {
            transaction
                .execute("DELETE FROM programs WHERE hash NOT IN (SELECT program FROM executions)", ())?;
            Ok(())
        })
    }
}

/// Everything that one pass gives, and how many have ended.
fn totals(connection: &Connection, values: &FilterValues) -> Result<(Stats, u64), StoreError> {
    let mut query = connection.prepare(&format!(
        "SELECT count(*), min(started_ms), coalesce(sum(outcome = 'ok'), 0), \
         coalesce(sum(outcome = 'failed'), 0), coalesce(sum(outcome = 'cancelled'), 0), \
         coalesce(sum(outcome = 'lost'), 0), coalesce(sum(outcome = 'running'), 0), \
         coalesce(avg(duration_ms) FILTER (WHERE {ENDED}), 0.0), coalesce(sum(cpu_ms), 0.0), \
         coalesce(sum(calls), 0), coalesce(sum(calls_failed), 0), coalesce(sum(tokens_in), 0), \
         coalesce(sum(tokens_out), 0), coalesce(sum(tokens_inside), 0), coalesce(max(tokens_estimated), 0), \
         count(*) FILTER (WHERE {ENDED}), sum(t.own_definition), sum(t.definitions), sum(t.looked_up) \
         FROM {WITH_TOKENS} WHERE {FILTER}"
    ))?;
    Ok(query.query_row(values.named().as_slice(), |row| {
        let natural_at = |column: usize| row.get(column).map(natural);
        let stats = Stats {
            executions: natural_at(0)?,
            since_ms: row.get(1)?,
            ok: natural_at(2)?,
            failed: natural_at(3)?,
            cancelled: natural_at(4)?,
            lost: natural_at(5)?,
            running: natural_at(6)?,
            average_ms: row.get(7)?,
            cpu_time_ms: row.get(8)?,
            calls: natural_at(9)?,
            calls_failed: natural_at(10)?,
            tokens: TokenAccount {
                program: natural_at(11)?,
                returned: natural_at(12)?,
                inside: natural_at(13)?,
                own_definition: row.get::<_, Option<i64>>(16)?.map(natural),
                definitions: row.get::<_, Option<i64>>(17)?.map(natural),
                looked_up: row.get::<_, Option<i64>>(18)?.map(natural),
                estimated: row.get(14)?,
            },
            ..Stats::default()
        };
        Ok((stats, natural_at(15)?))
    })?)
}

/// How they compare with the same calls made directly.
fn direct_calls(connection: &Connection, values: &FilterValues) -> Result<DirectCalls, StoreError> {
    let mut query = connection.prepare(&format!(
        "SELECT count(*) FILTER (WHERE {COMPARED}), count(*) FILTER (WHERE {COMPARED} AND {SAVED} < 0), \
         coalesce(sum(-{SAVED}) FILTER (WHERE {COMPARED} AND {SAVED} < 0), 0), \
         coalesce(sum({SAVED}) FILTER (WHERE {COMPARED}), 0), count(*) FILTER (WHERE e.tokens_inside = 0), \
         coalesce(sum(e.tokens_in + e.tokens_out + coalesce(t.own_definition, 0)) \
         FILTER (WHERE e.tokens_inside = 0), 0) \
         FROM {WITH_TOKENS} WHERE {FILTER} AND {ENDED}"
    ))?;
    Ok(query.query_row(values.named().as_slice(), |row| {
        Ok(DirectCalls {
            compared: natural(row.get(0)?),
            cheaper: natural(row.get(1)?),
            tokens_less: natural(row.get(2)?),
            saved: row.get(3)?,
            without_calls: natural(row.get(4)?),
            without_calls_tokens: natural(row.get(5)?),
        })
    })?)
}

fn p95(connection: &Connection, values: &FilterValues, ended: u64) -> Result<f64, StoreError> {
    if ended == 0 {
        return Ok(0.0);
    }
    let place = (ended * 95).div_ceil(100) - 1;
    let mut query = connection.prepare(&format!(
        "SELECT duration_ms FROM executions e WHERE {FILTER} AND {ENDED} ORDER BY duration_ms LIMIT 1 OFFSET {place}"
    ))?;
    Ok(query.query_row(values.named().as_slice(), |row| row.get(0))?)
}

fn tools(connection: &Connection, values: &FilterValues) -> Result<Vec<ToolStats>, StoreError> {
    let mut query = connection.prepare(&format!(
        "SELECT c.name, count(*), sum(NOT c.ok), avg(c.time_ms), sum(c.argument_tokens + c.answer_tokens) \
         FROM executions e JOIN execution_calls c ON c.execution = e.number WHERE {FILTER} \
         GROUP BY c.name ORDER BY count(*) DESC, c.name LIMIT {TOOLS_MAX}"
    ))?;
    let tools = query.query_map(values.named().as_slice(), |row| {
        Ok(ToolStats {
            name: row.get(0)?,
            calls: natural(row.get(1)?),
            failed: natural(row.get(2)?),
            average_ms: row.get(3)?,
            tokens: natural(row.get(4)?),
        })
    })?;
    Ok(tools.collect::<Result<_, _>>()?)
}

/// By name, the most frequent first.
fn limits(connection: &Connection, values: &FilterValues) -> Result<Vec<(String, u64)>, StoreError> {
    let mut query = connection.prepare(&format!(
        "SELECT limits_hit, count(*) FROM executions e WHERE {FILTER} AND limits_hit <> '' GROUP BY limits_hit"
    ))?;
    let mut counted: BTreeMap<String, u64> = BTreeMap::new();
    let rows = query
        .query_map(values.named().as_slice(), |row| Ok((row.get::<_, String>(0)?, natural(row.get(1)?))))?;
    for row in rows {
        let (names, count) = row?;
        for name in names.split_whitespace() {
            *counted.entry(name.to_owned()).or_default() += count;
        }
    }
    let mut counted: Vec<(String, u64)> = counted.into_iter().collect();
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(counted)
}
