//! Counts tokens, exactly as models of the o200k family do.
//!
//! A text is split into pieces by a pattern; a piece is one token if the vocabulary has it, otherwise
//! its bytes are merged pair by pair, the most frequent pair first. The vocabulary is the public one
//! of these models: `o200k_base.tokens`, 200 thousand byte strings in the order of their ranks.

mod merge;
mod pieces;
mod plain;
mod vocabulary;

use vocabulary::Vocabulary;

/// How many tokens a text comes to.
///
/// The first call reads the vocabulary, which takes some 20 ms. A piece longer than 16 KiB, which no
/// written text has, is counted in parts, and then each seam may add a token.
pub fn count(text: &str) -> usize {
    let vocabulary = Vocabulary::get();
    pieces::of(text).map(|piece| merge::count(vocabulary, piece.as_bytes())).sum()
}
