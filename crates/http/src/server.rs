//! The listener: connections are accepted, counted, served and, at the end, let finish.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::ports::BoxFuture;
use gristmill_mcp::McpEndpoint;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::connection::{self, Service, Unserved};
use crate::error::HttpError;
use crate::listener::{Listener, Visitor};
use crate::settings::HttpSettings;
use crate::site::{self, Mount};

/// Connections at once that are told why they are not served. More are closed without a word.
const REFUSALS_MAX: usize = 64;

/// When accepting fails, which it does when descriptors run out: a moment for some to be closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves MCP, and whatever else is mounted, until `shutdown` says so. Then no connection is accepted,
/// idle ones are closed, requests under way may go on for the grace, and nothing is left when this
/// returns.
pub fn serve(
    listener: impl Into<Listener>,
    endpoint: McpEndpoint,
    mounts: Vec<Mount>,
    settings: HttpSettings,
    shutdown: CancellationToken,
) -> BoxFuture<'static, Result<(), HttpError>> {
    Box::pin(serve_until(listener.into(), endpoint, mounts, settings, shutdown))
}

async fn serve_until(
    listener: Listener,
    endpoint: McpEndpoint,
    mounts: Vec<Mount>,
    settings: HttpSettings,
    shutdown: CancellationToken,
) -> Result<(), HttpError> {
    settings.check()?;
    let endpoint = Arc::new(endpoint);
    let router = site::router(Arc::clone(&endpoint), mounts, &settings)?;
    let service = Service { router, limits: settings.limits, shutdown: shutdown.clone() };
    let sessions = Arc::clone(&endpoint);
    // Aborted when this returns.
    let mut sweeping = JoinSet::new();
    sweeping.spawn(async move { sessions.sweep_sessions().await });
    let mut connections = accept_until_shutdown(&listener, &service, &shutdown).await;
    drop(listener);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(settings.grace, finished).await.is_err() {
        endpoint.end_streams();
        connections.shutdown().await;
    }
    endpoint.end_sessions().await;
    Ok(())
}

/// The connections that are still there.
async fn accept_until_shutdown(
    listener: &Listener,
    service: &Service,
    shutdown: &CancellationToken,
) -> JoinSet<()> {
    let mut connections = JoinSet::new();
    let mut refusals = JoinSet::new();
    let connections_max = service.limits.connections;
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => return connections,
            Some(_) = connections.join_next() => continue,
            Some(_) = refusals.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok(Visitor::Client(stream)) if connections.len() < connections_max => {
                connections.spawn(connection::serve(stream, service.clone()));
            }
            Ok(Visitor::Client(stream)) if refusals.len() < REFUSALS_MAX => {
                refusals.spawn(connection::refuse(stream, Unserved::TooMany { connections_max }));
            }
            Ok(Visitor::Stranger(stream)) if refusals.len() < REFUSALS_MAX => {
                refusals.spawn(connection::refuse(stream, Unserved::Stranger));
            }
            Ok(_) => {}
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}
