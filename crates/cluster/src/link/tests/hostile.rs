//! What a peer may try.

use proptest::prelude::*;

use super::super::packet::{Header, VERSION};
use super::super::{
    Link, LinkError, MESSAGE_BYTES_MAX, PACKET_BYTES_MAX, PACKET_HEADER_BYTES_MAX, WINDOW_BYTES,
};
use super::world::refused;
use super::{deliver, ms, polled, taken};

const HONEST: Header =
    Header { start: 0, acknowledged: 0, window_bytes: WINDOW_BYTES, asks_again: false, wants_answer: false };

fn packet(header: &Header, data: &[u8]) -> Vec<u8> {
    let mut packet = header.encode(data.len());
    packet.extend_from_slice(data);
    packet
}

/// A packet that goes on at `start`.
fn data(start: u64, data: &[u8]) -> Vec<u8> {
    packet(&Header { start, ..HONEST }, data)
}

#[test]
fn another_version_is_told_apart() {
    let error = refused(&mut Link::new(), &[VERSION + 1, 0, 0, 0, 0, 0], ms(0));
    assert_eq!(error, LinkError::UnknownVersion { version: VERSION + 1 });
}

#[test]
fn packets_of_any_size_are_refused_before_they_are_read() {
    let mut link = Link::new();
    assert_eq!(refused(&mut link, &[], ms(0)), LinkError::Empty);
    let bytes = PACKET_BYTES_MAX + PACKET_HEADER_BYTES_MAX + 1;
    assert_eq!(refused(&mut link, &vec![VERSION; bytes], ms(0)), LinkError::PacketTooLarge { bytes });
}

#[test]
fn data_that_ignores_the_window_is_refused() {
    let mut link = Link::with_window(1000);
    let limit = 1000;
    assert_eq!(
        refused(&mut link, &packet(&HONEST_SMALL, &[0; 1001]), ms(0)),
        LinkError::PastWindow { end: 1001, limit }
    );
    let far = Header { start: u64::MAX, ..HONEST_SMALL };
    assert_eq!(
        refused(&mut link, &packet(&far, &[0; 9]), ms(0)),
        LinkError::PastWindow { end: u64::MAX, limit }
    );
    // Whole messages fill the window; what the owner takes opens it, once the peer was told.
    link.received(&packet(&HONEST_SMALL, &[0; 1000]), ms(0)).unwrap();
    let next = packet(&Header { start: 1000, ..HONEST_SMALL }, &[0; 4]);
    assert_eq!(refused(&mut link, &next, ms(0)), LinkError::PastWindow { end: 1004, limit });
    assert_eq!(taken(&mut link).len(), 250);
    assert_eq!(refused(&mut link, &next, ms(0)), LinkError::PastWindow { end: 1004, limit });
    assert_eq!(polled(&mut link, ms(0)).len(), 1);
    link.received(&next, ms(0)).unwrap();
}

const HONEST_SMALL: Header = Header { window_bytes: 1000, ..HONEST };

#[test]
fn an_acknowledgement_of_what_was_never_sent_is_refused() {
    let mut link = Link::new();
    link.send(&[7; 96]).unwrap();
    let forged = |acknowledged| packet(&Header { acknowledged, ..HONEST }, &[]);
    assert_eq!(refused(&mut link, &forged(1), ms(0)), LinkError::NeverSent { acknowledged: 1, sent: 0 });
    polled(&mut link, ms(0));
    assert_eq!(
        refused(&mut link, &forged(101), ms(0)),
        LinkError::NeverSent { acknowledged: 101, sent: 100 }
    );
    assert!(matches!(refused(&mut link, &forged(u64::MAX), ms(0)), LinkError::NeverSent { .. }));
    link.received(&forged(100), ms(0)).unwrap();
    assert_eq!(link.unacknowledged_bytes(), 0);
}

#[test]
fn a_window_wider_than_agreed_is_refused() {
    let forged = packet(&Header { window_bytes: u32::MAX, ..HONEST }, &[]);
    let error = refused(&mut Link::new(), &forged, ms(0));
    assert_eq!(error, LinkError::WindowTooWide { bytes: u32::MAX, bytes_max: WINDOW_BYTES });
}

#[test]
fn a_message_over_the_limit_is_refused_when_its_length_arrives() {
    let mut link = Link::new();
    let length = u32::try_from(MESSAGE_BYTES_MAX + 1).unwrap().to_le_bytes();
    let too_large = |bytes: usize| LinkError::MessageTooLarge { bytes, bytes_max: MESSAGE_BYTES_MAX };
    let bytes = MESSAGE_BYTES_MAX + 1;
    assert_eq!(refused(&mut link, &data(0, &length), ms(0)), too_large(bytes));
    // In two pieces, and behind a message that is right.
    link.received(&data(0, &[2, 0, 0, 0, b'h', b'i', length[0], length[1]]), ms(0)).unwrap();
    assert_eq!(refused(&mut link, &data(8, &length[2..]), ms(0)), too_large(bytes));
    assert_eq!(taken(&mut link), [b"hi".to_vec()]);
    let announced = u32::from_le_bytes([length[0], length[1], 0xff, 0xff]) as usize;
    assert_eq!(refused(&mut link, &data(8, &[0xff, 0xff]), ms(0)), too_large(announced));
}

#[test]
fn an_end_that_takes_short_messages_waits_for_no_longer_one() {
    let mut link = Link::new().for_messages_of(100);
    let error = refused(&mut link, &data(0, &[101, 0, 0, 0]), ms(0));
    assert_eq!(error, LinkError::MessageTooLarge { bytes: 101, bytes_max: 100 });
    link.received(&data(0, &[&[100, 0, 0, 0][..], &[7; 100]].concat()), ms(0)).unwrap();
    assert_eq!(taken(&mut link), [vec![7; 100]]);
}

#[test]
fn what_has_arrived_is_not_overwritten() {
    let mut link = Link::new();
    link.received(&data(0, &[4, 0, 0, 0, b'r', b'i']), ms(0)).unwrap();
    link.received(&data(0, &[4, 0, 0, 0, b'w', b'r']), ms(0)).unwrap();
    link.received(&data(2, &[9, 9, b'w', b'r', b's', b'e']), ms(0)).unwrap();
    assert_eq!(taken(&mut link), [b"rise".to_vec()]);
    link.received(&data(0, &[0; 8]), ms(0)).unwrap();
    assert_eq!(taken(&mut link).len(), 0);
}

#[test]
fn a_peer_that_asks_again_and_again_gets_one_window_each_time_it_may() {
    let mut link = Link::new();
    link.send(&vec![7; WINDOW_BYTES as usize]).unwrap();
    polled(&mut link, ms(0));
    let mut packets = 0;
    for acknowledged in 0..1000 {
        let asks = Header { acknowledged, asks_again: true, wants_answer: true, ..HONEST };
        link.received(&packet(&asks, &[]), ms(acknowledged / 50)).unwrap();
        packets += polled(&mut link, ms(acknowledged / 50)).len();
    }
    // One window again, one byte more of room for each acknowledgement, and nothing else.
    assert!(link.resent_bytes() <= u64::from(WINDOW_BYTES), "{} bytes", link.resent_bytes());
    assert!(packets <= 1000 + 9, "{packets} packets for 1000");
}

#[test]
fn empty_messages_take_no_more_memory_than_their_bytes() {
    let mut link = Link::new();
    for start in (0..u64::from(WINDOW_BYTES)).step_by(PACKET_BYTES_MAX) {
        link.received(&data(start, &[0; PACKET_BYTES_MAX]), ms(0)).unwrap();
    }
    assert_eq!(link.untaken_bytes(), WINDOW_BYTES as usize);
    assert_eq!(taken(&mut link).len(), WINDOW_BYTES as usize / 4);
    assert_eq!(link.untaken_bytes(), 0);
}

#[test]
fn a_message_that_never_ends_takes_a_message_and_a_window() {
    let mut link = Link::new();
    let mut start = 0;
    let length = u32::try_from(MESSAGE_BYTES_MAX).unwrap().to_le_bytes();
    let mut next = vec![0; PACKET_BYTES_MAX];
    next[..4].copy_from_slice(&length);
    while link.received(&data(start, &next), ms(0)).is_ok() {
        start += next.len() as u64;
        next.fill(0);
        polled(&mut link, ms(0));
        assert!(link.untaken_bytes() <= 4 + MESSAGE_BYTES_MAX + WINDOW_BYTES as usize);
    }
    assert!(start > MESSAGE_BYTES_MAX as u64);
    assert_eq!(link.next_message().map(|message| message.len()), Some(MESSAGE_BYTES_MAX));
}

/// Numbers that are near something.
fn number() -> impl Strategy<Value = u64> {
    let near = prop_oneof![
        Just(0),
        Just(500),
        Just(1000),
        Just(1500),
        Just(2000),
        Just(u64::MAX / 2),
        Just(u64::MAX)
    ];
    prop_oneof![
        (near, -20i64..20).prop_map(|(near, off)| near.saturating_add_signed(off)),
        0u64..3000,
        any::<u64>(),
    ]
}

fn forged() -> impl Strategy<Value = (Header, Vec<u8>)> {
    let window = prop_oneof![0u32..2100, any::<u32>()];
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        (0usize..2100, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]),
    ];
    (number(), number(), window, any::<bool>(), any::<bool>(), bytes).prop_map(
        |(start, acknowledged, window_bytes, asks_again, wants_answer, bytes)| {
            (Header { start, acknowledged, window_bytes, asks_again, wants_answer }, bytes)
        },
    )
}

proptest! {
    #[test]
    fn any_bytes_are_refused_or_harmless(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 1..20)) {
        let mut link = Link::with_window(2000);
        link.send(&[7; 1000]).unwrap();
        for (at, mut bytes) in packets.into_iter().enumerate() {
            if let Some(first) = bytes.first_mut().filter(|_| at % 4 > 0) {
                *first = VERSION;
            }
            let now = ms(at as u64 * 100);
            if link.received(&bytes, now).is_err() {
                refused(&mut link, &bytes, now);
            }
            polled(&mut link, now);
            taken(&mut link);
        }
    }

    #[test]
    fn forged_packets_take_no_more_memory_than_honest_ones(forged in prop::collection::vec(forged(), 1..60)) {
        let mut link = Link::with_window(2000);
        for (at, (header, bytes)) in forged.iter().enumerate() {
            let now = ms(at as u64 * 70);
            let _ = link.send(&[7; 333]);
            let forged = packet(header, bytes);
            if link.received(&forged, now).is_err() {
                refused(&mut link, &forged, now);
            }
            prop_assert!(polled(&mut link, now).len() < 100);
            prop_assert!(link.untaken_bytes() <= 2000 + 4 + MESSAGE_BYTES_MAX);
            prop_assert!(link.next_due().is_none_or(|due| due > now));
            if at % 3 == 0 {
                taken(&mut link);
            }
        }
    }

    #[test]
    fn forged_packets_never_replace_what_has_arrived(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..6),
        forged in prop::collection::vec(forged(), 1..40),
    ) {
        let (mut from, mut to) = (Link::with_window(2000), Link::with_window(2000));
        for message in &messages {
            from.send(message).unwrap();
        }
        deliver(&polled(&mut from, ms(0)), &mut to, ms(0));
        for (header, bytes) in &forged {
            let _ = to.received(&packet(header, bytes), ms(1));
        }
        let arrived = taken(&mut to);
        prop_assert!(arrived.starts_with(&messages));
    }
}
