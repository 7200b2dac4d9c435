//! What the two ends of a connection that is passed on say to each other.

use serde::{Deserialize, Serialize};

use super::opening::Opening;

/// Adding a variant at the end keeps old messages readable; anything else needs a new
/// [`WIRE_VERSION`](crate::wire::WIRE_VERSION).
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Said {
    /// The first message, to the leader: a client has connected.
    Open { wire: u16, opening: Opening },
    /// The leader's answer: it serves the connection.
    Taken,
    /// The leader's other answer, and why it doesn't.
    Refused(String),
    /// What was read.
    Bytes(#[serde(with = "serde_bytes")] Vec<u8>),
    /// Nothing more was there to read. The other direction goes on.
    End,
    /// The last message: everything was said, and nobody reads any more. Whoever takes it lets go of the link, which
    /// is its answer.
    Close,
    /// Nothing happens, and this end is there.
    StillHere,
}
