//! A link: an ordered, reliable, bounded stream of messages each way over a bus that loses, doubles, delays and
//! reorders packets.
//!
//! A link opens nothing, waits for nothing and knows no clock: its owner publishes what [`Link::poll_packet`]
//! returns, hands in what the bus delivers, and says what time it is. Both ends are alike. A link never ends by
//! itself, however long its peer is silent; that the peer is gone is for its owner to find out.
//!
//! Whatever a peer sends is hostile. A packet is checked whole before it changes anything, nothing panics, and a
//! link holds at most [`QUEUE_BYTES_MAX`] to send and one message and one window of what arrived.

mod byte_queue;
mod duplex;
mod error;
mod limits;
mod moment;
mod packet;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use duplex::Link;
pub use error::{LinkError, SendError};
pub use limits::{
    MESSAGE_BYTES_MAX, PACKET_BYTES_MAX, PACKET_HEADER_BYTES_MAX, QUEUE_BYTES_FULL, QUEUE_BYTES_MAX,
    WINDOW_BYTES, WINDOW_BYTES_MAX,
};
pub use moment::Moment;
