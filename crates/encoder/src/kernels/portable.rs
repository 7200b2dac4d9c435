//! For every processor: plain loops.

use super::{Products, ROWS};

#[derive(Clone, Copy)]
pub struct Portable;

impl Products for Portable {
    #[inline(always)]
    fn sums<const TOKENS: usize>(
        self,
        rows: [&[i16]; ROWS],
        tokens: [&[i16]; TOKENS],
    ) -> [[i32; TOKENS]; ROWS] {
        rows.map(|row| tokens.map(|token| sum(row, token)))
    }
}

#[inline(always)]
fn sum(row: &[i16], token: &[i16]) -> i32 {
    row.iter().zip(token).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum()
}
