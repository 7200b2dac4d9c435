//! What fails, and when: machines all the time, and by plan a gateway, a NATS server, a server of the largest owner,
//! and a rack.

use super::super::design::{
    BUS_AGAIN_US, BUS_CONNECTS_US, GATEWAY_SILENT_US, HOP_US, LEASE_RENEWED_US, NATS_SERVERS, NODE_SILENT_US,
    NODE_STALE_US, PRESENCE_EVERY_US, Placement,
};
use super::super::gateway::Desk;
use super::super::load::HOT_SESSION;
use super::super::slab::Ticket;
use super::super::timeline::{Event, GatewayIndex, Micros, NodeIndex, SECOND};
use super::silence::FirstRun;
use super::{Simulation, Stage};

/// A machine dies after so long on average: far more often than real ones, so that a short run has enough of them.
const MACHINE_LIVES_US: f64 = 5_000.0 * SECOND as f64;

/// It's back after this long, as a new machine.
const MACHINE_RETURNS_US: Micros = 30 * SECOND;
const GATEWAY_RETURNS_US: Micros = 10 * SECOND;

/// Machines that die at the same moment.
const RACK: f64 = 0.02;

#[derive(Clone, Copy, Debug)]
enum Plan {
    GatewayDies,
    NatsServerStops,
    NatsMachineVanishes,
    LargestIsSlow,
    LargestIsFast,
    RackDies,
}

/// How a NATS server ends.
#[derive(Clone, Copy, Debug)]
enum BusEnd {
    /// Its connections are closed: clients notice at once.
    Told,
    /// Nothing is heard of it.
    Vanishes,
}

/// Each at its share of the time.
const PLAN: [(f64, Plan); 6] = [
    (0.20, Plan::GatewayDies),
    (0.35, Plan::NatsServerStops),
    (0.45, Plan::LargestIsSlow),
    (0.55, Plan::LargestIsFast),
    (0.70, Plan::NatsMachineVanishes),
    (0.90, Plan::RackDies),
];

/// One that happened, and what it did.
#[derive(Clone, Debug)]
pub struct Failure {
    pub what: String,
    pub at: Micros,
    /// Executions whose run or gateway was lost, and what became of them: those that were only offered are placed
    /// again without having run.
    pub hit: u64,
    pub again: u64,
    pub failed: u64,
    pub lost: u64,
    /// The longest that one of them waited until it ran again or had its record.
    pub settled_after: Micros,
}

/// All single machines count as one failure, the first.
const SINGLE_MACHINES: usize = 0;

/// An execution was hit by a failure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub failure: u8,
    pub at: Micros,
}

impl Simulation {
    pub(super) fn plan_failures(&mut self) {
        self.begin_failure("single machines die".to_owned());
        self.plan_next_machine();
        for (number, (share, _)) in PLAN.iter().enumerate() {
            self.timeline.at(self.settings.at_share(*share), Event::Planned(number as u8));
        }
    }

    pub(super) fn planned(&mut self, number: u8) {
        match PLAN[usize::from(number)].1 {
            Plan::GatewayDies => self.gateway_dies(),
            Plan::NatsServerStops => self.nats_server_ends(BusEnd::Told),
            Plan::NatsMachineVanishes => self.nats_server_ends(BusEnd::Vanishes),
            Plan::LargestIsSlow => {
                self.begin_failure("the largest owner's server is slow".to_owned());
                self.largest_is_slow = true;
            }
            Plan::LargestIsFast => self.largest_is_slow = false,
            Plan::RackDies => self.rack_dies(),
        }
    }

    fn begin_failure(&mut self, what: String) -> usize {
        let at = self.timeline.now();
        self.failures.push(Failure { what, at, hit: 0, again: 0, failed: 0, lost: 0, settled_after: 0 });
        self.failures.len() - 1
    }

    fn hit(&mut self, ticket: Ticket, failure: usize) {
        let at = self.timeline.now();
        let Some(execution) = self.executions.get_mut(ticket) else { return };
        execution.hit_by = Some(Hit { failure: failure as u8, at });
        self.failures[failure].hit += 1;
        self.ledger.hit(at, execution.number);
    }

    /// The number of the failure that hit it. Whoever was hit by none was cut off by the loss of a NATS server.
    pub(super) fn hit_by(&mut self, ticket: Ticket) -> usize {
        let cut = (self.cut_by, self.failures[self.cut_by].at);
        let Some(execution) = self.executions.get_mut(ticket) else { return SINGLE_MACHINES };
        if let Some(hit) = execution.hit_by {
            return usize::from(hit.failure);
        }
        execution.hit_by = Some(Hit { failure: cut.0 as u8, at: cut.1 });
        self.failures[cut.0].hit += 1;
        cut.0
    }

    /// It runs again, or has its record.
    pub(super) fn settled(&mut self, hit: Option<Hit>) {
        let Some(Hit { failure, at }) = hit else { return };
        let took = self.timeline.now() - at;
        let failure = &mut self.failures[usize::from(failure)];
        failure.settled_after = failure.settled_after.max(took);
    }

    fn plan_next_machine(&mut self) {
        let mean = MACHINE_LIVES_US / self.nodes.len() as f64;
        let after = self.chance.exponential(mean) as Micros;
        if self.timeline.now() + after < self.settings.end() {
            self.timeline.after(after, Event::NextMachineDies);
        }
    }

    pub(super) fn next_machine_dies(&mut self) {
        let node = self.chance.below(self.nodes.len());
        self.node_dies(node as NodeIndex, SINGLE_MACHINES);
        self.plan_next_machine();
    }

    fn rack_dies(&mut self) {
        let machines = (self.nodes.len() as f64 * RACK).ceil() as usize;
        let what = match machines {
            1 => "a machine dies".to_owned(),
            _ => format!("{machines} machines die at once"),
        };
        let failure = self.begin_failure(what);
        let first = self.chance.below(self.nodes.len());
        for step in 0..machines {
            self.node_dies(((first + step) % self.nodes.len()) as NodeIndex, failure);
        }
    }

    /// Everything on it is gone. Nobody knows yet.
    fn node_dies(&mut self, node: NodeIndex, failure: usize) {
        let place = &mut self.nodes[usize::from(node)];
        if !std::mem::replace(&mut place.alive, false) {
            return;
        }
        let (bound, runs) = (place.bound.clone(), place.runs.clone());
        for run in runs {
            self.stop(run);
            self.runs.remove(run);
        }
        bound.into_iter().for_each(|execution| self.hit(execution, failure));
        self.falls_silent(node);
        self.timeline.after(MACHINE_RETURNS_US, Event::NodeReturns(node));
    }

    fn falls_silent(&mut self, node: NodeIndex) {
        let place = &self.nodes[usize::from(node)];
        let (life, heard_at) = (place.life, place.announced_at + HOP_US);
        self.timeline.at(heard_at + NODE_STALE_US, Event::NodeStale { node, life });
        self.timeline.at(heard_at + NODE_SILENT_US, Event::NodeSilent { node, life });
        if self.settings.placement == Placement::Omniscient {
            self.desks[0].beliefs.is_known(node, 0);
        }
    }

    pub(super) fn node_returns(&mut self, node: NodeIndex) {
        let place = &mut self.nodes[usize::from(node)];
        place.alive = true;
        place.life += 1;
        // Nobody has looked.
        for execution in place.bound.clone() {
            self.lost(execution, FirstRun::IsOver);
        }
        self.beat(node);
    }

    /// The one that holds the hot session, so that the worst is seen.
    fn gateway_dies(&mut self) {
        let now = self.timeline.now();
        let failure = self.begin_failure("a gateway dies".to_owned());
        let gateway = self.sessions.holder(HOT_SESSION).unwrap_or(0);
        let renewed_at = now - self.chance.below(LEASE_RENEWED_US as usize) as Micros;
        let last_heard = now - self.chance.below(PRESENCE_EVERY_US as usize) as Micros;
        let dead = &mut self.gateways[usize::from(gateway)];
        dead.alive = false;
        dead.died_at = now;
        dead.died_of = failure as u8;
        dead.returns_at = now + GATEWAY_RETURNS_US;
        dead.leases_free_at = renewed_at + self.settings.rules.lease_us;
        dead.forget_work();
        if self.settings.placement == Placement::Gateways {
            self.desks[usize::from(gateway)] = Desk::new(self.nodes.len());
        }
        self.leave_executions(gateway, failure);
        self.timeline.at(last_heard + GATEWAY_SILENT_US, Event::GatewaySilent(gateway));
        self.timeline.after(GATEWAY_RETURNS_US, Event::GatewayReturns(gateway));
    }

    /// What it had is in its journal, and in nobody's hands.
    fn leave_executions(&mut self, gateway: GatewayIndex, failure: usize) {
        let all = self.executions.iter();
        let its = all.filter(|(_, one)| one.gateway == gateway && one.stage != Stage::Travelling);
        for ticket in its.map(|(ticket, _)| ticket).collect::<Vec<_>>() {
            self.hit(ticket, failure);
            let Some(execution) = self.executions.remove(ticket) else { continue };
            if execution.stage.is_at_a_node() {
                self.nodes[usize::from(execution.node)].unbind(ticket);
            }
            if execution.is_followed {
                self.gateways[usize::from(gateway)].followed.end(execution.request.owner);
            }
            if let Some(session) = execution.request.session {
                self.sessions.clear(session);
            }
            self.gateways[usize::from(gateway)].left.push(execution.number);
        }
    }

    pub(super) fn gateway_returns(&mut self, gateway: GatewayIndex) {
        self.gateways[usize::from(gateway)].alive = true;
    }

    /// Whoever was connected to it is cut off until it has found another.
    fn nats_server_ends(&mut self, how: BusEnd) {
        let server = self.chance.below(NATS_SERVERS);
        let what = match how {
            BusEnd::Told => "a NATS server stops",
            BusEnd::Vanishes => "the machine of a NATS server vanishes",
        };
        self.cut_by = self.begin_failure(what.to_owned());
        for node in (server..self.nodes.len()).step_by(NATS_SERVERS) {
            let pause = self.reconnect_pause(how);
            self.cut_node(node as NodeIndex, pause);
        }
        for gateway in (server..self.gateways.len()).step_by(NATS_SERVERS) {
            let pause = self.reconnect_pause(how);
            self.cut_gateway(gateway as GatewayIndex, pause);
        }
    }

    /// Until a client notices, and has found another server. It may try the one that is gone first.
    fn reconnect_pause(&mut self, how: BusEnd) -> Micros {
        let policy = &self.settings.policy;
        let (noticed, tried_in_vain) = match how {
            BusEnd::Told => (0, BUS_AGAIN_US),
            BusEnd::Vanishes => {
                let ping = policy.bus_ping_us;
                (
                    2 * ping + self.chance.below(ping as usize) as Micros,
                    BUS_AGAIN_US + policy.bus_connect_timeout_us,
                )
            }
        };
        let in_vain = if self.chance.below(NATS_SERVERS) == 0 { tried_in_vain } else { 0 };
        noticed + in_vain + BUS_AGAIN_US + self.chance.exponential(BUS_CONNECTS_US) as Micros
    }

    fn cut_node(&mut self, node: NodeIndex, pause: Micros) {
        let now = self.timeline.now();
        let heard_gateways = now - self.chance.below(PRESENCE_EVERY_US as usize) as Micros;
        let place = &mut self.nodes[usize::from(node)];
        if !place.alive {
            return;
        }
        place.cut_until = now + pause;
        let life = place.life;
        self.falls_silent(node);
        self.timeline.at(heard_gateways + GATEWAY_SILENT_US, Event::NodeDeaf { node, life });
        self.timeline.after(pause, Event::NodeHeard(node));
    }

    fn cut_gateway(&mut self, gateway: GatewayIndex, pause: Micros) {
        let now = self.timeline.now();
        let last_heard = now - self.chance.below(PRESENCE_EVERY_US as usize) as Micros;
        let cut = &mut self.gateways[usize::from(gateway)];
        if !cut.alive {
            return;
        }
        cut.cut_until = now + pause;
        self.timeline.after(NODE_STALE_US, Event::GatewayStale(gateway));
        self.timeline.after(NODE_SILENT_US, Event::GatewayDeaf(gateway));
        self.timeline.at(last_heard + GATEWAY_SILENT_US, Event::GatewaySilent(gateway));
        self.timeline.after(pause, Event::GatewayHeard(gateway));
    }
}
