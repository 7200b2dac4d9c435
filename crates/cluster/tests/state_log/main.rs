//! The log that gateways share, and blobs, on real NATS servers that are killed, cut off and started again.
//!
//! Where `NATS_SERVER_FOR_TESTS` isn't set, nothing is checked. Otherwise it names the `nats-server` to start.

mod blobs;
mod following;
mod keys;
mod lost_acks;
mod order;
mod proxy;
mod server;
mod three_servers;
