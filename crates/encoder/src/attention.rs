//! Lets each token look at all others: the more a query fits a key, the more of that token's value it takes.

use crate::elementwise::softmax;
use crate::format::WIDTH;

const HEADS: usize = 12;
const HEAD_WIDTH: usize = WIDTH / HEADS;

/// One row for each token, from one row of queries, keys and values for each.
#[inline(always)]
pub fn attention(queries: &[f32], keys: &[f32], values: &[f32]) -> Vec<f32> {
    let tokens = queries.len() / WIDTH;
    let mut taken = vec![0.0; queries.len()];
    let mut keys_by_column = vec![0.0; HEAD_WIDTH * tokens];
    let mut shares = vec![0.0; tokens];
    for head in 0..HEADS {
        let from = head * HEAD_WIDTH;
        for (column, keys_of_column) in keys_by_column.chunks_exact_mut(tokens).enumerate() {
            for (to, keys) in keys_of_column.iter_mut().zip(keys.chunks_exact(WIDTH)) {
                *to = keys[from + column];
            }
        }
        for (query, taken) in queries.chunks_exact(WIDTH).zip(taken.chunks_exact_mut(WIDTH)) {
            fits(&query[from..from + HEAD_WIDTH], &keys_by_column, &mut shares);
            softmax(&mut shares);
            take(&shares, values, from, &mut taken[from..from + HEAD_WIDTH]);
        }
    }
    taken
}

/// How well the query fits each key.
#[inline(always)]
fn fits(query: &[f32], keys_by_column: &[f32], fits: &mut [f32]) {
    const FACTOR: f32 = 0.176_776_7; // 1 / sqrt(HEAD_WIDTH)
    fits.fill(0.0);
    for (query, keys) in query.iter().zip(keys_by_column.chunks_exact(fits.len())) {
        let query = query * FACTOR;
        for (fit, key) in fits.iter_mut().zip(keys) {
            *fit += query * key;
        }
    }
}

/// The values' mean by shares.
#[inline(always)]
fn take(shares: &[f32], values: &[f32], from: usize, taken: &mut [f32]) {
    let mut sums = [0.0_f32; HEAD_WIDTH];
    for (share, value) in shares.iter().zip(values.chunks_exact(WIDTH)) {
        let Some(value) = value[from..].first_chunk::<HEAD_WIDTH>() else { continue };
        for at in 0..HEAD_WIDTH {
            sums[at] += share * value[at];
        }
    }
    taken.copy_from_slice(&sums);
}
