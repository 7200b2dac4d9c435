//! Some of many, spread evenly and always the same ones.
//!
//! Which ones looks like chance: data often repeats in steps of a power of two, and a sample in such
//! steps would see one kind of it alone.

/// So that the same value always gives the same sample.
const SEED: u64 = 0x6772_6973_746d_696c;

/// At most `wanted` of the numbers below `count`, in order: one from each of as many equal stretches.
pub(super) fn spread(count: usize, wanted: usize) -> Vec<usize> {
    if wanted >= count {
        return (0..count).collect();
    }
    let place = |stretch: usize| (stretch as u128 * count as u128 / wanted.max(1) as u128) as usize;
    (0..wanted)
        .map(|stretch| {
            let (from, until) = (place(stretch), place(stretch + 1));
            let length = until.saturating_sub(from).max(1);
            from + (mixed(stretch as u64) % length as u64) as usize
        })
        .collect()
}

/// The number that stands for a stretch: one of those from `stretch` × `length` on, before the next
/// stretch. A stretch of twice the length is stood for by either of the two that it is made of, as
/// [`is_second`] says, so whoever noted one of each can throw half of them away. `length` is a power
/// of two.
pub(super) fn one_of(stretch: usize, length: usize) -> usize {
    let (mut number, mut length) = (stretch, length);
    while length > 1 {
        number = number * 2 + usize::from(is_second(number, length));
        length /= 2;
    }
    number
}

/// Whether the second half stands for a stretch of this length, otherwise the first.
pub(super) fn is_second(stretch: usize, length: usize) -> bool {
    (mixed((stretch as u64) ^ (length as u64).rotate_left(40)) >> 21) & 1 == 1
}

/// A number that looks like chance.
fn mixed(number: u64) -> u64 {
    let mut state = number.wrapping_add(1).wrapping_mul(SEED | 1);
    for shift in [29, 32, 27] {
        state = (state ^ (state >> shift)).wrapping_mul(0xd134_2543_de82_ef95);
    }
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_comes_from_everywhere_and_is_always_the_same() {
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(5, 0), [0usize; 0]);
        let sample = spread(1_000_000, 10);
        assert_eq!(sample, spread(1_000_000, 10));
        for (stretch, number) in sample.iter().enumerate() {
            assert_eq!(number / 100_000, stretch);
        }
        assert!(sample.iter().any(|number| number % 100_000 > 10), "{sample:?}");
    }

    #[test]
    fn what_stands_for_a_stretch_is_in_it_and_of_any_remainder() {
        for length in [1, 2, 16, 1024] {
            let chosen: Vec<usize> = (0..64).map(|stretch| one_of(stretch, length)).collect();
            assert!(chosen.iter().enumerate().all(|(stretch, number)| number / length == stretch));
            let is_odd = chosen.iter().filter(|number| **number % 2 == 1).count();
            assert!((16..=48).contains(&is_odd), "{length}: {chosen:?}");
            for (stretch, number) in chosen.iter().enumerate().take(32) {
                let half = stretch * 2 + usize::from(is_second(stretch, length * 2));
                assert_eq!(one_of(stretch, length * 2), one_of(half, length), "{number}");
            }
        }
    }
}
