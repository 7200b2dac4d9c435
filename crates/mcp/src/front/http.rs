//! The HTTP endpoint: connections are accepted, counted, served and, at the end, let finish.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::access::AccessTokens;
use rmcp::ServerHandler;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::FrontError;
use super::connection;
use super::gate::Gate;
use super::hosts_and_origins::{Allowed, default_hosts, default_origins};
use super::http_limits::HttpLimits;
use super::sessions::Sessions;

/// Connections at once that are told that there is no room. More are closed without a word.
const REFUSALS_MAX: usize = 64;

/// When accepting fails, which it does when descriptors run out: a moment for some to be closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How the HTTP endpoint behaves.
#[derive(Clone)]
pub struct HttpSettings {
    /// Names under which it is reached: `example.com`, or `example.com:8770` for one port only.
    pub hosts_allowed: Vec<String>,
    /// Web pages that may call: `https://app.example.com`, or `http://localhost:*` for any port.
    pub origins_allowed: Vec<String>,
    /// Where tokens are checked.
    pub tokens: Option<Arc<AccessTokens>>,
    /// Whether there must be one. One that is sent is checked in any case.
    pub token_required: bool,
    /// What clients may use up.
    pub limits: HttpLimits,
    /// How long requests may go on when we are asked to end.
    pub grace: Duration,
}

impl HttpSettings {
    /// For this address: reached from this machine and by the address itself, called by no page but
    /// its own, and with a token unless it is loopback.
    pub fn for_address(address: SocketAddr) -> Self {
        Self {
            hosts_allowed: default_hosts(address),
            origins_allowed: default_origins(address),
            tokens: None,
            token_required: !address.ip().is_loopback(),
            limits: HttpLimits::default(),
            grace: Duration::from_secs(30),
        }
    }
}

impl HttpSettings {
    /// Whether they can be served with.
    pub fn check(&self) -> Result<(), FrontError> {
        if self.token_required && self.tokens.is_none() {
            return Err(FrontError::NoTokens);
        }
        Allowed::read(&self.hosts_allowed, &self.origins_allowed).map(drop)
    }
}

/// Serves until `shutdown` says so. Then no connection is accepted, idle ones are closed, requests
/// under way may go on for the grace, and nothing is left when this returns.
pub async fn serve_http<H, F>(
    listener: TcpListener,
    new_handler: F,
    settings: HttpSettings,
    shutdown: CancellationToken,
) -> Result<(), FrontError>
where
    H: ServerHandler + Clone,
    F: Fn() -> H + Send + Sync + 'static,
{
    let streams_end = CancellationToken::new();
    let gate = Arc::new(gate(new_handler, &settings, &shutdown, &streams_end)?);
    let mut connections = JoinSet::new();
    let mut refusals = JoinSet::new();
    let sessions = Arc::clone(&gate.sessions);
    let mut sweeping = JoinSet::new();
    sweeping.spawn(async move { sessions.keep_swept().await });
    let connections_max = settings.limits.connections;
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            Some(_) = refusals.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) if connections.len() < connections_max => {
                connections.spawn(connection::serve(stream, Arc::clone(&gate)));
            }
            Ok((stream, _)) if refusals.len() < REFUSALS_MAX => {
                refusals.spawn(connection::refuse(stream, connections_max));
            }
            Ok(_) => {}
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
    drop(listener);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(settings.grace, finished).await.is_err() {
        streams_end.cancel();
        connections.shutdown().await;
    }
    gate.sessions.end_all().await;
    Ok(())
}

fn gate<H, F>(
    new_handler: F,
    settings: &HttpSettings,
    shutdown: &CancellationToken,
    streams_end: &CancellationToken,
) -> Result<Gate<H>, FrontError>
where
    H: ServerHandler + Clone,
    F: Fn() -> H + Send + Sync + 'static,
{
    settings.check()?;
    let limits = settings.limits;
    let sessions = Sessions::new(limits.sessions, limits.session_idle_time);
    // What the gate has checked is checked again: these lists are the second wall.
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(settings.hosts_allowed.clone())
        .with_allowed_origins(settings.origins_allowed.clone())
        .enforce_origin_validation()
        .with_legacy_session_mode(true)
        .with_json_response(true)
        .with_sse_keep_alive(Some(limits.stream_pulse))
        // An event without data confuses clients of older versions.
        .with_sse_retry(None)
        // The body is not longer by being written anew, but for escapes.
        .with_max_request_body_bytes(limits.body_bytes.saturating_mul(6))
        .with_cancellation_token(streams_end.clone());
    Ok(Gate {
        service: StreamableHttpService::new(move || Ok(new_handler()), Arc::clone(&sessions.kept), config),
        sessions,
        allowed: Allowed::read(&settings.hosts_allowed, &settings.origins_allowed)?,
        tokens: settings.tokens.clone(),
        token_required: settings.token_required,
        limits,
        shutdown: shutdown.clone(),
    })
}
