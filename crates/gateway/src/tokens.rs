//! Counts tokens, exactly as one family of models does (o200k).

/// Tokens of a text.
pub fn count(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

/// What is counted exactly of one text: a count takes about as long as reading the text five times.
const COUNTED_BYTES_MAX: usize = 16 << 20;

/// Tokens of a text of any length; beyond a bound in proportion, and then it says so.
pub fn count_bounded(text: &str) -> (usize, bool) {
    if text.len() <= COUNTED_BYTES_MAX {
        return (count(text), false);
    }
    let counted = &text[..text.floor_char_boundary(COUNTED_BYTES_MAX)];
    let tokens = count(counted) as f64 * text.len() as f64 / counted.len().max(1) as f64;
    (tokens.round() as usize, true)
}
