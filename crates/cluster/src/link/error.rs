//! What can be wrong with a packet that arrived, and with a message to send.

use super::limits::{MESSAGE_BYTES_MAX, QUEUE_BYTES_MAX};

/// What arrived is not a packet of this link. The peer is broken or hostile, and its owner does well to end the link;
/// the packet changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Nothing at all, not even a version.
    #[error("a packet of no bytes")]
    Empty,
    /// The peer is of another version of Gristmill.
    #[error(
        "the peer speaks version {version} of the link, and this is version {}; update the older of both",
        super::packet::VERSION
    )]
    UnknownVersion {
        /// The version in the packet.
        version: u8,
    },
    /// Larger than any packet of a link.
    #[error("a packet of {bytes} bytes is too large")]
    PacketTooLarge {
        /// The whole packet.
        bytes: usize,
    },
    /// Its numbers cannot be read.
    #[error("not a packet of this link: {0}")]
    Malformed(postcard::Error),
    /// Data that the window had no room for.
    #[error("data up to byte {end} is past the window, which ends at byte {limit}")]
    PastWindow {
        /// The number after the last byte in the packet.
        end: u64,
        /// The number after the last byte that the peer may send.
        limit: u64,
    },
    /// An acknowledgement of bytes that were never sent.
    #[error("byte {acknowledged} is acknowledged, and only {sent} bytes were sent")]
    NeverSent {
        /// What the peer says has arrived.
        acknowledged: u64,
        /// What was sent so far.
        sent: u64,
    },
    /// A window wider than both ends agreed on.
    #[error("a window of {bytes} bytes is wider than the agreed {bytes_max}")]
    WindowTooWide {
        /// The window in the packet.
        bytes: u32,
        /// The window of this end.
        bytes_max: u32,
    },
    /// A message longer than any may be.
    #[error("a message of {bytes} bytes is over the limit of {bytes_max}")]
    MessageTooLarge {
        /// The length that was announced.
        bytes: usize,
        /// What this end takes.
        bytes_max: usize,
    },
}

/// Why a message is not sent. Nothing was queued, and the link goes on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The message can never be sent.
    #[error("a message of {bytes} bytes is over the limit of {MESSAGE_BYTES_MAX}")]
    MessageTooLarge {
        /// The length of the message.
        bytes: usize,
    },
    /// The link has been full for long; its owner must wait until it is not.
    #[error("{queued_bytes} bytes wait to be sent, and a message more would exceed {QUEUE_BYTES_MAX}")]
    QueueFull {
        /// What waits already.
        queued_bytes: usize,
    },
}
