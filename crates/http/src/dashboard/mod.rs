//! The dashboard at `/dashboard`, for the owner of this gateway in a browser.
//!
//! Walls: whoever has shown the owner's token gets a link that logs in once ([`logins`]); a browser without a login
//! sees the login page and nothing else ([`gate`]). Forms count only if they come from a page of ours. Pages are
//! drawn by `gristmill-dashboard`; what they show is read here, as it was recorded, and each query is bounded.

mod answer;
mod approvals;
mod as_test;
mod audit;
mod call_figures;
mod decisions;
mod execution_lines;
mod executions;
mod form;
mod gate;
mod gateways;
mod link;
mod live;
mod logins;
mod notices;
mod overview;
mod playground;
mod playground_task;
mod policy;
mod privacy;
mod results;
mod servers;
mod sessions;
mod settings;
mod skills;
mod visit;

use std::sync::Arc;

use axum::extract::Path;
use axum::routing::{get, post};
use axum::{Router, middleware};
use gristmill_dashboard::routes;
use gristmill_gateway::Gateway;
use gristmill_gateway::access::AccessTokens;
use gristmill_gateway::domain::ServerSettings;
use gristmill_gateway::domain::policy::Policy;
use gristmill_gateway::store::Store;
use gristmill_gateway::upstream::{AlwaysApprovals, Upstreams};
use gristmill_mcp::CodeWriters;
use http::StatusCode;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::answers::failed;
use crate::authorization::Access;
use crate::site::Mount;
use logins::Logins;

pub use link::LINK_PATH as DASHBOARD_LINK_PATH;

/// Streams of live parts at once. A browser has one for each page that is looked at.
const STREAMS_MAX: usize = 32;

/// What the dashboard shows, and what its buttons change.
pub struct DashboardParts {
    pub gateway: Gateway,
    pub upstreams: Option<Upstreams>,
    pub store: Store,
    /// What was allowed for good, if anything can be.
    pub always: Option<AlwaysApprovals>,
    /// As they are configured.
    pub servers: Vec<ServerSettings>,
    /// Which calls are allowed, if there are rules.
    pub policy: Option<Policy>,
    /// As `gristmill config show --json` has it.
    pub configuration: Value,
    /// Of a million tokens; 0 if nothing is to be shown in money.
    pub price_per_million: f64,
    /// Who writes programs for a task; `None` if nobody does.
    pub code_writers: Option<CodeWriters>,
    /// Whose token opens it.
    pub tokens: Arc<AccessTokens>,
    /// What this gateway is called.
    pub name: String,
    /// Ends live parts.
    pub shutdown: CancellationToken,
}

struct Dashboard {
    parts: DashboardParts,
    logins: Logins,
    streams: Arc<Semaphore>,
    figures: overview::Figures,
    chain: audit::LastCheck,
}

impl Dashboard {
    /// Changes when the owner's token does: what was opened with the old one is over.
    fn epoch(&self) -> Option<std::time::SystemTime> {
        self.parts.tokens.local().created()
    }
}

/// The pages, and the address where the owner asks for a link to them.
pub fn dashboard(parts: DashboardParts) -> Vec<Mount> {
    let dashboard = Arc::new(Dashboard {
        parts,
        logins: Logins::default(),
        streams: Arc::new(Semaphore::new(STREAMS_MAX)),
        figures: overview::Figures::default(),
        chain: audit::LastCheck::default(),
    });
    let links = Router::new().route(link::LINK_PATH, post(link::new_link)).with_state(Arc::clone(&dashboard));
    vec![
        Mount { router: links, access: Access::Caller },
        Mount { router: pages(dashboard), access: Access::Open },
    ]
}

fn pages(dashboard: Arc<Dashboard>) -> Router {
    let gate = middleware::from_fn_with_state(Arc::clone(&dashboard), gate::pass_logged_in);
    let pages = Router::new()
        .route(routes::OVERVIEW, get(overview::overview))
        .route(routes::LOGOUT, post(gate::log_out))
        .route(routes::EXECUTIONS, get(executions::executions))
        .route(routes::EXECUTION, get(executions::execution))
        .route(routes::EXECUTION_RERUN, post(executions::rerun))
        .route(routes::APPROVALS, get(approvals::approvals))
        .route(routes::APPROVAL_ANSWER, post(approvals::answer))
        .route(routes::SERVERS, get(servers::servers))
        .route(routes::SERVER, get(servers::server))
        .route(routes::SERVER_REVIEW, post(servers::review))
        .route(routes::TOOL, get(servers::tool))
        .route(routes::TOOL_TRY, post(servers::try_call))
        .route(routes::SESSIONS, get(sessions::sessions))
        .route(routes::SESSION, get(sessions::session))
        .route(routes::SESSION_DELETE, post(sessions::delete))
        .route(routes::SKILLS, get(skills::skills))
        .route(routes::SKILL, get(skills::skill))
        .route(routes::SKILL_REVIEW, post(skills::review))
        .route(routes::RESULTS, get(results::results))
        .route(routes::RESULT, get(results::result))
        .route(routes::POLICY, get(policy::policy))
        .route(routes::POLICY_REVOKE, post(policy::revoke))
        .route(routes::PRIVACY, get(privacy::privacy))
        .route(routes::AUDIT, get(audit::audit))
        .route(routes::AUDIT_VERIFY, post(audit::verify))
        .route(routes::PLAYGROUND, get(playground::playground))
        .route(routes::PLAYGROUND_RUN, post(playground::run))
        .route(routes::PLAYGROUND_ASK, post(playground_task::write))
        .route(routes::SETTINGS, get(settings::settings))
        .route(routes::LIVE_OVERVIEW, get(overview::live))
        .route(routes::LIVE_EXECUTIONS, get(executions::live))
        .route(routes::LIVE_EXECUTION, get(executions::live_execution))
        .route(routes::LIVE_APPROVALS, get(approvals::live))
        .route_layer(gate);
    Router::new()
        .merge(pages)
        .route(routes::LOGIN, get(gate::show_login).post(gate::log_in))
        .route(
            routes::ASSET,
            get(|Path(name): Path<String>| async move {
                let found = answer::asset(&name);
                answer::guarded(found.unwrap_or_else(|| failed(StatusCode::NOT_FOUND, "no such asset")))
            }),
        )
        .with_state(dashboard)
}
