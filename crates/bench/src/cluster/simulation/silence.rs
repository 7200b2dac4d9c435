//! Who finds out that somebody is gone, and what becomes of the executions.

use super::super::design::{AGAIN_MAX, HOP_US, NODE_SILENT_US, NODE_STALE_US, Placement, SESSION_GRACE_US};
use super::super::ledger::Outcome;
use super::super::slab::Ticket;
use super::super::timeline::{Event, GatewayIndex, NodeIndex};
use super::failures::Hit;
use super::{Simulation, Stage};

/// What is known of the run whose node is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstRun {
    IsOver,
    /// Its node is silent, which may be the network's fault.
    MayLive,
}

impl Simulation {
    fn is_silent_for(&self, node: NodeIndex, life: u16, time: u64) -> bool {
        let place = &self.nodes[usize::from(node)];
        place.life == life && self.timeline.now() >= place.announced_at + HOP_US + time
    }

    /// Gateways give it nothing new.
    pub(super) fn node_stale(&mut self, node: NodeIndex, life: u16) {
        if self.is_silent_for(node, life, NODE_STALE_US) {
            self.desks.iter_mut().for_each(|desk| desk.beliefs.has_none(node));
        }
    }

    /// Gateways give it up.
    pub(super) fn node_silent(&mut self, node: NodeIndex, life: u16) {
        if !self.is_silent_for(node, life, NODE_SILENT_US) || !self.settings.rules.notices_lost_nodes {
            return;
        }
        for execution in self.nodes[usize::from(node)].bound.clone() {
            self.lost(execution, FirstRun::MayLive);
        }
    }

    /// A gateway that is cut off has heard no node for long, and gives none of them anything new.
    pub(super) fn gateway_stale(&mut self, gateway: GatewayIndex) {
        let now = self.timeline.now();
        if self.gateways[usize::from(gateway)].is_cut(now) && self.settings.placement == Placement::Gateways {
            let beliefs = &mut self.desks[usize::from(gateway)].beliefs;
            (0..self.nodes.len()).for_each(|node| beliefs.has_none(node as NodeIndex));
        }
    }

    /// Then it gives all of them up.
    pub(super) fn gateway_deaf(&mut self, gateway: GatewayIndex) {
        let now = self.timeline.now();
        let deaf = &self.gateways[usize::from(gateway)];
        if !deaf.alive || !deaf.is_cut(now) {
            return;
        }
        let all = self.executions.iter();
        let its = all.filter(|(_, one)| one.gateway == gateway && one.stage.is_at_a_node());
        for execution in its.map(|(ticket, _)| ticket).collect::<Vec<_>>() {
            self.lost(execution, FirstRun::MayLive);
        }
    }

    /// Its node is lost. It ends with an error if it wrote, and otherwise runs again. One whose offer wasn't answered
    /// may have run, too.
    pub(super) fn lost(&mut self, ticket: Ticket, first_run: FirstRun) {
        let Some(execution) = self.executions.get_mut(ticket) else { return };
        let (node, was_offered) = (execution.node, execution.stage == Stage::Offered);
        let (number, session) = (execution.number, execution.request.session);
        execution.link = execution.link.wrapping_add(1);
        self.nodes[usize::from(node)].unbind(ticket);
        self.ledger.noticed(number);
        if !was_offered {
            let failure = self.hit_by(ticket);
            match self.runs_again(ticket) {
                true => self.failures[failure].again += 1,
                false => self.failures[failure].failed += 1,
            }
        }
        // Also one that ends with an error: its session's next program mustn't meet it.
        let may_meet = session.is_some() && first_run == FirstRun::MayLive;
        if !may_meet || !self.settings.rules.sessions_wait_out_silence {
            self.after_loss(ticket);
            return;
        }
        if let Some(execution) = self.executions.get_mut(ticket) {
            execution.stage = Stage::WaitsOutSilence;
        }
        self.timeline.after(SESSION_GRACE_US, Event::SilenceOver(ticket));
    }

    fn runs_again(&self, ticket: Ticket) -> bool {
        let ends_writers = self.settings.rules.ends_writers;
        let execution = self.executions.get(ticket);
        execution.is_some_and(|one| one.again < AGAIN_MAX && !(one.wrote && ends_writers))
    }

    /// Nothing of its first run is alive any more, or nobody minds.
    pub(super) fn after_loss(&mut self, ticket: Ticket) {
        if !self.runs_again(ticket) {
            self.finish(ticket, Outcome::FailedWithNode);
            return;
        }
        if let Some(execution) = self.executions.get_mut(ticket).filter(|one| one.was_heard) {
            execution.again += 1;
            execution.since = self.timeline.now();
            execution.was_heard = false;
            self.figures.counts.again += 1;
        }
        self.requeue(ticket);
    }

    /// A node is connected again. It asks about its runs, and those that nobody wants any more end.
    pub(super) fn node_heard(&mut self, node: NodeIndex) {
        self.places_changed(node);
        let runs = self.nodes[usize::from(node)].runs.clone();
        self.ask_about(runs);
    }

    /// A gateway is connected again. Nodes ask it about their runs.
    pub(super) fn gateway_heard(&mut self, gateway: GatewayIndex) {
        let runs = self.runs.iter().filter(|(_, run)| run.gateway == gateway && !run.over);
        let runs = runs.map(|(ticket, _)| ticket).collect();
        self.ask_about(runs);
    }

    fn ask_about(&mut self, runs: Vec<Ticket>) {
        let answered_at = self.timeline.now() + 2 * HOP_US;
        for run in runs {
            self.timeline.at(answered_at, Event::DropRun(run));
        }
    }

    /// A node that has heard no gateway for long ends all its runs.
    pub(super) fn node_deaf(&mut self, node: NodeIndex, life: u16) {
        let now = self.timeline.now();
        let place = &self.nodes[usize::from(node)];
        if place.life != life || !place.is_cut(now) {
            return;
        }
        let told_at = place.cut_until + HOP_US;
        for run in place.runs.clone() {
            self.stop(run);
            self.timeline.at(told_at, Event::RunGone(run));
        }
        self.places_changed(node);
    }

    /// Nodes end the runs of a gateway that they haven't heard for long. If it's dead, another records what it left.
    pub(super) fn gateway_silent(&mut self, gateway: GatewayIndex) {
        let now = self.timeline.now();
        let silent = &self.gateways[usize::from(gateway)];
        let is_dead = !silent.alive;
        if !is_dead && !silent.is_cut(now) {
            return;
        }
        let told_at = silent.cut_until + HOP_US;
        let runs = self.runs.iter().filter(|(_, run)| run.gateway == gateway && !run.over);
        let runs: Vec<(Ticket, NodeIndex)> = runs.map(|(ticket, run)| (ticket, run.node)).collect();
        for (run, node) in runs {
            self.stop(run);
            match is_dead {
                true => drop(self.runs.remove(run)),
                false => self.timeline.at(told_at, Event::RunGone(run)),
            }
            self.places_changed(node);
        }
        if is_dead {
            self.record_what_was_left(gateway);
        }
    }

    fn record_what_was_left(&mut self, gateway: GatewayIndex) {
        let now = self.timeline.now();
        let left = std::mem::take(&mut self.gateways[usize::from(gateway)].left);
        if !self.settings.rules.closes_what_a_gateway_left {
            return;
        }
        let dead = &self.gateways[usize::from(gateway)];
        let hit = Hit { failure: dead.died_of, at: dead.died_at };
        self.failures[usize::from(hit.failure)].lost += left.len() as u64;
        for number in left {
            self.ledger.final_record(now, number, Outcome::LostWithGateway);
        }
        self.settled(Some(hit));
    }

    /// Its node has ended it, and its gateway hears that.
    pub(super) fn run_gone(&mut self, ticket: Ticket) {
        let is_linked = self.is_linked(ticket);
        let Some(run) = self.runs.remove(ticket) else { return };
        if is_linked {
            self.lost(run.execution, FirstRun::IsOver);
        }
    }

    /// Its gateway doesn't want it any more.
    pub(super) fn drop_run(&mut self, ticket: Ticket) {
        if self.is_linked(ticket) || self.runs.get(ticket).is_none_or(|run| run.over) {
            return;
        }
        self.stop(ticket);
        if let Some(run) = self.runs.remove(ticket) {
            self.places_changed(run.node);
        }
    }
}
