//! Makes the connection to a server when it is needed, looks again when what the server offers
//! changes, and brings the connection back when it is lost.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::attempts::Attempts;
use super::connection::{ConnectRequest, Connection, UpstreamFailure};
use super::raw_offer::list_offer;
use super::registry::Registry;
use super::server::Server;
use crate::at_length::at_length;
use crate::ports::BoxFuture;
use crate::spans::SERVERS;

/// A call waits this long for the next attempt, otherwise it is told to come back.
const WAIT_FOR_ATTEMPT_MAX: Duration = Duration::from_secs(2);

/// So many failures in a row, and it is no longer restarted by itself, only when it is needed.
const RESTARTS_MAX: u32 = 5;

/// Between two looks at what a server says has changed.
const RELIST_PAUSE: Duration = Duration::from_millis(200);

/// The connection, made if there is none.
pub(super) async fn live(
    registry: &Arc<Registry>,
    server: &Arc<Server>,
) -> Result<Connection, UpstreamFailure> {
    match server.current() {
        Some(connection) => Ok(connection),
        None => connect_in_turn(registry, server).await,
    }
}

/// Reaches a server while nobody waits for it, and goes on trying for some time.
pub(super) fn reach_in_background(registry: &Arc<Registry>, server: &Arc<Server>) {
    let (registry, server) = (Arc::clone(registry), Arc::clone(server));
    tokio::spawn(async move {
        if live(&registry, &server).await.is_err() {
            let watched = Watched::new(&registry, &server);
            // Nothing but what is watched keeps them alive from here on.
            drop((registry, server));
            restart(watched).await;
        }
    });
}

/// Tries servers once more of which nothing is known, if their time has come: nobody calls their
/// tools, so that no call would bring them back, but a program that begins later may find them.
pub(super) fn retry_unreached(registry: &Arc<Registry>) {
    for (server, _) in registry.unreached() {
        // Someone else is at it if the lock is taken.
        let is_due = || server.attempts.try_lock().is_ok_and(|attempts| attempts.is_due(Instant::now()));
        if server.is_disconnected() && is_due() {
            let (registry, server) = (Arc::clone(registry), Arc::clone(server));
            tokio::spawn(async move {
                let _ = live(&registry, &server).await;
            });
        }
    }
}

/// Boxed: a connection is watched, and whoever watches it may have to connect again.
fn connect_in_turn<'a>(
    registry: &'a Arc<Registry>,
    server: &'a Arc<Server>,
) -> BoxFuture<'a, Result<Connection, UpstreamFailure>> {
    Box::pin(take_turn(registry, server))
}

async fn take_turn(registry: &Arc<Registry>, server: &Arc<Server>) -> Result<Connection, UpstreamFailure> {
    let mut attempts = server.attempts.lock().await;
    // Someone else may have made it while we waited.
    if let Some(connection) = server.current() {
        return Ok(connection);
    }
    server.unless_closing(wait_for_turn(server, &attempts)).await?;
    let began = Instant::now();
    let outcome = server.unless_closing(connect(registry, server)).await;
    let (server_name, took_ms) = (server.name(), began.elapsed().as_millis() as u64);
    match &outcome {
        Ok(connection) => {
            let protocol = connection.upstream().facts().protocol.as_str();
            tracing::info!(target: SERVERS, server = server_name, protocol, took_ms, "connected");
            attempts.succeeded();
        }
        Err(failure) => {
            // One that was still starting when the gateway was stopped isn't down.
            if !server.is_closing() {
                let why = failure.kind();
                tracing::warn!(target: SERVERS, server = server_name, why, took_ms, "can't connect");
            }
            attempts.failed_again(Instant::now());
            server.failed(failure.clone());
            registry.renew();
        }
    }
    // Whoever waits for this finds what was found out.
    server.mark_discovered();
    outcome
}

async fn wait_for_turn(server: &Server, attempts: &Attempts) -> Result<(), UpstreamFailure> {
    let Some(left) = attempts.wait(Instant::now()) else { return Ok(()) };
    if left <= WAIT_FOR_ATTEMPT_MAX {
        tokio::time::sleep(left).await;
        return Ok(());
    }
    let seconds = left.as_secs() + 1;
    match server.last_failure() {
        Some(UpstreamFailure::LoginNeeded(why)) => Err(UpstreamFailure::LoginNeeded(why)),
        Some(failure) => Err(UpstreamFailure::Down(format!("{failure}; retrying in {seconds} s"))),
        None => Err(UpstreamFailure::Down(format!("retrying in {seconds} s"))),
    }
}

async fn connect(registry: &Arc<Registry>, server: &Arc<Server>) -> Result<Connection, UpstreamFailure> {
    let changed = Arc::new(Notify::new());
    let notify = Arc::clone(&changed);
    let request = ConnectRequest {
        settings: Arc::clone(&server.settings),
        remembered: server.last_protocol(),
        can_ask: registry.can_ask(),
        offer_changed: Arc::new(move || notify.notify_one()),
        log: Arc::clone(server.log()),
    };
    let connection = registry.connector().connect(request).await?;
    let offer = match list_offer(connection.upstream(), server.log(), server.last_offer()).await {
        Ok(offer) => offer,
        Err(failure) => {
            connection.upstream().close().await;
            return Err(failure);
        }
    };
    server.listed(&connection, offer);
    server.recovered();
    // Before anyone can see that it is there: with its tools, or not at all.
    at_length(|| registry.offered(server));
    let watcher = tokio::spawn(watch(Watched::new(registry, server), connection.clone(), changed));
    server.connected(connection.clone(), watcher.abort_handle());
    Ok(connection)
}

/// What a background task works on without keeping it alive: once nobody uses the servers any more
/// they go, and their tasks and processes with them.
struct Watched {
    registry: Weak<Registry>,
    server: Weak<Server>,
}

impl Watched {
    fn new(registry: &Arc<Registry>, server: &Arc<Server>) -> Self {
        Self { registry: Arc::downgrade(registry), server: Arc::downgrade(server) }
    }

    fn upgrade(&self) -> Option<(Arc<Registry>, Arc<Server>)> {
        Some((self.registry.upgrade()?, self.server.upgrade()?))
    }
}

/// Stays with one connection until it is lost, and then has another one made.
async fn watch(watched: Watched, connection: Connection, changed: Arc<Notify>) {
    let why = loop {
        tokio::select! {
            why = connection.upstream().lost() => break why,
            () = changed.notified() => {
                tokio::time::sleep(RELIST_PAUSE).await;
                list_again(&watched, &connection).await;
            }
        }
    };
    let Some(server) = watched.server.upgrade() else { return };
    tracing::warn!(target: SERVERS, server = server.name(), "connection lost");
    server.lost(&connection, why).await;
    drop(server);
    connection.upstream().close().await;
    drop(connection);
    restart(watched).await;
}

async fn list_again(watched: &Watched, connection: &Connection) {
    let known = watched.server.upgrade().map(|server| (Arc::clone(server.log()), server.last_offer()));
    let Some((log, before)) = known else { return };
    let offer = list_offer(connection.upstream(), &log, before).await;
    if let (Ok(offer), Some((registry, server))) = (offer, watched.upgrade()) {
        server.listed(connection, offer);
        at_length(|| registry.offered(&server));
        tracing::info!(target: SERVERS, server = server.name(), "listed again: its offer may have changed");
    }
}

/// Tries to reach a server that could not be reached, with growing pauses, for some time.
async fn restart(watched: Watched) {
    loop {
        let Some(server) = watched.server.upgrade() else { return };
        let (failed, not_before) = server.next_attempt().await;
        // No attempt of ours brings a login.
        let is_login = matches!(server.last_failure(), Some(UpstreamFailure::LoginNeeded(_)));
        if failed > RESTARTS_MAX || is_login || !server.is_disconnected() {
            return;
        }
        drop(server);
        if let Some(at) = not_before {
            tokio::time::sleep_until(at.into()).await;
        }
        let Some((registry, server)) = watched.upgrade() else { return };
        // The connection's own watcher takes over from here.
        if !server.is_disconnected() || live(&registry, &server).await.is_ok() {
            return;
        }
    }
}
