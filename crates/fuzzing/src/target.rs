//! What a fuzz target is.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// One reader of foreign bytes, with the promise that is kept to.
#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    /// The promise, in a line.
    pub promise: &'static str,
    /// Panics if the promise is broken.
    pub run: fn(&[u8]) -> Reached,
    /// Words of the format, which chance alone would not find.
    pub dictionary: &'static [&'static [u8]],
    /// Longer inputs find little more and take longer.
    pub bytes_max: usize,
}

/// How far an input got, as a number that means nothing in itself: another number is another way through
/// the code. Inputs that get somewhere new are kept and changed further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reached(u64);

impl Reached {
    pub fn of(place: impl Hash) -> Self {
        // The same in every run, unlike the hasher of a map.
        let mut hasher = DefaultHasher::new();
        place.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Counts that differ a little are the same place.
pub(crate) fn about(count: usize) -> u32 {
    usize::BITS - count.leading_zeros()
}

/// A message without what it repeats of the input: letters only, its first part.
pub(crate) fn words(message: &str) -> String {
    message
        .split(['`', '"', '\''])
        .step_by(2)
        .flat_map(str::chars)
        .filter(|c| c.is_alphabetic())
        .take(60)
        .collect()
}
