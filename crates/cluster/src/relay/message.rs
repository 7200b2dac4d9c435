//! What the two ends of a connection that is passed on say to each other.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::opening::Opening;

/// What the leader makes up for each connection: what was said on another one is of no use on this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Taking([u8; 16]);

impl Taking {
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for Taking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Adding a variant at the end keeps old messages readable; anything else needs a new
/// [`WIRE_VERSION`](crate::wire::WIRE_VERSION).
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Said {
    /// The first message, to the leader: a client has connected.
    Open { wire: u16, opening: Opening },
    /// The leader's answer: it serves the connection, as this one, once anything is said on it.
    Taken(Taking),
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
