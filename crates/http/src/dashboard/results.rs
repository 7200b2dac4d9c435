//! Stored results: those that didn't fit in an answer.

use axum::extract::Path;
use axum::response::Response;
use gristmill_dashboard::Moment;
use gristmill_dashboard::pages::{self, ResultLine, Results, StoredResult as View};
use gristmill_gateway::domain::result_path::Slice;
use gristmill_gateway::domain::shape::Strategy;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::results::StoredResult;
use http::StatusCode;

use super::visit::Visit;

/// Results in the list.
const LISTED: usize = 200;

/// What is shown of one.
const PREVIEW_TOKENS: usize = 4_000;

pub(super) async fn results(visit: Visit) -> Response {
    let Some(results) = visit.parts().gateway.results() else {
        return visit.not_kept("This gateway keeps no results").await;
    };
    match results.list(None, LISTED).await {
        Ok(all) => {
            let results = all.iter().map(line).collect();
            visit.page(pages::results, Results { results }).await
        }
        Err(_) => visit.unreadable().await,
    }
}

fn line(stored: &StoredResult) -> ResultLine {
    let shape = match &stored.media_type {
        Some(media_type) => format!("{}, {media_type}", stored.kind.as_str()),
        None => stored.kind.as_str().to_owned(),
    };
    ResultLine {
        handle: stored.handle.as_str().into(),
        shape: shape.into(),
        bytes: stored.bytes,
        stored: Moment(stored.created_ms),
        expires: None,
        execution: stored.execution.as_deref().map(Into::into),
    }
}

/// The beginning of one, through the same veil as an answer.
pub(super) async fn result(visit: Visit, Path(handle): Path<String>) -> Response {
    let missing = "There's no result with this handle";
    let Some(results) = visit.parts().gateway.results() else { return visit.not_kept(missing).await };
    let next = "gristmill results list shows what is kept.";
    let owner = results.owner_of(&handle).await.ok().flatten();
    let Some(owner) = owner else { return visit.problem(StatusCode::NOT_FOUND, missing, next).await };
    let stored = results.find(&owner, &handle).await.ok().flatten();
    let Some(stored) = stored else { return visit.problem(StatusCode::NOT_FOUND, missing, next).await };
    let veil = visit.parts().gateway.privacy().and_then(|privacy| privacy.veil(&Caller::local()));
    let budget = (Strategy::Auto, PREVIEW_TOKENS);
    let part = results.read(&owner, &handle, "", Slice::default(), budget, veil.as_ref()).await;
    let preview = match part {
        Ok(part) => part.shaped.text,
        Err(error) => error.to_string(),
    };
    visit.page(pages::result, View { line: line(&stored), preview: preview.into() }).await
}
