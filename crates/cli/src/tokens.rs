//! Counts tokens as the o200k models do.

use bpe_openai::o200k_base;

/// How many tokens `text` is.
pub fn count(text: &str) -> usize {
    o200k_base().count(text)
}
