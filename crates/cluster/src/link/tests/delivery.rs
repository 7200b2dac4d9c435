//! Everything arrives, in order, once, whatever the bus does.

use proptest::prelude::*;

use super::super::{MESSAGE_BYTES_MAX, QUEUE_BYTES_FULL, WINDOW_BYTES};
use super::world::{Bus, Random, Reader, World};

/// A bus as bad as can be.
fn bad_bus() -> impl Strategy<Value = Bus> {
    let away =
        prop_oneof![Just(0..0), (0u64..2000, 1u64..5000).prop_map(|(start, length)| start..start + length)];
    (0u64..40, 0u64..40, 0u64..20, 1u64..400, away, any::<bool>()).prop_map(
        |(lost_percent, doubled_percent, delay_ms, jitter_ms, away_ms, says_it_is_back)| Bus {
            lost_percent,
            doubled_percent,
            delay_ms: delay_ms..delay_ms + jitter_ms,
            away_ms,
            says_it_is_back,
            forged_percent: 0,
        },
    )
}

fn reader() -> impl Strategy<Value = Reader> {
    prop_oneof![
        Just(Reader::EAGER),
        (1u64..3000, 1usize..4)
            .prop_map(|(every_ms, messages_at_once)| Reader { every_ms, messages_at_once }),
    ]
}

fn window_bytes() -> impl Strategy<Value = u32> {
    prop_oneof![Just(1), 2u32..20, 20u32..3000, 3000u32..300_000, Just(WINDOW_BYTES)]
}

/// A window, and the lengths of messages each way: around nothing, the window, and several windows.
fn traffic() -> impl Strategy<Value = (u32, [Vec<usize>; 2])> {
    window_bytes().prop_flat_map(|window_bytes| {
        let window = window_bytes as usize;
        let length = prop_oneof![
            0usize..9,
            100usize..300,
            window.saturating_sub(10)..window + 10,
            0..(window * 3 + 9).min(400_000),
        ];
        let each_way = || prop::collection::vec(length.clone(), 0..12);
        (Just(window_bytes), [each_way(), each_way()])
    })
}

fn check(window_bytes: u32, lengths: &[Vec<usize>; 2], bus: Bus, readers: [Reader; 2], seed: u64) {
    let mut random = Random::new(seed);
    let messages = lengths
        .each_ref()
        .map(|lengths| -> Vec<Vec<u8>> { lengths.iter().map(|length| random.message(*length)).collect() });
    let mut world = World::new(window_bytes, bus, readers, seed);
    for (end, messages) in world.ends.iter_mut().zip(&messages) {
        end.to_send.extend(messages.iter().cloned());
    }
    world.run_until_all_arrived();
    world.run_until_settled();
    assert!(world.ends[1].arrived == messages[0], "what the first end sent is not what arrived");
    assert!(world.ends[0].arrived == messages[1], "what the second end sent is not what arrived");
    assert!(world.ends.iter().all(|end| end.link.untaken_bytes() == 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn everything_arrives_in_order_and_once_over_a_bad_bus(
        (window_bytes, lengths) in traffic(),
        bus in bad_bus(),
        readers in [reader(), reader()],
        seed in any::<u64>(),
    ) {
        check(window_bytes, &lengths, bus, readers, seed);
    }

    #[test]
    fn forged_packets_that_acknowledge_nothing_new_change_no_message(
        (window_bytes, lengths) in traffic(),
        bus in bad_bus(),
        readers in [reader(), reader()],
        seed in any::<u64>(),
    ) {
        check(window_bytes, &lengths, Bus { forged_percent: 50, ..bus }, readers, seed);
    }

    #[test]
    fn a_perfect_bus_needs_nothing_twice(
        (window_bytes, lengths) in traffic(),
        delay_ms in 0u64..120,
        readers in [reader(), reader()],
        seed in any::<u64>(),
    ) {
        let mut random = Random::new(seed);
        let mut world = World::new(window_bytes, Bus::perfect(delay_ms), readers, seed);
        for (end, lengths) in world.ends.iter_mut().zip(&lengths) {
            end.to_send.extend(lengths.iter().map(|length| random.message(*length)));
        }
        world.run_until_all_arrived();
        world.run_until_settled();
        prop_assert_eq!(world.ends.each_ref().map(|end| end.link.resent_bytes()), [0, 0]);
    }
}

#[test]
fn the_largest_messages_pass_a_window_that_is_far_smaller() {
    let largest = vec![MESSAGE_BYTES_MAX, 0, MESSAGE_BYTES_MAX];
    let slow = Reader { every_ms: 700, messages_at_once: 1 };
    check(WINDOW_BYTES, &[largest, vec![200; 30]], Bus::perfect(5), [slow, slow], 1);
}

#[test]
fn a_bus_that_was_away_for_a_minute_loses_nothing() {
    let bus = Bus { away_ms: 3..60_000, ..Bus::perfect(2) };
    check(WINDOW_BYTES, &[vec![300_000; 10], vec![200; 10]], bus, [Reader::EAGER; 2], 1);
}

#[test]
fn long_streams_of_all_lengths_pass_both_ways_at_once() {
    let mut random = Random::new(7);
    let mut lengths = || -> Vec<usize> {
        let small = (0..20_000).map(|_| 200);
        let large = (0..200).map(|at| at * 500);
        let mut lengths: Vec<usize> = small.chain(large).collect();
        lengths.sort_by_cached_key(|_| random.next());
        lengths
    };
    let lengths = [lengths(), lengths()];
    assert!(lengths[0].iter().sum::<usize>() > 4 * QUEUE_BYTES_FULL);
    check(WINDOW_BYTES, &lengths, Bus::perfect(1), [Reader::EAGER; 2], 7);
}
