//! When a link says what: at once, along with something else, again, or not until there is room.

use super::super::{
    Link, MESSAGE_BYTES_MAX, Moment, PACKET_BYTES_MAX, QUEUE_BYTES_FULL, SendError, WINDOW_BYTES,
};
use super::world::{Bus, Reader, World};
use super::{deliver, ms, polled, taken};

const NOTHING: [Vec<u8>; 0] = [];

#[test]
fn a_small_message_is_in_the_very_first_packet() {
    let (mut from, mut to) = (Link::new(), Link::new());
    let message = vec![7; 200];
    from.send(&message).unwrap();
    assert_eq!(from.next_due(), Some(Moment::START));
    let packets = polled(&mut from, ms(5));
    assert_eq!(packets.len(), 1);
    assert!(packets[0].len() < message.len() + 16, "{} bytes", packets[0].len());
    deliver(&packets, &mut to, ms(6));
    assert_eq!(taken(&mut to), [message]);
}

#[test]
fn messages_that_wait_together_share_a_packet() {
    let (mut from, mut to) = (Link::new(), Link::new());
    let messages: Vec<Vec<u8>> = (0..100).map(|at| vec![at; 200]).collect();
    for message in &messages {
        from.send(message).unwrap();
    }
    let packets = polled(&mut from, ms(0));
    assert_eq!(packets.len(), 1);
    deliver(&packets, &mut to, ms(0));
    assert_eq!(taken(&mut to), messages);
}

#[test]
fn a_message_without_bytes_is_a_message() {
    let (mut from, mut to) = (Link::new(), Link::new());
    from.send(&[]).unwrap();
    deliver(&polled(&mut from, ms(0)), &mut to, ms(0));
    assert_eq!(taken(&mut to), [Vec::<u8>::new()]);
}

#[test]
fn an_acknowledgement_rides_along_with_an_answer() {
    let (mut from, mut to) = (Link::new(), Link::new());
    from.send(b"what is it").unwrap();
    deliver(&polled(&mut from, ms(0)), &mut to, ms(1));
    assert_eq!(polled(&mut to, ms(10)), NOTHING);
    to.send(b"this").unwrap();
    let answer = polled(&mut to, ms(15));
    assert_eq!(answer.len(), 1);
    deliver(&answer, &mut from, ms(16));
    assert_eq!(from.unacknowledged_bytes(), 0);
    assert_eq!(from.next_due(), Some(ms(36)), "only the acknowledgement of the answer is left");
    assert_eq!(polled(&mut to, ms(299)), NOTHING);
}

#[test]
fn an_acknowledgement_goes_alone_after_20_ms() {
    let (mut from, mut to) = (Link::new(), Link::new());
    from.send(b"nobody answers").unwrap();
    deliver(&polled(&mut from, ms(0)), &mut to, ms(1));
    assert_eq!(to.next_due(), Some(ms(21)));
    assert_eq!(polled(&mut to, ms(20)), NOTHING);
    let alone = polled(&mut to, ms(21));
    assert_eq!(alone.len(), 1);
    assert_eq!(to.next_due(), None);
    deliver(&alone, &mut from, ms(22));
    assert_eq!(from.unacknowledged_bytes(), 0);
    assert_eq!(from.next_due(), None, "an acknowledgement is not acknowledged");
}

#[test]
fn many_bytes_are_acknowledged_at_once() {
    let (mut from, mut to) = (Link::new(), Link::new());
    from.send(&vec![7; 3 * PACKET_BYTES_MAX]).unwrap();
    let packets = polled(&mut from, ms(0));
    assert_eq!(packets.len(), 4, "three are full, and the last has four bytes");
    deliver(&packets[..1], &mut to, ms(0));
    assert_eq!(polled(&mut to, ms(0)), NOTHING);
    deliver(&packets[1..2], &mut to, ms(0));
    assert_eq!(polled(&mut to, ms(0)).len(), 1);
}

#[test]
fn silence_is_answered_with_one_packet_less_and_less_often() {
    let mut link = Link::new();
    link.send(&vec![7; WINDOW_BYTES as usize]).unwrap();
    assert_eq!(polled(&mut link, ms(0)).len(), 8);
    for due_ms in [300, 900, 2100, 4100, 6100, 8100] {
        assert_eq!(link.next_due(), Some(ms(due_ms)));
        assert_eq!(polled(&mut link, ms(due_ms - 1)), NOTHING);
        assert_eq!(polled(&mut link, ms(due_ms)).len(), 1, "at {due_ms} ms");
    }
}

#[test]
fn patience_is_short_again_once_the_peer_is_heard() {
    let (mut from, mut to) = (Link::new(), Link::new());
    from.send(b"lost three times").unwrap();
    for lost_ms in [0, 300, 900] {
        assert_eq!(polled(&mut from, ms(lost_ms)).len(), 1);
    }
    deliver(&polled(&mut from, ms(2100)), &mut to, ms(2101));
    deliver(&polled(&mut to, ms(2101)), &mut from, ms(2102));
    from.send(b"lost once").unwrap();
    assert_eq!(polled(&mut from, ms(3000)).len(), 1);
    assert_eq!(from.next_due(), Some(ms(3300)));
}

#[test]
fn a_lost_window_is_sent_again_as_soon_as_its_peer_is_heard() {
    let (mut from, mut to) = (Link::new(), Link::new());
    let message = vec![7; WINDOW_BYTES as usize - 100];
    from.send(&message).unwrap();
    polled(&mut from, ms(0));
    deliver(&polled(&mut from, ms(300)), &mut to, ms(301));
    deliver(&polled(&mut to, ms(301)), &mut from, ms(302));
    deliver(&polled(&mut from, ms(302)), &mut to, ms(303));
    assert_eq!(taken(&mut to), [message]);
}

#[test]
fn a_gap_is_filled_without_waiting() {
    let (mut from, mut to) = (Link::new(), Link::new());
    let message: Vec<u8> = (0..3 * PACKET_BYTES_MAX).map(|at| (at % 251) as u8).collect();
    from.send(&message).unwrap();
    let packets = polled(&mut from, ms(0));
    deliver(&packets[1..], &mut to, ms(1));
    let requests = polled(&mut to, ms(1));
    assert_eq!(requests.len(), 1);
    deliver(&requests, &mut from, ms(2));
    deliver(&polled(&mut from, ms(2)), &mut to, ms(3));
    assert_eq!(taken(&mut to), [message]);
    // The same request once more, as a bus doubles it.
    deliver(&requests, &mut from, ms(4));
    assert_eq!(polled(&mut from, ms(4)), NOTHING);
}

#[test]
fn a_bus_that_is_back_is_used_at_once() {
    let (mut from, mut to) = (Link::new(), Link::new());
    from.send(b"lost").unwrap();
    polled(&mut from, ms(0));
    assert_eq!(polled(&mut from, ms(100)), NOTHING);
    from.peer_is_back();
    assert_eq!(from.next_due(), Some(Moment::START));
    deliver(&polled(&mut from, ms(100)), &mut to, ms(101));
    assert_eq!(taken(&mut to), [b"lost".to_vec()]);
    let answer = polled(&mut to, ms(101));
    assert_eq!(answer.len(), 1, "the sender asked for an answer");
    deliver(&answer, &mut from, ms(102));
    assert_eq!(from.unacknowledged_bytes(), 0);
}

#[test]
fn a_reader_that_takes_nothing_stops_its_sender() {
    let never = Reader { every_ms: 1_000_000_000, messages_at_once: 0 };
    let mut world = World::new(WINDOW_BYTES, Bus::perfect(1), [Reader::EAGER, never], 1);
    world.ends[0].to_send.extend((0..1000).map(|_| vec![7; 50_000]));
    world.run_for_ms(60_000);
    let [from, to] = &world.ends;
    assert!(to.link.untaken_bytes() <= WINDOW_BYTES as usize + 50_004, "{}", to.link.untaken_bytes());
    assert!(from.link.is_full());
    assert!(from.link.unacknowledged_bytes() < QUEUE_BYTES_FULL + 50_004);
    assert_eq!(from.link.resent_bytes(), 0);
    assert!(from.packets < 100, "{} packets in a minute of waiting", from.packets);
}

/// A sender with so many messages of 1 KiB, and a receiver that has a window full of them.
fn closed_window(kibibytes: usize) -> (Link, Link) {
    let (mut from, mut to) = (Link::new(), Link::new());
    for _ in 0..kibibytes {
        from.send(&[7; 1020]).unwrap();
    }
    deliver(&polled(&mut from, ms(0)), &mut to, ms(1));
    deliver(&polled(&mut to, ms(1)), &mut from, ms(2));
    assert_eq!(polled(&mut from, ms(2)), NOTHING, "the window is closed");
    assert_eq!(to.untaken_bytes(), WINDOW_BYTES as usize);
    (from, to)
}

#[test]
fn a_window_that_opens_by_a_quarter_is_said_at_once() {
    let (mut from, mut to) = closed_window(2048);
    for _ in 0..255 {
        to.next_message().unwrap();
        assert_eq!(polled(&mut to, ms(3)), NOTHING, "a crumb");
    }
    to.next_message().unwrap();
    let opened = polled(&mut to, ms(3));
    assert_eq!(opened.len(), 1);
    deliver(&opened, &mut from, ms(4));
    assert_eq!(polled(&mut from, ms(4)).len(), 2);
}

#[test]
fn a_window_whose_opening_was_lost_is_asked_for() {
    let (mut from, mut to) = closed_window(1024 + 512);
    assert_eq!(taken(&mut to).len(), 1024);
    assert_eq!(polled(&mut to, ms(3)).len(), 1, "lost");
    assert_eq!(from.next_due(), Some(ms(302)));
    deliver(&polled(&mut from, ms(302)), &mut to, ms(303));
    deliver(&polled(&mut to, ms(303)), &mut from, ms(304));
    deliver(&polled(&mut from, ms(304)), &mut to, ms(305));
    assert_eq!(taken(&mut to).len(), 512);
    assert_eq!(from.resent_bytes(), 0);
}

#[test]
fn requests_and_answers_need_one_packet_each() {
    let (mut caller, mut server) = (Link::new(), Link::new());
    for round in 0..1000u64 {
        caller.send(&round.to_le_bytes()).unwrap();
        let request = polled(&mut caller, ms(round));
        assert_eq!(request.len(), 1);
        deliver(&request, &mut server, ms(round));
        let request = server.next_message().unwrap();
        server.send(&request).unwrap();
        let answer = polled(&mut server, ms(round));
        assert_eq!(answer.len(), 1);
        deliver(&answer, &mut caller, ms(round));
        assert_eq!(caller.next_message(), Some(round.to_le_bytes().to_vec()));
    }
}

#[test]
fn a_link_is_full_in_time_and_takes_only_so_much() {
    let mut link = Link::new();
    assert_eq!(
        link.send(&vec![0; MESSAGE_BYTES_MAX + 1]),
        Err(SendError::MessageTooLarge { bytes: MESSAGE_BYTES_MAX + 1 })
    );
    link.send(&vec![0; QUEUE_BYTES_FULL - 5]).unwrap();
    assert!(!link.is_full());
    link.send(&vec![0; MESSAGE_BYTES_MAX]).unwrap();
    assert!(link.is_full());
    link.send(b"the last words").unwrap();
    let queued_bytes = link.unacknowledged_bytes();
    assert_eq!(link.send(&vec![0; MESSAGE_BYTES_MAX]), Err(SendError::QueueFull { queued_bytes }));
    assert_eq!(link.unsent_bytes(), queued_bytes);
    polled(&mut link, ms(0));
    assert_eq!(link.unacknowledged_bytes(), queued_bytes);
    assert_eq!(link.unsent_bytes(), queued_bytes - WINDOW_BYTES as usize);
}

#[test]
fn an_idle_link_is_never_due() {
    let mut link = Link::default();
    assert_eq!(link.next_due(), None);
    assert_eq!(polled(&mut link, ms(100_000)), NOTHING);
    assert_eq!(link.next_due(), None);
}
