//! One request of a browser that is logged in.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::FromRequestParts;
use axum::response::Response;
use gristmill_dashboard::pages::{Problem, problem};
use gristmill_dashboard::{Frame, Markup, Moment, Text, routes};
use gristmill_gateway::history::History;
use gristmill_gateway::ids::Owner;
use gristmill_gateway::store::{ApprovalRecord, ApprovalState};
use http::StatusCode;
use http::request::Parts;

use super::answer::{page, redirect};
use super::form::Form;
use super::gate::LoggedIn;
use super::gateways;
use super::notices::{Done, notice};
use super::{Dashboard, DashboardParts};
use crate::answers::failed;

#[derive(Clone)]
pub(super) struct Visit {
    pub(super) dashboard: Arc<Dashboard>,
    pub(super) logged_in: LoggedIn,
    pub(super) query: Form,
    /// What was sent, if it was a form.
    pub(super) form: Form,
}

impl FromRequestParts<Arc<Dashboard>> for Visit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, dashboard: &Arc<Dashboard>) -> Result<Self, Response> {
        // The gate put it there; without one nothing is shown.
        let logged_in = parts.extensions.get::<LoggedIn>().cloned();
        let logged_in = logged_in.ok_or_else(|| failed(StatusCode::UNAUTHORIZED, "log in first"))?;
        let form = parts.extensions.get::<Form>().cloned().unwrap_or_default();
        let query = Form::of(parts.uri.query().unwrap_or_default());
        Ok(Self { dashboard: Arc::clone(dashboard), logged_in, query, form })
    }
}

impl Visit {
    pub(super) fn parts(&self) -> &DashboardParts {
        &self.dashboard.parts
    }

    pub(super) fn history(&self) -> Option<&History> {
        self.parts().gateway.history()
    }

    /// Calls that wait for an answer, the oldest first.
    pub(super) async fn waiting(&self) -> Vec<ApprovalRecord> {
        let mut open = self.open_questions().await;
        open.retain(|record| record.state == ApprovalState::Waiting);
        open
    }

    /// Those, and then the calls that were refused because nobody could be asked: their next try can be allowed.
    pub(super) async fn open_questions(&self) -> Vec<ApprovalRecord> {
        let mut all = self.parts().store.list_approvals().await.unwrap_or_default();
        all.retain(is_open);
        all.reverse();
        all.sort_by_key(|record| record.state != ApprovalState::Waiting);
        all
    }

    pub(super) async fn frame(&self) -> Frame {
        let other_gateways = gateways::others(self.history()).await;
        Frame { other_gateways, ..self.frame_with(self.waiting().await.len() as u64) }
    }

    /// The same for a part of a page, which has no menu.
    pub(super) fn frame_with(&self, approvals_waiting: u64) -> Frame {
        Frame {
            gateway: self.parts().name.as_str().into(),
            other_gateways: Vec::new(),
            user: "you".into(),
            csrf: self.logged_in.csrf().into(),
            now: now(),
            approvals_waiting,
            version: env!("CARGO_PKG_VERSION").into(),
            notice: self.query.value("done").and_then(notice),
        }
    }

    pub(super) async fn page<V>(&self, draw: impl FnOnce(&Frame, &V) -> Markup, view: V) -> Response {
        page(StatusCode::OK, draw(&self.frame().await, &view))
    }

    pub(super) async fn problem(&self, status: StatusCode, what: &str, next: &str) -> Response {
        page(status, problem(&self.frame().await, &Problem { what: what.into(), next: next.into() }))
    }

    pub(super) async fn unreadable(&self) -> Response {
        let what = "The database can't be read";
        self.problem(StatusCode::SERVICE_UNAVAILABLE, what, "gristmill doctor says why.").await
    }

    pub(super) async fn not_kept(&self, what: &str) -> Response {
        self.problem(StatusCode::NOT_FOUND, what, "gristmill config show has what this gateway keeps.").await
    }
}

/// Whether it can be answered.
pub(super) fn is_open(record: &ApprovalRecord) -> bool {
    matches!(record.state, ApprovalState::Waiting | ApprovalState::Refused)
}

/// Back to a page, which says what was done.
pub(super) fn done(to: &str, done: Done) -> Response {
    redirect(&routes::query(to, &[("done", done.as_str())]))
}

pub(super) fn now() -> Moment {
    moment(SystemTime::now())
}

pub(super) fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Whose something is, for a person.
pub(super) fn owner_in_words(owner: &str) -> Text {
    match owner {
        "local" => "you".into(),
        _ => Owner(owner.to_owned()).without_identity().replacen("http:", "token ", 1).into(),
    }
}
