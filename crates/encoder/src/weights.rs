//! Reads the packed weights. What is multiplied with is unpacked to one byte for each weight; vectors that
//! are looked up stay packed.

use crate::format::{
    ATTENTION_OUT, COMMON_WORDS, GROUP, KEY, LAYERS, MAGIC, NARROW, POSITION_VECTORS, QUERY, RARE_WORDS,
    Shape, VALUE, WIDEN, WIDTH,
};

pub struct Weights {
    common_words: Packed,
    rare_words: Packed,
    positions: Packed,
    pub norm: Norm,
    pub layers: Vec<Layer>,
}

pub struct Layer {
    pub query: Linear,
    pub key: Linear,
    pub value: Linear,
    pub attention_out: Linear,
    pub attention_norm: Norm,
    pub widen: Linear,
    pub narrow: Linear,
    pub norm: Norm,
}

/// A matrix, and what is added after it.
pub struct Linear {
    pub columns: usize,
    /// Row by row, as they are packed.
    pub weights: Vec<i8>,
    /// Of each group, row by row.
    pub group_scales: Vec<i8>,
    /// Of each row.
    pub scales: Vec<f32>,
    pub bias: Vec<f32>,
}

pub struct Norm {
    pub factors: Vec<f32>,
    pub added: Vec<f32>,
}

/// A matrix as it is in the file.
struct Packed {
    shape: Shape,
    bytes: &'static [u8],
}

/// The vocabulary and the weights, or `None` if the file is not one of this version. The build embeds
/// none but the pinned one.
pub fn read(file: &'static [u8]) -> Option<(&'static [u8], Weights)> {
    let mut reader = Reader(file.strip_prefix(MAGIC)?);
    let length = u32::from_le_bytes(*reader.take(4)?.first_chunk()?);
    let vocabulary = reader.take(length as usize)?;
    let weights = Weights {
        common_words: reader.packed(COMMON_WORDS)?,
        rare_words: reader.packed(RARE_WORDS)?,
        positions: reader.packed(POSITION_VECTORS)?,
        norm: reader.norm()?,
        layers: (0..LAYERS).map(|_| reader.layer()).collect::<Option<_>>()?,
    };
    reader.0.is_empty().then_some((vocabulary, weights))
}

impl Weights {
    /// Adds the vectors of a token and of its position.
    pub fn add_vectors(&self, token: u16, position: usize, sums: &mut [f32]) {
        match usize::from(token).checked_sub(COMMON_WORDS.rows) {
            None => self.common_words.add_row(usize::from(token), sums),
            Some(rare) => self.rare_words.add_row(rare, sums),
        }
        self.positions.add_row(position, sums);
    }
}

impl Packed {
    /// Adds a row to `sums`. A row that isn't there adds nothing.
    fn add_row(&self, row: usize, sums: &mut [f32]) {
        if row >= self.shape.rows {
            return;
        }
        let row = self.row(row);
        let scales = row.group_scales.iter().map(|scale| f32::from(scale.cast_signed()) * row.scale);
        let mut unpacked = [0; GROUP];
        let packed = row.columns.chunks_exact(GROUP * self.shape.bits / 8);
        for ((sums, scale), packed) in sums.chunks_exact_mut(GROUP).zip(scales).zip(packed) {
            unpack(packed, self.shape.bits, &mut unpacked);
            sums.iter_mut().zip(unpacked).for_each(|(sum, weight)| *sum += f32::from(weight) * scale);
        }
    }

    fn row(&self, row: usize) -> PackedRow {
        let bytes = row_bytes(self.shape);
        let (scale, row) = self.bytes[row * bytes..][..bytes].split_at(4);
        let (group_scales, columns) = row.split_at(self.shape.columns / GROUP);
        let scale = scale.first_chunk().map_or(0.0, |scale| f32::from_le_bytes(*scale));
        PackedRow { scale, group_scales, columns }
    }
}

struct PackedRow {
    scale: f32,
    group_scales: &'static [u8],
    columns: &'static [u8],
}

/// A scale, the scales of its groups, its columns.
const fn row_bytes(shape: Shape) -> usize {
    4 + shape.columns / GROUP + shape.columns * shape.bits / 8
}

/// Eight weights are in as many bytes as one has bits, the first in the lowest.
fn unpack(packed: &[u8], bits: usize, weights: &mut [i8]) {
    let (mask, half) = ((1 << bits) - 1, 1 << (bits - 1));
    for (eight, packed) in weights.as_chunks_mut::<8>().0.iter_mut().zip(packed.chunks_exact(bits)) {
        let mut joined = [0; 8];
        joined[..bits].copy_from_slice(packed);
        let joined = u64::from_le_bytes(joined);
        for (at, weight) in eight.iter_mut().enumerate() {
            *weight = (((joined >> (at * bits)) & mask) as i16 - half) as i8;
        }
    }
}

struct Reader(&'static [u8]);

impl Reader {
    fn take(&mut self, bytes: usize) -> Option<&'static [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn packed(&mut self, shape: Shape) -> Option<Packed> {
        Some(Packed { shape, bytes: self.take(shape.rows * row_bytes(shape))? })
    }

    fn numbers(&mut self, count: usize) -> Option<Vec<f32>> {
        let bytes = self.take(count * 4)?;
        Some(bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    fn norm(&mut self) -> Option<Norm> {
        Some(Norm { factors: self.numbers(WIDTH)?, added: self.numbers(WIDTH)? })
    }

    fn linear(&mut self, shape: Shape) -> Option<Linear> {
        let packed = self.packed(shape)?;
        let mut linear = Linear {
            columns: shape.columns,
            weights: vec![0; shape.rows * shape.columns],
            group_scales: Vec::with_capacity(shape.rows * shape.columns / GROUP),
            scales: Vec::with_capacity(shape.rows),
            bias: Vec::new(),
        };
        for (row, weights) in linear.weights.chunks_exact_mut(shape.columns).enumerate() {
            let row = packed.row(row);
            unpack(row.columns, shape.bits, weights);
            linear.group_scales.extend(row.group_scales.iter().map(|scale| scale.cast_signed()));
            linear.scales.push(row.scale);
        }
        linear.bias = self.numbers(shape.rows)?;
        Some(linear)
    }

    fn layer(&mut self) -> Option<Layer> {
        Some(Layer {
            query: self.linear(QUERY)?,
            key: self.linear(KEY)?,
            value: self.linear(VALUE)?,
            attention_out: self.linear(ATTENTION_OUT)?,
            attention_norm: self.norm()?,
            widen: self.linear(WIDEN)?,
            narrow: self.linear(NARROW)?,
            norm: self.norm()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_any_width_are_unpacked_from_the_lowest_bits_up() {
        let mut weights = [0; 8];
        unpack(&[0b1000_1000, 0b1100_0110, 0b1111_1010], 3, &mut weights);
        assert_eq!(weights, [-4, -3, -2, -1, 0, 1, 2, 3]);
        unpack(&[0, 1, 127, 128, 129, 254, 255, 5], 8, &mut weights);
        assert_eq!(weights, [-128, -127, -1, 0, 1, 126, 127, -123]);
    }

    #[test]
    fn a_file_that_is_cut_off_or_too_long_is_none() {
        assert!(read(b"").is_none());
        assert!(read(MAGIC).is_none());
        if let Some(file) = crate::PACKED {
            assert!(read(file).is_some());
            assert!(read(&file[..file.len() - 1]).is_none());
            let longer: &'static [u8] = [file, b"\0"].concat().leak();
            assert!(read(longer).is_none());
        }
    }
}
