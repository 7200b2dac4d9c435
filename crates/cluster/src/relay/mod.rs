//! Connections that one gateway accepts and another serves: the gateway that stands by passes on the bytes of its
//! clients, both ways, to the one that leads.
//!
//! Each connection is a link of its own. It begins with an [`Opening`], and nothing is read of a client before the
//! leader has taken that: a connection that wasn't taken can be passed on to another leader, and bytes that were sent
//! again never reach a gateway that knows nothing of what came before them, so that no request runs twice.
//!
//! Walls: what is passed on is sealed with the key of the shared state, so the bus carries no request and no token in the
//! clear. What was recorded of one connection opens no other: the server hears of a connection only after something was
//! said on it that is sealed for it alone. Bytes aren't read on the way, and a side that doesn't read holds up only its own connection. What is open,
//! what waits and how long anything may take are bounded in [`limits`]. Either end notices within seconds that the
//! other is gone. A gateway speaks under its own name only; the permissions of its NKey hold it to that.

mod error;
mod limits;
mod message;
mod opening;
mod passage;
mod passed_on;
mod passing;
mod sealed_talk;
mod signs;
mod taking;
#[cfg(test)]
mod tests;

pub use error::RelayError;
pub use limits::CONNECTIONS_MAX;
pub use opening::{Opening, OpeningError};
pub use passed_on::{PassedOn, PassedStream};
pub use passing::pass_on;
pub use taking::take_connections;
