//! Tokens to what each of them means among the others: their vectors, six layers.
//!
//! Everything on the way is inlined into the caller, which may permit wider instructions (`kernels`).

use crate::attention::attention;
use crate::elementwise::{gelu, normalize};
use crate::format::{INNER, TOKENS_MAX, WIDTH};
use crate::kernels::Products;
use crate::linear::{Activations, linear};
use crate::weights::{Layer, Norm, Weights};

/// One row for each of at most [`TOKENS_MAX`] tokens; how long a row is has no meaning.
#[inline(always)]
pub fn forward<P: Products>(products: P, weights: &Weights, tokens: &[u16]) -> Vec<f32> {
    let tokens = &tokens[..tokens.len().min(TOKENS_MAX)];
    let mut rows = vec![0.0; tokens.len() * WIDTH];
    for (position, (token, row)) in tokens.iter().zip(rows.chunks_exact_mut(WIDTH)).enumerate() {
        weights.add_vectors(*token, position, row);
        normalize(row, &weights.norm);
    }
    for layer in &weights.layers {
        rows = through(products, layer, rows);
    }
    rows
}

#[inline(always)]
fn through<P: Products>(products: P, layer: &Layer, mut rows: Vec<f32>) -> Vec<f32> {
    let whole = Activations::of(&rows, WIDTH);
    let queries = linear(products, &layer.query, &whole);
    let keys = linear(products, &layer.key, &whole);
    let values = linear(products, &layer.value, &whole);
    let seen = attention(&queries, &keys, &values);
    let seen = linear(products, &layer.attention_out, &Activations::of(&seen, WIDTH));
    add_and_normalize(&mut rows, &seen, &layer.attention_norm);

    let mut inner = linear(products, &layer.widen, &Activations::of(&rows, WIDTH));
    gelu(&mut inner);
    let changed = linear(products, &layer.narrow, &Activations::of(&inner, INNER));
    add_and_normalize(&mut rows, &changed, &layer.norm);
    rows
}

#[inline(always)]
fn add_and_normalize(rows: &mut [f32], added: &[f32], norm: &Norm) {
    for (row, added) in rows.chunks_exact_mut(WIDTH).zip(added.chunks_exact(WIDTH)) {
        for (number, added) in row.iter_mut().zip(added) {
            *number += added;
        }
        normalize(row, norm);
    }
}
