//! For aarch64: eight products at once.

use std::arch::aarch64::{
    int16x8_t, int32x4_t, vaddvq_s32, vdupq_n_s32, vget_low_s16, vld1_s8, vld1q_s16, vmlal_high_s16,
    vmlal_s16, vmovl_s8, vmulq_n_s16, vst1q_s16,
};

use super::{Products, ROWS};
use crate::format::GROUP;

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
    fn scale(self, weights: &[[i8; GROUP]], scales: &[i8], scaled: &mut [[i16; GROUP]]) {
        // SAFETY: `self` exists only if the processor has NEON.
        unsafe { scale(weights, scales, scaled) }
    }

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
fn scale(weights: &[[i8; GROUP]], scales: &[i8], scaled: &mut [[i16; GROUP]]) {
    for ((weights, scale), scaled) in weights.iter().zip(scales).zip(scaled) {
        scale_group(weights, *scale, scaled);
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn scale_group(weights: &[i8; GROUP], scale: i8, scaled: &mut [i16; GROUP]) {
    let (weights, scaled) = (weights.as_chunks::<LANES>().0, scaled.as_chunks_mut::<LANES>().0);
    for (weights, scaled) in weights.iter().zip(scaled) {
        // SAFETY: the array has exactly the 8 bytes that are read, and this instruction asks for no alignment.
        let weights = unsafe { vld1_s8(weights.as_ptr()) };
        let products = vmulq_n_s16(vmovl_s8(weights), i16::from(scale));
        // SAFETY: the array has exactly the 16 bytes that are written, and this instruction asks for no alignment.
        unsafe { vst1q_s16(scaled.as_mut_ptr(), products) };
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn sums<const TOKENS: usize>(rows: [&[i16]; ROWS], tokens: [&[i16]; TOKENS]) -> [[i32; TOKENS]; ROWS] {
    // Equally long for certain, so that nothing is checked in the loop.
    let chunks = rows[0].len() / LANES;
    let mut row_chunks: [&[[i16; LANES]]; ROWS] = [&[]; ROWS];
    for (chunked, row) in row_chunks.iter_mut().zip(&rows) {
        *chunked = &row.as_chunks().0[..chunks];
    }
    let mut token_chunks: [&[[i16; LANES]]; TOKENS] = [&[]; TOKENS];
    for (chunked, token) in token_chunks.iter_mut().zip(&tokens) {
        *chunked = &token.as_chunks().0[..chunks];
    }
    let mut sums: [[int32x4_t; TOKENS]; ROWS] = [[vdupq_n_s32(0); TOKENS]; ROWS];
    for at in 0..chunks {
        let weights = [load(&row_chunks[0][at]), load(&row_chunks[1][at])];
        for of in 0..TOKENS {
            let token = load(&token_chunks[of][at]);
            for row in 0..ROWS {
                let low = vmlal_s16(sums[row][of], vget_low_s16(weights[row]), vget_low_s16(token));
                sums[row][of] = vmlal_high_s16(low, weights[row], token);
            }
        }
    }
    let mut across_lanes = [[0; TOKENS]; ROWS];
    for row in 0..ROWS {
        for of in 0..TOKENS {
            across_lanes[row][of] = vaddvq_s32(sums[row][of]);
        }
    }
    across_lanes
}

#[target_feature(enable = "neon")]
#[inline]
fn load(numbers: &[i16; LANES]) -> int16x8_t {
    // SAFETY: the array has exactly the 16 bytes that are read, and this instruction asks for no alignment.
    unsafe { vld1q_s16(numbers.as_ptr()) }
}
