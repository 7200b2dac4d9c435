//! Events that a server streams to us.

use gristmill_mcp::fuzzing::read_events;

use crate::target::{Reached, Target, about};

const BYTES_MAX: usize = 256;

pub const TARGET: Target = Target {
    name: "sse",
    promise: "a stream means the same however it is cut into pieces, and no event is larger than allowed",
    run,
    dictionary: &[
        b"data:",
        b"data: ",
        b"\n\n",
        b"\r\n",
        b"\r",
        b"id: 7",
        b"event: message",
        b"retry: 10",
        b":",
        b"\xff",
        b"\0",
    ],
    bytes_max: 2048,
};

fn run(bytes: &[u8]) -> Reached {
    let whole = read_events(&[bytes], BYTES_MAX);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    let (events, is_given_up) = read_events(&single, BYTES_MAX);
    match is_given_up {
        // What came before it in the same piece is lost with it.
        true => assert!(whole.1, "too large in small pieces only"),
        false => assert_eq!(whole, (events.clone(), false), "another meaning in small pieces"),
    }
    // The first byte says where it is cut in two.
    let cut = bytes.first().map_or(0, |byte| usize::from(*byte).min(bytes.len()));
    let (first, second) = bytes.split_at(cut);
    assert_eq!(read_events(&[first, second], BYTES_MAX).1, is_given_up, "cut at {cut}");
    for (data, id) in &events {
        assert!(data.len() <= BYTES_MAX, "an event of {} bytes", data.len());
        assert!(id.as_ref().is_none_or(|id| !id.contains(['\n', '\r', '\0'])), "an id of two lines");
    }
    let has_id = events.iter().filter(|(_, id)| id.is_some()).count();
    Reached::of((is_given_up, about(events.len()), about(has_id)))
}
