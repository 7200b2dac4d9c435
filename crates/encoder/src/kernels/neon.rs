//! For aarch64: eight products at once.

use std::arch::aarch64::{
    int16x8_t, int32x4_t, vaddvq_s32, vdupq_n_s32, vget_low_s16, vld1q_s16, vmlal_high_s16, vmlal_s16,
};

use super::{Products, ROWS};

const LANES: usize = 8;

/// The proof that this processor has NEON: there is one only after it was asked.
#[derive(Clone, Copy)]
pub struct Neon(());

impl Neon {
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

impl Products for Neon {
    #[inline(always)]
    fn sums<const TOKENS: usize>(
        self,
        rows: [&[i16]; ROWS],
        tokens: [&[i16]; TOKENS],
    ) -> [[i32; TOKENS]; ROWS] {
        // SAFETY: `self` exists only if the processor has NEON.
        unsafe { sums(rows, tokens) }
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn sums<const TOKENS: usize>(rows: [&[i16]; ROWS], tokens: [&[i16]; TOKENS]) -> [[i32; TOKENS]; ROWS] {
    let rows = rows.map(|row| row.as_chunks::<LANES>().0);
    let tokens = tokens.map(|token| token.as_chunks::<LANES>().0);
    let chunks = tokens.iter().chain(&rows).map(|chunks| chunks.len()).min().unwrap_or_default();
    let mut sums: [[int32x4_t; TOKENS]; ROWS] = [[vdupq_n_s32(0); TOKENS]; ROWS];
    for at in 0..chunks {
        let weights = rows.map(|row| load(&row[at]));
        for of in 0..TOKENS {
            let token = load(&tokens[of][at]);
            for row in 0..ROWS {
                let low = vmlal_s16(sums[row][of], vget_low_s16(weights[row]), vget_low_s16(token));
                sums[row][of] = vmlal_high_s16(low, weights[row], token);
            }
        }
    }
    sums.map(|sums| sums.map(|lanes| vaddvq_s32(lanes)))
}

#[target_feature(enable = "neon")]
#[inline]
fn load(numbers: &[i16; LANES]) -> int16x8_t {
    // SAFETY: the array has exactly the 16 bytes that are read, and this instruction asks for no alignment.
    unsafe { vld1q_s16(numbers.as_ptr()) }
}
