//! What programs took and saved, as JSON: the same for a client and for a program that asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gristmill_domain::one_line;
use serde_json::{Map, Value, json};

use super::{History, HistoryFilter, Stats};
use crate::ids::Owner;
use crate::pool::Pool;
use crate::ports::{BoxFuture, ExecutionStats, StatsFailure};

/// Names come from servers and programs.
const NAME_CHARS_MAX: usize = 80;

/// Each answer reads everything that the owner ran, on the thread that all programs share.
const ASKED_MAX: u32 = 10;

/// The figures of one owner, for one program.
pub(super) struct StatsOf {
    pub history: History,
    pub owner: Owner,
    pub pool: Arc<Pool>,
    /// How often the program has asked.
    pub asked: AtomicU32,
}

impl ExecutionStats for StatsOf {
    fn of_caller(&self, session: Option<String>) -> BoxFuture<'static, Result<String, StatsFailure>> {
        if self.asked.fetch_add(1, Ordering::Relaxed) >= ASKED_MAX {
            let refused = StatsFailure(format!("a program can call get_execution_stats {ASKED_MAX} times"));
            return Box::pin(async { Err(refused) });
        }
        let history = self.history.clone();
        let filter = HistoryFilter { owner: Some(self.owner.clone()), session, ..HistoryFilter::default() };
        let workers_waiting = self.pool.waiting();
        Box::pin(async move {
            let stats = history.stats(&filter).await.map_err(|error| StatsFailure(error.to_string()))?;
            match (stats.since_ms, &filter.session) {
                (None, Some(session)) => Err(StatsFailure(nothing_ran_in(session))),
                (Some(_), _) | (None, None) => Ok(stats.to_json(workers_waiting).to_string()),
            }
        })
    }
}

/// For whoever asks about a session that isn't his, or isn't there.
pub fn nothing_ran_in(session: &str) -> String {
    format!("none of your programs ran in session `{}`", one_line(session, 64))
}

impl Stats {
    /// Everything there is to tell.
    pub fn to_json(&self, workers_waiting: usize) -> Value {
        let tools = self.tools.iter().map(|tool| {
            json!({
                "name": one_line(&tool.name, NAME_CHARS_MAX),
                "calls": tool.calls,
                "failed": tool.failed,
                "average_ms": rounded(tool.average_ms),
            })
        });
        let limits = self.limits_hit.iter().map(|(name, count)| (name.clone(), json!(count)));
        let mut told = json!({
            "since_ms": self.since_ms,
            "executions": self.executions,
            "ok": self.ok,
            "failed": self.failed,
            "cancelled": self.cancelled,
            "lost": self.lost,
            "running": self.running,
            "success_rate": self.success_rate().map(|rate| (rate * 1e4).round() / 1e4),
            "average_ms": rounded(self.average_ms),
            "p95_ms": rounded(self.p95_ms),
            "calls": self.calls,
            "calls_failed": self.calls_failed,
            "tokens": self.tokens,
            "direct": self.direct,
            "hint": self.hint(),
            "tools": tools.collect::<Vec<_>>(),
            "limits_hit": limits.collect::<Map<_, _>>(),
            "workers_waiting": workers_waiting,
        });
        told["tokens"]["verdict"] = json!(self.verdict());
        told
    }
}

fn rounded(ms: f64) -> f64 {
    (ms * 10.0).round() / 10.0
}
