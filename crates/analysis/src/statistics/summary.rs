//! Sums, means, spreads and quantiles.

/// The sum, with the rounding errors of each addition carried along (Neumaier).
pub(crate) fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut total = 0.0_f64;
    let mut lost = 0.0_f64;
    for value in values {
        let next = total + value;
        lost += if total.abs() >= value.abs() { (total - next) + value } else { (value - next) + total };
        total = next;
    }
    // Beyond the largest number there is nothing left to correct.
    if lost.is_finite() { total + lost } else { total }
}

/// How many, as a number.
pub(crate) fn count_of(values: &[f64]) -> f64 {
    values.len() as f64
}

/// The mean; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| sum(values.iter().copied()) / count_of(values))
}

/// The sample variance (n − 1); `None` of fewer than two.
pub(crate) fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let middle = mean(values)?;
    Some(sum(values.iter().map(|value| (value - middle).powi(2))) / (count_of(values) - 1.0))
}

/// The quantile of sorted values, between neighbors by their distance, as pandas and numpy do.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let low = *sorted.get(below)?;
    let high = *sorted.get((below + 1).min(last))?;
    let between = place - place.floor();
    if between == 0.0 || low == high { Some(low) } else { Some(low + (high - low) * between) }
}

/// The values in order.
pub(crate) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The median of values in any order.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    quantile(&sorted(values.to_vec()), 0.5)
}

/// Ranks from 1; equal values share the mean of their places.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|left, right| values[*left].total_cmp(&values[*right]));
    let mut ranks = vec![0.0; values.len()];
    let mut given = 0_usize;
    for run in order.chunk_by(|left, right| values[*left] == values[*right]) {
        let rank = given as f64 + (run.len() as f64 + 1.0) / 2.0;
        run.iter().for_each(|index| ranks[*index] = rank);
        given += run.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_lose_small_parts_beside_large_ones() {
        assert_eq!(sum([1e16, 1.0, -1e16]), 1.0);
        assert_eq!(sum(std::iter::repeat_n(0.1, 10)), 1.0);
        assert_eq!(sum([f64::MAX, f64::MAX]), f64::INFINITY);
    }

    #[test]
    fn quantiles_lie_between_neighbors() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&values, 0.25), Some(1.75));
        assert_eq!(quantile(&values, 0.5), Some(2.5));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(ranks(&[10.0, 20.0, 10.0, 5.0]), [2.5, 4.0, 2.5, 1.0]);
        assert_eq!(variance(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), Some(32.0 / 7.0));
    }
}
