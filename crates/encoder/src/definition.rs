//! A longer text as several vectors, and how near a short one is to them.

use crate::DIMENSIONS;
use crate::vector::{Products, Vector};

/// The pieces that the beginning of a definition is cut into.
pub const PIECES: usize = 3;

/// What a definition means, as a whole and piece by piece.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    pub whole: Vector,
    /// Equally long pieces of its beginning, each as the text around it makes it mean. Of a text with fewer
    /// words, the first point nowhere.
    pub pieces: [Vector; PIECES],
}

/// What a query means, as a whole and token by token.
pub struct Query {
    pub whole: Vector,
    /// Each with its products with itself, which every comparison needs.
    tokens: Vec<(Vector, Products)>,
}

impl Definition {
    /// In [`Self::as_bytes`].
    pub const BYTES: usize = (1 + PIECES) * DIMENSIONS;

    /// Of one row for each token, the marks at both ends among them. The beginning ends before token `end`.
    pub(crate) fn of(rows: &[f32], end: usize) -> Self {
        let last = (rows.len() / DIMENSIONS).saturating_sub(1);
        let beginning: Vec<&[f32]> = rows.chunks_exact(DIMENSIONS).take(end.min(last)).skip(1).collect();
        let border = |at: usize| at * beginning.len() / PIECES;
        let piece = |at: usize| mean_direction(&beginning[border(at)..border(at + 1)]);
        Self { whole: whole(rows), pieces: std::array::from_fn(piece) }
    }

    pub fn as_bytes(&self) -> Vec<u8> {
        [&self.whole].into_iter().chain(&self.pieces).flat_map(Vector::as_bytes).collect()
    }

    /// Any bytes are a definition's; which text they are for, their keeper must know.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let vectors = bytes.as_chunks::<DIMENSIONS>().0;
        Self {
            whole: Vector::from_bytes(&vectors[0]),
            pieces: std::array::from_fn(|at| Vector::from_bytes(&vectors[1 + at])),
        }
    }
}

impl Query {
    pub(crate) fn of(rows: &[f32]) -> Self {
        let tokens = rows.as_chunks::<DIMENSIONS>().0;
        let between_marks = tokens.get(1..tokens.len().saturating_sub(1)).unwrap_or_default();
        let tokens = between_marks.iter().map(Vector::of);
        let tokens = tokens.map(|token| (token.clone(), token.products(&token))).collect();
        Self { whole: whole(rows), tokens }
    }

    /// How near a definition is as a whole, from -1 to 1.
    pub fn cosine(&self, definition: &Definition) -> f32 {
        self.whole.cosine(&definition.whole)
    }

    /// How near each token is to the nearest piece, in the mean: from -1 to 1. A query without tokens is near
    /// to nothing: 0.
    pub fn cosine_by_pieces(&self, definition: &Definition) -> f32 {
        let mut nearest = vec![f32::MIN; self.tokens.len()];
        for piece in &definition.pieces {
            let of_piece = piece.products(piece);
            for (nearest, (token, of_token)) in nearest.iter_mut().zip(&self.tokens) {
                *nearest = nearest.max(token.products(piece).cosine(*of_token, of_piece));
            }
        }
        nearest.iter().sum::<f32>() / self.tokens.len().max(1) as f32
    }
}

/// The mean of all tokens.
pub(crate) fn whole(rows: &[f32]) -> Vector {
    let mut mean = [0.0; DIMENSIONS];
    for row in rows.chunks_exact(DIMENSIONS) {
        mean.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
    }
    Vector::of(&mean)
}

/// The mean of their directions: each counts the same, however long it is.
fn mean_direction(rows: &[&[f32]]) -> Vector {
    let mut mean = [0.0; DIMENSIONS];
    for row in rows {
        let length = row.iter().map(|number| number * number).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        mean.iter_mut().zip(*row).for_each(|(sum, number)| *sum += number / length);
    }
    Vector::of(&mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row for each, along the axis of that number.
    fn rows(axes: &[usize]) -> Vec<f32> {
        let mut rows = vec![0.0; axes.len() * DIMENSIONS];
        for (row, axis) in rows.chunks_exact_mut(DIMENSIONS).zip(axes) {
            row[*axis] = 3.0;
        }
        rows
    }

    #[test]
    fn the_beginning_is_cut_into_pieces_without_the_marks() {
        let definition = Definition::of(&rows(&[0, 1, 1, 2, 2, 3, 3, 4, 0]), 7);
        let axis = |axis: usize| Query::of(&rows(&[0, axis, 0]));
        for at in 0..PIECES {
            let axes: Vec<f32> =
                (0..5).map(|number| axis(number).tokens[0].0.cosine(&definition.pieces[at])).collect();
            let expected: Vec<f32> = (0..5).map(|number| f32::from(number == at + 1)).collect();
            assert_eq!(axes, expected);
        }
    }

    #[test]
    fn each_token_of_a_query_counts_by_its_nearest_piece() {
        let definition = Definition::of(&rows(&[0, 1, 2, 3, 0]), 4);
        let near = |axes: &[usize]| Query::of(&rows(axes)).cosine_by_pieces(&definition);
        assert_eq!(near(&[0, 1, 3, 0]), 1.0);
        assert_eq!(near(&[0, 1, 9, 0]), 0.5);
        assert_eq!(near(&[0, 0]), 0.0);
    }

    #[test]
    fn a_definition_survives_its_bytes_and_may_be_short() {
        for (axes, end) in [(&[0, 1, 2, 3, 0][..], 4), (&[0, 0], 9), (&[0, 1, 0], 2)] {
            let definition = Definition::of(&rows(axes), end);
            let bytes: [u8; Definition::BYTES] = definition.as_bytes().try_into().expect("its length");
            assert_eq!(Definition::from_bytes(&bytes), definition);
        }
    }
}
