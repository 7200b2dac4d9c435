//! Frames between the gateway and its workers.

use std::fmt::Debug;

use gristmill_protocol::{
    FRAME_HEADER_BYTES, FromWorker, FromZygote, ToWorker, ToZygote, decode_body, decode_frame_len,
    encode_frame,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::target::{Reached, Target};

pub const TARGET: Target = Target {
    name: "frames",
    promise: "a frame is refused, or a message that says the same, in no more bytes, when it is sent on",
    run,
    dictionary: &[
        b"\xff\xff\xff\xff\x0f",
        b"\x80\x80\x80\x80\x10",
        b"\0\0\0\x10",
        b"result",
        b"\xf0\x9f\x8c\xbe",
    ],
    bytes_max: 4096,
};

fn run(bytes: &[u8]) -> Reached {
    let mut kinds = [
        take_as::<ToZygote>(bytes),
        take_as::<FromZygote>(bytes),
        take_as::<ToWorker>(bytes),
        take_as::<FromWorker>(bytes),
        None,
    ];
    if let Some((header, body)) = bytes.split_first_chunk::<FRAME_HEADER_BYTES>()
        && let Ok(length) = decode_frame_len(*header)
        && let Some(body) = body.get(..length)
    {
        kinds[4] = take_as::<FromWorker>(body);
    }
    Reached::of(kinds)
}

/// Which variant it is, if it is a message.
fn take_as<M: Serialize + DeserializeOwned + PartialEq + Debug>(body: &[u8]) -> Option<u8> {
    let message = decode_body::<M>(body).ok()?;
    let frame = encode_frame(&message).expect("what was decoded can be encoded");
    let (header, again) = frame.split_first_chunk::<FRAME_HEADER_BYTES>().expect("a frame has a header");
    assert_eq!(decode_frame_len(*header), Ok(again.len()));
    assert!(again.len() <= body.len(), "a message grew on its way");
    assert_eq!(decode_body::<M>(again), Ok(message));
    again.first().copied()
}
