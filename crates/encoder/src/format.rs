//! The packed weights: what is in the file, in which order, with how many bits. The build writes it
//! (`build/pack.rs`), the crate reads it (`weights.rs`).
//!
//! `MAGIC`, the vocabulary (its length as a `u32`, then one word for each line), and then, each as the
//! constants here describe it: the words' two matrices, the positions', the norm of both, the layers.
//! All numbers are little endian.
//!
//! A matrix is, for each row: a scale (`f32`), a scale for each group of 32 columns (`i8`), and the
//! columns in `bits` bits each, moved up by half their range. A weight is the product of all three.

/// Of the packed file, by BLAKE3. Packing is exact arithmetic: every machine makes the same file.
pub const PACKED_HASH: &str = "93da3db65917acc05618a8309c1ed27df494a8c10416d1e535aef12be53fb5f0";

pub const MAGIC: &[u8; 8] = b"GMENC\0\0\x01";

pub const WIDTH: usize = 384;
pub const INNER: usize = 1536;
pub const LAYERS: usize = 6;
pub const WORDS: usize = 30_522;

/// Tokens of a text, with those that begin and end it.
pub const TOKENS_MAX: usize = 128;

/// Columns that share a scale.
pub const GROUP: usize = 32;

/// The largest activation: they have 11 bits. With it no row's sum leaves 32 bits, which packing checks.
pub const ACTIVATION_MAX: i16 = 1023;

/// A matrix as it is packed.
#[derive(Clone, Copy)]
pub struct Shape {
    pub rows: usize,
    pub columns: usize,
    /// At most 8; a matrix that is multiplied with, at most 6.
    pub bits: usize,
}

/// The vectors of the vocabulary's first words: the marks that are in every text, and common words, since the
/// vocabulary is in the order of how often words are used.
pub const COMMON_WORDS: Shape = Shape { rows: 12_000, columns: WIDTH, bits: 4 };

/// The others' vectors.
pub const RARE_WORDS: Shape = Shape { rows: WORDS - COMMON_WORDS.rows, columns: WIDTH, bits: 3 };

pub const POSITION_VECTORS: Shape = Shape { rows: TOKENS_MAX, columns: WIDTH, bits: 8 };

/// What one layer has, in the file's order: matrices, each followed by its bias (`f32`), and norms (factors, then
/// what is added). Bits go where errors reach the result: queries and keys only weigh, values and what
/// widens are passed on.
pub const QUERY: Shape = Shape { rows: WIDTH, columns: WIDTH, bits: 4 };
pub const KEY: Shape = QUERY;
pub const VALUE: Shape = Shape { rows: WIDTH, columns: WIDTH, bits: 6 };
pub const ATTENTION_OUT: Shape = VALUE;
pub const WIDEN: Shape = Shape { rows: INNER, columns: WIDTH, bits: 6 };
pub const NARROW: Shape = Shape { rows: WIDTH, columns: INNER, bits: 6 };
