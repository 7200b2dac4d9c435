//! Links over a bus of the tests' own, in simulated time.

mod delivery;
mod flow;
mod hostile;
mod world;

use std::time::Duration;

use super::{Link, Moment};

fn ms(ms: u64) -> Moment {
    Moment::after_start(Duration::from_millis(ms))
}

/// Everything that a link has to publish at this moment.
fn polled(link: &mut Link, now: Moment) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| link.poll_packet(now)).collect()
}

/// Everything that has arrived whole.
fn taken(link: &mut Link) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| link.next_message()).collect()
}

/// Brings all these packets to a link.
fn deliver(packets: &[Vec<u8>], link: &mut Link, now: Moment) {
    for packet in packets {
        link.received(packet, now).unwrap();
    }
}
