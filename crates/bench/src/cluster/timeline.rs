//! What happens when: events in the order of their time, and among equal times in the order in which they were
//! planned.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::slab::Ticket;

/// Microseconds since the beginning.
pub type Micros = u64;

pub const SECOND: Micros = 1_000_000;

pub type NodeIndex = u16;
pub type GatewayIndex = u16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    // Requests, at a gateway.
    Arrival,
    Reaches(Ticket),
    Admitted(Ticket),
    SilenceOver(Ticket),
    Concluded(Ticket),
    // An offer, to a node and back, with the number of its link.
    Offer(Ticket, NodeIndex, u16),
    Unanswered(Ticket, NodeIndex, u16),
    Refused(Ticket, NodeIndex, u16),
    Accepted(Ticket),
    // A run, on a node and through its gateway.
    Computed(NodeIndex),
    Call(Ticket),
    Answered(Ticket),
    Answer(Ticket),
    Ended(Ticket),
    DropRun(Ticket),
    RunGone(Ticket),
    // Presence.
    Beat(NodeIndex),
    PresenceDue(NodeIndex),
    Presence { node: NodeIndex, life: u16, free: u8 },
    // What fails, and who finds out.
    NextMachineDies,
    Planned(u8),
    NodeReturns(NodeIndex),
    NodeStale { node: NodeIndex, life: u16 },
    NodeSilent { node: NodeIndex, life: u16 },
    NodeHeard(NodeIndex),
    NodeDeaf { node: NodeIndex, life: u16 },
    GatewayStale(GatewayIndex),
    GatewayDeaf(GatewayIndex),
    GatewaySilent(GatewayIndex),
    GatewayReturns(GatewayIndex),
    GatewayHeard(GatewayIndex),
    // Looking.
    Sample,
}

#[derive(Clone, Copy)]
struct Entry {
    at: Micros,
    number: u64,
    event: Event,
}

impl Entry {
    fn key(&self) -> (Micros, u64) {
        (self.at, self.number)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The earliest is the greatest: the heap gives the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// A calendar: near events lie unsorted in the page of their time, which is sorted when it's turned to. A heap has what
/// is further away. Most events are a hop or a few milliseconds away, so nearly none of them is ever in the heap.
pub struct Timeline {
    now: Micros,
    planned: u64,
    /// The page that is turned to, the next event last; also of what was planned late, for a time before its end.
    today: Vec<Entry>,
    page: u64,
    pages: Vec<Vec<Entry>>,
    on_pages: usize,
    later: BinaryHeap<Entry>,
}

const PAGE_US: Micros = 64;
const PAGES: u64 = 4_096;

impl Timeline {
    pub fn new() -> Self {
        Self {
            now: 0,
            planned: 0,
            today: Vec::new(),
            page: 0,
            pages: (0..PAGES).map(|_| Vec::new()).collect(),
            on_pages: 0,
            later: BinaryHeap::new(),
        }
    }

    pub fn now(&self) -> Micros {
        self.now
    }

    /// How many have been planned so far.
    pub fn planned(&self) -> u64 {
        self.planned
    }

    pub fn after(&mut self, delay: Micros, event: Event) {
        self.at(self.now + delay, event);
    }

    /// Not before now.
    pub fn at(&mut self, at: Micros, event: Event) {
        self.planned += 1;
        let entry = Entry { at: at.max(self.now), number: self.planned, event };
        let page = entry.at / PAGE_US;
        if page <= self.page {
            let index = self.today.partition_point(|other| *other < entry);
            self.today.insert(index, entry);
        } else if page < self.page + PAGES {
            self.put(entry);
        } else {
            self.later.push(entry);
        }
    }

    /// The next event, at whose time it is now.
    pub fn next(&mut self) -> Option<Event> {
        while self.today.is_empty() {
            self.turn()?;
        }
        let entry = self.today.pop()?;
        self.now = entry.at;
        Some(entry.event)
    }

    fn put(&mut self, entry: Entry) {
        self.pages[(entry.at / PAGE_US % PAGES) as usize].push(entry);
        self.on_pages += 1;
    }

    /// To the next page, or over all that are empty. `None`: there is nothing any more.
    fn turn(&mut self) -> Option<()> {
        self.page = match self.on_pages {
            0 => self.later.peek()?.at / PAGE_US,
            _ => self.page + 1,
        };
        while self.later.peek().is_some_and(|entry| entry.at / PAGE_US < self.page + PAGES) {
            let entry = self.later.pop()?;
            self.put(entry);
        }
        let page = &mut self.pages[(self.page % PAGES) as usize];
        self.on_pages -= page.len();
        self.today.append(page);
        self.today.sort_unstable();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    #[test]
    fn events_come_by_time_and_then_in_the_order_of_planning() {
        let mut timeline = Timeline::new();
        // Today, on a page, in the heap, and equal times.
        for (at, node) in
            [(9_000_000, 6), (70, 2), (900, 4), (70, 3), (9_000_001, 7), (3, 0), (9_000, 5), (3, 1)]
        {
            timeline.at(at, Event::Beat(node));
        }
        let order: Vec<Event> = std::iter::from_fn(|| timeline.next()).collect();
        assert_eq!(order, (0..=7).map(Event::Beat).collect::<Vec<_>>());
        assert_eq!(timeline.now(), 9_000_001);
    }

    #[test]
    fn a_calendar_gives_what_sorting_gives() {
        let mut random = Random::new(1);
        let mut timeline = Timeline::new();
        let mut waiting: Vec<(Micros, u64)> = Vec::new();
        for number in 1..=50_000 {
            let reach = [1, 100, 10_000, 1_000_000][random.below(4)];
            let at = timeline.now() + random.below(reach) as Micros;
            timeline.at(at, Event::Sample);
            waiting.push((at, number));
            if random.happens(0.6) {
                let first = waiting.iter().enumerate().min_by_key(|(_, key)| **key).map(|(index, _)| index);
                let (at, _) = waiting.swap_remove(first.expect("one waits"));
                timeline.next();
                assert_eq!(timeline.now(), at);
            }
            if waiting.len() > 200 {
                (0..150).for_each(|_| assert!(timeline.next().is_some()));
                waiting.sort_unstable();
                waiting.drain(..150);
            }
        }
    }

    #[test]
    fn nothing_is_planned_before_now() {
        let mut timeline = Timeline::new();
        timeline.at(100, Event::Sample);
        timeline.next();
        timeline.at(50, Event::Arrival);
        assert_eq!((timeline.next(), timeline.now()), (Some(Event::Arrival), 100));
        assert_eq!(timeline.next(), None);
    }
}
