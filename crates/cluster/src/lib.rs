//! Programs on machines of their own: gateways and nodes on one message bus.
//!
//! A *gateway* takes a request and does with it what it always does: policy, session, record, and every call through
//! its one door. Only the worker's process is elsewhere, on a *node*. The gateway holds one end of a pair of sockets;
//! a *link* carries what is said on it to the node, where it reaches a worker behind that node's own walls. So a node
//! holds no secret, and one that is lost can write nothing any more.
//!
//! Walls: what comes from the bus is hostile, whoever sent it. Messages are bounded and checked, names resolve beneath
//! folders that were opened here, a machine is heard under its own name only (its NKey's permissions), and everything
//! that waits has a bound.

mod names;
mod subjects;

pub mod link;
mod wire;

pub mod folders;
mod parts;

mod bus;
mod presence;

mod gateway;
mod node;

mod around;

pub mod relay;
pub mod state;

pub use around::{OrderError, Surroundings, look_around, order};
pub use bus::{Bus, BusError, BusSettings, CONNECT_TIMEOUT, Insist, connect};
pub use gateway::{Nodes, NodesSettings, Placing};
pub use names::{BadName, ClusterName, Label, LinkId, NodeName};
pub use node::{NodeError, NodeSettings, STOP_GRACE, run_node};
pub use presence::{GatewayPresence, GatewaySeen, LOOK_AROUND, NodePresence, NodeSeen, StateRole};
pub use wire::{Order, WIRE_VERSION};
