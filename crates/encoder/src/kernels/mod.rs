//! Products in whole numbers, for each kind of processor, and the one that this processor gets.
//!
//! The only place with `unsafe`: wide instructions are used only after the processor was asked for them.
//! All kernels give the same numbers, since nothing is rounded in them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(test)]
mod tests;

use crate::format::GROUP;
use crate::forward::forward;
use crate::weights::Weights;
use portable::Portable;

/// Rows of a matrix that are multiplied at once.
pub const ROWS: usize = 2;

/// Products and their sums: the inner loops of everything.
pub trait Products: Copy {
    /// The weights of each group times its scale.
    fn scale(self, weights: &[[i8; GROUP]], scales: &[i8], scaled: &mut [[i16; GROUP]]);

    /// For each row and each token, the sum of their products. All are equally long, in multiples of 32, and
    /// no sum leaves 32 bits.
    fn sums<const TOKENS: usize>(
        self,
        rows: [&[i16]; ROWS],
        tokens: [&[i16]; TOKENS],
    ) -> [[i32; TOKENS]; ROWS];
}

/// What a processor can do.
#[derive(Clone, Copy)]
pub struct Kernel(Kind);

#[derive(Clone, Copy)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
}

impl Kernel {
    /// The fastest for this processor.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = avx2::Avx2::detect() {
            return Self(Kind::Avx2(avx2));
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(neon) = neon::Neon::detect() {
            return Self(Kind::Neon(neon));
        }
        Self::portable()
    }

    pub fn portable() -> Self {
        Self(Kind::Portable)
    }

    pub fn run(self, weights: &Weights, tokens: &[u16]) -> Vec<f32> {
        match self.0 {
            Kind::Portable => forward(Portable, weights, tokens),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(avx2) => avx2.run(weights, tokens),
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(neon) => forward(neon, weights, tokens),
        }
    }
}
