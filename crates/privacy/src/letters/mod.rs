//! Words of letters and digits: IBANs, national numbers with letters, addresses of cryptocurrencies.

mod iban;
mod ids;

use crate::bytes::{before, is_name};
use crate::context::Context;
use crate::finding::Finding;
use crate::{crypto, network};

/// Longer words are none of these.
const WORD_BYTES_MAX: usize = 110;

/// What the word from `start` to `end` is; the finding may end further on.
pub fn at(text: &str, start: usize, end: usize, context: &Context) -> Option<Finding> {
    let bytes = text.as_bytes();
    if end - start > WORD_BYTES_MAX {
        return None;
    }
    let is_attached = is_attached(bytes, start);
    if (!is_attached || is_own_part(bytes, start))
        && let Some(found) = iban::at(text, start)
    {
        return Some(found);
    }
    if is_attached {
        return None;
    }
    let is_whole = bytes.get(end).is_none_or(|byte| !is_name(*byte));
    let found = if is_whole { ids::read(text, start, end, context) } else { None };
    found
        .or_else(|| crypto::read(text.get(start..end)?, start, context))
        .or_else(|| network::mac_without_colons(text, start, context))
}

/// Numbers with a letter that a hyphen parts from them.
pub use ids::with_hyphen;

/// A part of a path or of a dotted name that is written as codes of countries are.
fn is_own_part(bytes: &[u8], start: usize) -> bool {
    let is_country = bytes.get(start..start + 2).is_some_and(|head| head.iter().all(u8::is_ascii_uppercase));
    is_country && matches!(before(bytes, start), Some(b'.' | b'/'))
}

/// A part of a path, a name or a longer chain.
fn is_attached(bytes: &[u8], start: usize) -> bool {
    match before(bytes, start) {
        Some(b'_') => true,
        Some(b'-' | b'/' | b'.' | b'+') => before(bytes, start - 1).is_some_and(is_name),
        _ => false,
    }
}
