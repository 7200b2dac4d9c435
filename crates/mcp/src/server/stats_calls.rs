//! `get_execution_stats`: what programs ran, failed, took and saved.

use gristmill_gateway::domain::{Code, one_line};
use gristmill_gateway::executions::Owner;
use gristmill_gateway::history::{HistoryFilter, Stats};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::GatewayServer;
use super::answer::Answer;

#[derive(Deserialize)]
struct Sent {
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    all: bool,
}

impl GatewayServer {
    /// Of one session, of everything that `owner` ran, or of everyone for those who may see it.
    pub(super) async fn execution_stats(
        &self,
        arguments: Map<String, Value>,
        owner: &Owner,
        sees_all: bool,
    ) -> Answer {
        let sent: Sent = match serde_json::from_value(Value::Object(arguments)) {
            Ok(sent) => sent,
            Err(error) => return Answer::refused(Code::BadRequest, &format!("the arguments: {error}"), None),
        };
        if sent.all && !sees_all {
            return Answer::refused(
                Code::BadRequest,
                "this token sees its own executions only",
                Some("leave `all` out; a token with the scope `admin` sees everyone's"),
            );
        }
        let Some(history) = self.parts.executions.history() else {
            return Answer::refused(Code::BadRequest, "this gateway records nothing", None);
        };
        let filter = HistoryFilter {
            owner: (!sent.all).then(|| owner.clone()),
            session: sent.session,
            ..HistoryFilter::default()
        };
        let stats = match history.stats(&filter).await {
            Ok(stats) => stats,
            Err(error) => {
                let hint = "programs run all the same; `gristmill doctor` looks at the database";
                return Answer::refused(Code::WorkerUnavailable, &error.to_string(), Some(hint));
            }
        };
        if let (None, Some(session)) = (stats.since_ms, &filter.session) {
            let message =
                format!("nothing of yours is known to have run in session `{}`", one_line(session, 64));
            return Answer::refused(Code::BadRequest, &message, Some("without `session` all of yours count"));
        }
        self.stats_answer(&stats)
    }

    fn stats_answer(&self, stats: &Stats) -> Answer {
        let waiting = self.parts.executions.gateway().pool().waiting();
        let mut lines = stats.lines();
        lines.push(format!("workers waiting: {waiting}"));
        let tools = stats.tools.iter().map(|tool| {
            json!({
                "name": one_line(&tool.name, 80),
                "calls": tool.calls,
                "failed": tool.failed,
                "average_ms": rounded(tool.average_ms),
            })
        });
        let limits = stats.limits_hit.iter().map(|(name, count)| (name.clone(), json!(count)));
        let mut structured = json!({
            "since_ms": stats.since_ms,
            "executions": stats.executions,
            "ok": stats.ok,
            "failed": stats.failed,
            "cancelled": stats.cancelled,
            "lost": stats.lost,
            "running": stats.running,
            "success_rate": stats.success_rate().map(|rate| (rate * 1e4).round() / 1e4),
            "average_ms": rounded(stats.average_ms),
            "p95_ms": rounded(stats.p95_ms),
            "calls": stats.calls,
            "calls_failed": stats.calls_failed,
            "tokens": stats.tokens,
            "direct": stats.direct,
            "hint": stats.hint(),
            "tools": tools.collect::<Vec<_>>(),
            "limits_hit": limits.collect::<Map<_, _>>(),
            "workers_waiting": waiting,
        });
        structured["tokens"]["verdict"] = json!(stats.verdict());
        Answer { text: lines.join("\n"), structured, is_error: false }
    }
}

fn rounded(ms: f64) -> f64 {
    (ms * 10.0).round() / 10.0
}

/// Properties, and which of them are always there.
pub(super) fn output_schema() -> (Value, Value) {
    let (count, number) = (json!({"type": "integer"}), json!({"type": "number"}));
    let properties = json!({
        "since_ms": {"type": ["integer", "null"]},
        "executions": count,
        "ok": count,
        "failed": count,
        "cancelled": count,
        "lost": count,
        "running": count,
        "success_rate": {"type": ["number", "null"]},
        "average_ms": number,
        "p95_ms": number,
        "calls": count,
        "calls_failed": count,
        "tokens": {"type": "object"},
        "direct": {"type": "object"},
        "hint": {"type": ["string", "null"]},
        "tools": {"type": "array", "items": {"type": "object"}},
        "limits_hit": {"type": "object"},
        "workers_waiting": count,
    });
    (properties, json!(["executions", "tokens"]))
}
