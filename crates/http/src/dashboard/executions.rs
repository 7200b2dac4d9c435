//! Executions: a list that can be searched, and one in full.

use std::time::Duration;

use axum::extract::Path;
use axum::response::Response;
use gristmill_dashboard::pages::{self, Execution, ExecutionFilter, Executions, Outcome};
use gristmill_dashboard::parts::Pager;
use gristmill_dashboard::{Frame, Text, routes};
use gristmill_gateway::history::{ExecutionQuery, ExecutionRecord, Found, PageFrom, RecordedOutcome};
use gristmill_gateway::ids::{Caller, ExecutionId, Owner};
use gristmill_gateway::ports::AnswerWay;
use gristmill_gateway::service::{Answers, PlaceChoice, StartRequest};
use gristmill_gateway::{EngineId, ExecuteRequest, engine_for};
use http::StatusCode;

use super::answer::redirect;
use super::decisions::decisions;
use super::execution_lines::{Beside, lines, whole};
use super::gateways;
use super::live::{OFTEN, Part, SELDOM, stream};
use super::visit::{Visit, moment, now};

/// Lines of a page.
const LINES: usize = 50;

/// How long the record of a program that was just started may take to be there.
const RECORD_TRIES: u32 = 40;
const RECORD_PAUSE: Duration = Duration::from_millis(25);

pub(super) async fn executions(visit: Visit) -> Response {
    let filter = filter(&visit);
    let Some(history) = visit.history() else { return visit.not_kept("This gateway keeps no history").await };
    match history.page(query(&visit, &filter), LINES).await {
        Ok(page) => {
            let lines = lines(&page.lines, now());
            let cursor = |id: Option<String>| id.map(Text::from);
            let pager = Pager { older: cursor(page.older), newer: cursor(page.newer) };
            let gateways = gateways::choices(visit.history()).await;
            visit.page(pages::executions, Executions { filter, lines, pager, gateways }).await
        }
        Err(_) => visit.unreadable().await,
    }
}

pub(super) async fn live(visit: Visit) -> Response {
    let (filter, began, looking) = (filter(&visit), now(), visit.clone());
    let query = query(&visit, &filter);
    stream(
        visit,
        SELDOM,
        Box::new(move || {
            let (visit, query) = (looking.clone(), query.clone());
            Box::pin(async move {
                let Some(history) = visit.history() else { return Part::Unknown };
                let Ok(page) = history.page(query, LINES).await else { return Part::Unknown };
                let frame = Frame { now: began, ..visit.frame_with(0) };
                Part::Now(pages::executions_live(&frame, &lines(&page.lines, now())).into_string())
            })
        }),
    )
}

fn filter(visit: &Visit) -> ExecutionFilter {
    let text = |name: &str| Text::from(visit.query.filled(name).unwrap_or_default());
    ExecutionFilter {
        text: text("q"),
        outcome: text("outcome"),
        session: text("session"),
        tool: text("tool"),
        gateway: text("gateway"),
        since: text("since"),
    }
}

fn query(visit: &Visit, filter: &ExecutionFilter) -> ExecutionQuery {
    let filled = |text: &Text| (!text.is_empty()).then(|| text.raw().to_owned());
    let from = match (visit.query.filled("before"), visit.query.filled("after")) {
        (Some(id), _) => PageFrom::Before(id.to_owned()),
        (None, Some(id)) => PageFrom::After(id.to_owned()),
        (None, None) => PageFrom::Newest,
    };
    ExecutionQuery {
        text: filled(&filter.text),
        outcome: RecordedOutcome::ALL.into_iter().find(|outcome| outcome.as_str() == filter.outcome.raw()),
        session: filled(&filter.session),
        tool: filled(&filter.tool),
        gateway: filled(&filter.gateway),
        since_ms: since_ms(filter.since.raw()),
        from,
    }
}

/// Such as `24h`.
pub(super) fn since(text: &str) -> Option<std::time::SystemTime> {
    const HOUR: u64 = 60 * 60;
    let seconds = match text {
        "1h" => HOUR,
        "24h" => 24 * HOUR,
        "7d" => 7 * 24 * HOUR,
        "30d" => 30 * 24 * HOUR,
        _ => return None,
    };
    std::time::SystemTime::now().checked_sub(Duration::from_secs(seconds))
}

fn since_ms(text: &str) -> Option<i64> {
    since(text).map(|time| moment(time).0)
}

pub(super) async fn execution(visit: Visit, Path(id): Path<String>) -> Response {
    match find(&visit, &id).await {
        Some(view) => visit.page(pages::execution, view).await,
        None => no_such(&visit).await,
    }
}

async fn no_such(visit: &Visit) -> Response {
    let what = "There's no execution with this id";
    visit.problem(StatusCode::NOT_FOUND, what, "The history may not go back that far.").await
}

pub(super) async fn live_execution(visit: Visit, Path(id): Path<String>) -> Response {
    let looking = visit.clone();
    stream(
        visit,
        OFTEN,
        Box::new(move || {
            let (visit, id) = (looking.clone(), id.clone());
            Box::pin(async move {
                let Some(view) = find(&visit, &id).await else { return Part::Unknown };
                let html = pages::execution_live(&view).into_string();
                if view.line.outcome == Outcome::Running { Part::Now(html) } else { Part::Last(html) }
            })
        }),
    )
}

/// One execution, as it was recorded and as it goes on.
pub(super) async fn find(visit: &Visit, id: &str) -> Option<Execution> {
    let record = record(visit, id).await?;
    let id = ExecutionId::read(&record.summary.id);
    let service = visit.parts().gateway.service();
    let follower = id.and_then(|id| service.find(&Owner(record.summary.owner.clone()), &id));
    let store = &visit.parts().store;
    let stored = store.results_of_execution(&record.summary.owner, &record.summary.id).await;
    let beside = Beside {
        progress: follower.map(|follower| follower.progress()),
        stored: stored.unwrap_or_default(),
        decisions: decisions(visit, &record.summary.id).await,
        gateway: gateways::ran_by(visit.history(), &record.gateway).await,
    };
    Some(whole(&record, beside, now()))
}

async fn record(visit: &Visit, id: &str) -> Option<Box<ExecutionRecord>> {
    // Only whole ids: a page has an address of its own.
    ExecutionId::read(id)?;
    match visit.history()?.find(id, None).await {
        Ok(Found::One(record)) => Some(record),
        Ok(Found::Nothing | Found::Several(_)) | Err(_) => None,
    }
}

/// Runs the program once more, as the owner and in no session.
pub(super) async fn rerun(visit: Visit, Path(id): Path<String>) -> Response {
    let Some(record) = record(&visit, &id).await else { return no_such(&visit).await };
    let Some(code) = record.summary.code.clone() else {
        let what = "The program wasn't recorded";
        let next = "Set content = true under [history] to keep programs.";
        return visit.problem(StatusCode::CONFLICT, what, next).await;
    };
    let context = match (&record.context, record.context_bytes) {
        (_, 0) => Some(serde_json::Map::new()),
        (Some(context), _) => serde_json::from_str(context).ok(),
        (None, _) => None,
    };
    let Some(context) = context else {
        let what = "The variables of this program were too large to record";
        let next = "gristmill run --context-json FILE runs it with them.";
        return visit.problem(StatusCode::CONFLICT, what, next).await;
    };
    let engine = engine_for(Some(&record.language), &code).unwrap_or(EngineId::Python);
    let request = ExecuteRequest { context: context.into(), ..ExecuteRequest::of(engine, code) };
    let to = |id: &str| routes::fill(routes::EXECUTION, &[id]);
    start(&visit, request, PlaceChoice::AsRequested, to).await
}

/// Starts a program as the owner, and leads to where it is shown. Questions about its calls wait for an answer on
/// the page of approvals.
pub(super) async fn start(
    visit: &Visit,
    request: ExecuteRequest,
    place: PlaceChoice,
    to: impl FnOnce(&str) -> String,
) -> Response {
    let service = visit.parts().gateway.service();
    let answers = Answers { approvals: true, way: AnswerWay::Dashboard, ..Answers::default() };
    let request = StartRequest { place, answers, ..StartRequest::new(Caller::local(), request) };
    match service.start(request) {
        Ok(follower) => {
            let id = follower.id().to_string();
            wait_for_record(visit, &id).await;
            redirect(&to(&id))
        }
        Err(report) => {
            let words = report.error.as_ref().map(|error| error.message.clone()).unwrap_or_default();
            visit.problem(StatusCode::CONFLICT, "Nothing ran", &words).await
        }
    }
}

async fn wait_for_record(visit: &Visit, id: &str) {
    for _ in 0..RECORD_TRIES {
        if record(visit, id).await.is_some() {
            return;
        }
        tokio::time::sleep(RECORD_PAUSE).await;
    }
}
