//! A program on its node: computing, calls through its gateway, its end.

use super::super::costs::{CALL_US, MESSAGE_US};
use super::super::ledger::Outcome;
use super::super::load::{HOT_SESSION, LARGEST_OWNER, SMALL_OWNERS_FROM};
use super::super::slab::Ticket;
use super::super::timeline::{Event, Micros, NodeIndex, SECOND};
use super::Simulation;

/// What the largest owner's server takes more for a call while it's slow.
const SLOWER_US: Micros = 4 * SECOND;

/// Messages of a link for one call: it, its answer, and one acknowledgement that travels alone.
const LINK_MESSAGES: Micros = 3;

impl Simulation {
    /// It has come with its offer, and a place was free.
    pub(super) fn begin_run(&mut self, ticket: Ticket) {
        let now = self.timeline.now();
        let Some(run) = self.runs.get(ticket) else { return };
        let (number, session, execution) = (run.number, run.session, run.execution);
        self.ledger.started(now, number, session);
        self.figures.counts.session_programs += u64::from(session.is_some());
        self.started(execution);
        self.compute(ticket);
    }

    fn started(&mut self, ticket: Ticket) {
        let now = self.timeline.now();
        let Some(execution) = self.executions.get_mut(ticket) else { return };
        let slow = execution.came_while_slow;
        let is_first = !std::mem::replace(&mut execution.was_started, true);
        let hit_by = execution.hit_by.take();
        let (arrived, request, for_session) =
            (execution.arrived, execution.request, execution.waited_for_session);
        self.settled(hit_by);
        if !is_first || !self.is_measured(arrived) {
            return;
        }
        let wait = (now - arrived).saturating_sub(for_session);
        let waits = &mut self.figures.waits;
        waits.all.add(wait);
        self.figures.windows.add(now, wait);
        if request.owner == LARGEST_OWNER {
            waits.largest.add(wait);
            if slow {
                waits.largest_slow.add(wait);
            }
        } else if request.owner >= SMALL_OWNERS_FROM {
            waits.small.add(wait);
            if slow {
                waits.small_slow.add(wait);
            }
        }
        match request.session {
            Some(HOT_SESSION) => waits.hot_session.add(for_session),
            Some(_) => waits.sessions.add(for_session),
            None => {}
        }
    }

    /// The next slice of its CPU time.
    fn compute(&mut self, ticket: Ticket) {
        let now = self.timeline.now();
        let Some(run) = self.runs.get(ticket) else { return };
        let (node, slice_us) = (run.node, run.program.slice_us);
        self.nodes[usize::from(node)].compute(now, ticket, slice_us);
        self.wake(node);
    }

    /// Looks at a node again when one of its runs is done. Looking too early does no harm.
    fn wake(&mut self, node: NodeIndex) {
        let place = &mut self.nodes[usize::from(node)];
        let Some(at) = place.next_done() else { return };
        if place.wakes_at.is_none_or(|wakes_at| at < wakes_at) {
            place.wakes_at = Some(at);
            self.timeline.at(at, Event::Computed(node));
        }
    }

    pub(super) fn computed(&mut self, node: NodeIndex) {
        let now = self.timeline.now();
        let place = &mut self.nodes[usize::from(node)];
        // Planned before something earlier was.
        if place.wakes_at != Some(now) {
            return;
        }
        place.wakes_at = None;
        while let Some(run) = self.nodes[usize::from(node)].done(now) {
            self.slice_done(run);
        }
        self.wake(node);
    }

    fn slice_done(&mut self, ticket: Ticket) {
        let Some(run) = self.runs.get_mut(ticket) else { return };
        let (node, gateway) = (run.node, run.gateway);
        if run.program.calls_left > 0 {
            run.program.calls_left -= 1;
            self.send(gateway, node, Event::Call(ticket));
            return;
        }
        self.stop(ticket);
        self.send(gateway, node, Event::Ended(ticket));
        self.places_changed(node);
    }

    /// At its gateway: through the one door, to a server.
    pub(super) fn call(&mut self, ticket: Ticket) {
        let now = self.timeline.now();
        if !self.is_linked(ticket) {
            return;
        }
        let slow = self.largest_is_slow;
        let Some(run) = self.runs.get_mut(ticket) else { return };
        let call = run.program.call();
        let slower = if slow && run.owner == LARGEST_OWNER { SLOWER_US } else { 0 };
        let Some(execution) = self.executions.get_mut(run.execution) else { return };
        execution.calls += 1;
        self.figures.counts.calls += 1;
        if call.writes {
            execution.wrote = true;
            self.ledger.wrote(execution.number);
        }
        let gateway = &mut self.gateways[usize::from(execution.gateway)];
        let sent = gateway.work(now, CALL_US + LINK_MESSAGES * MESSAGE_US);
        self.timeline.at(sent + call.takes_us + slower, Event::Answered(ticket));
    }

    /// The server has answered.
    pub(super) fn answered(&mut self, ticket: Ticket) {
        if !self.is_linked(ticket) {
            return;
        }
        let Some(run) = self.runs.get(ticket) else { return };
        let (gateway, node) = (run.gateway, run.node);
        self.send(gateway, node, Event::Answer(ticket));
    }

    /// At its node.
    pub(super) fn answer(&mut self, ticket: Ticket) {
        if self.runs.get(ticket).is_some_and(|run| !run.over) {
            self.compute(ticket);
        }
    }

    /// Its end is at its gateway.
    pub(super) fn ended(&mut self, ticket: Ticket) {
        let now = self.timeline.now();
        let is_linked = self.is_linked(ticket);
        let Some(run) = self.runs.remove(ticket) else { return };
        self.figures.counts.ends += 1;
        if is_linked {
            self.nodes[usize::from(run.node)].unbind(run.execution);
            self.conclude(run.execution);
        } else if !self.settings.rules.drops_old_links {
            self.ledger.final_record(now, run.number, Outcome::Answered);
        }
    }

    /// It runs no longer, and its place is free. Its gateway hears of it on other ways.
    pub(super) fn stop(&mut self, ticket: Ticket) {
        let now = self.timeline.now();
        let Some(run) = self.runs.get_mut(ticket) else { return };
        if std::mem::replace(&mut run.over, true) {
            return;
        }
        self.ledger.stopped(run.session);
        self.nodes[usize::from(run.node)].release(now, ticket);
    }
}
