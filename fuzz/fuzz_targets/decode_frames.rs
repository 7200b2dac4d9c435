//! Any bytes, taken for each kind of message: refused, or a message that says the same when it is
//! sent on.
#![no_main]

use std::fmt::Debug;

use gristmill_protocol::{
    FRAME_HEADER_BYTES, FromWorker, FromZygote, ToWorker, ToZygote, decode_body, decode_frame_len,
    encode_frame,
};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|bytes: &[u8]| {
    take_as::<ToZygote>(bytes);
    take_as::<FromZygote>(bytes);
    take_as::<ToWorker>(bytes);
    take_as::<FromWorker>(bytes);
    if let Some((header, body)) = bytes.split_first_chunk::<FRAME_HEADER_BYTES>()
        && let Ok(length) = decode_frame_len(*header)
        && let Some(body) = body.get(..length)
    {
        take_as::<FromWorker>(body);
    }
});

fn take_as<M: Serialize + DeserializeOwned + PartialEq + Debug>(body: &[u8]) {
    let Ok(message) = decode_body::<M>(body) else { return };
    let frame = encode_frame(&message).expect("what was decoded can be encoded");
    let (header, again) = frame.split_first_chunk::<FRAME_HEADER_BYTES>().expect("a frame has a header");
    assert_eq!(decode_frame_len(*header), Ok(again.len()));
    assert!(again.len() <= body.len(), "a message grew on its way");
    assert_eq!(decode_body::<M>(again), Ok(message));
}
