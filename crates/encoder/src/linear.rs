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
        let mut units = Vec::with_capacity(numbers.len() / columns);
        for (row, whole) in numbers.chunks_exact(columns).zip(whole.chunks_exact_mut(columns)) {
            units.push(quantize(row, ACTIVATION_MAX, whole));
        }
        Self { columns, whole, units }
    }

    #[inline(always)]
    fn row(&self, token: usize) -> &[i16] {
        &self.whole[token * self.columns..][..self.columns]
    }
}

/// What the matrix makes of each token: as many numbers as it has rows, token after token.
///
/// Not inlined: what takes time here is in the kernels.
pub fn linear<P: Products>(products: P, linear: &Linear, activations: &Activations) -> Vec<f32> {
    let columns = linear.columns;
    let groups = columns / GROUP;
    let mut out =
        Out { rows: linear.bias.len(), numbers: vec![0.0; activations.units.len() * linear.bias.len()] };
    let mut scaled = [0_i16; ROWS * INNER];
    let scaled = &mut scaled[..ROWS * columns];
    for row in (0..out.rows).step_by(ROWS) {
        let weights = &linear.weights[row * columns..][..ROWS * columns];
        let scales = &linear.group_scales[row * groups..][..ROWS * groups];
        products.scale(weights.as_chunks().0, scales, scaled.as_chunks_mut().0);
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
        let mut tokens = [activations.row(token); TOKENS];
        for (at, of) in tokens.iter_mut().enumerate() {
            *of = activations.row(token + at);
        }
        let sums = products.sums::<TOKENS>([first, second], tokens);
        for (at, sums) in sums.iter().enumerate() {
            let row = self.first + at;
            let (scale, bias) = (self.linear.scales[row], self.linear.bias[row]);
            for (of, sum) in sums.iter().enumerate() {
                let unit = scale * activations.units[token + of];
                out.numbers[(token + of) * out.rows + row] = *sum as f32 * unit + bias;
            }
        }
    }
}
