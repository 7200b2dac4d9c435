//! What is to be sent, and when it is sent again.
//!
//! Messages stand one after the other in one stream, each behind its length; packets carry any piece of it. What is
//! acknowledged leaves the queue. After a loss everything is sent again from there on: buses lose in long runs, when
//! they connect anew, so that what arrived behind a gap is seldom worth keeping.

use std::time::Duration;

use super::byte_queue::ByteQueue;
use super::error::{LinkError, SendError};
use super::limits::{
    LENGTH_BYTES, MESSAGE_BYTES_MAX, PACKET_BYTES_MAX, PATIENCE, PATIENCE_MAX, QUEUE_BYTES_FULL,
    QUEUE_BYTES_MAX, RESEND_PAUSE,
};
use super::moment::Moment;
use super::packet::Header;

#[derive(Debug)]
pub(super) struct Sender {
    /// The stream from `acknowledged` on.
    queue: ByteQueue,
    acknowledged: u64,
    /// The next byte to send.
    next: u64,
    /// How far the stream was ever sent.
    sent: u64,
    /// Up to here the peer has room. Never goes back.
    limit: u64,
    window_bytes: u32,
    resent_bytes: u64,
    patience: Duration,
    /// When patience ends. Set while something waits for the peer.
    impatient_at: Option<Moment>,
    probe: Probe,
    /// Where and when a request to send again was last followed.
    followed: Option<(u64, Moment)>,
}

/// While the peer is silent, one packet is tried now and then, and not a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probe {
    /// The peer hears us as far as we know.
    Unneeded,
    /// To be sent at once.
    Due,
    /// Sent, and the peer has not said anything new.
    Unanswered,
}

/// A piece of the stream for the next packet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) length: usize,
    pub(super) wants_answer: bool,
}

impl Sender {
    pub(super) fn new(window_bytes: u32) -> Sender {
        Sender {
            queue: ByteQueue::default(),
            acknowledged: 0,
            next: 0,
            sent: 0,
            // The peer begins with the same window: nothing needs to be heard before the first packet.
            limit: u64::from(window_bytes),
            window_bytes,
            resent_bytes: 0,
            patience: PATIENCE,
            impatient_at: None,
            probe: Probe::Unneeded,
            followed: None,
        }
    }

    pub(super) fn push(&mut self, message: &[u8]) -> Result<(), SendError> {
        let too_large = SendError::MessageTooLarge { bytes: message.len() };
        if message.len() > MESSAGE_BYTES_MAX {
            return Err(too_large);
        }
        let length = u32::try_from(message.len()).map_err(|_| too_large)?;
        let queued_bytes = self.queue.len();
        if queued_bytes + LENGTH_BYTES + message.len() > QUEUE_BYTES_MAX {
            return Err(SendError::QueueFull { queued_bytes });
        }
        self.queue.push(&length.to_le_bytes());
        self.queue.push(message);
        Ok(())
    }

    pub(super) fn is_full(&self) -> bool {
        self.queue.len() >= QUEUE_BYTES_FULL
    }

    pub(super) fn unacknowledged_bytes(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn unsent_bytes(&self) -> usize {
        bytes_between(self.sent, self.end())
    }

    pub(super) fn resent_bytes(&self) -> u64 {
        self.resent_bytes
    }

    /// Whether a peer can say this. Changes nothing.
    pub(super) fn check(&self, header: &Header) -> Result<(), LinkError> {
        if header.acknowledged > self.sent {
            return Err(LinkError::NeverSent { acknowledged: header.acknowledged, sent: self.sent });
        }
        if header.window_bytes > self.window_bytes {
            return Err(LinkError::WindowTooWide {
                bytes: header.window_bytes,
                bytes_max: self.window_bytes,
            });
        }
        Ok(())
    }

    /// Takes what a checked packet says of this stream.
    pub(super) fn acknowledge(&mut self, header: &Header, now: Moment) {
        let limit = header.acknowledged.saturating_add(u64::from(header.window_bytes));
        if header.acknowledged > self.acknowledged || limit > self.limit {
            self.progress(header.acknowledged, limit, now);
        }
        if header.asks_again && header.acknowledged == self.acknowledged {
            self.send_again(now);
        }
    }

    /// What lies unacknowledged is tried at once, and the peer asked what it has.
    pub(super) fn probe(&mut self) {
        if self.queue.len() > 0 {
            self.next = self.acknowledged;
            self.patience = PATIENCE;
            self.probe = Probe::Due;
        }
    }

    /// The piece to send now. Its bytes are there until the next acknowledgement.
    pub(super) fn next_piece(&mut self, now: Moment) -> Option<Piece> {
        if self.impatient_at.is_some_and(|at| at <= now) {
            self.lose_patience();
        }
        let length = self.sendable_bytes();
        let wants_answer = self.probe == Probe::Due;
        if wants_answer {
            self.probe = Probe::Unanswered;
            self.impatient_at = Some(now.plus(self.patience));
        } else if self.queue.len() > 0 && self.impatient_at.is_none() {
            self.impatient_at = Some(now.plus(self.patience));
        }
        if length == 0 && !wants_answer {
            return None;
        }
        let piece = Piece { start: self.next, length, wants_answer };
        let end = self.next.saturating_add(length as u64);
        self.resent_bytes = self.resent_bytes.saturating_add(self.sent.min(end).saturating_sub(self.next));
        self.next = end;
        self.sent = self.sent.max(end);
        Some(piece)
    }

    pub(super) fn copy_piece(&self, piece: &Piece, packet: &mut Vec<u8>) {
        self.queue.copy_to(packet, bytes_between(self.acknowledged, piece.start), piece.length);
    }

    /// When there may be a piece though nothing was heard.
    pub(super) fn next_due(&self) -> Option<Moment> {
        let is_ready = self.probe == Probe::Due || self.sendable_bytes() > 0;
        let is_unwatched = self.queue.len() > 0 && self.impatient_at.is_none();
        if is_ready || is_unwatched { Some(Moment::START) } else { self.impatient_at }
    }

    /// How much of the stream the next packet may carry.
    fn sendable_bytes(&self) -> usize {
        match self.probe {
            Probe::Unanswered => 0,
            Probe::Unneeded | Probe::Due => {
                bytes_between(self.next, self.end().min(self.limit)).min(PACKET_BYTES_MAX)
            }
        }
    }

    fn progress(&mut self, acknowledged: u64, limit: u64, now: Moment) {
        let acknowledged = acknowledged.max(self.acknowledged);
        self.queue.drop_front(bytes_between(self.acknowledged, acknowledged));
        self.acknowledged = acknowledged;
        self.limit = self.limit.max(limit);
        self.next = self.next.max(acknowledged);
        self.probe = Probe::Unneeded;
        self.patience = PATIENCE;
        self.impatient_at = (self.queue.len() > 0).then(|| now.plus(self.patience));
    }

    /// Follows a request once for each gap: it comes again in every packet that was doubled, and what it asks for is
    /// under way.
    fn send_again(&mut self, now: Moment) {
        if self.followed.is_some_and(|(start, at)| start == self.acknowledged || now.since(at) < RESEND_PAUSE)
        {
            return;
        }
        self.followed = Some((self.acknowledged, now));
        self.next = self.acknowledged;
        self.probe = Probe::Unneeded;
        self.impatient_at = (self.queue.len() > 0).then(|| now.plus(self.patience));
    }

    fn lose_patience(&mut self) {
        let patience = self.patience.saturating_mul(2).min(PATIENCE_MAX);
        self.impatient_at = None;
        self.probe();
        self.patience = patience;
    }

    /// The number after the last byte in the queue.
    fn end(&self) -> u64 {
        self.acknowledged.saturating_add(self.queue.len() as u64)
    }
}

/// How many bytes lie between two numbers of a stream; none if they are in the wrong order.
fn bytes_between(start: u64, end: u64) -> usize {
    usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX)
}
