//! Probabilities of the usual distributions, from the incomplete beta and gamma functions.

use std::f64::consts::PI;

/// Steps of a series or a continued fraction; all of ours settle within a few hundred.
const STEPS_MAX: usize = 10_000;
/// A term that no longer changes a double.
const SETTLED: f64 = 1e-16;
/// In place of a zero that would be divided by.
const TINY: f64 = 1e-300;

/// The logarithm of the gamma function, by Stirling's series after stepping up to where it is exact.
pub(crate) fn ln_gamma(value: f64) -> f64 {
    let mut shift = 0.0;
    let mut x = value;
    while x < 15.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse
        * (1.0 / 12.0
            - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series - shift
}

/// The regularized upper incomplete gamma function Q(a, x).
pub(crate) fn upper_gamma(a: f64, x: f64) -> f64 {
    if x.is_nan() || a.is_nan() || a <= 0.0 {
        return f64::NAN;
    }
    if x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 { 1.0 - front * lower_series(a, x) } else { front * upper_fraction(a, x) }
}

fn lower_series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut total = term;
    let mut next = a;
    for _ in 0..STEPS_MAX {
        next += 1.0;
        term *= x / next;
        total += term;
        if term < total * SETTLED {
            break;
        }
    }
    total
}

/// Lentz's way through the continued fraction.
fn upper_fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut total = d;
    for step in 1..STEPS_MAX {
        let step = step as f64;
        let an = -step * (step - a);
        b += 2.0;
        d = 1.0 / away_from_zero(an * d + b);
        c = away_from_zero(b + an / c);
        let factor = d * c;
        total *= factor;
        if (factor - 1.0).abs() < SETTLED {
            break;
        }
    }
    total
}

/// The regularized incomplete beta function I_x(a, b).
pub(crate) fn beta(a: f64, b: f64, x: f64) -> f64 {
    if x.is_nan() || a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, 1.0 - x) / b
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut total = d;
    for step in 1..STEPS_MAX {
        let m = step as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        total *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        total *= d * c;
        if (d * c - 1.0).abs() < SETTLED {
            break;
        }
    }
    total
}

fn away_from_zero(value: f64) -> f64 {
    if value.abs() < TINY { TINY } else { value }
}

/// How likely Student's t is at least this far from zero on either side.
pub(crate) fn t_two_sided(t: f64, degrees: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// How likely an F value is at least this large.
pub(crate) fn f_upper(f: f64, between: f64, within: f64) -> f64 {
    if f.is_infinite() {
        return 0.0;
    }
    beta(within / 2.0, between / 2.0, within / (within + between * f))
}

/// How likely a chi-square value is at least this large.
pub(crate) fn chi_square_upper(value: f64, degrees: f64) -> f64 {
    upper_gamma(degrees / 2.0, value / 2.0)
}

/// How likely a normal value is at least this far from zero on either side.
pub(crate) fn normal_two_sided(z: f64) -> f64 {
    upper_gamma(0.5, z * z / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-12 + expected.abs() * 1e-11, "{found} is not {expected}");
    }

    #[test]
    fn the_functions_agree_with_known_values() {
        close(ln_gamma(0.5), PI.sqrt().ln());
        close(ln_gamma(5.0), 24.0_f64.ln());
        close(ln_gamma(1e-3), 6.907_178_885_383_854);
        // With one degree of freedom t is Cauchy: 1 - 2 atan(t) / pi.
        close(t_two_sided(1.0, 1.0), 0.5);
        close(t_two_sided(3.0, 1.0), 1.0 - 2.0 * 3.0_f64.atan() / PI);
        // With two it is 1 - t / sqrt(2 + t^2).
        close(t_two_sided(2.0, 2.0), 1.0 - 2.0 / 6.0_f64.sqrt());
        // With two degrees chi-square is exp(-x / 2), with four exp(-x / 2) (1 + x / 2).
        close(chi_square_upper(5.0, 2.0), (-2.5_f64).exp());
        close(chi_square_upper(9.0, 4.0), (-4.5_f64).exp() * 5.5);
        close(normal_two_sided(1.959_963_984_540_054), 0.05);
        close(normal_two_sided(0.0), 1.0);
        // With two degrees between, F is (w / (w + 2 F)) ^ (w / 2); with one it is t squared.
        close(f_upper(3.0, 2.0, 10.0), (10.0_f64 / 16.0).powi(5));
        close(f_upper(9.0, 1.0, 7.0), t_two_sided(3.0, 7.0));
        close(f_upper(0.0, 4.0, 9.0), 1.0);
        close(beta(2.0, 3.0, 0.4), 0.524_8);
        close(beta(3.0, 2.0, 0.6), 0.475_2);
    }

    #[test]
    fn far_out_there_is_next_to_nothing() {
        close(t_two_sided(f64::INFINITY, 5.0), 0.0);
        assert!(normal_two_sided(10.0) > 0.0 && normal_two_sided(10.0) < 1e-22);
        assert!(chi_square_upper(f64::NAN, 3.0).is_nan());
    }
}
