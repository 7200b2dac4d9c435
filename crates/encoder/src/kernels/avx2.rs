//! For x86-64 with AVX2: sixteen products at once.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_shuffle_epi32, _mm256_add_epi32,
    _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_mullo_epi16, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_storeu_si256,
};

use super::{Products, ROWS};
use crate::format::GROUP;
use crate::forward::forward;
use crate::weights::Weights;

const LANES: usize = 16;

/// The proof that this processor has AVX2: there is one only after it was asked.
#[derive(Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    pub fn run(self, weights: &Weights, tokens: &[u16]) -> Vec<f32> {
        // SAFETY: `self` exists only if the processor has AVX2.
        unsafe { run(self, weights, tokens) }
    }
}

/// Here the compiler uses wide instructions for everything that is inlined, not only for products.
#[target_feature(enable = "avx2")]
fn run(avx2: Avx2, weights: &Weights, tokens: &[u16]) -> Vec<f32> {
    forward(avx2, weights, tokens)
}

impl Products for Avx2 {
    #[inline(always)]
    fn scale(self, weights: &[[i8; GROUP]], scales: &[i8], scaled: &mut [[i16; GROUP]]) {
        // SAFETY: `self` exists only if the processor has AVX2.
        unsafe { scale(weights, scales, scaled) }
    }

    #[inline(always)]
    fn sums<const TOKENS: usize>(
        self,
        rows: [&[i16]; ROWS],
        tokens: [&[i16]; TOKENS],
    ) -> [[i32; TOKENS]; ROWS] {
        // SAFETY: `self` exists only if the processor has AVX2.
        unsafe { sums(rows, tokens) }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn scale(weights: &[[i8; GROUP]], scales: &[i8], scaled: &mut [[i16; GROUP]]) {
    for ((weights, scale), scaled) in weights.iter().zip(scales).zip(scaled) {
        scale_group(weights, *scale, scaled);
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn scale_group(weights: &[i8; GROUP], scale: i8, scaled: &mut [i16; GROUP]) {
    let scale = _mm256_set1_epi16(i16::from(scale));
    let (weights, scaled) = (weights.as_chunks::<LANES>().0, scaled.as_chunks_mut::<LANES>().0);
    for (weights, scaled) in weights.iter().zip(scaled) {
        // SAFETY: the array has exactly the 16 bytes that are read, and this instruction asks for no alignment.
        let weights = unsafe { _mm_loadu_si128(weights.as_ptr().cast()) };
        let products = _mm256_mullo_epi16(_mm256_cvtepi8_epi16(weights), scale);
        // SAFETY: the array has exactly the 32 bytes that are written, and this instruction asks for no alignment.
        unsafe { _mm256_storeu_si256(scaled.as_mut_ptr().cast(), products) };
    }
}

#[target_feature(enable = "avx2")]
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
    let mut sums = [[_mm256_setzero_si256(); TOKENS]; ROWS];
    for at in 0..chunks {
        let weights = [load(&row_chunks[0][at]), load(&row_chunks[1][at])];
        for of in 0..TOKENS {
            let token = load(&token_chunks[of][at]);
            for row in 0..ROWS {
                let products = _mm256_madd_epi16(weights[row], token);
                sums[row][of] = _mm256_add_epi32(sums[row][of], products);
            }
        }
    }
    let mut across_lanes = [[0; TOKENS]; ROWS];
    for row in 0..ROWS {
        for of in 0..TOKENS {
            across_lanes[row][of] = across(sums[row][of]);
        }
    }
    across_lanes
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(numbers: &[i16; LANES]) -> __m256i {
    // SAFETY: the array has exactly the 32 bytes that are read, and this instruction asks for no alignment.
    unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
}

/// The sum of all lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn across(lanes: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let two: __m128i = _mm_add_epi32(four, _mm_shuffle_epi32::<0b_01_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b_10_11_00_01>(two)))
}
