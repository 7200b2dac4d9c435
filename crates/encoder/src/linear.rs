//! A matrix times the tokens, in whole numbers.

use crate::elementwise::quantize;
use crate::format::{ACTIVATION_MAX, GROUP, INNER};
use crate::kernels::{Products, ROWS};
use crate::weights::Linear;

/// One row of numbers for each token, as whole numbers and what one of them stands for.
pub struct Activations {
    columns: usize,
    whole: Vec<i16>,
    units: Vec<f32>,
}

impl Activations {
    #[inline(always)]
    pub fn of(numbers: &[f32], columns: usize) -> Self {
        let mut whole = vec![0; numbers.len()];
        let rows = numbers.chunks_exact(columns).zip(whole.chunks_exact_mut(columns));
        let units = rows.map(|(row, whole)| quantize(row, ACTIVATION_MAX, whole)).collect();
        Self { columns, whole, units }
    }

    #[inline(always)]
    fn row(&self, token: usize) -> &[i16] {
        &self.whole[token * self.columns..][..self.columns]
    }
}

/// What the matrix makes of each token: as many numbers as it has rows, token after token.
#[inline(always)]
pub fn linear<P: Products>(products: P, linear: &Linear, activations: &Activations) -> Vec<f32> {
    let columns = linear.columns;
    let groups = columns / GROUP;
    let mut out =
        Out { rows: linear.bias.len(), numbers: vec![0.0; activations.units.len() * linear.bias.len()] };
    let mut scaled = [0_i16; ROWS * INNER];
    let scaled = &mut scaled[..ROWS * columns];
    for row in (0..out.rows).step_by(ROWS) {
        let weights = &linear.weights[row * columns..][..ROWS * columns];
        scale_groups(weights, &linear.group_scales[row * groups..][..ROWS * groups], scaled);
        let rows = Rows { scaled, linear, first: row };
        let tokens = activations.units.len();
        let mut token = 0;
        while token + 4 <= tokens {
            rows.times::<4, P>(products, activations, token, &mut out);
            token += 4;
        }
        match tokens - token {
            0 => {}
            1 => rows.times::<1, P>(products, activations, token, &mut out),
            2 => rows.times::<2, P>(products, activations, token, &mut out),
            _ => rows.times::<3, P>(products, activations, token, &mut out),
        }
    }
    out.numbers
}

struct Out {
    rows: usize,
    numbers: Vec<f32>,
}

/// Some rows of a matrix, with their groups' scales applied.
struct Rows<'a> {
    scaled: &'a [i16],
    linear: &'a Linear,
    first: usize,
}

impl Rows<'_> {
    #[inline(always)]
    fn times<const TOKENS: usize, P: Products>(
        &self,
        products: P,
        activations: &Activations,
        token: usize,
        out: &mut Out,
    ) {
        let (first, second) = self.scaled.split_at(activations.columns);
        let tokens = std::array::from_fn(|at| activations.row(token + at));
        let sums = products.sums::<TOKENS>([first, second], tokens);
        for (at, sums) in sums.into_iter().enumerate() {
            let row = self.first + at;
            for (of, sum) in sums.into_iter().enumerate() {
                let unit = self.linear.scales[row] * activations.units[token + of];
                out.numbers[(token + of) * out.rows + row] = sum as f32 * unit + self.linear.bias[row];
            }
        }
    }
}

#[inline(always)]
fn scale_groups(weights: &[i8], scales: &[i8], scaled: &mut [i16]) {
    let groups = weights.as_chunks::<GROUP>().0.iter().zip(scaled.as_chunks_mut::<GROUP>().0);
    for ((weights, scaled), scale) in groups.zip(scales) {
        let scale = i16::from(*scale);
        for at in 0..GROUP {
            scaled[at] = i16::from(weights[at]) * scale;
        }
    }
}
