//! From a gateway's queue to a node: offers on what was last heard, each with its program, refusals, and the next try.

use super::super::costs::{MESSAGE_US, PICK_NODE_US, PICKS};
use super::super::design::{Placement, WAIT_MAX_US};
use super::super::ledger::Outcome;
use super::super::load::{Class, Program};
use super::super::slab::Ticket;
use super::super::timeline::{Event, Micros, NodeIndex};
use super::{Run, Simulation, Stage};

/// Who looks for a place: the task of an execution, or the one that hears the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    Execution,
    Listener,
}

/// Where an execution waits in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joins {
    First,
    Last,
}

impl Simulation {
    pub(super) fn queue(&mut self, ticket: Ticket) {
        let Some(execution) = self.executions.get_mut(ticket) else { return };
        let (owner, gateway) = (execution.request.owner, execution.gateway);
        if !self.gateways[usize::from(gateway)].followed.begin(owner) {
            self.finish(ticket, Outcome::Refused);
            return;
        }
        if let Some(execution) = self.executions.get_mut(ticket) {
            execution.is_followed = true;
            execution.since = self.timeline.now();
        }
        self.join(ticket, Joins::Last);
    }

    /// It was offered, or ran, and nothing came of it.
    pub(super) fn requeue(&mut self, ticket: Ticket) {
        let joins = if self.settings.policy.refused_keep_their_turn { Joins::First } else { Joins::Last };
        self.join(ticket, joins);
    }

    fn join(&mut self, ticket: Ticket, joins: Joins) {
        let Some(execution) = self.executions.get_mut(ticket) else { return };
        execution.stage = Stage::Queued;
        let (number, request, gateway) = (execution.number, execution.request, execution.gateway);
        self.ledger.noticed(number);
        let desk = self.desk_of(gateway);
        let line = self.desks[desk].line(request.class);
        match joins {
            Joins::First => line.push_first(request.owner, ticket),
            Joins::Last => line.push(request.owner, ticket),
        }
        self.dispatch(desk, Looks::Execution);
    }

    /// Offers what waits, as long as some node is believed to have a place.
    pub(super) fn dispatch(&mut self, desk: usize, looks: Looks) {
        if self.settings.placement == Placement::Gateways && !self.gateways[desk].alive {
            return;
        }
        let mut offered = 0;
        for class in Class::ALL {
            while self.desks[desk].line(class).len() > 0 {
                let ties = self.settings.policy.ties;
                let Some(node) = self.desks[desk].beliefs.freest(class, ties, &mut self.lots) else { break };
                let Some(ticket) = self.desks[desk].line(class).pop() else { break };
                offered += 1;
                self.offer(desk, ticket, node);
            }
        }
        let queued = self.desks[desk].queued();
        self.figures.queued_most = self.figures.queued_most.max(queued);
        if self.settings.placement == Placement::Gateways {
            self.pay_looks(desk, f64::from(offered) * PICKS + f64::from(u8::from(queued > 0)), looks);
        }
    }

    fn pay_looks(&mut self, gateway: usize, picks: f64, looks: Looks) {
        let now = self.timeline.now();
        let cpu_us = (picks * self.nodes.len() as f64 * PICK_NODE_US) as Micros;
        match looks {
            Looks::Execution => drop(self.gateways[gateway].work(now, cpu_us)),
            Looks::Listener => self.gateways[gateway].listen(now, cpu_us),
        }
    }

    fn offer(&mut self, desk: usize, ticket: Ticket, node: NodeIndex) {
        let now = self.timeline.now();
        let Some(execution) = self.executions.get_mut(ticket) else { return };
        if now - execution.since > WAIT_MAX_US {
            self.finish(ticket, Outcome::Refused);
            return;
        }
        execution.stage = Stage::Offered;
        execution.node = node;
        execution.link = execution.link.wrapping_add(1);
        let (gateway, link, session) = (execution.gateway, execution.link, execution.request.session);
        self.nodes[usize::from(node)].bound.push(ticket);
        self.desks[desk].beliefs.gave(node);
        self.figures.counts.offers += 1;
        self.figures.counts.session_offers += u64::from(session.is_some());
        // The offer and its answer.
        self.gateways[usize::from(gateway)].work(now, 2 * MESSAGE_US);
        self.send(gateway, node, Event::Offer(ticket, node, link));
        // A session's program may run there unheard, and mustn't meet itself.
        if let Some(time) = self.settings.policy.offer_time_us.filter(|_| session.is_none()) {
            self.timeline.after(time, Event::Unanswered(ticket, node, link));
        }
    }

    pub(super) fn offer_at_node(&mut self, ticket: Ticket, node: NodeIndex, link: u16) {
        if !self.nodes[usize::from(node)].alive {
            return;
        }
        if self.settings.placement == Placement::Omniscient {
            self.desks[0].beliefs.given_is_known(node);
        }
        let Some(execution) = self.executions.get(ticket).filter(|one| one.link == link) else { return };
        let (request, number, gateway) = (execution.request, execution.number, execution.gateway);
        if self.nodes[usize::from(node)].free() == 0 {
            self.send(gateway, node, Event::Refused(ticket, node, link));
            return;
        }
        let run = self.runs.insert(Run {
            execution: ticket,
            link,
            number,
            session: request.session,
            owner: request.owner,
            gateway,
            node,
            program: Program::of(request.seed),
            over: false,
        });
        self.nodes[usize::from(node)].runs.push(run);
        self.begin_run(run);
        self.send(gateway, node, Event::Accepted(run));
        self.places_changed(node);
    }

    pub(super) fn offer_refused(&mut self, ticket: Ticket, node: NodeIndex, link: u16) {
        if self.is_open(ticket, link) {
            self.figures.counts.refused_offers += 1;
            self.offer_is_void(ticket, node);
        }
    }

    /// The node says nothing: somewhere else, and nothing more there until it's heard.
    pub(super) fn offer_unanswered(&mut self, ticket: Ticket, node: NodeIndex, link: u16) {
        let execution = self.executions.get(ticket).filter(|one| one.link == link);
        if execution.is_some_and(|one| one.stage == Stage::Offered) {
            self.figures.counts.unanswered_offers += 1;
            self.offer_is_void(ticket, node);
        }
    }

    fn offer_is_void(&mut self, ticket: Ticket, node: NodeIndex) {
        let Some(execution) = self.executions.get_mut(ticket) else { return };
        execution.link = execution.link.wrapping_add(1);
        let desk = usize::from(execution.gateway);
        self.nodes[usize::from(node)].unbind(ticket);
        if self.settings.placement == Placement::Gateways {
            self.desks[desk].beliefs.has_none(node);
        }
        if self.settings.rules.requeues_refused {
            self.requeue(ticket);
        }
    }

    pub(super) fn offer_accepted(&mut self, ticket: Ticket) {
        let Some(run) = self.runs.get(ticket) else { return };
        let (node, gateway) = (run.node, run.gateway);
        match self.executions.get_mut(run.execution).filter(|one| one.link == run.link) {
            Some(execution) => {
                execution.stage = Stage::Running;
                execution.was_heard = true;
            }
            None => self.send(gateway, node, Event::DropRun(ticket)),
        }
    }
}
