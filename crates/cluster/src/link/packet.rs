//! A packet as bytes: its version, its numbers in postcard, and the data to its end.

use serde::{Deserialize, Serialize};

use super::error::LinkError;
use super::limits::{PACKET_BYTES_MAX, PACKET_HEADER_BYTES_MAX};

/// The first byte of each packet. Another version may mean everything after it differently.
pub(super) const VERSION: u8 = 1;

/// What a packet says besides its data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The number of the first byte of the data in its sender's stream; means nothing without data.
    pub(super) start: u64,
    /// All bytes before this one have arrived at the packet's sender.
    pub(super) acknowledged: u64,
    /// From there on, its sender has room for this many bytes.
    pub(super) window_bytes: u32,
    /// Its sender has seen a gap there, and asks for everything from there on.
    pub(super) asks_again: bool,
    /// Its sender wants a packet back at once, to learn what has arrived and what there is room for.
    pub(super) wants_answer: bool,
}

impl Header {
    /// A packet that has room for so much data, which is appended to it.
    pub(super) fn encode(&self, data_bytes: usize) -> Vec<u8> {
        let mut packet = Vec::with_capacity(PACKET_HEADER_BYTES_MAX + data_bytes);
        packet.push(VERSION);
        postcard::to_extend(self, packet).expect("numbers are written to memory")
    }
}

/// A packet's header and data. Sizes are checked here, numbers where they are used.
pub(super) fn decode(packet: &[u8]) -> Result<(Header, &[u8]), LinkError> {
    if packet.len() > PACKET_BYTES_MAX + PACKET_HEADER_BYTES_MAX {
        return Err(LinkError::PacketTooLarge { bytes: packet.len() });
    }
    let (&version, rest) = packet.split_first().ok_or(LinkError::Empty)?;
    if version != VERSION {
        return Err(LinkError::UnknownVersion { version });
    }
    let (header, data) = postcard::take_from_bytes(rest).map_err(LinkError::Malformed)?;
    if data.len() > PACKET_BYTES_MAX {
        return Err(LinkError::PacketTooLarge { bytes: packet.len() });
    }
    Ok((header, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_header_is_within_its_limit() {
        let header = Header {
            start: u64::MAX,
            acknowledged: u64::MAX,
            window_bytes: u32::MAX,
            asks_again: true,
            wants_answer: true,
        };
        let mut packet = header.encode(PACKET_BYTES_MAX);
        assert!(packet.len() <= PACKET_HEADER_BYTES_MAX, "{} bytes", packet.len());
        packet.extend_from_slice(&[7; PACKET_BYTES_MAX]);
        assert_eq!(decode(&packet), Ok((header, &[7; PACKET_BYTES_MAX][..])));
    }

    #[test]
    fn what_is_no_packet_is_refused_with_its_reason() {
        assert_eq!(decode(&[]), Err(LinkError::Empty));
        let error = decode(&[9, 0, 0, 0, 0, 0]).unwrap_err();
        assert_eq!(error, LinkError::UnknownVersion { version: 9 });
        assert_eq!(
            error.to_string(),
            "the peer speaks version 9 of the link, and this is version 1; update the older of both"
        );
        assert!(matches!(decode(&[VERSION, 0, 0]), Err(LinkError::Malformed(_))));
        assert!(matches!(decode(&[VERSION, 0, 0, 0, 2, 0]), Err(LinkError::Malformed(_))));
        let mut packet = vec![VERSION, 0, 0, 0, 0, 0];
        packet.resize(6 + PACKET_BYTES_MAX + 1, 0);
        assert_eq!(decode(&packet), Err(LinkError::PacketTooLarge { bytes: packet.len() }));
        packet.resize(1024 * 1024, 0);
        assert_eq!(decode(&packet), Err(LinkError::PacketTooLarge { bytes: 1024 * 1024 }));
    }
}
