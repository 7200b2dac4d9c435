//! What both ends say, sealed: whoever carries it sees how much it is, and no more.

use std::sync::Arc;
use std::time::Duration;

use gristmill_replica::seal::Seal;
use serde_bytes::ByteBuf;
use tokio::time::Instant;

use super::limits::MESSAGE_BYTES_MAX;
use super::message::{Said, Taking};
use super::passage::Side;
use crate::bus::{Broken, Conversation};
use crate::names::LinkId;

/// A conversation whose messages open in their places only: on this link, from this end, in this order, and once the
/// leader has taken the connection, in no other than this one. So none can be left out, moved, or sent once more.
pub(super) struct SealedTalk {
    talk: Conversation,
    seal: Arc<Seal>,
    link: LinkId,
    /// Whether this is the end that passes the connection on.
    is_clients: bool,
    /// How many messages were said, and taken; and when.
    said: u64,
    taken: u64,
    said_at: Instant,
    taken_at: Instant,
    /// Was taken, and is to be taken again.
    left: Option<Said>,
    /// What the leader made up for this connection.
    bound_to: Taking,
}

impl SealedTalk {
    pub fn new(talk: Conversation, seal: Arc<Seal>, link: LinkId, side: &Side) -> Self {
        let (is_clients, now) = (matches!(side, Side::Client), Instant::now());
        Self {
            talk: talk.for_messages_of(MESSAGE_BYTES_MAX),
            seal,
            link,
            is_clients,
            said: 0,
            taken: 0,
            said_at: now,
            taken_at: now,
            left: None,
            bound_to: Taking::default(),
        }
    }

    /// From here on messages are those of one connection.
    pub fn bind(&mut self, to: Taking) {
        self.bound_to = to;
    }

    /// Says something; it leaves with the next [`SealedTalk::turn`].
    pub fn say(&mut self, said: &Said) -> Result<(), Broken> {
        let plain = postcard::to_stdvec(said).map_err(|_| Broken::Message)?;
        let place = self.place(self.is_clients, self.said);
        let sealed = self.seal.seal(&place, &plain).map_err(|_| Broken::Message)?;
        self.said += 1;
        self.said_at = Instant::now();
        self.talk.say(&ByteBuf::from(sealed))
    }

    /// What the other end said next, if anything is here.
    pub fn take(&mut self) -> Result<Option<Said>, Broken> {
        if let Some(left) = self.left.take() {
            return Ok(Some(left));
        }
        let Some(sealed) = self.talk.take::<ByteBuf>()? else { return Ok(None) };
        let place = self.place(!self.is_clients, self.taken);
        let plain = self.seal.open(&place, &sealed).map_err(|_| Broken::Message)?;
        self.taken += 1;
        self.taken_at = Instant::now();
        postcard::from_bytes(&plain).map(Some).map_err(|_| Broken::Message)
    }

    /// What was taken last is taken next.
    pub fn leave(&mut self, said: Said) {
        self.left = Some(said);
    }

    /// How long nothing was said.
    pub fn own_silence(&self) -> Duration {
        self.said_at.elapsed()
    }

    /// How long nothing of the other end was opened, which nobody else can have said.
    pub fn silence(&self) -> Duration {
        self.taken_at.elapsed()
    }

    /// See [`Conversation::turn`].
    pub async fn turn(&mut self) -> Result<(), Broken> {
        self.talk.turn().await
    }

    pub fn is_full(&self) -> bool {
        self.talk.is_full()
    }

    pub fn is_delivered(&self) -> bool {
        self.talk.is_delivered()
    }

    pub async fn disown(&self) {
        self.talk.disown().await;
    }

    fn place(&self, is_clients: bool, number: u64) -> String {
        let end = if is_clients { "client" } else { "leader" };
        format!("message {number} of the {end} on link {} as {}", self.link, self.bound_to)
    }
}
