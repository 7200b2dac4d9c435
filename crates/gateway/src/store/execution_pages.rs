//! Executions for somebody who looks through them page by page: each query reads a bounded part of the table,
//! however much is kept, since the same connection writes what runs.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::executions::{LISTED_CODE_CHARS, SUMMARY_COLUMNS, WITH_TOKENS, summary};
use super::executions_together::{COMPARED, ENDED};
use super::numbers::{natural, whole};
use super::{ExecutionSummary, RecordedOutcome, Reply, Store, StoreError};

/// Executions that one query with a filter looks at. If fewer than wanted match, the next page goes on behind them.
const LOOKED_AT_MAX: usize = 5_000;

/// A tool that stands in a model's context takes 25 to 50 tokens in each turn of each conversation. Together with the
/// others that a program needs, about three, it saves a search of some 700 tokens: that pays if at least every third
/// program uses it.
const USED_SHARE: usize = 3;

/// Executions whose times are compared, the newest first.
const TIMED_MAX: usize = 10_000;

/// Calls that are looked at, of the newest executions.
const CALLS_MAX: usize = 20_000;

/// Which executions are wanted; what is absent is not asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionQuery {
    /// In the program, the error or the id.
    pub text: Option<String>,
    pub outcome: Option<RecordedOutcome>,
    /// By its handle or its name.
    pub session: Option<String>,
    /// A tool that was called, as the program named it or by the end of that.
    pub tool: Option<String>,
    /// The process that ran it.
    pub gateway: Option<String>,
    /// Began at this moment or later, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    pub from: PageFrom,
}

impl ExecutionQuery {
    /// Whether one that lies within its time may still not be wanted.
    fn is_filtered(&self) -> bool {
        let Self { text, outcome, session, tool, gateway, since_ms: _, from: _ } = self;
        text.is_some() || outcome.is_some() || session.is_some() || tool.is_some() || gateway.is_some()
    }
}

/// Where a page begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PageFrom {
    #[default]
    Newest,
    /// Older than the execution of this id.
    Before(String),
    /// Newer than it.
    After(String),
}

/// A page of executions, the newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutionPage {
    pub lines: Vec<ExecutionSummary>,
    /// Where older ones go on, if there may be some.
    pub older: Option<String>,
    /// Where newer ones go on.
    pub newer: Option<String>,
}

/// What executions of a stretch of time come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeriodFigures {
    pub executions: u64,
    pub failed: u64,
    /// Of the newest that have ended.
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    /// Of those that can be compared with direct calls.
    pub saved: i64,
    /// What these took through us.
    pub through_us: u64,
    /// What the same calls would have taken directly.
    pub direct: u64,
    /// In order of time, without gaps.
    pub parts: Vec<PeriodPart>,
}

/// One of equal parts of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeriodPart {
    pub ends_ms: i64,
    pub executions: u64,
    pub failed: u64,
    pub saved: i64,
}

/// One of the latest calls.
#[derive(Clone, Debug, PartialEq)]
pub struct LatestCall {
    /// As the program named it.
    pub name: String,
    pub ok: bool,
    pub time_ms: f64,
    /// When its execution began.
    pub started_ms: i64,
}

impl Store {
    pub(crate) fn execution_page(&self, query: ExecutionQuery, limit: usize) -> Reply<ExecutionPage> {
        self.run(move |connection| {
            let transaction = connection.transaction()?;
            let at = match &query.from {
                PageFrom::Newest => None,
                PageFrom::Before(id) | PageFrom::After(id) => place_of(&transaction, id)?,
            };
            page(&transaction, &query, at, limit)
        })
    }

    /// From one moment to another, in so many parts.
    pub(crate) fn period_figures(&self, since_ms: i64, until_ms: i64, parts: u32) -> Reply<PeriodFigures> {
        self.run(move |connection| {
            let transaction = connection.transaction()?;
            let mut figures = figures(&transaction, since_ms, until_ms, parts.max(1))?;
            (figures.p50_ms, figures.p95_ms) = quantiles(&transaction, since_ms)?;
            Ok(figures)
        })
    }

    /// Calls of the newest executions.
    pub(crate) fn latest_calls(&self) -> Reply<Vec<LatestCall>> {
        self.run(|connection| {
            let mut query = connection.prepare_cached(&format!(
                "SELECT c.name, c.ok, c.time_ms, l.started_ms FROM (SELECT number, started_ms FROM executions \
                 ORDER BY started_ms DESC LIMIT {LOOKED_AT_MAX}) l JOIN execution_calls c ON c.execution = l.number \
                 LIMIT {CALLS_MAX}"
            ))?;
            let calls = query.query_map((), |row| {
                Ok(LatestCall {
                    name: row.get(0)?,
                    ok: row.get(1)?,
                    time_ms: row.get(2)?,
                    started_ms: row.get(3)?,
                })
            })?;
            Ok(calls.collect::<Result<_, _>>()?)
        })
    }

    /// The names by which an owner's programs called tools within a period, those of most executions first: tools of
    /// at least one in `USED_SHARE` of the programs that called any.
    pub(crate) fn most_called(&self, owner: String, period: Range<i64>, limit: usize) -> Reply<Vec<String>> {
        self.run(move |connection| {
            let mut query = connection.prepare(&format!(
                "WITH called AS (SELECT c.execution, c.name FROM (SELECT number FROM executions \
                 WHERE started_ms >= ?1 AND started_ms < ?2 AND owner = ?3 \
                 ORDER BY started_ms DESC LIMIT {LOOKED_AT_MAX}) l \
                 JOIN execution_calls c ON c.execution = l.number WHERE c.ok) \
                 SELECT name FROM called GROUP BY name HAVING count(DISTINCT execution) * {USED_SHARE} >= \
                 (SELECT count(DISTINCT execution) FROM called) \
                 ORDER BY count(DISTINCT execution) DESC, name LIMIT {limit}"
            ))?;
            let names = query.query_map(params![period.start, period.end, owner], |row| row.get(0))?;
            Ok(names.collect::<Result<_, _>>()?)
        })
    }
}

fn place_of(connection: &Connection, id: &str) -> Result<Option<(i64, i64)>, StoreError> {
    let sql = "SELECT started_ms, number FROM executions WHERE id = ?1";
    Ok(connection.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

fn page(
    connection: &Connection,
    query: &ExecutionQuery,
    at: Option<(i64, i64)>,
    limit: usize,
) -> Result<ExecutionPage, StoreError> {
    let is_upward = matches!(query.from, PageFrom::After(_)) && at.is_some();
    let (order, beyond) = if is_upward { ("ASC", ">") } else { ("DESC", "<") };
    let unbounded = if is_upward { i64::MIN } else { i64::MAX };
    let (at_ms, at_number) = at.unwrap_or((unbounded, unbounded));
    // Each by the index that has few rows: along the time there may be very many without a match.
    let (table, narrowed) = match (&query.session, query.outcome) {
        (Some(_), _) => (
            "executions INDEXED BY executions_by_session",
            "AND session <> '' AND session IN (SELECT :session UNION SELECT id FROM sessions WHERE name = :session)",
        ),
        (None, Some(RecordedOutcome::Running)) => {
            ("executions INDEXED BY executions_running", "AND :session IS NULL AND outcome = 'running'")
        }
        (None, _) => ("executions INDEXED BY executions_by_time", "AND :session IS NULL"),
    };
    // Without a filter, each one that is looked at is wanted.
    let looked_at_max = if query.is_filtered() { LOOKED_AT_MAX } else { limit + 1 };
    let looked_at = format!(
        "SELECT number FROM {table} WHERE started_ms >= :since AND started_ms {beyond}= :at_ms \
         AND (started_ms, number) {beyond} (:at_ms, :at_number) {narrowed} \
         ORDER BY started_ms {order}, number {order} LIMIT {looked_at_max}"
    );
    let mut statement = connection.prepare_cached(&format!(
        "WITH looked AS MATERIALIZED ({looked_at}) \
         SELECT {SUMMARY_COLUMNS}, substr(p.code, 1, {LISTED_CODE_CHARS}) AS code, \
         (SELECT count(*) FROM looked) AS looked_at FROM {WITH_TOKENS} \
         LEFT JOIN programs p ON p.hash = e.program WHERE e.number IN (SELECT number FROM looked) \
         AND (:outcome IS NULL OR e.outcome = :outcome) AND (:gateway IS NULL OR e.gateway = :gateway) \
         AND (:text IS NULL OR p.code LIKE :text ESCAPE '\\' OR e.error_message LIKE :text ESCAPE '\\' \
         OR e.error_code LIKE :text ESCAPE '\\' OR e.id LIKE :text ESCAPE '\\') \
         AND (:tool IS NULL OR EXISTS (SELECT 1 FROM execution_calls c WHERE c.execution = e.number \
         AND (c.name = :tool OR c.name LIKE '%.' || :tool))) \
         ORDER BY e.started_ms {order}, e.number {order} LIMIT {}",
        limit + 1
    ))?;
    let text = query.text.as_deref().map(pattern);
    let values = named_params! {
        ":since": query.since_ms.unwrap_or(i64::MIN),
        ":at_ms": at_ms,
        ":at_number": at_number,
        ":session": query.session,
        ":outcome": query.outcome.map(RecordedOutcome::as_str),
        ":text": text,
        ":tool": query.tool,
        ":gateway": query.gateway,
    };
    let mut lines = statement.query_map(values, summary)?.collect::<Result<Vec<_>, _>>()?;
    let has_more = lines.len() > limit;
    lines.truncate(limit);
    let mut further = has_more.then(|| lines.last().map(|line| line.id.clone())).flatten();
    if !has_more {
        further = last_looked_at(connection, &looked_at, query, (at_ms, at_number))?;
    }
    let (mut page, came_from) = (ExecutionPage::default(), lines.first().map(|line| line.id.clone()));
    let back = at.and(came_from);
    (page.older, page.newer) = if is_upward { (back, further) } else { (further, back) };
    if is_upward {
        lines.reverse();
    }
    page.lines = lines;
    Ok(page)
}

/// The last execution that was looked at, if there may be more behind it.
fn last_looked_at(
    connection: &Connection,
    looked_at: &str,
    query: &ExecutionQuery,
    at: (i64, i64),
) -> Result<Option<String>, StoreError> {
    let sql = format!(
        "SELECT id FROM executions WHERE number = (SELECT number FROM ({looked_at}) LIMIT 1 OFFSET {})",
        LOOKED_AT_MAX - 1
    );
    let values = named_params! {
        ":since": query.since_ms.unwrap_or(i64::MIN),
        ":at_ms": at.0,
        ":at_number": at.1,
        ":session": query.session,
    };
    Ok(connection.query_row(&sql, values, |row| row.get(0)).optional()?)
}

/// Anywhere in a text, and nothing in it means anything else.
fn pattern(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{text}%")
}

/// Part by part: an index has each part together, and what it comes to needs no sorting.
fn figures(
    connection: &Connection,
    since_ms: i64,
    until_ms: i64,
    parts: u32,
) -> Result<PeriodFigures, StoreError> {
    let width = (until_ms.saturating_sub(since_ms) / i64::from(parts)).max(1);
    let (mut counting, mut adding) =
        (connection.prepare_cached(COUNTED)?, connection.prepare_cached(&compared_sql())?);
    let mut all = PeriodFigures::default();
    for number in 0..parts {
        let begins_ms = since_ms.saturating_add(width.saturating_mul(i64::from(number)));
        let ends_ms = begins_ms.saturating_add(width);
        // What began a moment after the last part is in it.
        let before_ms = if number + 1 == parts { i64::MAX } else { ends_ms };
        let whole_part = [begins_ms, before_ms];
        let (executions, failed) =
            counting.query_row(whole_part, |row| Ok((natural(row.get(0)?), natural(row.get(1)?))))?;
        let (direct, through_us): (i64, i64) =
            adding.query_row(whole_part, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let saved = direct.saturating_sub(through_us);
        all.executions += executions;
        all.failed += failed;
        all.saved = all.saved.saturating_add(saved);
        all.through_us = all.through_us.saturating_add(natural(through_us));
        all.direct = all.direct.saturating_add(natural(direct));
        all.parts.push(PeriodPart { ends_ms, executions, failed, saved });
    }
    Ok(all)
}

const COUNTED: &str = "SELECT count(*), coalesce(sum(outcome IN ('failed', 'lost')), 0) FROM executions \
     WHERE started_ms >= ?1 AND started_ms < ?2";

/// What those that can be compared would have taken directly, and took through us: as
/// `TokenAccount` has it.
fn compared_sql() -> String {
    format!(
        "SELECT coalesce(sum(e.tokens_inside + t.definitions), 0), \
         coalesce(sum(e.tokens_in + e.tokens_out + t.own_definition), 0) FROM executions e \
         INDEXED BY executions_by_time JOIN execution_tokens t ON t.execution = e.number \
         WHERE e.started_ms >= ?1 AND e.started_ms < ?2 AND {ENDED} AND {COMPARED}"
    )
}

fn quantiles(connection: &Connection, since_ms: i64) -> Result<(Option<f64>, Option<f64>), StoreError> {
    let mut query = connection.prepare_cached(&format!(
        "SELECT duration_ms FROM executions e WHERE e.started_ms >= ?1 AND {ENDED} \
         ORDER BY e.started_ms DESC LIMIT ?2"
    ))?;
    let times = query.query_map(params![since_ms, whole(TIMED_MAX as u64)], |row| row.get::<_, f64>(0))?;
    let mut times = times.collect::<Result<Vec<_>, _>>()?;
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times.get((times.len() * percent).div_ceil(100).saturating_sub(1)).copied();
    Ok((at(50), at(95)))
}

#[cfg(test)]
#[path = "execution_pages_tests.rs"]
mod tests;
