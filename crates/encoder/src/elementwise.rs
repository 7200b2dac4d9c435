//! What happens to numbers one by one, or along one row: sums, norms, exponentials, the bend between two
//! matrices.
//!
//! Sums have eight lanes, whatever the processor has, and functions are polynomials of our own: results are
//! the same to the last bit everywhere.

use crate::weights::Norm;

const LANES: usize = 8;

/// The sum of a row, lane by lane.
#[inline(always)]
pub fn sum(numbers: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    for (lane, number) in lanes.iter_mut().zip(rest) {
        *lane += number;
    }
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

#[inline(always)]
fn largest_magnitude(numbers: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = larger(lanes[lane], chunk[lane].abs());
        }
    }
    for (lane, number) in lanes.iter_mut().zip(rest) {
        *lane = larger(*lane, number.abs());
    }
    lanes.into_iter().fold(0.0, larger)
}

/// One instruction, unlike `f32::max`, which also asks for what isn't a number.
#[inline(always)]
fn larger(one: f32, other: f32) -> f32 {
    if one > other { one } else { other }
}

/// Moves and stretches a row so that its mean is 0 and its variance 1, then by what was learned.
#[inline(always)]
pub fn normalize(row: &mut [f32], norm: &Norm) {
    let count = row.len() as f32;
    let mean = sum(row) / count;
    let mut squares = [0.0_f32; LANES];
    for chunk in row.as_chunks_mut::<LANES>().0 {
        for lane in 0..LANES {
            chunk[lane] -= mean;
            squares[lane] += chunk[lane] * chunk[lane];
        }
    }
    let stretch = 1.0 / (sum(&squares) / count + 1e-12).sqrt();
    for ((number, factor), added) in row.iter_mut().zip(&norm.factors).zip(&norm.added) {
        *number = *number * stretch * factor + added;
    }
}

/// Turns a row into weights that add up to 1: the larger a number, the larger its share.
#[inline(always)]
pub fn softmax(row: &mut [f32]) {
    let mut largest = f32::MIN;
    for number in row.iter() {
        largest = larger(largest, *number);
    }
    for number in row.iter_mut() {
        *number = exponential(*number - largest);
    }
    let factor = 1.0 / sum(row);
    for number in row.iter_mut() {
        *number *= factor;
    }
}

/// The bend between the two matrices of a layer: `x` times the share of a normal distribution below `x`.
#[inline(always)]
pub fn gelu(numbers: &mut [f32]) {
    for number in numbers {
        *number = 0.5 * *number * (1.0 + error_function(*number * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// Abramowitz and Stegun, 7.1.26: within 2e-7.
#[inline(always)]
fn error_function(x: f32) -> f32 {
    let size = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let tail = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    (1.0 - tail * exponential(-size * size)).copysign(x)
}

/// e to the power of a number that isn't above 0, within two units of the last place. What comes to less than
/// 1e-37 is that.
#[inline(always)]
fn exponential(x: f32) -> f32 {
    // Adding it leaves a whole number in the lowest bits.
    const WHOLE: f32 = 12_582_912.0;
    // The logarithm of 2 in two parts, the first of which can be multiplied without an error.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = larger(x, -85.0);
    let shifted = x * std::f32::consts::LOG2_E + WHOLE;
    let whole = shifted - WHOLE;
    let rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    let power = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_67
                                + rest * (0.041_666_67 + rest * (0.008_333_334 + rest * 0.001_388_889)))));
    let exponent = shifted.to_bits().wrapping_sub(WHOLE.to_bits());
    power * f32::from_bits(exponent.wrapping_add(127) << 23)
}

/// A row in whole numbers, none beyond `limit`. Gives what one of them stands for.
#[inline(always)]
pub fn quantize(row: &[f32], limit: i16, whole: &mut [i16]) -> f32 {
    let largest = largest_magnitude(row);
    if largest == 0.0 {
        whole.fill(0);
        return 0.0;
    }
    let factor = f32::from(limit) / largest;
    for (whole, number) in whole.iter_mut().zip(row) {
        // Adding it rounds, and leaves the number in the lowest bits.
        let shifted = number * factor + 12_582_912.0;
        *whole = shifted.to_bits() as i16;
    }
    largest / f32::from(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_that_of_the_standard_library() {
        for step in 0..=8_500 {
            let x = -f64::from(step) / 100.0;
            let error = f64::from(exponential(x as f32)) / f64::from(x as f32).exp() - 1.0;
            assert!(error.abs() < 3e-7, "e^{x}: {error:e}");
        }
        assert!(exponential(-1000.0) < 2e-37);
    }

    #[test]
    fn the_bend_is_that_of_a_normal_distribution() {
        for (x, expected) in [
            (-6.0, -5.92e-9),
            (-3.0, -0.004_049_69),
            (-1.0, -0.158_655_25),
            (0.0, 0.0),
            (0.5, 0.345_731_23),
            (2.0, 1.954_499_7),
        ] {
            let mut numbers = [x];
            gelu(&mut numbers);
            assert!((numbers[0] - expected).abs() < 2e-6, "{x}: {} instead of {expected}", numbers[0]);
        }
    }

    #[test]
    fn sums_count_every_number_once() {
        for count in 0..40 {
            let numbers: Vec<f32> = (1..=count).map(|number| number as f32).collect();
            assert_eq!(sum(&numbers), (count * (count + 1) / 2) as f32);
        }
    }

    #[test]
    fn shares_add_up_to_one() {
        let mut row: Vec<f32> = (0..19).map(|at| (at * 7 % 19) as f32 * 3.0 - 40.0).collect();
        softmax(&mut row);
        assert!((sum(&row) - 1.0).abs() < 1e-6);
        assert!(row.iter().all(|share| *share >= 0.0));
    }

    #[test]
    fn a_normal_row_has_the_mean_and_the_variance_that_were_learned() {
        let norm = Norm { factors: vec![2.0; 384], added: vec![5.0; 384] };
        let mut row: Vec<f32> = (0..384).map(|at| (at as f32 * 0.7).sin() * 90.0 + 12.0).collect();
        normalize(&mut row, &norm);
        let mean = sum(&row) / 384.0;
        let variance = row.iter().map(|number| (number - mean) * (number - mean)).sum::<f32>() / 384.0;
        assert!((mean - 5.0).abs() < 1e-4 && (variance - 4.0).abs() < 1e-3, "{mean} {variance}");
    }

    #[test]
    fn whole_numbers_are_rounded_and_keep_to_the_limit() {
        let mut whole = [0; 5];
        let unit = quantize(&[-2.0, 1.0, 0.0, 0.5, 0.001_1], 1000, &mut whole);
        assert_eq!((whole, unit), ([-1000, 500, 0, 250, 1], 0.002));
        assert_eq!(quantize(&[0.0; 5], 1000, &mut whole), 0.0);
        assert_eq!(whole, [0; 5]);
    }
}
