//! Sessions: which gateway holds each, and who waits for its turn in it.

use std::collections::{HashMap, VecDeque};

use super::slab::Ticket;
use super::timeline::{GatewayIndex, Micros};

const NOBODY: GatewayIndex = GatewayIndex::MAX;

pub struct Sessions {
    holders: Vec<GatewayIndex>,
    busy: Vec<bool>,
    waiting: HashMap<u32, VecDeque<Ticket>>,
    /// Sessions whose holder died: not before its lease is over.
    not_before: HashMap<u32, Micros>,
}

impl Sessions {
    pub fn new(sessions: usize) -> Self {
        Self {
            holders: vec![NOBODY; sessions],
            busy: vec![false; sessions],
            waiting: HashMap::new(),
            not_before: HashMap::new(),
        }
    }

    pub fn holder(&self, session: u32) -> Option<GatewayIndex> {
        Some(self.holders[session as usize]).filter(|holder| *holder != NOBODY)
    }

    pub fn give(&mut self, session: u32, gateway: GatewayIndex, not_before: Micros) {
        self.holders[session as usize] = gateway;
        if not_before > 0 {
            self.not_before.insert(session, not_before);
        }
    }

    /// How long its holder can't use it yet.
    pub fn lease_wait(&mut self, session: u32, now: Micros) -> Micros {
        match self.not_before.get(&session) {
            Some(free_at) if *free_at > now => *free_at - now,
            Some(_) => {
                self.not_before.remove(&session);
                0
            }
            None => 0,
        }
    }

    /// `true`: it's this execution's turn. `false`: it waits.
    pub fn enter(&mut self, session: u32, execution: Ticket) -> bool {
        let busy = &mut self.busy[session as usize];
        if *busy {
            self.waiting.entry(session).or_default().push_back(execution);
            return false;
        }
        *busy = true;
        true
    }

    /// The turn is over. Who is next: it has the session now.
    pub fn next(&mut self, session: u32) -> Option<Ticket> {
        if let Some(waiting) = self.waiting.get_mut(&session) {
            if let Some(next) = waiting.pop_front() {
                return Some(next);
            }
            self.waiting.remove(&session);
        }
        self.busy[session as usize] = false;
        None
    }

    /// Its gateway is gone, with whoever ran and waited.
    pub fn clear(&mut self, session: u32) {
        self.busy[session as usize] = false;
        self.waiting.remove(&session);
    }
}

#[cfg(test)]
mod tests {
    use super::super::slab::Slab;
    use super::*;

    #[test]
    fn a_session_has_one_turn_at_a_time_in_the_order_of_arrival() {
        let mut slab = Slab::new();
        let [one, two, three] = [1, 2, 3].map(|number| slab.insert(number));
        let mut sessions = Sessions::new(1);
        assert!(sessions.enter(0, one) && !sessions.enter(0, two) && !sessions.enter(0, three));
        assert_eq!((sessions.next(0), sessions.next(0), sessions.next(0)), (Some(two), Some(three), None));
        assert!(sessions.enter(0, one));
    }

    #[test]
    fn a_session_of_a_dead_gateway_waits_for_the_end_of_its_lease() {
        let mut sessions = Sessions::new(1);
        assert_eq!((sessions.holder(0), sessions.lease_wait(0, 5)), (None, 0));
        sessions.give(0, 3, 100);
        assert_eq!((sessions.holder(0), sessions.lease_wait(0, 40)), (Some(3), 60));
        assert_eq!(sessions.lease_wait(0, 100), 0);
    }
}
