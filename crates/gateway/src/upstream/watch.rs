//! What stays with a connection: looks again when what it offers changes, and brings it back when it is
//! lost.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use super::Inner;
use super::offer::look;
use super::server::Server;
use crate::ports::{Upstream, UpstreamFailure};

/// The first pause after a failure; each further one doubles it.
const PAUSE_FIRST: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// So many failures in a row, and it is no longer restarted by itself, only when it is needed.
const RESTARTS_MAX: u32 = 5;

/// Between two looks at what a server says has changed.
const RELIST_PAUSE: Duration = Duration::from_millis(200);

/// Stays with one connection until it is lost, and then has another one made.
pub(super) async fn watch(
    server: Weak<Server>,
    inner: Weak<Inner>,
    upstream: Arc<dyn Upstream>,
    changed: Arc<Notify>,
) {
    let why = loop {
        tokio::select! {
            why = upstream.lost() => break why,
            () = changed.notified() => {
                tokio::time::sleep(RELIST_PAUSE).await;
                let known = server.upgrade().map(|server| (server.log(), server.last_offer()));
                let Some((log, before)) = known else { continue };
                let offer = look(upstream.as_ref(), &log, before).await;
                if let (Ok(offer), Some(server), Some(inner)) = (offer, server.upgrade(), inner.upgrade()) {
                    server.listed(&upstream, offer);
                    inner.offered(&server);
                }
            }
        }
    };
    let Some(lost) = server.upgrade() else { return };
    lost.lost(&upstream, why).await;
    drop(lost);
    upstream.close().await;
    drop(upstream);
    restart(server, inner).await;
}

/// Tries to reach a server that could not be reached, with growing pauses, for some time.
pub(super) async fn restart(server: Weak<Server>, inner: Weak<Inner>) {
    loop {
        let Some(lost) = server.upgrade() else { return };
        let (failed, not_before) = lost.next_attempt().await;
        // No attempt of ours brings a login.
        let is_login = matches!(lost.last_failure(), Some(UpstreamFailure::LoginNeeded(_)));
        if failed > RESTARTS_MAX || is_login || !lost.is_wanted() {
            return;
        }
        drop(lost);
        if let Some(at) = not_before {
            tokio::time::sleep_until(at.into()).await;
        }
        let (Some(server), Some(inner)) = (server.upgrade(), inner.upgrade()) else { return };
        // The connection's own watcher takes over from here.
        if !server.is_wanted() || server.live(&inner).await.is_ok() {
            return;
        }
    }
}

/// Grows with each failure; a quarter of it is left to chance, so that many do not come at once.
pub(super) fn pause(failed: u32) -> Duration {
    let doubled = PAUSE_FIRST.saturating_mul(1 << failed.saturating_sub(1).min(10));
    let chance = RandomState::new().build_hasher().finish() % 1000;
    let jitter = 0.75 + 0.5 * (chance as f64 / 1000.0);
    doubled.min(PAUSE_MAX).mul_f64(jitter)
}
