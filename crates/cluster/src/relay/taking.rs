//! On the leader: connections that other gateways pass on.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use gristmill_replica::seal::Seal;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::limits::{CONNECTIONS_MAX, FETCHED_WITHIN, LAST_WORDS_WITHIN, REFUSALS_MAX, SILENT_AFTER};
use super::message::{self, Said};
use super::opening::Opening;
use super::passage::{Cut, Finish, Passage, Side};
use super::passed_on::{PassedOn, PassedStream};
use super::sealed_talk::SealedTalk;
use super::signs::Signs;
use crate::bus::{Broken, Bus, BusError, Conversation, LOG_AREA, PACKETS_MAX};
use crate::link::{PACKET_BYTES_MAX, PACKET_HEADER_BYTES_MAX};
use crate::names::{LinkId, NodeName};
use crate::subjects::Heard;
use crate::wire::WIRE_VERSION;

/// Takes connections that others pass on to `own`, and hands them to `incoming`, until `stop`; then every one is cut,
/// also those that are still answered. A leader that ends in good order has its server end before.
pub async fn take_connections(
    (bus, seal): (Bus, Arc<Seal>),
    own: NodeName,
    incoming: mpsc::Sender<PassedOn>,
    stop: CancellationToken,
) -> Result<(), BusError> {
    let mut packets = bus.subscribe(bus.subjects().for_relay(&own)).await?;
    let mut taking = Taking::new((bus, seal), own, incoming);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = taking.forget_one() => {}
            message = packets.next() => {
                // The client ends its subscriptions only when it is closed.
                let Some(message) = message else { break };
                if let Some(Heard::Link { from, link }) = taking.bus.subjects().read(&message.subject) {
                    taking.packet_came(from, link, message.payload).await;
                }
            }
        }
    }
    taking.end().await;
    Ok(())
}

/// The links that are open.
pub(super) struct Taking {
    bus: Bus,
    seal: Arc<Seal>,
    own: NodeName,
    incoming: mpsc::Sender<PassedOn>,
    links: HashMap<LinkId, KnownLink>,
    /// What connections are taken as.
    pub made_up: fn() -> Result<message::Taking, getrandom::Error>,
    /// One for each link. They end with this.
    tasks: JoinSet<()>,
    cut: CancellationToken,
}

/// A link is known until its task has ended.
struct KnownLink {
    from: NodeName,
    packets: mpsc::Sender<Bytes>,
    signs: Arc<Signs>,
}

impl Taking {
    pub fn new((bus, seal): (Bus, Arc<Seal>), own: NodeName, incoming: mpsc::Sender<PassedOn>) -> Self {
        let (links, tasks, cut) = (HashMap::new(), JoinSet::new(), CancellationToken::new());
        Self { bus, seal, own, incoming, links, made_up: message::Taking::new, tasks, cut }
    }

    /// When a task has ended, its link is not known any more. Safe to drop and call again.
    pub async fn forget_one(&mut self) {
        match self.tasks.join_next().await {
            Some(_) => self.links.retain(|_, link| !link.packets.is_closed()),
            None => pending().await,
        }
    }

    pub async fn packet_came(&mut self, from: NodeName, link: LinkId, payload: Bytes) {
        // Some wait for a link's task, and are checked there; none of these would stand it.
        if payload.len() > PACKET_BYTES_MAX + PACKET_HEADER_BYTES_MAX {
            return;
        }
        if let Some(known) = self.links.get(&link) {
            // Another gateway can't know the link; what has no room is sent again.
            if known.from == from {
                known.signs.heard();
                let _ = known.packets.try_send(payload);
            }
            return;
        }
        if payload.is_empty() {
            return;
        }
        let subject = self.bus.subjects().relayed(&from, &self.own, link);
        if self.links.len() >= CONNECTIONS_MAX + REFUSALS_MAX {
            self.bus.publish(subject, Vec::new()).await;
            return;
        }
        // Without random numbers nothing could be told from what was said before.
        let Ok(taking) = (self.made_up)() else { return };
        let (packets, received) = mpsc::channel(PACKETS_MAX);
        let _ = packets.try_send(payload);
        let talk = Conversation::new(&self.bus, subject, received);
        let (side, stream, other_end) = leaders_side();
        let talk = SealedTalk::new(talk, Arc::clone(&self.seal), link, &side);
        let signs = Arc::new(Signs::default());
        let has_room = self.links.len() < CONNECTIONS_MAX;
        self.links.insert(link, KnownLink { from: from.clone(), packets, signs: Arc::clone(&signs) });
        let incoming = has_room.then(|| self.incoming.clone());
        let passage = Passage::new(talk, signs, side);
        self.tasks.spawn(serve((passage, taking), from, (stream, other_end), incoming, self.cut.clone()));
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.links.len()
    }

    /// Tells those who pass on connections that nobody is here any more.
    async fn end(mut self) {
        self.cut.cancel();
        let last_words = async {
            while self.tasks.join_next().await.is_some() {}
            let _ = self.bus.flush().await;
        };
        let _ = tokio::time::timeout(LAST_WORDS_WITHIN, last_words).await;
    }
}

/// What a connection is at the leader: its side, and both ends of its stream.
pub(super) fn leaders_side() -> (Side, PassedStream, DuplexStream) {
    let (stream, other_end, dropped) = PassedStream::new();
    (Side::Server { dropped }, stream, other_end)
}

/// One link, from its first packet to its last. Without `incoming` there is no room for it.
pub(super) async fn serve(
    (mut passage, taking): (Passage, message::Taking),
    from: NodeName,
    (stream, other_end): (PassedStream, DuplexStream),
    incoming: Option<mpsc::Sender<PassedOn>>,
    cut: CancellationToken,
) {
    let serving = async {
        let opening =
            tokio::time::timeout(SILENT_AFTER, first(&mut passage)).await.map_err(|_| Cut::Silent)?;
        let Some(opening) = opening? else { return Ok(Finish::ByOtherEnd) };
        let server = incoming.clone();
        let place = match place_for_one(incoming).await {
            Ok(place) => place,
            Err(why) => return refuse(&mut passage, why).await,
        };
        passage.talk.say(&Said::Taken(taking))?;
        passage.talk.bind(taking);
        // An opening can be sent again by whoever has recorded it; nobody has recorded anything of this connection.
        tokio::time::timeout(SILENT_AFTER, passage.hear()).await.map_err(|_| Cut::Silent)??;
        // One that has ended meanwhile takes nothing of what is handed in.
        if server.is_none_or(|server| server.is_closed()) {
            return Ok(Finish::ByOtherEnd);
        }
        tracing::debug!(target: LOG_AREA, %from, peer = opening.peer, "a connection was passed on to us");
        place.send(PassedOn { stream, from: from.clone(), opening });
        passage.run(other_end).await
    };
    let outcome = tokio::select! {
        biased;
        () = cut.cancelled() => None,
        outcome = serving => Some(outcome),
    };
    if let Some(Err(Cut::Broken(error))) = &outcome {
        // Mostly late packets of a connection that was let go of.
        tracing::debug!(target: LOG_AREA, %from, %error, "what a gateway passes on can't be read");
    }
    if !matches!(outcome, Some(Ok(Finish::Agreed) | Err(Cut::LetGo))) {
        passage.let_go().await;
    }
}

/// A link's first packet has its whole first message. One that hasn't is of a link that began with somebody else: with
/// the leader before this one, or with this one before it was started again.
async fn first(passage: &mut Passage) -> Result<Option<Opening>, Cut> {
    passage.talk.turn().await?;
    match passage.talk.take()? {
        Some(Said::Open { wire: WIRE_VERSION, opening }) => match opening.check() {
            Ok(()) => Ok(Some(opening)),
            Err(error) => refuse(passage, error.to_string()).await.map(|_| None),
        },
        Some(Said::Open { wire, .. }) => {
            let why = format!("it speaks version {WIRE_VERSION} and not {wire}");
            refuse(passage, why).await.map(|_| None)
        }
        Some(
            Said::Taken(_) | Said::Refused(_) | Said::Bytes(_) | Said::End | Said::Close | Said::StillHere,
        ) => Err(Broken::Message.into()),
        None => Ok(None),
    }
}

/// A place on the way to the server, or why there is none. From here on the server takes the connection, so that what is
/// read of it isn't lost.
async fn place_for_one(
    incoming: Option<mpsc::Sender<PassedOn>>,
) -> Result<mpsc::OwnedPermit<PassedOn>, String> {
    let Some(incoming) = incoming else {
        return Err(format!("it has {CONNECTIONS_MAX} connections of other gateways already"));
    };
    match tokio::time::timeout(FETCHED_WITHIN, incoming.reserve_owned()).await {
        Ok(Ok(place)) => Ok(place),
        Ok(Err(_)) => Err("it doesn't serve any more".to_owned()),
        Err(_) => Err("its server is busy".to_owned()),
    }
}

/// Says why a connection isn't taken, until the other end knows.
async fn refuse(passage: &mut Passage, why: String) -> Result<Finish, Cut> {
    passage.talk.say(&Said::Refused(why))?;
    let answered = tokio::time::timeout(SILENT_AFTER, passage.next()).await;
    answered.map_or(Ok(Finish::ByOtherEnd), |answer| answer.map(|_| Finish::ByOtherEnd))
}
