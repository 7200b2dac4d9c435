//! Two ends, the owners that drive them, and a bus that loses, doubles, delays and reorders, all from one seed.

use std::collections::VecDeque;
use std::ops::Range;

use super::super::packet::{self, Header};
use super::super::{
    Link, LinkError, MESSAGE_BYTES_MAX, Moment, PACKET_BYTES_MAX, PACKET_HEADER_BYTES_MAX, QUEUE_BYTES_MAX,
};
use super::ms;

/// What the bus does to packets.
#[derive(Debug, Clone)]
pub(super) struct Bus {
    pub(super) lost_percent: u64,
    pub(super) doubled_percent: u64,
    pub(super) delay_ms: Range<u64>,
    /// Nothing arrives that is sent meanwhile.
    pub(super) away_ms: Range<u64>,
    /// Whether the owners hear that it is back.
    pub(super) says_it_is_back: bool,
    /// So many of a hundred packets are followed by a forged one.
    pub(super) forged_percent: u64,
}

impl Bus {
    /// Loses nothing, and keeps the order.
    pub(super) fn perfect(delay_ms: u64) -> Bus {
        Bus {
            lost_percent: 0,
            doubled_percent: 0,
            delay_ms: delay_ms..delay_ms + 1,
            away_ms: 0..0,
            says_it_is_back: false,
            forged_percent: 0,
        }
    }
}

/// How an owner takes messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    pub(super) every_ms: u64,
    pub(super) messages_at_once: usize,
}

impl Reader {
    pub(super) const EAGER: Reader = Reader { every_ms: 0, messages_at_once: usize::MAX };
}

pub(super) struct End {
    pub(super) link: Link,
    pub(super) to_send: VecDeque<Vec<u8>>,
    pub(super) arrived: Vec<Vec<u8>>,
    pub(super) packets: usize,
    reader: Reader,
    reads_at_ms: u64,
    /// What this end has said that it has: how far anybody else knows its stream.
    acknowledged: u64,
    /// How far the stream to this end was sent.
    sent_to: u64,
}

struct InTheAir {
    at_ms: u64,
    number: u64,
    to: usize,
    packet: Packet,
}

#[derive(Clone)]
enum Packet {
    Honest(Vec<u8>),
    /// To be made when it arrives, knowing what has arrived by then, and beside an honest one with this header.
    Forged(Header),
}

pub(super) struct World {
    pub(super) ends: [End; 2],
    pub(super) now_ms: u64,
    bus: Bus,
    random: Random,
    air: Vec<InTheAir>,
    packets: u64,
    is_back: bool,
    window_bytes: usize,
}

impl World {
    pub(super) fn new(window_bytes: u32, bus: Bus, readers: [Reader; 2], seed: u64) -> World {
        let ends = readers.map(|reader| End {
            link: Link::with_window(window_bytes),
            to_send: VecDeque::new(),
            arrived: Vec::new(),
            packets: 0,
            reader,
            reads_at_ms: 0,
            acknowledged: 0,
            sent_to: 0,
        });
        World {
            ends,
            now_ms: 0,
            bus,
            random: Random::new(seed),
            air: Vec::new(),
            packets: 0,
            is_back: false,
            window_bytes: window_bytes as usize,
        }
    }

    /// Runs until both have what the other sent, or nothing can happen any more. The time that it took.
    pub(super) fn run_until_all_arrived(&mut self) -> u64 {
        let expected = [self.ends[1].to_send.len(), self.ends[0].to_send.len()];
        self.run_while(|ends| ends[0].arrived.len() < expected[0] || ends[1].arrived.len() < expected[1])
    }

    /// Runs until nothing waits on either end.
    pub(super) fn run_until_settled(&mut self) -> u64 {
        self.run_while(|ends| {
            ends.iter().any(|end| !end.to_send.is_empty() || end.link.unacknowledged_bytes() > 0)
        })
    }

    fn run_while(&mut self, goes_on: impl Fn(&[End; 2]) -> bool) -> u64 {
        for _ in 0..1_000_000 {
            self.act();
            if !goes_on(&self.ends) {
                return self.now_ms;
            }
            let Some(next_ms) = self.next_event_ms() else { panic!("nothing can happen any more") };
            self.now_ms = self.now_ms.max(next_ms);
        }
        panic!("still at it after {} s", self.now_ms / 1000);
    }

    /// Runs for so long, whatever happens.
    pub(super) fn run_for_ms(&mut self, ms: u64) {
        let end_ms = self.now_ms + ms;
        loop {
            self.act();
            match self.next_event_ms() {
                Some(next_ms) if next_ms <= end_ms => self.now_ms = self.now_ms.max(next_ms),
                Some(_) | None => break,
            }
        }
        self.now_ms = end_ms;
    }

    /// All that happens at this moment.
    fn act(&mut self) {
        if !self.is_back && self.now_ms >= self.bus.away_ms.end {
            self.is_back = true;
            if self.bus.says_it_is_back {
                self.ends.iter_mut().for_each(|end| end.link.peer_is_back());
            }
        }
        while let Some(next) = self.next_arrival().filter(|next| self.air[*next].at_ms <= self.now_ms) {
            let arrived = self.air.swap_remove(next);
            self.hand_in(&arrived);
        }
        for end in [0, 1] {
            self.ends[end].act(self.now_ms);
            while let Some(packet) = self.ends[end].link.poll_packet(ms(self.now_ms)) {
                self.ends[end].packets += 1;
                self.publish(end, packet);
            }
            self.check_bounds(end);
        }
    }

    fn hand_in(&mut self, arrived: &InTheAir) {
        let now = ms(self.now_ms);
        match &arrived.packet {
            Packet::Honest(packet) => {
                self.ends[arrived.to].link.received(packet, now).expect("an honest packet")
            }
            Packet::Forged(honest) => {
                let packet = self.forged(arrived.to, honest);
                // Refused or not: what counts is what arrives.
                let _ = self.ends[arrived.to].link.received(&packet, now);
            }
        }
    }

    fn publish(&mut self, from: usize, packet: Vec<u8>) {
        assert!(packet.len() <= PACKET_BYTES_MAX + PACKET_HEADER_BYTES_MAX);
        let to = 1 - from;
        let (header, data) = packet::decode(&packet).unwrap();
        self.ends[from].acknowledged = self.ends[from].acknowledged.max(header.acknowledged);
        if !data.is_empty() {
            self.ends[to].sent_to = self.ends[to].sent_to.max(header.start + data.len() as u64);
        }
        if self.random.percent(self.bus.forged_percent) {
            self.put_in_the_air(to, Packet::Forged(header));
        }
        if self.bus.away_ms.contains(&self.now_ms) || self.random.percent(self.bus.lost_percent) {
            return;
        }
        if self.random.percent(self.bus.doubled_percent) {
            self.put_in_the_air(to, Packet::Honest(packet.clone()));
        }
        self.put_in_the_air(to, Packet::Honest(packet));
    }

    fn put_in_the_air(&mut self, to: usize, packet: Packet) {
        let at_ms = self.now_ms + self.random.within(&self.bus.delay_ms);
        self.packets += 1;
        self.air.push(InTheAir { at_ms, number: self.packets, to, packet });
    }

    /// A packet in the peer's name that says nothing new of what arrived, but has other bytes: where there are some
    /// already, or behind a gap.
    fn forged(&mut self, to: usize, honest: &Header) -> Vec<u8> {
        let known = self.ends[to].acknowledged;
        let beyond = self.ends[to].sent_to + 1 + self.random.below(2000);
        let (start, length) = match self.random.below(3) {
            0 if known > 0 => {
                let start = self.random.below(known);
                (start, self.random.below((known - start).min(5000) + 1))
            }
            1 => (beyond, 1 + self.random.below(5000)),
            _ => (self.random.next(), 1 + self.random.below(100)),
        };
        // At random it would hardly be a number that the stream has, but it must not be.
        let start = if start <= known || start >= beyond { start } else { beyond };
        let header = Header {
            start,
            acknowledged: self.random.below(honest.acknowledged + 1),
            window_bytes: 0,
            asks_again: self.random.percent(50),
            wants_answer: self.random.percent(50),
        };
        let mut packet = header.encode(0);
        packet.extend((0..length).map(|_| 0xee));
        packet
    }

    fn next_arrival(&self) -> Option<usize> {
        (0..self.air.len()).min_by_key(|at| (self.air[*at].at_ms, self.air[*at].number))
    }

    fn next_event_ms(&self) -> Option<u64> {
        let arrival = self.next_arrival().map(|at| self.air[at].at_ms);
        let back = (!self.is_back).then_some(self.bus.away_ms.end);
        let ends = self.ends.iter().flat_map(|end| [end.next_due_ms(), end.next_read_ms()]);
        ends.chain([arrival, back]).flatten().min()
    }

    fn check_bounds(&self, end: usize) {
        let End { link, arrived, .. } = &self.ends[end];
        assert!(link.unacknowledged_bytes() <= QUEUE_BYTES_MAX);
        assert!(link.unsent_bytes() <= link.unacknowledged_bytes());
        let longest = MESSAGE_BYTES_MAX + 4;
        assert!(link.untaken_bytes() <= self.window_bytes + longest, "after {} messages", arrived.len());
        let due = link.next_due();
        assert!(due.is_none_or(|due| due > ms(self.now_ms)), "polled, and still due at {due:?}");
    }
}

impl End {
    /// What its owner does: it sends while there is room, and takes messages when it pleases.
    fn act(&mut self, now_ms: u64) {
        while !self.link.is_full() {
            let Some(message) = self.to_send.pop_front() else { break };
            self.link.send(&message).unwrap();
        }
        if now_ms >= self.reads_at_ms {
            let messages = std::iter::from_fn(|| self.link.next_message());
            self.arrived.extend(messages.take(self.reader.messages_at_once));
            self.reads_at_ms = now_ms + self.reader.every_ms;
        }
    }

    fn next_due_ms(&self) -> Option<u64> {
        self.link.next_due().map(|due| u64::try_from(due.since_start().as_millis()).unwrap())
    }

    fn next_read_ms(&self) -> Option<u64> {
        (self.reader.every_ms > 0 && self.link.untaken_bytes() > 0).then_some(self.reads_at_ms)
    }
}

/// A generator of the tests' own: the same world from the same seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end.max(1)
    }

    fn within(&mut self, range: &Range<u64>) -> u64 {
        range.start + self.below(range.end - range.start)
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A message that is like no other.
    pub(super) fn message(&mut self, bytes: usize) -> Vec<u8> {
        let mut message = Vec::with_capacity(bytes + 8);
        while message.len() < bytes {
            message.extend_from_slice(&self.next().to_le_bytes());
        }
        message.truncate(bytes);
        message
    }
}

/// What hostile packets do to a link: refused ones change nothing.
pub(super) fn refused(link: &mut Link, packet: &[u8], now: Moment) -> LinkError {
    let before = format!("{link:?}");
    let error = link.received(packet, now).unwrap_err();
    assert_eq!(format!("{link:?}"), before, "a refused packet changed something");
    error
}
