//! `get_execution_stats`: what programs ran, failed, took and saved.

use gristmill_gateway::domain::{Code, one_line};
use gristmill_gateway::history::{HistoryFilter, Stats};
use serde::Deserialize;
use serde_json::{Map, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;

pub(super) static GET_EXECUTION_STATS: OwnTool = OwnTool {
    name: "get_execution_stats",
    title: "Show program statistics",
    description: include_str!("get_execution_stats.md"),
    input: Input {
        properties: |_| json!({"session": text(), "all": {"type": "boolean"}}),
        required: &[],
        shown_in_full_only: &[],
        also_takes: &[],
    },
    output: Output {
        properties: || {
            let number = json!({"type": "number"});
            json!({
                "since_ms": integer(),
                "executions": integer(),
                "ok": integer(),
                "failed": integer(),
                "cancelled": integer(),
                "lost": integer(),
                "running": integer(),
                "success_rate": number,
                "average_ms": number,
                "p95_ms": number,
                "calls": integer(),
                "calls_failed": integer(),
                "tokens": {"type": "object"},
                "direct": {"type": "object"},
                "hint": text(),
                "tools": {"type": "array", "items": {"type": "object"}},
                "limits_hit": {"type": "object"},
                "workers_waiting": integer(),
            })
        },
        required: &["executions", "tokens"],
    },
    annotations: Annotations::READS,
    shown_from: Profile::Standard,
    scopes: &[],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(execution_stats(server, call))),
};

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    all: bool,
}

/// Of one session, of everything that the caller ran, or of everyone for those who may see it.
async fn execution_stats(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let Arguments { session, all } = read_arguments(call.arguments)?;
    if all && !call.requester.is_admin {
        return Err(Answer::refused(
            Code::BadRequest,
            "this token can only see its own executions",
            Some("remove `all`, or use a token with the scope `admin`"),
        ));
    }
    let Some(history) = server.parts.gateway.history() else {
        return Err(Answer::refused(Code::BadRequest, "this gateway doesn't keep a history", None));
    };
    let owner = (!all).then(|| call.requester.owner.clone());
    let filter = HistoryFilter { owner, session, ..HistoryFilter::default() };
    let stats = history.stats(&filter).await.map_err(|error| {
        let hint = "programs still run; check the database with `gristmill doctor`";
        Answer::refused(Code::WorkerUnavailable, &error.to_string(), Some(hint))
    })?;
    if let (None, Some(session)) = (stats.since_ms, &filter.session) {
        let message = format!("you haven't run anything in session `{}`", one_line(session, 64));
        let hint = "leave out `session` to count all of your programs";
        return Err(Answer::refused(Code::BadRequest, &message, Some(hint)));
    }
    Ok(of_stats(&stats, server.parts.gateway.pool().waiting()))
}

fn of_stats(stats: &Stats, workers_waiting: usize) -> Answer {
    let mut lines = stats.lines();
    lines.push(format!("idle workers: {workers_waiting}"));
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
        "workers_waiting": workers_waiting,
    });
    structured["tokens"]["verdict"] = json!(stats.verdict());
    // A schema of one type has no null: what is not known is left out.
    if let Some(members) = structured.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    Answer { text: lines.join("\n"), structured, is_error: false }
}

fn rounded(ms: f64) -> f64 {
    (ms * 10.0).round() / 10.0
}
