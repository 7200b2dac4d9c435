//! Servers and tools: how each is, what it offers, what changed since it was approved, and a call to try.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::Path;
use axum::response::Response;
use gristmill_dashboard::pages::{
    self, Change, LearnedLine, Server, ServerLine, ServerStatus as Shown, Servers, Tool, ToolLine, TriedCall,
};
use gristmill_dashboard::parts::{Diff, DiffLine, schema_form};
use gristmill_dashboard::{Moment, Text, routes};
use gristmill_gateway::audit::{ApprovedHow, AuditEvent};
use gristmill_gateway::domain::catalogue::{self, Approve, Resolved, Waiting, WaitingKind};
use gristmill_gateway::domain::policy::Answered;
use gristmill_gateway::domain::{ServerSettings, Transport, one_line, stubs};
use gristmill_gateway::ids::{Caller, Owner};
use gristmill_gateway::ports::{
    AnswerWay, Ask, Asker, AuditLog, BoxFuture, CallWatcher, ProgressSink, Question, QuestionAnswer,
    QuestionKind, ToolCall, Writes,
};
use gristmill_gateway::store::LearnedRecord;
use gristmill_gateway::upstream::{DoorRequest, ServerState, ServerStatus, Snapshot};
use http::StatusCode;
use serde_json::{Value, json};

use super::call_figures::CallFigures;
use super::notices::Done;
use super::visit::{Visit, done};

/// What a server wrote to its log, as far as it is shown.
const LOG_LINES: usize = 40;

/// What a tool is for, in a list.
const SUMMARY_CHARS: usize = 160;

/// What is shown of a learned result.
const RESULT_CHARS: usize = 600;

/// What is shown of an answer.
const ANSWER_CHARS: usize = 20_000;

pub(super) async fn servers(visit: Visit) -> Response {
    let figures = CallFigures::of(&visit).await;
    let statuses = statuses(&visit);
    let servers = visit.parts().servers.iter();
    let servers = servers.map(|server| line(server, status_of(&statuses, server), &figures)).collect();
    visit.page(pages::servers, Servers { servers }).await
}

fn statuses(visit: &Visit) -> Vec<ServerStatus> {
    visit.parts().upstreams.as_ref().map(|upstreams| upstreams.statuses()).unwrap_or_default()
}

fn status_of<'a>(statuses: &'a [ServerStatus], server: &ServerSettings) -> Option<&'a ServerStatus> {
    statuses.iter().find(|status| status.name == server.name)
}

fn line(server: &ServerSettings, status: Option<&ServerStatus>, figures: &CallFigures) -> ServerLine {
    let (shown, detail) = match status.map(|status| &status.state).filter(|_| server.enabled) {
        Some(ServerState::Up) => (Shown::Up, String::new()),
        Some(ServerState::Idle) => (Shown::Idle, String::new()),
        Some(ServerState::Starting) => (Shown::Starting, String::new()),
        Some(ServerState::Down(why)) => (Shown::Down, why.clone()),
        Some(ServerState::LoginNeeded(_)) => (Shown::NeedsLogin, format!("gristmill login {}", server.name)),
        None => (Shown::Disabled, String::new()),
    };
    let calls = figures.of_server(&server.name);
    ServerLine {
        name: server.name.as_str().into(),
        transport: transport(server).into(),
        status: shown,
        detail: detail.into(),
        tools: status.map_or(0, |status| status.tools as u64),
        changes: status.map_or(0, |status| status.waiting as u64),
        calls: calls.calls,
        errors: calls.errors,
        p50_ms: calls.p50_ms,
        p95_ms: calls.p95_ms,
        latency: Vec::new(),
        marks: server.marks.iter().map(|mark| mark.as_str().into()).collect(),
        last_used: calls.last_ms.map(Moment),
    }
}

fn transport(server: &ServerSettings) -> &'static str {
    match server.transport {
        Transport::Stdio { .. } => "stdio",
        Transport::Http { .. } => "HTTP",
        Transport::Hosts(_) => "built-in",
    }
}

fn configured<'a>(visit: &'a Visit, name: &str) -> Option<&'a ServerSettings> {
    visit.parts().servers.iter().find(|server| server.name == name)
}

async fn no_server(visit: &Visit) -> Response {
    let next = "gristmill list shows the configured servers.";
    visit.problem(StatusCode::NOT_FOUND, "There's no server of this name", next).await
}

pub(super) async fn server(visit: Visit, Path(name): Path<String>) -> Response {
    let Some(server) = configured(&visit, &name) else { return no_server(&visit).await };
    let figures = CallFigures::of(&visit).await;
    let statuses = statuses(&visit);
    let status = status_of(&statuses, server);
    let instructions = status.and_then(|status| status.facts.as_ref()?.instructions.clone());
    let log = status.map(|status| status.log.as_slice()).unwrap_or_default();
    let view = Server {
        line: line(server, status, &figures),
        reached_by: reached_by(&visit.parts().configuration["servers"][&name]["settings"]).into(),
        instructions: instructions.unwrap_or_default().into(),
        tools: tools(&visit, &name, &figures),
        changes: waiting(&visit, &name).iter().map(change).collect(),
        log: log[log.len().saturating_sub(LOG_LINES)..].join("\n").into(),
    };
    visit.page(pages::server, view).await
}

/// The command line or address, as `gristmill config show` has it: without secrets.
fn reached_by(settings: &Value) -> String {
    let words = settings["args"].as_array().map(Vec::as_slice).unwrap_or_default();
    let words = settings["command"].as_str().into_iter().chain(words.iter().filter_map(Value::as_str));
    match settings["url"].as_str() {
        Some(url) => url.to_owned(),
        None => words.collect::<Vec<_>>().join(" "),
    }
}

fn tools(visit: &Visit, server: &str, figures: &CallFigures) -> Vec<ToolLine> {
    let Some(upstreams) = &visit.parts().upstreams else { return Vec::new() };
    let snapshot = upstreams.snapshot();
    let found = snapshot.catalogue().servers.iter().find(|it| it.offer.name == server);
    let line = |tool: &catalogue::Tool| {
        let definition = &tool.definition;
        let calls = figures.of_tool(server, &definition.name);
        ToolLine {
            name: definition.name.as_str().into(),
            summary: one_line(definition.description.as_deref().unwrap_or_default(), SUMMARY_CHARS).into(),
            writes: definition.read_only != Some(true),
            calls: calls.calls,
            errors: calls.errors,
            p50_ms: calls.p50_ms,
            p95_ms: calls.p95_ms,
            held_back: None,
        }
    };
    found.map(|server| server.tools.iter().map(line).collect()).unwrap_or_default()
}

fn waiting(visit: &Visit, server: &str) -> Vec<Waiting> {
    let all = visit.parts().upstreams.as_ref().map(|upstreams| upstreams.waiting()).unwrap_or_default();
    all.into_iter().find(|(name, _)| name == server).map(|(_, items)| items).unwrap_or_default()
}

/// Names exactly what is shown: what changes meanwhile has another id.
fn change_id(item: &Waiting) -> String {
    blake3::hash(format!("{}\0{}", item.of.label(&item.name), item.raw).as_bytes()).to_hex().to_string()
}

fn change(item: &Waiting) -> Change {
    let lines = match &item.kind {
        WaitingKind::Added => vec![DiffLine::Added(item.raw.as_str().into())],
        WaitingKind::Changed { pinned_raw } => {
            let changes = catalogue::diff(pinned_raw, &item.raw);
            let texts: Vec<String> = changes.iter().map(ToString::to_string).collect();
            texts.iter().flat_map(|text| text.lines()).map(diff_line).collect()
        }
    };
    let new = if item.kind == WaitingKind::Added { " (new)" } else { "" };
    Change {
        id: change_id(item).into(),
        what: format!("{}{new}", item.of.label(&item.name)).into(),
        seen: None,
        findings: Vec::new(),
        diff: Diff { lines },
    }
}

fn diff_line(line: &str) -> DiffLine {
    match (line.strip_prefix('+'), line.strip_prefix('-')) {
        (Some(added), _) => DiffLine::Added(added.trim_start().into()),
        (None, Some(removed)) => DiffLine::Removed(removed.trim_start().into()),
        (None, None) => DiffLine::Gap(line.into()),
    }
}

/// Approves one change, exactly as it was shown.
pub(super) async fn review(visit: Visit, Path((server, id)): Path<(String, String)>) -> Response {
    let back = routes::fill(routes::SERVER, &[&server]);
    let shown = waiting(&visit, &server).into_iter().find(|item| change_id(item) == id);
    let (Some(shown), Some(upstreams)) = (shown, &visit.parts().upstreams) else {
        return done(&back, Done::ChangedMeanwhile);
    };
    let approved = upstreams.approve(&server, Approve::Shown(std::slice::from_ref(&shown)));
    match approved {
        Ok(approved) if approved.is_empty() => done(&back, Done::ChangedMeanwhile),
        Ok(approved) => {
            if let Some(audit) = visit.parts().gateway.audit() {
                audit.note(AuditEvent::tools_approved(&server, &approved, ApprovedHow::Reviewed));
            }
            done(&back, Done::Approved)
        }
        Err(_) => done(&back, Done::NotStored),
    }
}

pub(super) async fn tool(visit: Visit, Path((server, tool)): Path<(String, String)>) -> Response {
    show_tool(&visit, &server, &tool, None).await
}

/// Calls it, as a person who typed it: what a rule would ask about was meant, what it refuses is refused.
pub(super) async fn try_call(visit: Visit, Path((server, tool)): Path<(String, String)>) -> Response {
    let (name, Some(upstreams)) = (format!("{server}.{tool}"), &visit.parts().upstreams) else {
        return no_server(&visit).await;
    };
    let snapshot = upstreams.snapshot();
    let schema = match snapshot.lookup().resolve(&name) {
        Resolved::One(_, found) => found.definition.input_schema.clone(),
        Resolved::Reserved(..) | Resolved::Several(_) | Resolved::None(_) => Value::Null,
    };
    let began = Instant::now();
    let (ok, text) = match schema_form::arguments(&schema, &visit.form.pairs) {
        Err(problem) => (false, format!("{} {}", problem.field, problem.problem)),
        Ok(arguments) => {
            let request = DoorRequest::CallTool(ToolCall {
                progress: ProgressSink::default(),
                name,
                arguments,
                asker: Asker::new(Arc::new(Pressed)),
                watcher: CallWatcher::none(),
                writes: Writes::Sent,
            });
            match upstreams.pass(&Caller::local(), request).await {
                Ok(answer) => (true, answer.json),
                Err(failure) => (false, failure.to_string()),
            }
        }
    };
    let text: String = text.chars().take(ANSWER_CHARS).collect();
    let time_ms = began.elapsed().as_secs_f64() * 1_000.0;
    show_tool(&visit, &server, &tool, Some(TriedCall { ok, text: text.into(), time_ms })).await
}

/// Whoever pressed the button meant this call.
struct Pressed;

impl Ask for Pressed {
    fn ask(&self, _question: Question) -> BoxFuture<'static, QuestionAnswer> {
        Box::pin(async { QuestionAnswer::Accept(Some(json!({"answer": Answered::Once.as_str()}))) })
    }

    fn can_answer(&self, kind: &QuestionKind) -> bool {
        matches!(kind, QuestionKind::Approval)
    }

    fn way(&self) -> AnswerWay {
        AnswerWay::Dashboard
    }
}

async fn show_tool(visit: &Visit, server: &str, tool: &str, tried: Option<TriedCall>) -> Response {
    let Some(upstreams) = &visit.parts().upstreams else { return no_server(visit).await };
    let figures = CallFigures::of(visit).await;
    let snapshot = upstreams.snapshot_for(&Owner::local()).await;
    let filled = visit.form.pairs.iter().filter(|(name, _)| name != "csrf");
    let filled =
        filled.map(|(name, value)| (Text::from(name.as_str()), Text::from(value.as_str()))).collect();
    match view(&snapshot, server, tool, &figures) {
        Some(view) => {
            let learned = learned(visit, &snapshot, server, tool).await;
            visit.page(pages::tool, Tool { filled, tried, learned, ..view }).await
        }
        None => {
            let next = "It may wait for your review, or its server may be down.";
            visit.problem(StatusCode::NOT_FOUND, "This tool can't be called now", next).await
        }
    }
}

fn view(snapshot: &Snapshot, server: &str, tool: &str, figures: &CallFigures) -> Option<Tool> {
    let found = snapshot.catalogue().servers.iter().find(|it| it.offer.name == server)?;
    let tool = found.tools.iter().find(|it| it.definition.name == tool)?;
    let (definition, calls) = (&tool.definition, figures.of_tool(server, &tool.definition.name));
    Some(Tool {
        server: server.into(),
        name: definition.name.as_str().into(),
        description: definition.description.as_deref().unwrap_or_default().into(),
        writes: definition.read_only != Some(true),
        stub: stubs::python(found, tool).into(),
        learned: Vec::new(),
        input_schema: definition.input_schema.clone(),
        calls: calls.calls,
        errors: calls.errors,
        p50_ms: calls.p50_ms,
        p95_ms: calls.p95_ms,
        filled: Vec::new(),
        tried: None,
    })
}

/// What was learned of a tool's results, of every owner. Nothing if learning is off.
async fn learned(visit: &Visit, snapshot: &Snapshot, server: &str, tool: &str) -> Vec<LearnedLine> {
    let learns = visit.parts().upstreams.as_ref().is_some_and(|upstreams| upstreams.learns());
    let Some((_, found)) = snapshot.catalogue().tool(server, tool).filter(|_| learns) else {
        return Vec::new();
    };
    // What the server declares counts, and what was learned of another definition doesn't.
    let definition = found.definition.hash.to_hex();
    let is_shown =
        |row: &LearnedRecord| row.server == server && row.tool == tool && row.definition == definition;
    let rows = match found.definition.output_schema {
        Some(_) => Vec::new(),
        None => visit.parts().store.list_learned().await.unwrap_or_default(),
    };
    let line = |row: LearnedRecord| LearnedLine {
        owner: Owner(row.owner).without_identity().into(),
        result: one_line(&stubs::result_outline(&row.learned.schema(), RESULT_CHARS), RESULT_CHARS).into(),
        calls: row.calls,
        last_seen: Moment(row.last_ms),
        drift: row.drift_ms.map(|at| (Moment(at), row.drift.join("; ").into())),
    };
    rows.into_iter().filter(is_shown).map(line).collect()
}
