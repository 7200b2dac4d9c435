//! Counts tokens, exactly as one family of models does (o200k).

/// Tokens of a text.
pub fn count(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}
