//! `get_execution_stats`: what programs ran, failed, took and saved.

use gristmill_gateway::domain::Code;
use gristmill_gateway::history::{HistoryFilter, Stats, nothing_ran_in};
use serde::Deserialize;
use serde_json::json;

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
        not_in_minimal: &[],
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
            Code::PolicyDenied,
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
        let hint = "leave out `session` to count all of your programs";
        return Err(Answer::refused(Code::BadRequest, &nothing_ran_in(session), Some(hint)));
    }
    Ok(of_stats(&stats, server.parts.gateway.workers_waiting()))
}

fn of_stats(stats: &Stats, workers_waiting: usize) -> Answer {
    let mut lines = stats.lines();
    lines.push(format!("idle workers: {workers_waiting}"));
    let mut structured = stats.to_json(workers_waiting);
    // A schema of one type has no null: what is not known is left out.
    if let Some(members) = structured.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    Answer { text: lines.join("\n"), structured, is_error: false }
}
