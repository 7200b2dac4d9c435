//! The listener: connections are accepted, counted, served and, at the end, let finish.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::ports::BoxFuture;
use gristmill_mcp::McpEndpoint;
use http::HeaderValue;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::LOG_AREA;
use crate::authorization::WithoutToken;
use crate::connection::{self, ClientStream, Elsewhere, PassedOn, Service, Unserved};
use crate::error::HttpError;
use crate::listener::{Entrance, Visitor};
use crate::settings::HttpSettings;
use crate::site::{self, Mount};

/// Connections at once that are told why they are not served. More are closed without a word.
const REFUSALS_MAX: usize = 64;

/// How long requests that were cut short have to be answered with why.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// When accepting fails, which it does when descriptors run out: a moment for some to be closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves MCP, and whatever else is mounted, until `shutdown` says so. Then no connection is accepted,
/// idle ones are closed, requests under way may go on for the grace, or until they are cut short, and nothing is
/// left when this returns.
pub fn serve(
    entrance: impl Into<Entrance>,
    endpoint: McpEndpoint,
    mounts: Vec<Mount>,
    settings: HttpSettings,
    shutdown: CancellationToken,
) -> BoxFuture<'static, Result<(), HttpError>> {
    Box::pin(serve_until(entrance.into(), endpoint, mounts, settings, shutdown))
}

async fn serve_until(
    mut entrance: Entrance,
    endpoint: McpEndpoint,
    mounts: Vec<Mount>,
    settings: HttpSettings,
    shutdown: CancellationToken,
) -> Result<(), HttpError> {
    settings.check()?;
    let endpoint = Arc::new(endpoint);
    let services = Services::new(&endpoint, mounts, &settings, &shutdown)?;
    let sessions = Arc::clone(&endpoint);
    // Aborted when this returns.
    let mut sweeping = JoinSet::new();
    sweeping.spawn(async move { sessions.sweep_sessions().await });
    let mut connections = accept_until_shutdown(&mut entrance, &services, &shutdown).await;
    drop(entrance);
    let is_finished = tokio::select! {
        () = async { while connections.join_next().await.is_some() {} } => true,
        () = patience(&settings) => false,
    };
    if !is_finished {
        endpoint.end_streams();
        connections.shutdown().await;
    }
    endpoint.end_sessions().await;
    Ok(())
}

/// How long requests under way may go on.
async fn patience(settings: &HttpSettings) {
    let cut_short = async {
        settings.cut_short.cancelled().await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        () = tokio::time::sleep(settings.grace) => {}
        () = cut_short => {}
    }
}

/// What clients are served with, by the way they came.
struct Services {
    /// Those who are at our own door.
    own: Service,
    /// Those whom another gateway passes on: without a token they are refused, since they may come from anywhere.
    passed_on: Service,
    own_host: Option<HeaderValue>,
}

impl Services {
    fn new(
        endpoint: &Arc<McpEndpoint>,
        mounts: Vec<Mount>,
        settings: &HttpSettings,
        shutdown: &CancellationToken,
    ) -> Result<Self, HttpError> {
        let same = mounts.iter().map(|mount| Mount { router: mount.router.clone(), access: mount.access });
        let for_everyone = HttpSettings { without_token: WithoutToken::Refused, ..settings.clone() };
        let passed_on = site::router(Arc::clone(endpoint), same.collect(), &for_everyone)?;
        let own = site::router(Arc::clone(endpoint), mounts, settings)?;
        let service =
            |router| Service { router, limits: settings.limits, shutdown: shutdown.clone(), elsewhere: None };
        let own_host = settings.hosts_allowed.first().and_then(|host| HeaderValue::from_str(host).ok());
        Ok(Self { own: service(own), passed_on: service(passed_on), own_host })
    }

    /// A connection of another gateway, as one that is served.
    fn bring_in(&self, passed: PassedOn) -> (ClientStream, Service) {
        let elsewhere = Elsewhere::of(&passed, self.own_host.clone());
        tracing::debug!(target: LOG_AREA, from = passed.from, "a connection was passed on");
        (ClientStream::PassedOn(passed.stream), Service { elsewhere, ..self.passed_on.clone() })
    }
}

/// The connections that are still there.
async fn accept_until_shutdown(
    entrance: &mut Entrance,
    services: &Services,
    shutdown: &CancellationToken,
) -> JoinSet<()> {
    let mut connections = JoinSet::new();
    let mut refusals = JoinSet::new();
    let connections_max = services.own.limits.connections;
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => return connections,
            Some(_) = connections.join_next() => continue,
            Some(_) = refusals.join_next() => continue,
            accepted = entrance.accept() => accepted,
        };
        let (stream, service) = match accepted {
            Ok(Visitor::Client(stream)) => (stream, Ok(services.own.clone())),
            Ok(Visitor::PassedOn(passed)) => {
                let (stream, service) = services.bring_in(passed);
                (stream, Ok(service))
            }
            Ok(Visitor::Stranger(stream)) => (stream, Err(Unserved::Stranger)),
            Err(_) => {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let is_full = connections.len() >= connections_max;
        match service {
            Ok(service) if !is_full => drop(connections.spawn(connection::serve(stream, service))),
            Ok(_) | Err(_) if refusals.len() >= REFUSALS_MAX => {}
            Ok(_) => {
                drop(refusals.spawn(connection::refuse(stream, Unserved::TooMany { connections_max })));
            }
            Err(why) => drop(refusals.spawn(connection::refuse(stream, why))),
        }
    }
}
