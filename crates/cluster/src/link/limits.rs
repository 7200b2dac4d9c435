//! Every size and every time of a link, each with its reason.

use std::time::Duration;

/// One message: the largest payload of a call, 16 MiB, in an envelope.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024 + 64 * 1024;

/// The data in one packet. A bus carries 1 MB at once, but a packet of that size holds up those of other links; most
/// programs and their answers fit into one of this size.
pub const PACKET_BYTES_MAX: usize = 128 * 1024;

/// What a packet has before its data: the version, three numbers and two flags, at most 27 bytes.
pub const PACKET_HEADER_BYTES_MAX: usize = 32;

/// What may be under way unacknowledged: 100 MB/s at a round trip of 10 ms, and at most two links' worth of it waits
/// in a bus's own buffers before it counts its reader as slow.
pub const WINDOW_BYTES: u32 = 1024 * 1024;

/// The widest window that an owner may choose: the memory that a peer can take is a window and a message.
pub const WINDOW_BYTES_MAX: u32 = 16 * 1024 * 1024;

/// What waits unacknowledged before a link is full: two windows, so that one is ready while another is under way.
pub const QUEUE_BYTES_FULL: usize = 2 * WINDOW_BYTES as usize;

/// What waits at most: a link that was not yet full takes any message, and one that is full still takes the few short
/// ones of its owner's own, such as the last.
pub const QUEUE_BYTES_MAX: usize = QUEUE_BYTES_FULL + MESSAGE_BYTES_MAX + 1024 * 1024;

/// What arrives before it is acknowledged alone: a quarter of the window, so that a sender never waits for it.
pub(super) const ACKNOWLEDGED_ALONE_BYTES: u64 = 256 * 1024;

/// How long an acknowledgement waits for data to ride along with: most answers of a program come sooner, and it is
/// far below [`PATIENCE`].
pub(super) const ACKNOWLEDGED_ALONE_AFTER: Duration = Duration::from_millis(20);

/// Without progress for this long, something was lost: well above a round trip and a late acknowledgement.
pub(super) const PATIENCE: Duration = Duration::from_millis(300);

/// Patience doubles up to this: a bus that returns is noticed within it, and one that is away costs little.
pub(super) const PATIENCE_MAX: Duration = Duration::from_secs(2);

/// Between two requests of a peer to send again that are followed: a peer that asks all the time gets one window in
/// this time, and not one for each of its packets.
pub(super) const RESEND_PAUSE: Duration = Duration::from_millis(20);

/// Empty buffers keep this much: above it, a link that once had a large message gives the memory back.
pub(super) const KEPT_BYTES: usize = 512 * 1024;

/// What each message has before it in the stream: its length, as a little-endian `u32`.
pub(super) const LENGTH_BYTES: usize = size_of::<u32>();
