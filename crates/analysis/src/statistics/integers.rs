//! Figures of whole numbers, exact where they can be: a 64-bit fraction holds 53 bits of one and no more.

use super::summary;

/// Whole numbers up to here are exact as 64-bit fractions.
const EXACT_MAX: u64 = 1 << 53;

/// Something measured of whole numbers, whole where it is exactly so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Figure {
    Integer(i64),
    Float(f64),
}

impl Figure {
    /// A whole number; what 64 bits cannot hold becomes a fraction of about 16 digits.
    pub(crate) fn of(value: i128) -> Self {
        i64::try_from(value).map_or(Figure::Float(value as f64), Figure::Integer)
    }

    pub(crate) fn number(self) -> f64 {
        match self {
            Figure::Integer(value) => value as f64,
            Figure::Float(value) => value,
        }
    }

    /// Whether it has more digits than a fraction holds.
    pub(crate) fn is_beyond_floats(self) -> bool {
        match self {
            Figure::Integer(value) => value.unsigned_abs() > EXACT_MAX,
            Figure::Float(_) => false,
        }
    }
}

/// The exact sum: 128 bits hold that of every list there can be.
pub(crate) fn sum(values: &[i64]) -> i128 {
    values.iter().copied().map(i128::from).sum()
}

/// The mean; `None` of nothing.
pub(crate) fn mean(values: &[i64]) -> Option<f64> {
    let count = i128::try_from(values.len()).ok().filter(|count| *count > 0)?;
    let sum = sum(values);
    if sum.unsigned_abs() <= u128::from(EXACT_MAX) {
        return Some(sum as f64 / count as f64);
    }
    // First what is whole, then the rest: the sum itself would be rounded before it is divided.
    Some((sum / count) as f64 + (sum % count) as f64 / count as f64)
}

/// The sample variance (n − 1); `None` of fewer than two.
pub(crate) fn variance(values: &[i64]) -> Option<f64> {
    let first = i128::from(*values.first()?);
    // Distances are what counts, and those of large numbers from one of them are small.
    let is_large = values.iter().any(|value| value.unsigned_abs() > EXACT_MAX);
    let base = if is_large { first } else { 0 };
    let distances: Vec<f64> = values.iter().map(|value| (i128::from(*value) - base) as f64).collect();
    summary::variance(&distances)
}

/// The quantile of sorted values, between neighbors by their distance; whole where it is one of them, or
/// the middle of two.
pub(crate) fn quantile(sorted: &[i64], share: f64) -> Option<Figure> {
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let low = *sorted.get(below)?;
    let high = *sorted.get((below + 1).min(last))?;
    let between = place - place.floor();
    if between == 0.0 || low == high {
        return Some(Figure::Integer(low));
    }
    let (low, high) = (i128::from(low), i128::from(high));
    if between == 0.5 {
        let twice = low + high;
        return Some(if twice % 2 == 0 { Figure::of(twice / 2) } else { Figure::Float(twice as f64 / 2.0) });
    }
    Some(Figure::Float(low as f64 + (high - low) as f64 * between))
}

/// The median of values in any order.
pub(crate) fn median(values: &[i64]) -> Option<Figure> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    quantile(&sorted, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_whole_numbers_keep_their_last_digit() {
        let values = [9_007_199_254_740_993, 9_007_199_254_740_995];
        assert_eq!(median(&values), Some(Figure::Integer(9_007_199_254_740_994)));
        assert_eq!(quantile(&values, 1.0), Some(Figure::Integer(9_007_199_254_740_995)));
        assert_eq!(variance(&values), Some(2.0));
        assert_eq!(mean(&[i64::MAX, i64::MAX]), Some(i64::MAX as f64));
        assert_eq!(Figure::of(sum(&[i64::MAX, 1])), Figure::Float(9_223_372_036_854_775_808.0));
    }

    #[test]
    fn small_whole_numbers_are_measured_as_fractions_are() {
        assert_eq!(median(&[1, 2]), Some(Figure::Float(1.5)));
        assert_eq!(quantile(&[1, 2, 3, 4], 0.25), Some(Figure::Float(1.75)));
        assert_eq!(mean(&[1, 2]), Some(1.5));
        assert_eq!(median(&[]), None);
        assert_eq!(variance(&[7]), None);
    }
}
