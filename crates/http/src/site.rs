//! What is at which address, and what each asks of its callers. Whatever is to be served beside MCP,
//! such as pages, figures or an interface for programs, is mounted here.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::get;
use axum::{Router, middleware};
use gristmill_gateway::Gateway;
use gristmill_gateway::access::Scope;
use gristmill_gateway::domain::Code;
use gristmill_mcp::McpEndpoint;
use http::{Method, StatusCode};

use crate::answers::{failed, json, method_not_taken};
use crate::authorization::{Access, Authority, Requirement, authorize};
use crate::cors::check_host_and_origin;
use crate::error::HttpError;
use crate::hosts_and_origins::Allowed;
use crate::mcp;
use crate::settings::HttpSettings;

/// A router of its own, with what it asks of its callers. Its addresses must be its own, too: two
/// routers with the same one are a mistake that shows at the start.
pub struct Mount {
    pub router: Router,
    pub access: Access,
}

impl Mount {
    /// The same, whose answers wait until what they rest on is safe with the gateways that share this one's state. What
    /// is only shown is refused, too, if another one may have gone on from something else; a stream at its beginning.
    pub fn settled(self, gateway: Gateway) -> Self {
        let settled = move |request: Request, next: Next| {
            let gateway = gateway.clone();
            async move {
                let answer = next.run(request).await;
                match gateway.settle().await {
                    Ok(()) => answer,
                    Err(error) => {
                        let why = format!("{}: {error}", Code::NotShared);
                        failed(StatusCode::SERVICE_UNAVAILABLE, why)
                    }
                }
            }
        };
        Self { router: self.router.layer(middleware::from_fn(settled)), ..self }
    }
}

pub(crate) fn router(
    endpoint: Arc<McpEndpoint>,
    mounts: Vec<Mount>,
    settings: &HttpSettings,
) -> Result<Router, HttpError> {
    let allowed = Arc::new(Allowed::read(&settings.hosts_allowed, &settings.origins_allowed)?);
    let authority = Authority {
        tokens: settings.tokens.clone(),
        without_token: settings.without_token,
        audit: settings.audit.clone(),
    };
    let requirement = |scope| Requirement { authority: authority.clone(), scope };
    let caller = || requirement(Scope::Search);
    let mounted = mounts.into_iter().map(|Mount { router, access }| match access {
        Access::Open => router,
        Access::Caller => router.route_layer(middleware::from_fn_with_state(caller(), authorize)),
        Access::Scope(scope) => {
            router.route_layer(middleware::from_fn_with_state(requirement(scope), authorize))
        }
    });
    let site = Router::new().merge(health()).merge(mcp::routes(endpoint, caller()));
    let site = mounted.fold(site, Router::merge).fallback(nothing_here);
    Ok(site.layer(middleware::from_fn_with_state(allowed, check_host_and_origin)))
}

/// For whoever watches over this process: it needs no token and tells nothing about anyone.
fn health() -> Router {
    let started = Instant::now();
    let health = move || async move {
        let (version, uptime_s) = (env!("CARGO_PKG_VERSION"), started.elapsed().as_secs());
        let text =
            format!(r#"{{"status":"ok","server":"gristmill","version":"{version}","uptime_s":{uptime_s}}}"#);
        json(StatusCode::OK, text)
    };
    let not_taken = |method: Method| async move { method_not_taken(&method, "GET", "GET, HEAD") };
    Router::new().route("/healthz", get(health).fallback(not_taken))
}

async fn nothing_here() -> Response {
    failed(StatusCode::NOT_FOUND, format!("nothing here; the endpoint is {}", mcp::PATH))
}
