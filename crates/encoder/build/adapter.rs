//! What training adds to the published weights (`training/`): for each matrix of each layer a sum of a few products of
//! a column and a row, which takes a fortieth of the room that other matrices would.
//!
//! `MAGIC`, the number of products (a byte), and then, for each layer and each of `MATRICES` in it: so many rows, and
//! so many columns. Each is a scale (`f32`, little endian) and its numbers (`i8`).

use crate::format::{LAYERS, Shape};

const MAGIC: &[u8; 8] = b"GMADA\0\0\x01";

/// In the order of the file, each with its shape.
pub const MATRICES: [(&str, Shape); 6] = [
    ("attention.self.query", crate::format::QUERY),
    ("attention.self.key", crate::format::KEY),
    ("attention.self.value", crate::format::VALUE),
    ("attention.output.dense", crate::format::ATTENTION_OUT),
    ("intermediate.dense", crate::format::WIDEN),
    ("output.dense", crate::format::NARROW),
];

/// What is added to one matrix.
#[derive(Default)]
pub struct Added {
    rows: Vec<Vec<f32>>,
    columns: Vec<Vec<f32>>,
}

/// By layer, in the order of [`MATRICES`].
pub struct Adapter(Vec<[Added; MATRICES.len()]>);

impl Adapter {
    pub fn read(file: &[u8]) -> Result<Self, String> {
        let (rank, mut rest) = file
            .strip_prefix(MAGIC)
            .and_then(<[u8]>::split_first)
            .ok_or("the adapter doesn't begin as one: make it anew with training/train.py")?;
        let mut layers = Vec::new();
        for _ in 0..LAYERS {
            let mut layer: [Added; MATRICES.len()] = std::array::from_fn(|_| Added::default());
            for ((_, shape), added) in MATRICES.iter().zip(&mut layer) {
                added.rows = vectors(&mut rest, *rank, shape.columns)?;
                added.columns = vectors(&mut rest, *rank, shape.rows)?;
            }
            layers.push(layer);
        }
        if !rest.is_empty() {
            return Err(format!("the adapter has {} bytes too many", rest.len()));
        }
        Ok(Self(layers))
    }

    pub fn of(&self, layer: usize, matrix: usize) -> &Added {
        &self.0[layer][matrix]
    }
}

impl Added {
    /// Product by product, number by number: every machine comes to the same weights.
    pub fn add_to(&self, matrix: &mut [f32]) {
        for (row, column) in self.rows.iter().zip(&self.columns) {
            for (numbers, factor) in matrix.chunks_exact_mut(row.len()).zip(column) {
                numbers.iter_mut().zip(row).for_each(|(number, added)| *number += factor * added);
            }
        }
    }
}

fn vectors(rest: &mut &[u8], count: u8, length: usize) -> Result<Vec<Vec<f32>>, String> {
    let mut vectors = Vec::new();
    for _ in 0..count {
        let (scale, after) = rest.split_first_chunk().ok_or("the adapter is cut off")?;
        let (numbers, after) = after.split_at_checked(length).ok_or("the adapter is cut off")?;
        let scale = f32::from_le_bytes(*scale);
        vectors.push(numbers.iter().map(|number| f32::from(number.cast_signed()) * scale).collect());
        *rest = after;
    }
    Ok(vectors)
}
