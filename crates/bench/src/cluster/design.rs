//! What the design fixes: times, bounds and rules. A test breaks the rules one at a time.

use super::beliefs::Ties;
use super::timeline::{Micros, SECOND};

/// One message between a gateway and a node, through a NATS server in the same zone. Assumed.
pub const HOP_US: Micros = 250;

/// How often nodes and gateways say that they are there.
pub const PRESENCE_EVERY_US: Micros = SECOND / 2;

/// A node that a gateway hasn't heard for this long is given nothing new.
pub const NODE_STALE_US: Micros = 3 * SECOND / 2;

/// A gateway gives a node up that it hasn't heard for this long.
pub const NODE_SILENT_US: Micros = 3 * SECOND;

/// A node ends the programs of a gateway that it hasn't heard for this long.
pub const GATEWAY_SILENT_US: Micros = 4 * SECOND;

/// A session's next program, and one that runs again, wait until the silent node must have ended the first run: it
/// heard its gateway up to one presence longer than it was heard, and then waits out `GATEWAY_SILENT_US`.
pub const SESSION_GRACE_US: Micros = GATEWAY_SILENT_US + PRESENCE_EVERY_US - NODE_SILENT_US;

/// An execution runs again so often at most.
pub const AGAIN_MAX: u8 = 2;

/// How often a gateway renews the leases of its sessions: a later part.
pub const LEASE_RENEWED_US: Micros = SECOND;

/// Executions on nodes that one gateway follows, those that wait for a place among them; beyond that, GM-2001.
pub const FOLLOWED_MAX: usize = 1_024;

/// An execution waits this long, for its session or for a place; then GM-2001.
pub const WAIT_MAX_US: Micros = 30 * SECOND;

/// A node: four places for each core, as by default.
pub const NODE_CORES: usize = 4;
pub const PLACES: usize = 4 * NODE_CORES;

/// Threads of a gateway that carry requests. Its database has one of its own.
pub const GATEWAY_CORES: usize = 4;

pub const NATS_SERVERS: usize = 3;
pub const NATS_CORES: usize = 8;

/// A program may run this long: the most that level `production` permits.
pub const WALL_LIMIT_US: Micros = 120 * SECOND;

/// A client whose gateway is gone is back after this long. Assumed.
pub const CLIENT_RECONNECTS_US: Micros = SECOND;

/// What is in front of the gateways sends nobody to a dead one after this long. Assumed.
pub const DEAD_GATEWAY_AVOIDED_US: Micros = 2 * SECOND;

/// Before each try of a NATS client to connect again.
pub const BUS_AGAIN_US: Micros = SECOND / 4;

/// To be connected, with TLS, beside all the others that come back: on average. Assumed.
pub const BUS_CONNECTS_US: f64 = 100_000.0;

/// How often a NATS client looks whether its server is there. The third look without an answer ends the connection.
pub const BUS_PING_US: Micros = 3 * SECOND / 2;

/// How long it tries one server.
pub const BUS_CONNECT_TIMEOUT_US: Micros = 3 * SECOND;

/// Who finds a node for an execution, and with what knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Each gateway by itself, by what it last heard and what it has given since: the design.
    Gateways,
    /// One queue for all, which knows every place at every moment: the baseline, which can't be built.
    Omniscient,
}

/// Each as the design has it; a test breaks one to see that somebody notices.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What a dead gateway left is recorded as lost.
    pub closes_what_a_gateway_left: bool,
    /// An execution that wrote ends with an error when its node is lost.
    pub ends_writers: bool,
    /// What a run says after it was given up isn't heard.
    pub drops_old_links: bool,
    /// A session waits for `SESSION_GRACE_US` after its node was given up.
    pub sessions_wait_out_silence: bool,
    /// A refused execution goes back to its queue.
    pub requeues_refused: bool,
    /// Somebody looks whether nodes are still there.
    pub notices_lost_nodes: bool,
    /// A session's lease, unless it's renewed.
    pub lease_us: Micros,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            closes_what_a_gateway_left: true,
            ends_writers: true,
            drops_old_links: true,
            sessions_wait_out_silence: true,
            requeues_refused: true,
            notices_lost_nodes: true,
            lease_us: 6 * SECOND,
        }
    }
}

/// What can be tried in place of the design, one by one or together.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Between two announcements of one node, but for the regular ones. The design: none.
    pub presence_gap_us: Micros,
    /// A node that says nothing to an offer for this long isn't waited for. The design: until it's given up.
    pub offer_time_us: Option<Micros>,
    /// The part of what a gateway follows that one owner may have. The design: all of it.
    pub owner_share: f64,
    pub ties: Ties,
    /// A refused execution is the next one. The design: it goes to the end, as if it had just come.
    pub refused_keep_their_turn: bool,
    pub bus_ping_us: Micros,
    pub bus_connect_timeout_us: Micros,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            presence_gap_us: 0,
            offer_time_us: None,
            owner_share: 1.0,
            ties: Ties::ByName,
            refused_keep_their_turn: false,
            bus_ping_us: BUS_PING_US,
            bus_connect_timeout_us: BUS_CONNECT_TIMEOUT_US,
        }
    }
}

/// One run of the simulation.
#[derive(Clone, Debug)]
pub struct Settings {
    pub nodes: usize,
    pub gateways: usize,
    pub sessions: usize,
    /// Executions that are asked for, a second.
    pub rate: f64,
    pub seconds: u64,
    pub seed: u64,
    pub placement: Placement,
    pub policy: Policy,
    pub rules: Rules,
}

impl Settings {
    /// Nobody is asked for anything after this.
    pub fn end(&self) -> Micros {
        self.seconds * SECOND
    }

    /// What comes before isn't counted: the cluster fills.
    pub fn warm(&self) -> Micros {
        self.end() / 12
    }

    /// This part of the time asked for.
    pub fn at_share(&self, share: f64) -> Micros {
        (self.end() as f64 * share) as Micros
    }
}
