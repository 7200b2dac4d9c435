//! How two lists of numbers go together: covariance, correlation, the straight line of least squares.

use super::distributions::t_two_sided;
use super::summary::{count_of, mean, ranks, sum};

/// A straight line through points, and how well it fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    pub(crate) slope: f64,
    pub(crate) intercept: f64,
    /// The share of the variance that the line explains.
    pub(crate) r_squared: f64,
    /// How likely such a slope is where there is none; `None` for fewer than three points.
    pub(crate) p_value: Option<f64>,
}

/// The sample covariance (n − 1).
pub(crate) fn covariance(left: &[f64], right: &[f64]) -> Option<f64> {
    if left.len() < 2 || left.len() != right.len() {
        return None;
    }
    Some(products(left, right)? / (count_of(left) - 1.0))
}

/// Pearson's correlation; `None` where one of the lists does not vary.
pub(crate) fn pearson(left: &[f64], right: &[f64]) -> Option<f64> {
    if left.len() < 2 || left.len() != right.len() {
        return None;
    }
    let spread = (products(left, left)? * products(right, right)?).sqrt();
    (spread > 0.0).then(|| (products(left, right).unwrap_or(f64::NAN) / spread).clamp(-1.0, 1.0))
}

/// Spearman's correlation: Pearson's over ranks.
pub(crate) fn spearman(left: &[f64], right: &[f64]) -> Option<f64> {
    pearson(&ranks(left), &ranks(right))
}

/// How likely such a correlation is where there is none.
pub(crate) fn correlation_p_value(correlation: f64, count: usize) -> Option<f64> {
    let degrees = count.checked_sub(2).filter(|degrees| *degrees > 0)? as f64;
    let rest = 1.0 - correlation * correlation;
    let t = if rest <= 0.0 { f64::INFINITY } else { correlation * (degrees / rest).sqrt() };
    Some(t_two_sided(t, degrees))
}

/// The line of least squares; `None` where all points stand above one another.
pub(crate) fn line(x: &[f64], y: &[f64]) -> Option<Line> {
    let spread = products(x, x).filter(|spread| *spread > 0.0 && x.len() == y.len())?;
    let slope = products(x, y)? / spread;
    let intercept = mean(y)? - slope * mean(x)?;
    let correlation = pearson(x, y);
    Some(Line {
        slope,
        intercept,
        // A level line explains everything that varies: nothing.
        r_squared: correlation.map_or(1.0, |r| r * r),
        p_value: correlation.and_then(|r| correlation_p_value(r, x.len())),
    })
}

/// The sum of the products of the distances from the means.
fn products(left: &[f64], right: &[f64]) -> Option<f64> {
    let (left_mean, right_mean) = (mean(left)?, mean(right)?);
    Some(sum(left.iter().zip(right).map(|(left, right)| (left - left_mean) * (right - right_mean))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_agree_with_known_values() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0];
        let y = [2.0, 4.0, 5.0, 4.0, 5.0];
        assert_eq!(covariance(&x, &y), Some(1.5));
        assert!((pearson(&x, &y).unwrap() - 0.774_596_669_241_483).abs() < 1e-12);
        assert!((spearman(&x, &y).unwrap() - 0.737_864_787_372_621_8).abs() < 1e-12);
        let line = line(&x, &y).unwrap();
        assert!((line.slope - 0.6).abs() < 1e-12 && (line.intercept - 2.2).abs() < 1e-12);
        assert!((line.r_squared - 0.6).abs() < 1e-12);
        assert!((line.p_value.unwrap() - 0.124_027_062_657_554_45).abs() < 1e-9);
        assert_eq!(pearson(&x, &[3.0; 5]), None);
    }
}
