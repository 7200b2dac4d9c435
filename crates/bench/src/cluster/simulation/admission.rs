//! From a request to the queue, and from the end of a program to its record.

use super::super::costs::{ADMIT_US, CONCLUDE_US, MESSAGE_US, RECORD_CALL_US, RECORD_US};
use super::super::design::{CLIENT_RECONNECTS_US, DEAD_GATEWAY_AVOIDED_US, WAIT_MAX_US};
use super::super::ledger::Outcome;
use super::super::load::{HOT_SESSION, LARGEST_OWNER, Request};
use super::super::slab::Ticket;
use super::super::timeline::{Event, GatewayIndex, Micros};
use super::{Execution, Simulation, Stage};

/// Messages of a link beside its offer and calls: output, end, and two acknowledgements that travel alone.
const LINK_MESSAGES: Micros = 4;

/// Which gateway a request goes to, and when it's there.
struct Route {
    gateway: GatewayIndex,
    /// Its client has to come back first.
    reconnects_us: Micros,
    /// Its session's lease has to end first.
    lease_us: Micros,
}

impl Simulation {
    pub(super) fn arrival(&mut self) {
        let now = self.timeline.now();
        if now >= self.settings.end() {
            return;
        }
        let gap = self.load.gap_us();
        self.timeline.after(gap, Event::Arrival);
        let request = self.load.request();
        let route = self.route(&request);
        let execution = self.executions.insert(Execution {
            number: self.ledger.arrived(),
            request,
            gateway: route.gateway,
            stage: Stage::Travelling,
            node: 0,
            link: 0,
            has_session: false,
            is_followed: false,
            again: 0,
            arrived: now,
            since: now,
            waited_for_session: route.lease_us,
            came_while_slow: self.largest_is_slow,
            was_started: false,
            was_heard: false,
            wrote: false,
            calls: 0,
            hit_by: None,
        });
        match route.reconnects_us.max(route.lease_us) {
            0 => self.reaches(execution),
            delay => self.timeline.at(now + delay, Event::Reaches(execution)),
        }
    }

    fn route(&mut self, request: &Request) -> Route {
        let now = self.timeline.now();
        let drawn = self.lots.below(self.gateways.len()) as GatewayIndex;
        let holder = request.session.and_then(|session| self.sessions.holder(session));
        let wanted = holder.unwrap_or(drawn);
        let asked = &self.gateways[usize::from(wanted)];
        let (mut gateway, mut reconnects_us) = (wanted, 0);
        if !asked.alive {
            let is_avoided = now > asked.died_at + DEAD_GATEWAY_AVOIDED_US;
            let (other, returns_in) = self.living();
            reconnects_us = returns_in.max(if is_avoided { 0 } else { CLIENT_RECONNECTS_US });
            gateway = other;
        }
        let mut lease_us = 0;
        if let Some(session) = request.session {
            if holder != Some(gateway) {
                let free_at = holder.map_or(0, |holder| self.gateways[usize::from(holder)].leases_free_at);
                self.sessions.give(session, gateway, free_at);
            }
            lease_us = self.sessions.lease_wait(session, now);
        }
        Route { gateway, reconnects_us, lease_us }
    }

    /// A gateway that is alive, by lot, and how long until one is.
    fn living(&mut self) -> (GatewayIndex, Micros) {
        let all = 0..self.gateways.len();
        let alive: Vec<usize> = all.filter(|gateway| self.gateways[*gateway].alive).collect();
        if !alive.is_empty() {
            return (alive[self.lots.below(alive.len())] as GatewayIndex, 0);
        }
        let first = (0..self.gateways.len()).min_by_key(|gateway| self.gateways[*gateway].returns_at);
        let first = first.unwrap_or_default();
        let returns_in = self.gateways[first].returns_at.saturating_sub(self.timeline.now());
        (first as GatewayIndex, returns_in + CLIENT_RECONNECTS_US)
    }

    pub(super) fn reaches(&mut self, ticket: Ticket) {
        let now = self.timeline.now();
        let Some(execution) = self.executions.get(ticket) else { return };
        let request = execution.request;
        if !self.gateways[usize::from(execution.gateway)].alive {
            let route = self.route(&request);
            let Some(execution) = self.executions.get_mut(ticket) else { return };
            execution.gateway = route.gateway;
            execution.waited_for_session += route.lease_us;
            let delay = route.reconnects_us.max(route.lease_us);
            self.timeline.at(now + delay, Event::Reaches(ticket));
            return;
        }
        let done = self.gateways[usize::from(execution.gateway)].work(now, ADMIT_US);
        if let Some(execution) = self.executions.get_mut(ticket) {
            execution.stage = Stage::Admitting;
        }
        self.timeline.at(done, Event::Admitted(ticket));
    }

    pub(super) fn admitted(&mut self, ticket: Ticket) {
        let now = self.timeline.now();
        let Some(execution) = self.executions.get_mut(ticket) else { return };
        if let Some(session) = execution.request.session {
            if !self.sessions.enter(session, ticket) {
                execution.stage = Stage::WaitsForSession;
                execution.since = now;
                return;
            }
            execution.has_session = true;
        }
        self.queue(ticket);
    }

    /// The session is free: for whoever waits for it, unless that took too long.
    fn next_in_session(&mut self, session: u32) {
        let now = self.timeline.now();
        while let Some(next) = self.sessions.next(session) {
            let Some(execution) = self.executions.get_mut(next) else { continue };
            let waited = now - execution.since;
            execution.waited_for_session += waited;
            if waited > WAIT_MAX_US {
                self.finish(next, Outcome::Refused);
                continue;
            }
            execution.has_session = true;
            self.queue(next);
            return;
        }
    }

    /// Its program has ended, and its gateway reports.
    pub(super) fn conclude(&mut self, ticket: Ticket) {
        let now = self.timeline.now();
        let Some(execution) = self.executions.get_mut(ticket) else { return };
        execution.stage = Stage::Concluding;
        execution.link = execution.link.wrapping_add(1);
        let gateway = &mut self.gateways[usize::from(execution.gateway)];
        gateway.record(RECORD_US + RECORD_CALL_US * Micros::from(execution.calls));
        let done = gateway.work(now, CONCLUDE_US + LINK_MESSAGES * MESSAGE_US);
        self.timeline.at(done, Event::Concluded(ticket));
    }

    pub(super) fn concluded(&mut self, ticket: Ticket) {
        self.finish(ticket, Outcome::Answered);
    }

    fn count(&mut self, execution: &Execution, outcome: Outcome) {
        if !self.is_measured(execution.arrived) {
            return;
        }
        let (answered, refused) = (&mut self.figures.answered, &mut self.figures.refused);
        match outcome {
            Outcome::Answered => *answered += 1,
            Outcome::Refused if execution.request.session == Some(HOT_SESSION) => refused.hot_session += 1,
            Outcome::Refused if execution.request.owner == LARGEST_OWNER => refused.largest += 1,
            Outcome::Refused => refused.others += 1,
            Outcome::FailedWithNode | Outcome::LostWithGateway => {}
        }
    }

    /// Its one final record. Whoever waits for its session is next.
    pub(super) fn finish(&mut self, ticket: Ticket, outcome: Outcome) {
        let now = self.timeline.now();
        let Some(execution) = self.executions.remove(ticket) else { return };
        self.ledger.final_record(now, execution.number, outcome);
        self.settled(execution.hit_by);
        self.count(&execution, outcome);
        if execution.is_followed {
            self.gateways[usize::from(execution.gateway)].followed.end(execution.request.owner);
        }
        if execution.has_session
            && let Some(session) = execution.request.session
        {
            self.next_in_session(session);
        }
    }
}
