//! Why a connection is not passed on, or not any more.

use super::limits::{SILENT_AFTER, STUCK_AFTER};
use super::opening::OpeningError;
use crate::bus::BusError;
use crate::names::NodeName;

/// A connection that was not served to its end. See [`RelayError::nothing_was_read`] for what can still be done with it.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// Nothing was read of the connection, and none can be passed on with this opening.
    #[error(transparent)]
    Opening(#[from] OpeningError),
    /// Nothing was read of the connection.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// Nothing was read of the connection: another gateway may take it.
    #[error("{leader} doesn't take the connection: {why}")]
    NotTaken { leader: NodeName, why: String },
    /// Another gateway leads. If the connection was not taken, that one may take it; else its client connects again.
    #[error("{leader} doesn't lead any more")]
    LeaderChanged { leader: NodeName, was_taken: bool },
    /// The connection is of no use any more, and its client may connect again.
    #[error("{leader} has been silent for {} s", SILENT_AFTER.as_secs())]
    Silent { leader: NodeName },
    /// The same.
    #[error("{leader} has let go of the connection")]
    LetGo { leader: NodeName },
    /// The same.
    #[error("{leader} broke the protocol: {why}")]
    Broken { leader: NodeName, why: String },
    /// The client is gone, or should be.
    #[error("the client hasn't read anything for {} s", STUCK_AFTER.as_secs())]
    ClientStuck,
}

impl RelayError {
    /// Whether not a byte of the connection was read or written: it can be passed on to another leader, or answered
    /// here.
    pub fn nothing_was_read(&self) -> bool {
        match self {
            Self::Opening(_) | Self::Bus(_) | Self::NotTaken { .. } => true,
            Self::LeaderChanged { was_taken, .. } => !was_taken,
            Self::Silent { .. } | Self::LetGo { .. } | Self::Broken { .. } | Self::ClientStuck => false,
        }
    }
}
