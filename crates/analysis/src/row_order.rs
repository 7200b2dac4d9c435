//! The order of rows by their values. Equal rows keep their order, and missing values come last.

use std::cmp::Ordering;

use crate::column::{Row, row_index};
use crate::factorize::factorize;
use crate::texts::Texts;
use crate::values::Values;

/// Which end comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Ascending,
    Descending,
}

/// All rows, sorted by these keys, the first counting most. NaN is greater than every other number.
pub(crate) fn row_order(keys: &[(&Values, Direction)], rows: usize) -> Vec<Row> {
    let mut ranks = keys.iter().map(|(values, direction)| ranks_of(values, *direction));
    let Some(first) = ranks.next() else { return (0..row_index(rows)).collect() };
    let further: Vec<Vec<Rank>> = ranks.collect();
    // The first key of each row lies beside its number: most comparisons look no further.
    let mut order: Vec<(Rank, Row)> = first.into_iter().zip(0..).collect();
    order.sort_unstable_by(|(left_rank, left), (right_rank, right)| {
        let by_further = || {
            let mut orders =
                further.iter().map(|ranks| ranks.get(*left as usize).cmp(&ranks.get(*right as usize)));
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        left_rank.cmp(right_rank).then_with(by_further).then(left.cmp(right))
    });
    order.into_iter().map(|(_, row)| row).collect()
}

/// A value as an integer in the same order: missing ones last, whichever end comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_missing: bool,
    ordinal: u64,
}

const MISSING: Rank = Rank { is_missing: true, ordinal: 0 };

fn ranks_of(values: &Values, direction: Direction) -> Vec<Rank> {
    let rank = |ordinal: Option<u64>| ordinal.map_or(MISSING, |ordinal| directed(ordinal, direction));
    match values {
        Values::Booleans(list) => list.iter().map(|value| rank(value.map(u64::from))).collect(),
        Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => {
            list.iter().map(|value| rank(value.map(ordinal_of_integer))).collect()
        }
        Values::Numbers(list) => list.iter().map(|value| rank(value.map(ordinal_of_number))).collect(),
        Values::Texts(texts) => ordinals_of_texts(texts, values).into_iter().map(rank).collect(),
        Values::Null(count) => vec![MISSING; *count],
    }
}

/// The place of each text among all different ones. So each is compared with others once, however often it
/// comes.
fn ordinals_of_texts(texts: &Texts, values: &Values) -> Vec<Option<u64>> {
    let factorized = factorize(values);
    let mut different: Vec<(u64, &str, u32)> = Vec::with_capacity(factorized.count);
    for (text, code) in texts.iter().zip(&factorized.codes) {
        // Codes are given in the order in which texts first come.
        if let (Some(text), Some(code)) = (text, code)
            && *code as usize == different.len()
        {
            different.push((beginning_of(text), text, *code));
        }
    }
    different.sort_unstable();
    let mut ordinals = vec![0; different.len()];
    for (ordinal, (_, _, code)) in (0..).zip(&different) {
        ordinals[*code as usize] = ordinal;
    }
    factorized.codes.into_iter().map(|code| ordinals.get(code? as usize).copied()).collect()
}

/// The first bytes of a text, which decide most comparisons.
fn beginning_of(text: &str) -> u64 {
    let mut beginning = [0; 8];
    beginning.iter_mut().zip(text.bytes()).for_each(|(own, byte)| *own = byte);
    u64::from_be_bytes(beginning)
}

fn directed(ordinal: u64, direction: Direction) -> Rank {
    let ordinal = match direction {
        Direction::Ascending => ordinal,
        Direction::Descending => !ordinal,
    };
    Rank { is_missing: false, ordinal }
}

fn ordinal_of_integer(value: i64) -> u64 {
    (value as u64) ^ (1 << 63)
}

fn ordinal_of_number(value: f64) -> u64 {
    if value.is_nan() {
        return u64::MAX;
    }
    // Adding zero makes one zero of both.
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Ascending, Descending};

    #[track_caller]
    fn check(values: &Values, direction: Direction, expected: &[Row]) {
        assert_eq!(row_order(&[(values, direction)], values.len()), expected);
    }

    #[test]
    fn missing_values_come_last_in_both_directions_and_equal_rows_keep_their_order() {
        let integers = Values::Integers(vec![Some(2), None, Some(i64::MIN), Some(2), Some(-1)]);
        check(&integers, Ascending, &[2, 4, 0, 3, 1]);
        check(&integers, Descending, &[0, 3, 4, 2, 1]);
        let texts = Values::Texts(
            [Some("a long text, b"), None, Some("a long text, a"), Some(""), Some("a")].into_iter().collect(),
        );
        check(&texts, Ascending, &[3, 4, 2, 0, 1]);
        check(&texts, Descending, &[0, 2, 4, 3, 1]);
        check(&Values::Null(3), Descending, &[0, 1, 2]);
        let flags = Values::Booleans(vec![Some(true), None, Some(false)]);
        check(&flags, Ascending, &[2, 0, 1]);
    }

    #[test]
    fn nan_is_greater_than_every_other_number_and_zeros_are_one() {
        let numbers = Values::Numbers(vec![
            Some(f64::NAN),
            Some(0.0),
            Some(f64::INFINITY),
            Some(-0.0),
            Some(-1.5),
            Some(f64::NEG_INFINITY),
        ]);
        check(&numbers, Ascending, &[5, 4, 1, 3, 2, 0]);
        check(&numbers, Descending, &[0, 2, 1, 3, 4, 5]);
    }

    #[test]
    fn further_keys_decide_where_the_first_does_not() {
        let first = Values::Texts([Some("x"), Some("y"), Some("x"), Some("x")].into_iter().collect());
        let second = Values::Numbers(vec![Some(1.0), Some(0.0), None, Some(2.0)]);
        assert_eq!(row_order(&[(&first, Ascending), (&second, Descending)], 4), [3, 0, 2, 1]);
    }
}
