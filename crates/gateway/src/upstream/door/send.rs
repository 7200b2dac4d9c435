//! Send: over a connection that is there or is made, to a server that still offers what was seen.

use std::sync::Arc;
use std::time::Duration;

use gristmill_domain::catalogue::ItemKind;

use super::check::{Checked, Outgoing};
use super::failure::{down, held_back, not_shared, of_read, of_tool, unreached};
use super::passage::Passage;
use crate::ids::TraceContext;
use crate::ports::{Asker, ToolFailure};
use crate::upstream::connection::{Connection, UpstreamCall, UpstreamFailure};
use crate::upstream::guard::Guard;
use crate::upstream::registry::Registry;
use crate::upstream::server::Server;
use crate::upstream::supervisor;

/// A lost connection knows that it is lost: this is for those that are not.
const LOST_WAIT: Duration = Duration::from_millis(100);

/// What came of sending a request.
pub(super) struct Sent {
    /// The raw JSON of the answer.
    pub answer: Result<String, ToolFailure>,
    /// Whether the server may have it, whatever it says.
    pub has_left: bool,
}

/// Why there is no answer, and whether the server may have the request.
struct Unanswered {
    failure: ToolFailure,
    has_left: bool,
}

/// Sends a request and waits for the answer. Sent again, once, if the connection turned out to be gone
/// before anything was sent.
pub(super) async fn send(
    registry: &Arc<Registry>,
    guard: Option<&Guard>,
    checked: &Checked,
    passage: &mut Passage,
) -> Sent {
    match exchange(registry, guard, checked, passage).await {
        Ok(raw) => Sent { answer: Ok(raw), has_left: true },
        Err(Unanswered { failure, has_left }) => Sent { answer: Err(failure), has_left },
    }
}

async fn exchange(
    registry: &Arc<Registry>,
    guard: Option<&Guard>,
    checked: &Checked,
    passage: &mut Passage,
) -> Result<String, Unanswered> {
    let kept = |failure: ToolFailure| Unanswered { failure, has_left: false };
    let Checked { server, outgoing, watcher, .. } = checked;
    let mut is_again = false;
    loop {
        let connection = match server.current() {
            Some(connection) => connection,
            None => {
                let _starting = watcher.starting(server.name());
                let live = supervisor::live(registry, server).await;
                live.map_err(|failure| kept(unreached(server, &failure)))?
            }
        };
        // After the connection: with a new one comes a new offer.
        still_approved(server, outgoing).map_err(kept)?;
        // Last of all: to connect may have taken long. A gateway that takes over must know of what is sent from here on.
        if let Some(guard) = guard {
            guard.settle().await.map_err(|error| kept(not_shared(&error)))?;
        }
        watcher.sending();
        passage.sending();
        let failure = match put(&connection, checked, passage.trace()).await {
            Ok(raw) => return Ok(raw),
            Err(failure) => failure,
        };
        let UpstreamFailure::Down(_) = failure else {
            let has_left = !matches!(failure, UpstreamFailure::LoginNeeded(_));
            return Err(Unanswered { failure: worded(server, outgoing, failure), has_left });
        };
        let is_lost = is_lost(server, &connection).await;
        match (outgoing, is_lost, is_again) {
            (Outgoing::Tool { .. }, true, false) => is_again = true,
            (Outgoing::Tool { .. }, true, true) => {
                return Err(kept(down(server, "the connection was lost twice")));
            }
            // Reading does nothing that could be done twice.
            (Outgoing::Resource(_) | Outgoing::Prompt { .. }, _, false) => is_again = true,
            (Outgoing::Tool { .. }, false, _)
            | (Outgoing::Resource(_) | Outgoing::Prompt { .. }, _, true) => {
                return Err(kept(unreached(server, &failure)));
            }
        }
    }
}

async fn put(
    connection: &Connection,
    checked: &Checked,
    trace: Option<&TraceContext>,
) -> Result<String, UpstreamFailure> {
    let upstream = connection.upstream();
    let screened = |asker: &Asker| checked.personal.screened(asker);
    match &checked.outgoing {
        Outgoing::Tool { call, .. } => {
            let asker = screened(&call.asker);
            upstream.call(UpstreamCall { asker, trace: trace.cloned(), ..call.clone() }).await
        }
        Outgoing::Resource(uri) => upstream.read_resource(uri, trace).await,
        Outgoing::Prompt { name, arguments, asker } => {
            upstream.get_prompt(name, arguments, screened(asker), trace).await
        }
    }
}

/// What the caller saw may be older than what the server offers now.
fn still_approved(server: &Server, outgoing: &Outgoing) -> Result<(), ToolFailure> {
    match outgoing {
        Outgoing::Tool { definition, .. } => {
            let now = server.usable(&definition.name);
            match now.is_some_and(|now| now.hash == definition.hash) {
                true => Ok(()),
                false => Err(held_back(server, ItemKind::Tool, &definition.name)),
            }
        }
        Outgoing::Resource(uri) => match server.held_back_of(uri) {
            Some((of, name)) => Err(held_back(server, of, &name)),
            None => Ok(()),
        },
        Outgoing::Prompt { name, .. } => match server.is_usable_prompt(name) {
            true => Ok(()),
            false => Err(held_back(server, ItemKind::Prompt, name)),
        },
    }
}

/// Whether a connection over which nothing could be sent is gone. If so, the next call makes a new one.
async fn is_lost(server: &Server, connection: &Connection) -> bool {
    match tokio::time::timeout(LOST_WAIT, connection.upstream().lost()).await {
        Ok(why) => {
            server.lost(connection, why).await;
            true
        }
        Err(_) => false,
    }
}

fn worded(server: &Server, outgoing: &Outgoing, failure: UpstreamFailure) -> ToolFailure {
    match outgoing {
        Outgoing::Tool { definition, .. } => of_tool(server, definition, failure),
        Outgoing::Resource(_) | Outgoing::Prompt { .. } => of_read(server, failure),
    }
}
