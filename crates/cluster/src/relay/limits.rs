//! Every limit of connections that are passed on, with its reason.

use std::time::Duration;

use crate::link::PACKET_BYTES_MAX;
use crate::presence::GATEWAY_LOST_AFTER;

/// Connections that a leader takes at once, of all gateways that stand by: more than its server serves, which says so
/// in words that clients understand.
pub const CONNECTIONS_MAX: usize = 1_024;

/// Connections beyond those that are told so at once. More are let go without a word.
pub(super) const REFUSALS_MAX: usize = 64;

/// Bytes between the relay and the server, each way. A connection holds two windows of its link to send, one that has
/// arrived, and this: less than 4 MB.
pub(super) const LOCAL_BYTES: usize = 64 * 1024;

/// What is read at once: a request or an answer, most of the time.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// The longest message that is waited for: what is read at once, or an opening, and its seal. Nobody knows who sends it
/// before all of it is there.
pub(super) const MESSAGE_BYTES_MAX: usize = PACKET_BYTES_MAX;

/// An end that has said nothing for so long says that it is there. That its link acknowledges something shows no more than
/// that somebody reaches the bus.
pub(super) const STILL_HERE_AFTER: Duration = Duration::from_secs(1);

/// Between two looks whether the other end is still heard.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);

/// An end that is silent for so long is gone. A leader that is silent for so long doesn't lead any more either.
pub(super) const SILENT_AFTER: Duration = GATEWAY_LOST_AFTER;

/// How long the leader's server may take until it has room for a connection; less than what makes the leader seem gone.
pub(super) const FETCHED_WITHIN: Duration = Duration::from_secs(3);

/// A client that doesn't read what it asked for, as for connections that aren't passed on. Nothing is held for it any
/// more.
pub(super) const STUCK_AFTER: Duration = Duration::from_secs(30);

/// How long the last bytes may take to their client, once the server is done: what waits on both ends, at 30 KB/s.
pub(super) const DONE_WITHIN: Duration = Duration::from_secs(120);

/// How long a client may go on to send once it was answered: closing with something unread takes the answer back.
pub(super) const LINGER_WITHIN: Duration = Duration::from_secs(1);

/// How long last words may take to get out.
pub(super) const LAST_WORDS_WITHIN: Duration = Duration::from_secs(1);

/// Hosts, and origins, that come with a connection. All of them fit into one packet of a link.
pub(super) const NAMES_MAX: usize = 128;

/// One of them: the longest host name, a scheme and a port.
pub(super) const NAME_BYTES_MAX: usize = 300;

/// Where a client connects from: an address of IPv6 with its zone and a port.
pub(super) const PEER_BYTES_MAX: usize = 100;
