//! Counts tokens, exactly as models of the o200k family do.
//!
//! A text is split into pieces by a pattern; a piece is one token if the vocabulary has it, otherwise
//! its bytes are merged pair by pair, the most frequent pair first. The vocabulary is the public one
//! of these models: `o200k_base.tokens`, 200 thousand byte strings in the order of their ranks.

mod merge;
mod pieces;
mod plain;
mod vocabulary;

use pieces::PlainPiece;
use vocabulary::Vocabulary;

/// How many tokens a text comes to.
///
/// The first call reads the vocabulary, which takes some 10 ms. A piece longer than 16 KiB, which no
/// written text has, is counted in parts, and then each seam may add a token.
pub fn count(text: &str) -> usize {
    let vocabulary = Vocabulary::get();
    pieces::of(text).map(|piece| merge::count(vocabulary, piece.as_bytes())).sum()
}

/// Whether a text comes to no more tokens than that: as [`count`] says, and nearly always without having read the
/// vocabulary.
pub fn fits(text: &str, tokens_max: usize) -> bool {
    // No token is shorter than a byte.
    text.len() <= tokens_max
        || at_most(Vocabulary::at_hand(), text) <= tokens_max
        || count(text) <= tokens_max
}

/// No text comes to more tokens than this. With the first tokens alone the same merges are made, and those that are
/// missing would be made after them.
fn at_most(vocabulary: &Vocabulary, text: &str) -> usize {
    let of_piece = |piece: PlainPiece<'_>| match piece {
        PlainPiece::One(piece) => merge::count(vocabulary, piece.as_bytes()),
        PlainPiece::Some(pieces) => pieces.len(),
    };
    pieces::plain(text).map(of_piece).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_tokens_alone_never_make_a_text_shorter() {
        const WORDS: [&str; 24] = [
            "repositories",
            "Get",
            "s",
            "'s",
            " the",
            "URL",
            "…",
            "é",
            "東京",
            "  ",
            "\n",
            "\n\n",
            "_",
            "::",
            "()",
            "12345",
            "=>",
            "{\"",
            "\"}",
            "Straße",
            "\t",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "🙂",
            "\u{a0}",
        ];
        let first = Vocabulary::read(vocabulary::COMMON);
        let mut state = 3u64;
        let mut below = |bound: usize| {
            // A generator by Knuth; the high bits are the better ones.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        for _ in 0..5_000 {
            let text: String = (0..below(40)).map(|_| WORDS[below(WORDS.len())]).collect();
            let (bound, tokens) = (at_most(&first, &text), count(&text));
            assert!(bound >= tokens, "{bound} for {tokens} of {text:?}");
            assert!(at_most(Vocabulary::get(), &text) >= tokens, "{text:?}");
        }
    }
}
