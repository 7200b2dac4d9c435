//! What things cost, each with where the figure comes from. "Measured" is on the machine of docs/performance.md: a
//! shared virtual one with two cores, where figures vary by half.

use super::timeline::Micros;

/// Of the 1.3 ms of CPU that a gateway's own process spends on an execution over HTTP: before the offer. Measured
/// together; the parts are assumed.
pub const ADMIT_US: Micros = 700;

/// The rest of them: report, record, answer.
pub const CONCLUDE_US: Micros = 600;

/// A gateway's CPU for one call to a server. Measured.
pub const CALL_US: Micros = 200;

/// A gateway's CPU for one message of a link or one offer. Assumed; it holds for the other end, too.
pub const MESSAGE_US: Micros = 5;

/// A gateway's CPU to hear one presence: to read it and find its node. Assumed.
pub const PRESENCE_US: Micros = 3;

/// A gateway's CPU to find a node, for each node that it knows: it looks at all of them. Measured: 15 to 60 ns, more
/// where they don't fit into the caches.
pub const PICK_NODE_US: f64 = 0.035;

/// Looks for a node that each placement takes.
pub const PICKS: f64 = 2.0;

/// The thread of a gateway's database, for the record and the audit of one execution. Measured: a third of the 1.16
/// million instructions of a request. Those that come together share a transaction, so it's less under load.
pub const RECORD_US: Micros = 200;

/// The same thread, for the audit of one call. Measured.
pub const RECORD_CALL_US: Micros = 13;

/// Its history and its audit, by default.
pub const RECORDS_MAX_BYTES: f64 = 768e6;

/// On the disk of a gateway, for an execution with two calls and its events. Measured: 300 MB for 100,000.
pub const RECORD_BYTES: f64 = 3_000.0;

/// A node's CPU for one execution beside its program: fork, walls, warm pages, the end. Measured: 384 executions a
/// second on two cores are 5.2 ms each, of which the gateway has 1.3.
pub const FRESH_WORKER_US: f64 = 3_900.0;

/// The CPU of all NATS servers together for a message from one client to another. Measured: nats-server 2.15, three
/// servers, 300 bytes, 80,000 messages a second that come in tens. Alone, a message takes up to 70.
pub const NATS_MESSAGE_US: f64 = 10.0;

/// The same for each client that hears a presence. Measured: 2 to 7 at 320,000 and 64,000 a second, 16 at 48,000.
pub const NATS_HEARD_US: f64 = 4.0;

/// A NATS server's network, each way: 10 Gbit/s.
pub const NATS_BYTES_PER_SECOND: f64 = 1.25e9;

/// Acknowledgements that travel alone, for each message of a link; the others ride on what goes the other way.
/// Assumed.
pub const ACKNOWLEDGED_ALONE: f64 = 0.5;

// Bytes of messages with their subject. Assumed, from what they hold.
pub const OFFER_BYTES: f64 = 400.0;
pub const OFFER_ANSWER_BYTES: f64 = 120.0;
pub const PROGRAM_BYTES: f64 = 6_000.0;
pub const OUTPUT_BYTES: f64 = 1_000.0;
pub const CALL_BYTES: f64 = 700.0;
pub const ANSWER_BYTES: f64 = 4_000.0;
pub const END_BYTES: f64 = 2_000.0;
pub const ACKNOWLEDGEMENT_BYTES: f64 = 120.0;
pub const PRESENCE_BYTES: f64 = 250.0;

/// A session's workspace on its way to a node with an offer, and as much of it back.
pub const WORKSPACE_BYTES: f64 = 20_000.0;

/// Writes to JetStream for an execution in a session, in the later part: fence, workspace, release.
pub const SESSION_WRITES: f64 = 3.0;

/// US dollars for a vCPU and an hour: what general-purpose machines cost on demand, about.
pub const VCPU_HOUR_USD: f64 = 0.04;

/// What is planned for: the rest is for bursts and lost machines.
pub const PLANNED_USE: f64 = 0.7;
