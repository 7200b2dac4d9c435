//! Some of many, spread evenly and always the same ones.

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
}
