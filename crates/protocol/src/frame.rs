//! Frames: a little-endian `u32` length, then that many bytes of one postcard-encoded message.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caps::FRAME_BYTES_MAX;

/// Bytes before each frame's body.
pub const FRAME_HEADER_BYTES: usize = 4;

/// Why bytes are not a frame. The peer is broken or hostile: the connection ends here.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FrameError {
    /// The announced or wanted length is over the cap.
    #[error("a frame of {bytes} bytes is over the cap of {FRAME_BYTES_MAX}")]
    TooLarge {
        /// The length that was announced or wanted.
        bytes: usize,
    },
    /// An empty frame carries no message.
    #[error("a frame of no bytes")]
    Empty,
    /// The body is not a message of this protocol version.
    #[error("not a message of this protocol: {0}")]
    Malformed(postcard::Error),
    /// The body goes on after its message.
    #[error("{0} stray bytes after a message")]
    Trailing(usize),
}

/// One whole frame, ready to be written.
pub fn encode_frame<M: Serialize>(message: &M) -> Result<Vec<u8>, FrameError> {
    let bytes = postcard::to_extend(message, vec![0u8; FRAME_HEADER_BYTES]).map_err(FrameError::Malformed)?;
    let body_bytes = bytes.len() - FRAME_HEADER_BYTES;
    if body_bytes > FRAME_BYTES_MAX {
        return Err(FrameError::TooLarge { bytes: body_bytes });
    }
    let mut bytes = bytes;
    let length = u32::try_from(body_bytes).map_err(|_| FrameError::TooLarge { bytes: body_bytes })?;
    bytes[..FRAME_HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// The length of the body that follows this header, within the cap.
pub fn decode_frame_len(header: [u8; FRAME_HEADER_BYTES]) -> Result<usize, FrameError> {
    let bytes = u32::from_le_bytes(header) as usize;
    match bytes {
        0 => Err(FrameError::Empty),
        bytes if bytes > FRAME_BYTES_MAX => Err(FrameError::TooLarge { bytes }),
        bytes => Ok(bytes),
    }
}

/// The message in a frame's body. The whole body must be used.
pub fn decode_body<M: DeserializeOwned>(body: &[u8]) -> Result<M, FrameError> {
    let (message, rest) = postcard::take_from_bytes(body).map_err(FrameError::Malformed)?;
    match rest.len() {
        0 => Ok(message),
        stray => Err(FrameError::Trailing(stray)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{FromWorker, Stream};

    #[test]
    fn a_frame_carries_its_length_before_its_message() {
        let message = FromWorker::Output { stream: Stream::Stdout, bytes: b"hi".to_vec() };
        let frame = encode_frame(&message).unwrap();
        let (header, body) = frame.split_at(FRAME_HEADER_BYTES);
        assert_eq!(decode_frame_len(header.try_into().unwrap()), Ok(body.len()));
        assert_eq!(decode_body::<FromWorker>(body), Ok(message));
    }

    #[test]
    fn lengths_outside_the_cap_are_refused_before_any_allocation() {
        assert_eq!(decode_frame_len([0; 4]), Err(FrameError::Empty));
        assert_eq!(decode_frame_len([0xff; 4]), Err(FrameError::TooLarge { bytes: 0xffff_ffff }));
    }

    #[test]
    fn stray_bytes_after_a_message_are_refused() {
        let mut frame = encode_frame(&FromWorker::CancelCall { id: 7 }).unwrap();
        frame.push(0);
        assert_eq!(decode_body::<FromWorker>(&frame[FRAME_HEADER_BYTES..]), Err(FrameError::Trailing(1)));
    }

    #[test]
    fn a_body_that_promises_more_bytes_than_it_has_is_refused() {
        // Variant 1 (Output), stream 0, then a byte string that claims to be 4 GiB long.
        let body = [1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f];
        assert!(matches!(decode_body::<FromWorker>(&body), Err(FrameError::Malformed(_))));
    }
}
