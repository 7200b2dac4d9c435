//! For every processor: plain loops.

use super::{Products, ROWS};
use crate::format::GROUP;

#[derive(Clone, Copy)]
pub struct Portable;

impl Products for Portable {
    #[inline(always)]
    fn scale(self, weights: &[[i8; GROUP]], scales: &[i8], scaled: &mut [[i16; GROUP]]) {
        for ((weights, scale), scaled) in weights.iter().zip(scales).zip(scaled) {
            for (weight, scaled) in weights.iter().zip(scaled) {
                *scaled = i16::from(*weight) * i16::from(*scale);
            }
        }
    }

    #[inline(always)]
    fn sums<const TOKENS: usize>(
        self,
        rows: [&[i16]; ROWS],
        tokens: [&[i16]; TOKENS],
    ) -> [[i32; TOKENS]; ROWS] {
        let mut sums = [[0; TOKENS]; ROWS];
        for row in 0..ROWS {
            for of in 0..TOKENS {
                sums[row][of] = sum(rows[row], tokens[of]);
            }
        }
        sums
    }
}

#[inline(always)]
fn sum(row: &[i16], token: &[i16]) -> i32 {
    row.iter().zip(token).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum()
}
