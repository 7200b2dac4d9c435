//! What has arrived: in order, at most a window and a message, and what to tell its sender about it.
//!
//! What lies behind a gap is not kept; its sender is asked to send again from the gap on. What the owner has not taken
//! counts against the window, except for a message that has not arrived whole: nobody could take it.

use super::byte_queue::ByteQueue;
use super::error::LinkError;
use super::limits::{ACKNOWLEDGED_ALONE_AFTER, ACKNOWLEDGED_ALONE_BYTES, LENGTH_BYTES, MESSAGE_BYTES_MAX};
use super::moment::Moment;

#[derive(Debug)]
pub(super) struct Receiver {
    /// The stream from `taken` to `received`.
    queue: ByteQueue,
    taken: u64,
    received: u64,
    /// Messages that have arrived whole, and where the one after them begins.
    messages: Messages,
    /// Up to here there is room. Never goes back.
    limit: u64,
    window_bytes: u32,
    message_bytes_max: usize,
    told: Told,
    answer: Answer,
    /// When what has arrived is acknowledged alone, if nothing was sent until then.
    acknowledged_at: Option<Moment>,
    /// The gap that was last asked about.
    asked: Option<u64>,
}

/// What the peer was last told.
#[derive(Debug)]
struct Told {
    received: u64,
    limit: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Messages {
    whole: usize,
    next_start: u64,
}

/// Whether the peer waits for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Unneeded,
    Due,
    /// Due, with a request to send again.
    AskAgain,
}

/// Data of a packet, after it was checked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrival<'a> {
    /// The packet has no data.
    Nothing,
    /// All of it has arrived before.
    Known,
    /// Something before it is missing.
    BehindGap,
    /// The stream goes on with these bytes.
    Next(NextBytes<'a>),
}

/// The bytes that come next in the stream, and the messages that are then there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NextBytes<'a> {
    bytes: &'a [u8],
    messages: Messages,
}

/// What a packet tells about the stream that arrives here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) received: u64,
    pub(super) window_bytes: u32,
    pub(super) asks_again: bool,
}

impl Receiver {
    pub(super) fn new(window_bytes: u32) -> Receiver {
        let limit = u64::from(window_bytes);
        Receiver {
            queue: ByteQueue::default(),
            taken: 0,
            received: 0,
            messages: Messages { whole: 0, next_start: 0 },
            limit,
            window_bytes,
            message_bytes_max: MESSAGE_BYTES_MAX,
            told: Told { received: 0, limit },
            answer: Answer::Unneeded,
            acknowledged_at: None,
            asked: None,
        }
    }

    pub(super) fn takes_messages_of(&mut self, bytes_max: usize) {
        self.message_bytes_max = bytes_max.min(MESSAGE_BYTES_MAX);
    }

    pub(super) fn untaken_bytes(&self) -> usize {
        self.queue.len()
    }

    /// What this data is. Changes nothing.
    pub(super) fn check<'a>(&self, start: u64, data: &'a [u8]) -> Result<Arrival<'a>, LinkError> {
        if data.is_empty() {
            return Ok(Arrival::Nothing);
        }
        let end = start.saturating_add(data.len() as u64);
        if end > self.told.limit {
            return Err(LinkError::PastWindow { end, limit: self.told.limit });
        }
        if end <= self.received {
            return Ok(Arrival::Known);
        }
        let Some(known) = self.received.checked_sub(start) else { return Ok(Arrival::BehindGap) };
        let bytes = usize::try_from(known).ok().and_then(|known| data.get(known..)).unwrap_or_default();
        Ok(Arrival::Next(NextBytes { bytes, messages: self.messages_with(bytes)? }))
    }

    pub(super) fn accept(&mut self, arrival: Arrival<'_>, now: Moment) {
        match arrival {
            // The bus doubled it, or its sender has not heard of it and then says that it wants an answer.
            Arrival::Nothing | Arrival::Known => {}
            Arrival::BehindGap if self.asked == Some(self.received) => self.answer_soon(now),
            Arrival::BehindGap => {
                self.asked = Some(self.received);
                self.answer = Answer::AskAgain;
            }
            Arrival::Next(next) => {
                self.queue.push(next.bytes);
                self.received = self.received.saturating_add(next.bytes.len() as u64);
                self.messages = next.messages;
                self.open_window();
                self.answer_soon(now);
            }
        }
    }

    pub(super) fn take_message(&mut self) -> Option<Vec<u8>> {
        self.messages.whole = self.messages.whole.checked_sub(1)?;
        let length = length_of(|at| self.queue.get(at))?;
        let mut message = Vec::with_capacity(length);
        self.queue.copy_to(&mut message, LENGTH_BYTES, length);
        self.queue.drop_front(LENGTH_BYTES + length);
        self.taken = self.taken.saturating_add((LENGTH_BYTES + length) as u64);
        self.open_window();
        Some(message)
    }

    pub(super) fn answer_at_once(&mut self) {
        if self.answer == Answer::Unneeded {
            self.answer = Answer::Due;
        }
    }

    /// Whether the peer must be told although there is nothing to send.
    pub(super) fn is_due(&self, now: Moment) -> bool {
        self.is_due_at_once() || self.acknowledged_at.is_some_and(|at| at <= now)
    }

    pub(super) fn next_due(&self) -> Option<Moment> {
        if self.is_due_at_once() { Some(Moment::START) } else { self.acknowledged_at }
    }

    /// What the packet tells that is sent now.
    pub(super) fn tell(&mut self) -> State {
        let asks_again = self.answer == Answer::AskAgain;
        self.told = Told { received: self.received, limit: self.limit };
        self.answer = Answer::Unneeded;
        self.acknowledged_at = None;
        State { received: self.received, window_bytes: self.room_bytes(), asks_again }
    }

    /// Many bytes have arrived, or there is room for many more: also how a window that was closed opens. Not for each
    /// message that the owner takes: its sender would send crumbs.
    fn is_due_at_once(&self) -> bool {
        let many = ACKNOWLEDGED_ALONE_BYTES.min(u64::from(self.window_bytes) / 4).max(1);
        self.answer != Answer::Unneeded
            || self.received.saturating_sub(self.told.received) >= many
            || self.limit.saturating_sub(self.told.limit) >= many
    }

    fn answer_soon(&mut self, now: Moment) {
        self.acknowledged_at.get_or_insert_with(|| now.plus(ACKNOWLEDGED_ALONE_AFTER));
    }

    /// The window begins at what the owner has taken. If no message is there to take, all that has arrived belongs to
    /// one that has not arrived whole, and the window begins behind that.
    fn open_window(&mut self) {
        let start = if self.messages.whole > 0 { self.taken } else { self.received };
        self.limit = self.limit.max(start.saturating_add(u64::from(self.window_bytes)));
    }

    fn room_bytes(&self) -> u32 {
        u32::try_from(self.limit.saturating_sub(self.received)).unwrap_or(u32::MAX)
    }

    /// The messages that are there once these bytes have arrived.
    fn messages_with(&self, bytes: &[u8]) -> Result<Messages, LinkError> {
        let mut messages = self.messages;
        let end = self.received.saturating_add(bytes.len() as u64);
        while let Some(length) =
            length_of(|at| self.byte(messages.next_start.saturating_add(at as u64), bytes))
        {
            if length > self.message_bytes_max {
                return Err(LinkError::MessageTooLarge { bytes: length, bytes_max: self.message_bytes_max });
            }
            let message_end = messages.next_start.saturating_add((LENGTH_BYTES + length) as u64);
            if message_end > end {
                break;
            }
            messages = Messages { whole: messages.whole.saturating_add(1), next_start: message_end };
        }
        Ok(messages)
    }

    /// One byte of the stream: of what is there, or of the bytes that come next.
    fn byte(&self, number: u64, next: &[u8]) -> Option<u8> {
        match number.checked_sub(self.received) {
            Some(at) => next.get(usize::try_from(at).ok()?).copied(),
            None => self.queue.get(usize::try_from(number.checked_sub(self.taken)?).ok()?),
        }
    }
}

/// The length before a message, if all of it is there.
fn length_of(byte: impl Fn(usize) -> Option<u8>) -> Option<usize> {
    let mut bytes = [0; LENGTH_BYTES];
    for (at, target) in bytes.iter_mut().enumerate() {
        *target = byte(at)?;
    }
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}
