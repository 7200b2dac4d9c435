//! A state that gateways share, on a real NATS server: gateways that begin it, join it, are killed, frozen and started
//! again, each with a data folder and a runtime of its own.
//!
//! Where `NATS_SERVER_FOR_TESTS` isn't set, nothing is checked. Otherwise it names the `nats-server` to start.

#[expect(dead_code, reason = "the tests of the log use the rest of it")]
#[path = "../state_log/server.rs"]
mod server;

mod changes;
mod gateways;
mod picture;

mod beginning;
mod bus_away;
mod busy_files;
mod leaving;
mod losses;
mod overtaken;
mod repairs;
mod snapshots;
