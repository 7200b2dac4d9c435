//! Codes for values: equal values have equal codes. Grouping, joining, sorting text and counting distinct
//! values all work on these codes, whatever the columns hold.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::values::Values;

type Map<K> = HashMap<K, u32, RandomState>;

/// The code of each row's value, counted from 0 in the order in which values first came.
#[derive(Debug)]
pub(crate) struct Factorized {
    /// `None` where the value is missing.
    pub(crate) codes: Vec<Option<u32>>,
    /// How many different values there are.
    pub(crate) count: usize,
}

/// Codes the values of one column.
pub(crate) fn factorize(values: &Values) -> Factorized {
    let mut dictionary = Dictionary::default();
    let codes = dictionary.codes(values);
    Factorized { codes, count: dictionary.count as usize }
}

/// Codes rows by the values of several columns together. A missing value is a value of its own here, so
/// that every row has a code.
pub(crate) fn factorize_rows(columns: &[&Values]) -> (Vec<u32>, usize) {
    let mut rows: Option<(Vec<u32>, usize)> = None;
    for values in columns {
        let own = with_missing(factorize(values));
        rows = Some(match rows {
            None => own,
            Some((before, _)) => {
                let mut pairs = Pairs::default();
                let codes =
                    before.iter().zip(&own.0).map(|(left, right)| pairs.code(*left, *right)).collect();
                (codes, pairs.count())
            }
        });
    }
    rows.unwrap_or_default()
}

/// Codes the rows of two tables by their key columns; equal keys have one code on both sides. A key with
/// a missing part or NaN in it has none: it equals nothing.
pub(crate) fn factorize_keys(left: &[&Values], right: &[&Values]) -> [Vec<Option<u32>>; 2] {
    let mut sides: Option<[Vec<Option<u32>>; 2]> = None;
    for (left, right) in left.iter().zip(right) {
        let mut dictionary = Dictionary::default();
        let own = [left, right].map(|values| without_nan(dictionary.codes(values), values));
        sides = Some(match sides {
            None => own,
            Some([left_before, right_before]) => {
                let mut pairs = Pairs::default();
                let [left_own, right_own] = own;
                let mut both = |before: Vec<Option<u32>>, own: Vec<Option<u32>>| {
                    let zipped = before.into_iter().zip(own);
                    zipped.map(|(left, right)| Some(pairs.code(left?, right?))).collect()
                };
                [both(left_before, left_own), both(right_before, right_own)]
            }
        });
    }
    sides.unwrap_or_default()
}

/// Numbers by value. Whole codes equal fractions of the same size.
#[derive(Default)]
struct Dictionary<'a> {
    integers: Map<i64>,
    floats: Map<u64>,
    texts: Map<&'a str>,
    count: u32,
}

impl<'a> Dictionary<'a> {
    fn codes(&mut self, values: &'a Values) -> Vec<Option<u32>> {
        match values {
            Values::Booleans(list) => {
                list.iter().map(|value| value.map(|value| self.integer(i64::from(value)))).collect()
            }
            Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => {
                list.iter().map(|value| value.map(|value| self.integer(value))).collect()
            }
            Values::Numbers(list) => list.iter().map(|value| value.map(|value| self.float(value))).collect(),
            Values::Texts(texts) => texts.iter().map(|text| text.map(|text| self.text(text))).collect(),
            Values::Null(count) => vec![None; *count],
        }
    }

    fn integer(&mut self, value: i64) -> u32 {
        *self.integers.entry(value).or_insert_with(|| next(&mut self.count))
    }

    fn float(&mut self, value: f64) -> u32 {
        // Between these a fraction without a part behind the point is a 64-bit integer.
        if value.fract() == 0.0 && (-9.2e18..9.2e18).contains(&value) {
            return self.integer(value as i64);
        }
        // There are many NaNs, and one is enough.
        let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
        *self.floats.entry(bits).or_insert_with(|| next(&mut self.count))
    }

    fn text(&mut self, text: &'a str) -> u32 {
        *self.texts.entry(text).or_insert_with(|| next(&mut self.count))
    }
}

/// Codes for pairs of codes.
#[derive(Default)]
struct Pairs {
    known: Map<u64>,
}

impl Pairs {
    fn code(&mut self, left: u32, right: u32) -> u32 {
        let pair = u64::from(left) << 32 | u64::from(right);
        let mut count = self.known.len() as u32;
        *self.known.entry(pair).or_insert_with(|| next(&mut count))
    }

    fn count(&self) -> usize {
        self.known.len()
    }
}

fn next(count: &mut u32) -> u32 {
    let code = *count;
    // There are no more codes than rows, which are bounded far below.
    *count = count.saturating_add(1);
    code
}

/// The same with a code for missing values, in the order in which they first came.
fn with_missing(factorized: Factorized) -> (Vec<u32>, usize) {
    let Factorized { codes, count } = factorized;
    let Some(first) = codes.iter().position(Option::is_none) else {
        return (codes.into_iter().flatten().collect(), count);
    };
    // Values that came before the first missing one keep their codes; the others make room for it.
    let before = codes.iter().take(first).flatten().max().map_or(0, |most| most + 1);
    let moved = |code: u32| if code < before { code } else { code + 1 };
    (codes.into_iter().map(|code| code.map_or(before, moved)).collect(), count + 1)
}

fn without_nan(codes: Vec<Option<u32>>, values: &Values) -> Vec<Option<u32>> {
    let Values::Numbers(list) = values else { return codes };
    codes
        .into_iter()
        .zip(list)
        .map(|(code, value)| code.filter(|_| !value.is_some_and(f64::is_nan)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_coded_in_the_order_of_their_first_values() {
        let texts = Values::Texts([Some("b"), None, Some("a"), Some("b"), None].into_iter().collect());
        assert_eq!(factorize_rows(&[&texts]), (vec![0, 1, 2, 0, 1], 3));
        let codes = Values::Numbers(vec![Some(0.0), Some(f64::NAN), Some(0.5), Some(-0.0), Some(-f64::NAN)]);
        assert_eq!(factorize_rows(&[&codes]), (vec![0, 1, 2, 0, 1], 3));
        let flags = Values::Booleans(vec![Some(true), Some(true), None, Some(false), Some(true)]);
        assert_eq!(factorize_rows(&[&texts, &flags]), (vec![0, 1, 2, 3, 1], 4));
        assert_eq!(factorize_rows(&[&Values::Null(2)]), (vec![0, 0], 1));
    }

    #[test]
    fn keys_of_two_tables_match_by_value_and_missing_ones_match_nothing() {
        let integers = Values::Integers(vec![Some(1), None, Some(3)]);
        let floats = Values::Numbers(vec![Some(3.0), Some(1.5), None, Some(f64::NAN)]);
        let [left, right] = factorize_keys(&[&integers], &[&floats]);
        assert_eq!((left, right), (vec![Some(0), None, Some(1)], vec![Some(1), Some(2), None, None]));
        let names = |list: [&str; 2]| Values::Texts(list.into_iter().map(Some).collect());
        let days = Values::Dates(vec![Some(1), Some(2)]);
        let [left, right] = factorize_keys(&[&names(["a", "b"]), &days], &[&names(["b", "b"]), &days]);
        assert_eq!((left, right), (vec![Some(0), Some(1)], vec![Some(2), Some(1)]));
    }
}
