//! Where `gristmill dashboard` asks for a link.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Extension, State};
use axum::response::Response;
use gristmill_dashboard::routes;
use gristmill_gateway::access::Caller;
use http::StatusCode;

use super::Dashboard;
use super::answer::guarded;
use super::logins::LINK_TIME;
use crate::answers::{failed, json};

/// POST with the owner's token; answers with `path` and `expires_s`.
pub const LINK_PATH: &str = "/dashboard/link";

/// The dashboard shows and answers everything, so it opens for the owner alone: not for a named token, whatever
/// its scopes, and not for whoever comes by where no token is asked for.
pub(super) async fn new_link(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(caller): Extension<Caller>,
) -> Response {
    if caller.has_token() || !caller.is_someone() {
        let why =
            "the dashboard opens for the owner of this gateway; run `gristmill dashboard` where it runs";
        return guarded(failed(StatusCode::FORBIDDEN, why));
    }
    guarded(match dashboard.logins.new_link(Instant::now(), dashboard.epoch()) {
        Ok(code) => {
            let path = routes::query(routes::LOGIN, &[("code", code.reveal())]);
            json(StatusCode::OK, format!(r#"{{"path":"{path}","expires_s":{}}}"#, LINK_TIME.as_secs()))
        }
        Err(error) => {
            failed(StatusCode::SERVICE_UNAVAILABLE, format!("the system random source failed: {error}"))
        }
    })
}
