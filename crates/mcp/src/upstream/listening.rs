//! How a session hears of changes: from a stream that stays open, or over the pipe.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_gateway::ports::ProgressSink;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use super::call_clock::CallClock;
use super::http::{HttpLink, Outgoing, RequestError};
use super::introduction::add_modern_meta;
use super::link::Link;
use super::peer::{Listeners, Peer, ReplyError};
use super::wire;

/// Between attempts to listen again.
const PAUSE_FIRST: Duration = Duration::from_secs(5);
const PAUSE_MAX: Duration = Duration::from_secs(300);

/// Asks a modern server to tell us of changes.
const LISTEN: &str = "subscriptions/listen";

/// Of what a server tells when it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub tools: bool,
    pub resources: bool,
    pub prompts: bool,
}

/// Begins to listen, in the way of the era, to a server that tells of changes. `modern` is the version
/// of a modern server.
pub(crate) fn listen(
    link: &Link,
    peer: &Arc<Peer>,
    modern: Option<&str>,
    changes: Changes,
) -> Option<JoinHandle<()>> {
    if changes == Changes::default() {
        return None;
    }
    let params = modern.map(|version| listen_params(version, peer.can_ask(), changes));
    match (link, params) {
        (Link::Http(http), None) => Some(tokio::spawn(by_get(http.clone(), Arc::clone(peer)))),
        (Link::Http(http), Some(params)) => {
            Some(tokio::spawn(by_request(http.clone(), Arc::clone(peer), params)))
        }
        (Link::Stdio(stdio), Some(params)) => {
            // Its answer comes when the connection ends: nobody waits for it.
            let under_way = peer.begin(nobody());
            stdio.send_behind(wire::request(under_way.id, LISTEN, &params));
            None
        }
        (Link::Stdio(_), None) => None,
    }
}

/// The parameters of a request to hear of changes.
fn listen_params(version: &str, can_ask: bool, changes: Changes) -> String {
    let mut meta = Map::new();
    add_modern_meta(&mut meta, version, can_ask);
    let wanted = [
        ("toolsListChanged", changes.tools),
        ("resourcesListChanged", changes.resources),
        ("promptsListChanged", changes.prompts),
    ];
    let wanted = wanted.into_iter().filter(|(_, is_announced)| *is_announced);
    let wanted: Map<String, Value> =
        wanted.map(|(name, is_announced)| (name.to_owned(), is_announced.into())).collect();
    json!({ "_meta": meta, "notifications": wanted }).to_string()
}

/// A server of the handshake versions; one that does not offer it is left alone.
async fn by_get(http: HttpLink, peer: Arc<Peer>) {
    let mut pauses = Pauses::default();
    let mut heard_before = false;
    loop {
        let began = Instant::now();
        match http.get(None).await {
            Ok(response) if response.status().is_success() => {
                if std::mem::replace(&mut heard_before, true) {
                    peer.offer_may_have_changed();
                }
                let _ = http.read_events(None, response).await;
            }
            Ok(_) => return,
            Err(_) => {}
        }
        tokio::time::sleep(pauses.after(began.elapsed())).await;
    }
}

async fn by_request(http: HttpLink, peer: Arc<Peer>, params: String) {
    let mut pauses = Pauses::default();
    loop {
        let began = Instant::now();
        let under_way = peer.begin(nobody());
        let message = wire::request(under_way.id, LISTEN, &params);
        let outgoing = Outgoing { method: LISTEN, name: None, headers: &[], trace: None, message };
        match http.request(under_way.id, outgoing).await {
            // It does not want to be listened to.
            Err(RequestError::Status(..) | RequestError::Reply(ReplyError::Rpc(_))) => return,
            Ok(_) | Err(RequestError::Reply(_) | RequestError::Failed(_)) => {}
        }
        tokio::time::sleep(pauses.after(began.elapsed())).await;
        // Whatever was said in between is lost.
        peer.offer_may_have_changed();
    }
}

/// Listening has no end that anyone waits for.
fn nobody() -> Listeners {
    Listeners { progress: ProgressSink::default(), asker: None, clock: CallClock::new(Duration::MAX) }
}

/// Between attempts to listen again: longer and longer with a server that never lets us.
#[derive(Default)]
struct Pauses {
    short: u32,
}

impl Pauses {
    fn after(&mut self, lasted: Duration) -> Duration {
        self.short = if lasted > PAUSE_MAX { 0 } else { self.short + 1 };
        (PAUSE_FIRST * 2_u32.pow(self.short.saturating_sub(1).min(10))).min(PAUSE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_while_streams_are_short() {
        let mut pauses = Pauses::default();
        let short: Vec<u64> = (0..8).map(|_| pauses.after(Duration::ZERO).as_secs()).collect();
        assert_eq!(short, [5, 10, 20, 40, 80, 160, 300, 300]);
        assert_eq!(pauses.after(Duration::from_secs(1000)).as_secs(), 5);
    }
}
