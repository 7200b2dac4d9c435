//! One end of a link: a sender and a receiver whose packets carry both ways.

use super::error::{LinkError, SendError};
use super::limits::{WINDOW_BYTES, WINDOW_BYTES_MAX};
use super::moment::Moment;
use super::packet::{self, Header};
use super::receiver::Receiver;
use super::sender::{Piece, Sender};

/// One end of a link. After each event (a message to send, a packet, a message taken, a moment that was due) its owner
/// publishes what [`poll_packet`](Self::poll_packet) returns until that is nothing, and comes back by
/// [`next_due`](Self::next_due).
#[derive(Debug)]
pub struct Link {
    sender: Sender,
    receiver: Receiver,
}

impl Default for Link {
    fn default() -> Link {
        Link::new()
    }
}

impl Link {
    /// An end with the window [`WINDOW_BYTES`]. It may send before it has heard of its peer.
    pub fn new() -> Link {
        Link::with_window(WINDOW_BYTES)
    }

    /// An end with another window, from 1 byte to [`WINDOW_BYTES_MAX`]. Both ends must have the same.
    pub fn with_window(window_bytes: u32) -> Link {
        let window_bytes = window_bytes.clamp(1, WINDOW_BYTES_MAX);
        Link { sender: Sender::new(window_bytes), receiver: Receiver::new(window_bytes) }
    }

    /// The same, whose peer says nothing longer: what it announces beyond that isn't waited for.
    pub fn for_messages_of(mut self, bytes_max: usize) -> Link {
        self.receiver.takes_messages_of(bytes_max);
        self
    }

    /// Queues a message. It is copied, and arrives whole, once, and after all those before it.
    ///
    /// An owner takes nothing more to send while the link [is full](Self::is_full). A link that is not takes every
    /// message of at most [`MESSAGE_BYTES_MAX`](super::MESSAGE_BYTES_MAX); one that is may still take a short one.
    pub fn send(&mut self, message: &[u8]) -> Result<(), SendError> {
        self.sender.push(message)
    }

    /// Takes a packet of the peer. One that is refused has changed nothing.
    pub fn received(&mut self, packet: &[u8], now: Moment) -> Result<(), LinkError> {
        let (header, data) = packet::decode(packet)?;
        self.sender.check(&header)?;
        let arrival = self.receiver.check(header.start, data)?;
        self.sender.acknowledge(&header, now);
        self.receiver.accept(arrival, now);
        if header.wants_answer {
            self.receiver.answer_at_once();
        }
        Ok(())
    }

    /// The next packet to publish: messages, anew or again, or what the peer waits to hear. None if nothing is due.
    pub fn poll_packet(&mut self, now: Moment) -> Option<Vec<u8>> {
        let piece = match self.sender.next_piece(now) {
            Some(piece) => piece,
            None if self.receiver.is_due(now) => Piece { start: 0, length: 0, wants_answer: false },
            None => return None,
        };
        let state = self.receiver.tell();
        let header = Header {
            start: piece.start,
            acknowledged: state.received,
            window_bytes: state.window_bytes,
            asks_again: state.asks_again,
            wants_answer: piece.wants_answer,
        };
        let mut packet = header.encode(piece.length);
        self.sender.copy_piece(&piece, &mut packet);
        Some(packet)
    }

    /// The next message of the peer that has arrived whole. What is not taken fills the window, and the peer stops.
    pub fn next_message(&mut self) -> Option<Vec<u8>> {
        self.receiver.take_message()
    }

    /// When to poll though nothing comes: [`Moment::START`] if at once, none if only an event can change anything.
    pub fn next_due(&self) -> Option<Moment> {
        self.sender.next_due().into_iter().chain(self.receiver.next_due()).min()
    }

    /// The bus was away and is back: what may be lost is sent again now, and the peer is told what has arrived.
    pub fn peer_is_back(&mut self) {
        self.sender.probe();
        self.receiver.answer_at_once();
    }

    /// Whether enough waits to be sent: its owner stops reading what it would send until this is over.
    pub fn is_full(&self) -> bool {
        self.sender.is_full()
    }

    /// What was never sent so far. Lengths of messages count.
    pub fn unsent_bytes(&self) -> usize {
        self.sender.unsent_bytes()
    }

    /// What the peer has not acknowledged, sent or not: all that waits on this end. At 0 everything has arrived.
    pub fn unacknowledged_bytes(&self) -> usize {
        self.sender.unacknowledged_bytes()
    }

    /// What has arrived and was not taken, with the part of a message that has not arrived whole.
    pub fn untaken_bytes(&self) -> usize {
        self.receiver.untaken_bytes()
    }

    /// How many bytes were sent more than once since the link began.
    pub fn resent_bytes(&self) -> u64 {
        self.sender.resent_bytes()
    }
}
