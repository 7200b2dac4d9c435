//! Tests: is a difference more than chance?

use super::distributions::{chi_square_upper, f_upper, normal_two_sided, t_two_sided};
use super::summary::{count_of, mean, ranks, sum, variance};

/// A statistic with its probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tested {
    pub(crate) statistic: f64,
    /// Where the test has them.
    pub(crate) degrees: Option<f64>,
    pub(crate) p_value: f64,
}

/// The values that `mann_whitney` computes exactly for: the recurrence costs their product squared.
const EXACT_MAX: usize = 50;

/// Does the mean differ from `expected`?
pub(crate) fn t_one_sample(values: &[f64], expected: f64) -> Option<Tested> {
    let error = (variance(values)? / count_of(values)).sqrt();
    Some(student(mean(values)? - expected, error, count_of(values) - 1.0))
}

/// Do two means differ? Welch's test, or Student's where the variances are taken for equal.
pub(crate) fn t_two_samples(left: &[f64], right: &[f64], equal_variance: bool) -> Option<Tested> {
    let (left_count, right_count) = (count_of(left), count_of(right));
    let (left_variance, right_variance) = (variance(left)?, variance(right)?);
    let difference = mean(left)? - mean(right)?;
    if equal_variance {
        let degrees = left_count + right_count - 2.0;
        let pooled = ((left_count - 1.0) * left_variance + (right_count - 1.0) * right_variance) / degrees;
        return Some(student(difference, (pooled * (1.0 / left_count + 1.0 / right_count)).sqrt(), degrees));
    }
    let (left_part, right_part) = (left_variance / left_count, right_variance / right_count);
    let degrees = (left_part + right_part).powi(2)
        / (left_part.powi(2) / (left_count - 1.0) + right_part.powi(2) / (right_count - 1.0));
    Some(student(difference, (left_part + right_part).sqrt(), degrees))
}

fn student(difference: f64, error: f64, degrees: f64) -> Tested {
    // Values that do not vary: any difference is certain, and no difference is none.
    if error == 0.0 {
        let is_same = difference == 0.0;
        let statistic = if is_same { 0.0 } else { difference.signum() * f64::INFINITY };
        return Tested { statistic, degrees: Some(degrees), p_value: f64::from(u8::from(is_same)) };
    }
    let t = difference / error;
    Tested { statistic: t, degrees: Some(degrees), p_value: t_two_sided(t, degrees) }
}

/// What a one-way analysis of variance finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Variances {
    /// The variance between the groups over that within them.
    pub(crate) f: f64,
    /// Degrees of freedom: groups − 1.
    pub(crate) between: f64,
    /// Degrees of freedom: values − groups.
    pub(crate) within: f64,
    pub(crate) p_value: f64,
    /// The share of all variance that is between the groups.
    pub(crate) eta_squared: f64,
}

/// Do the means of several groups differ? `None` for fewer than two groups, an empty one, no more values than
/// groups, or values that are all the same.
pub(crate) fn anova(groups: &[Vec<f64>]) -> Option<Variances> {
    let count = sum(groups.iter().map(|group| count_of(group)));
    let between = groups.len().checked_sub(1).filter(|degrees| *degrees > 0)? as f64;
    let within = count - between - 1.0;
    if within <= 0.0 {
        return None;
    }
    let all_mean = sum(groups.iter().flatten().copied()) / count;
    let means = groups.iter().map(|group| mean(group)).collect::<Option<Vec<f64>>>()?;
    let sizes = groups.iter().map(|group| count_of(group));
    let squares_between =
        sum(sizes.zip(&means).map(|(size, group_mean)| size * (group_mean - all_mean).powi(2)));
    let distances = groups
        .iter()
        .zip(&means)
        .flat_map(|(group, group_mean)| group.iter().map(move |value| (value - group_mean).powi(2)));
    let squares_within = sum(distances);
    if squares_between + squares_within <= 0.0 {
        return None;
    }
    let f = (squares_between / between) / (squares_within / within);
    let eta_squared = squares_between / (squares_between + squares_within);
    Some(Variances { f, between, within, p_value: f_upper(f, between, within), eta_squared })
}

/// Are rows and columns of a table of counts independent? With one degree of freedom Yates' correction is
/// applied, as scipy does. `None` where a row or a column is empty, or there is only one.
pub(crate) fn chi_square_table(counts: &[Vec<f64>]) -> Option<Tested> {
    let width = counts.first().map_or(0, Vec::len);
    let row_sums: Vec<f64> = counts.iter().map(|row| sum(row.iter().copied())).collect();
    let column_sums: Vec<f64> =
        (0..width).map(|column| sum(counts.iter().filter_map(|row| row.get(column).copied()))).collect();
    let total = sum(row_sums.iter().copied());
    let degrees = (row_sums.len().checked_sub(1)? * width.checked_sub(1)?) as f64;
    if degrees == 0.0 || row_sums.iter().chain(&column_sums).any(|part| *part <= 0.0) {
        return None;
    }
    let correction = if degrees == 1.0 { 0.5 } else { 0.0 };
    let mut parts = Vec::new();
    for (row, row_sum) in counts.iter().zip(&row_sums) {
        for (count, column_sum) in row.iter().zip(&column_sums) {
            let expected = row_sum * column_sum / total;
            let distance =
                ((count - expected).abs() - f64::min(correction, (count - expected).abs())).powi(2);
            parts.push(distance / expected);
        }
    }
    let statistic = sum(parts);
    Some(Tested { statistic, degrees: Some(degrees), p_value: chi_square_upper(statistic, degrees) })
}

/// Do counts follow what is expected?
pub(crate) fn chi_square_fit(counts: &[f64], expected: &[f64]) -> Option<Tested> {
    let degrees = counts.len().checked_sub(1).filter(|degrees| *degrees > 0)? as f64;
    if counts.len() != expected.len() || expected.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let statistic =
        sum(counts.iter().zip(expected).map(|(count, expected)| (count - expected).powi(2) / expected));
    Some(Tested { statistic, degrees: Some(degrees), p_value: chi_square_upper(statistic, degrees) })
}

/// Are the values of one list mostly larger than those of the other? The statistic is U of the first list.
/// Exact for few values without ties, else by the normal distribution with corrections for ties and steps.
pub(crate) fn mann_whitney(left: &[f64], right: &[f64]) -> Option<Tested> {
    if left.is_empty() || right.is_empty() {
        return None;
    }
    let (left_count, right_count) = (count_of(left), count_of(right));
    let all: Vec<f64> = left.iter().chain(right).copied().collect();
    let ranks = ranks(&all);
    let u = sum(ranks.iter().take(left.len()).copied()) - left_count * (left_count + 1.0) / 2.0;
    let ties = tie_sizes(&all);
    let has_ties = ties.iter().any(|size| *size > 1.0);
    if !has_ties && (left.len() <= 8 || right.len() <= 8) && left.len().max(right.len()) <= EXACT_MAX {
        return Some(Tested { statistic: u, degrees: None, p_value: exact_u(u, left.len(), right.len()) });
    }
    let total = left_count + right_count;
    let tie_part = sum(ties.iter().map(|size| size.powi(3) - size)) / (total * (total - 1.0));
    let spread = (left_count * right_count / 12.0 * (total + 1.0 - tie_part)).sqrt();
    let largest = u.max(left_count * right_count - u);
    let z = if spread > 0.0 { (largest - left_count * right_count / 2.0 - 0.5) / spread } else { 0.0 };
    let p_value = if z <= 0.0 { 1.0 } else { normal_two_sided(z) };
    Some(Tested { statistic: u, degrees: None, p_value })
}

fn tie_sizes(values: &[f64]) -> Vec<f64> {
    let sorted = super::summary::sorted(values.to_vec());
    sorted.chunk_by(|left, right| left == right).map(count_of).collect()
}

/// The probability of U at least this far from its middle, by counting all orders.
fn exact_u(u: f64, left: usize, right: usize) -> f64 {
    let most = left * right;
    // ways[k]: in how many orders of i and j values U is k. Built up by which list has the largest value.
    let mut ways = vec![vec![0.0_f64; most + 1]; right + 1];
    for row in &mut ways {
        row[0] = 1.0;
    }
    for _ in 1..=left {
        for j in 1..=right {
            // Downwards, so that what is read is still that of one value fewer.
            for k in (0..=most).rev() {
                let without = if k >= j { ways[j][k - j] } else { 0.0 };
                ways[j][k] = without + ways[j - 1][k];
            }
        }
    }
    let counts = &ways[right];
    let total: f64 = counts.iter().sum();
    let largest = u.max(most as f64 - u).round() as usize;
    let upper: f64 = counts.iter().skip(largest).sum();
    (2.0 * upper / total).min(1.0)
}

/// Skewness and excess kurtosis of a list, as moments of the whole.
fn shape(values: &[f64]) -> Option<(f64, f64)> {
    let middle = mean(values)?;
    let moment = |power: i32| sum(values.iter().map(|value| (value - middle).powi(power))) / count_of(values);
    let spread = moment(2);
    (spread > 0.0).then(|| (moment(3) / spread.powf(1.5), moment(4) / (spread * spread) - 3.0))
}

/// Jarque and Bera: are skewness and kurtosis those of a normal distribution?
pub(crate) fn jarque_bera(values: &[f64]) -> Option<Tested> {
    let (skewness, kurtosis) = shape(values)?;
    let statistic = count_of(values) / 6.0 * (skewness * skewness + kurtosis * kurtosis / 4.0);
    Some(Tested { statistic, degrees: Some(2.0), p_value: chi_square_upper(statistic, 2.0) })
}

/// D'Agostino and Pearson: the same question, good from 20 values on. `None` for fewer than 8.
pub(crate) fn dagostino(values: &[f64]) -> Option<Tested> {
    if values.len() < 8 {
        return None;
    }
    let (skewness, kurtosis) = shape(values)?;
    let statistic =
        skewness_z(skewness, count_of(values)).powi(2) + kurtosis_z(kurtosis + 3.0, count_of(values)).powi(2);
    Some(Tested { statistic, degrees: Some(2.0), p_value: chi_square_upper(statistic, 2.0) })
}

fn skewness_z(skewness: f64, n: f64) -> f64 {
    let y = skewness * ((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0))).sqrt();
    let beta = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0)
        / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0));
    let w = (2.0 * (beta - 1.0)).sqrt() - 1.0;
    let delta = 1.0 / (0.5 * w.ln()).sqrt();
    let ratio = y / (2.0 / (w - 1.0)).sqrt();
    delta * (ratio + (ratio * ratio + 1.0).sqrt()).ln()
}

fn kurtosis_z(kurtosis: f64, n: f64) -> f64 {
    let expected = 3.0 * (n - 1.0) / (n + 1.0);
    let variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) * (n + 1.0) * (n + 3.0) * (n + 5.0));
    let x = (kurtosis - expected) / variance.sqrt();
    let root = (6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0))).sqrt();
    let beta = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0)) * root;
    let a = 6.0 + 8.0 / beta * (2.0 / beta + (1.0 + 4.0 / (beta * beta)).sqrt());
    let ratio = (1.0 - 2.0 / a) / (1.0 + x * (2.0 / (a - 4.0)).sqrt());
    let middle = 1.0 - 2.0 / (9.0 * a);
    (middle - ratio.cbrt()) / (2.0 / (9.0 * a)).sqrt()
}
