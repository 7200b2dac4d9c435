//! The cluster in time: one loop, one closed match over the events, and what each of them does in a file of its own.

mod admission;
mod failures;
mod placing;
mod presence;
mod running;
mod sampling;
mod silence;

use super::design::{HOP_US, PRESENCE_EVERY_US, Placement, Settings, WAIT_MAX_US, WALL_LIMIT_US};
use super::figures::{Counts, Use, Waits, Windows};
use super::gateway::{Desk, Gateway};
use super::ledger::Ledger;
use super::load::{Load, Program, Request};
use super::node::Node;
use super::random::Random;
use super::sessions::Sessions;
use super::slab::{Slab, Ticket};
use super::timeline::{Event, GatewayIndex, Micros, NodeIndex, Timeline};

pub use failures::Failure;
use failures::Hit;
use sampling::Seen;

/// After the last request, until nothing can be under way any more.
const DRAIN_MAX_US: Micros = 2 * WALL_LIMIT_US + WAIT_MAX_US;

/// Where an execution is, as its gateway knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its client looks for a gateway.
    Travelling,
    Admitting,
    /// For earlier programs of its session.
    WaitsForSession,
    Queued,
    Offered,
    Running,
    /// Its first run may still be alive somewhere.
    WaitsOutSilence,
    Concluding,
}

impl Stage {
    /// It has a place, or an offer of one.
    fn is_at_a_node(self) -> bool {
        match self {
            Self::Offered | Self::Running => true,
            Self::Travelling
            | Self::Admitting
            | Self::WaitsForSession
            | Self::Queued
            | Self::WaitsOutSilence
            | Self::Concluding => false,
        }
    }
}

struct Execution {
    number: u32,
    request: Request,
    gateway: GatewayIndex,
    stage: Stage,
    /// Where it's offered or runs.
    node: NodeIndex,
    /// Of its last offer, and of the run that came of it. Another number: its gateway has closed that link.
    link: u16,
    has_session: bool,
    /// It counts among what its gateway follows.
    is_followed: bool,
    /// How often it has run again.
    again: u8,
    arrived: Micros,
    /// When its present wait began.
    since: Micros,
    waited_for_session: Micros,
    /// The largest owner's server was slow then.
    came_while_slow: bool,
    was_started: bool,
    /// Its node has said that it runs.
    was_heard: bool,
    wrote: bool,
    calls: u32,
    /// The failure that hit it, until that is settled.
    hit_by: Option<Hit>,
}

/// A program on a node. It may outlive what its gateway thinks of it.
struct Run {
    execution: Ticket,
    link: u16,
    number: u32,
    session: Option<u32>,
    owner: u32,
    gateway: GatewayIndex,
    node: NodeIndex,
    program: Program,
    /// It has ended on its node, which its gateway doesn't know yet.
    over: bool,
}

pub struct Simulation {
    settings: Settings,
    timeline: Timeline,
    load: Load,
    lots: Random,
    chance: Random,
    executions: Slab<Execution>,
    runs: Slab<Run>,
    nodes: Vec<Node>,
    gateways: Vec<Gateway>,
    desks: Vec<Desk>,
    sessions: Sessions,
    /// Whether calls of the largest owner take longer.
    largest_is_slow: bool,
    /// The loss of a NATS server, by its number among the failures.
    cut_by: usize,
    ledger: Ledger,
    failures: Vec<Failure>,
    figures: Figures,
    seen: Seen,
}

/// What was seen between the end of the warm-up and the last request.
#[derive(Default)]
pub struct Figures {
    pub counts: Counts,
    pub waits: Waits,
    pub windows: Windows,
    pub places: Use,
    pub node_cores: Use,
    /// Of what a gateway has: its cores, the task that hears the bus, its database's thread, what it follows.
    pub gateway_cores: Use,
    pub listener: Use,
    pub database: Use,
    pub followed: Use,
    pub queued_most: usize,
    pub refused: Refusals,
    pub answered: u64,
    pub measured_us: Micros,
}

/// Executions that were refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refusals {
    pub hot_session: u64,
    pub largest: u64,
    pub others: u64,
}

/// A run of the simulation, over.
pub struct Course {
    pub settings: Settings,
    pub figures: Figures,
    pub ledger: Ledger,
    pub failures: Vec<Failure>,
    pub events: u64,
}

impl Simulation {
    pub fn new(settings: Settings) -> Self {
        let desks = match settings.placement {
            Placement::Gateways => settings.gateways,
            Placement::Omniscient => 1,
        };
        let desk = || Desk::new(settings.nodes);
        let gateway = || Gateway::new(settings.policy.owner_share);
        Self {
            timeline: Timeline::new(),
            load: Load::new(&settings),
            lots: Random::stream(settings.seed, 2),
            chance: Random::stream(settings.seed, 3),
            executions: Slab::new(),
            runs: Slab::new(),
            nodes: (0..settings.nodes).map(|_| Node::new()).collect(),
            gateways: std::iter::repeat_with(gateway).take(settings.gateways).collect(),
            desks: std::iter::repeat_with(desk).take(desks).collect(),
            sessions: Sessions::new(settings.sessions),
            largest_is_slow: false,
            cut_by: 0,
            ledger: Ledger::new(settings.sessions),
            failures: Vec::new(),
            figures: Figures::default(),
            seen: Seen::default(),
            settings,
        }
    }

    /// From the first request until every execution has its end.
    pub fn run(mut self) -> Course {
        self.begin();
        while let Some(event) = self.timeline.next() {
            self.happens(event);
            if self.is_over() {
                break;
            }
        }
        let now = self.timeline.now();
        self.ledger.check(now, self.in_flight());
        self.ledger.close(now);
        Course {
            settings: self.settings,
            figures: self.figures,
            ledger: self.ledger,
            failures: self.failures,
            events: self.timeline.planned(),
        }
    }

    fn begin(&mut self) {
        for node in 0..self.nodes.len() {
            let at = PRESENCE_EVERY_US * node as Micros / self.nodes.len() as Micros;
            self.timeline.at(at, Event::Beat(node as NodeIndex));
        }
        let gap = self.load.gap_us();
        self.timeline.after(gap, Event::Arrival);
        self.timeline.at(0, Event::Sample);
        self.plan_failures();
    }

    fn is_over(&self) -> bool {
        let (now, end) = (self.timeline.now(), self.settings.end());
        now > end && (self.in_flight() == 0 || now > end + DRAIN_MAX_US)
    }

    /// Counted where they are: with their gateways, or left by a dead one.
    fn in_flight(&self) -> usize {
        self.executions.len() + self.gateways.iter().map(|gateway| gateway.left.len()).sum::<usize>()
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Arrival => self.arrival(),
            Event::Reaches(execution) => self.reaches(execution),
            Event::Admitted(execution) => self.admitted(execution),
            Event::SilenceOver(execution) => self.after_loss(execution),
            Event::Concluded(execution) => self.concluded(execution),
            Event::Offer(execution, node, link) => self.offer_at_node(execution, node, link),
            Event::Unanswered(execution, node, link) => self.offer_unanswered(execution, node, link),
            Event::Refused(execution, node, link) => self.offer_refused(execution, node, link),
            Event::Accepted(run) => self.offer_accepted(run),
            Event::Computed(node) => self.computed(node),
            Event::Call(run) => self.call(run),
            Event::Answered(run) => self.answered(run),
            Event::Answer(run) => self.answer(run),
            Event::Ended(run) => self.ended(run),
            Event::DropRun(run) => self.drop_run(run),
            Event::RunGone(run) => self.run_gone(run),
            Event::Beat(node) => self.beat(node),
            Event::PresenceDue(node) => self.presence_due(node),
            Event::Presence { node, life, free } => self.presence(node, life, free),
            Event::NextMachineDies => self.next_machine_dies(),
            Event::Planned(number) => self.planned(number),
            Event::NodeReturns(node) => self.node_returns(node),
            Event::NodeStale { node, life } => self.node_stale(node, life),
            Event::NodeSilent { node, life } => self.node_silent(node, life),
            Event::NodeHeard(node) => self.node_heard(node),
            Event::NodeDeaf { node, life } => self.node_deaf(node, life),
            Event::GatewayStale(gateway) => self.gateway_stale(gateway),
            Event::GatewayDeaf(gateway) => self.gateway_deaf(gateway),
            Event::GatewaySilent(gateway) => self.gateway_silent(gateway),
            Event::GatewayReturns(gateway) => self.gateway_returns(gateway),
            Event::GatewayHeard(gateway) => self.gateway_heard(gateway),
            Event::Sample => self.sample(),
        }
    }

    /// A message of a link or an offer: over one hop, or when both ends are connected again.
    fn send(&mut self, gateway: GatewayIndex, node: NodeIndex, event: Event) {
        let now = self.timeline.now();
        let cut = self.gateways[usize::from(gateway)].cut_until.max(self.nodes[usize::from(node)].cut_until);
        match cut > now {
            true => self.timeline.at(cut + HOP_US, event),
            false => self.timeline.after(HOP_US, event),
        }
    }

    /// Whether a gateway listens to this run.
    fn is_linked(&self, run: Ticket) -> bool {
        self.runs.get(run).is_some_and(|run| self.is_open(run.execution, run.link))
    }

    fn is_open(&self, execution: Ticket, link: u16) -> bool {
        self.executions.get(execution).is_some_and(|execution| execution.link == link)
    }

    fn is_measured(&self, at: Micros) -> bool {
        (self.settings.warm()..self.settings.end()).contains(&at)
    }

    fn desk_of(&self, gateway: GatewayIndex) -> usize {
        match self.settings.placement {
            Placement::Gateways => usize::from(gateway),
            Placement::Omniscient => 0,
        }
    }
}
