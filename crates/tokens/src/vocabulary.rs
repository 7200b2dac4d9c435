//! The tokens and their ranks, found by their bytes.

use std::sync::OnceLock;

/// How many tokens there are; then the length of each as one byte; then their bytes, without gaps.
static TABLE: &[u8] = include_bytes!("o200k_base.tokens");
const TOKENS: usize = 199_998;

/// So many come first: most of what English and code are made of, read in half a millisecond.
pub(crate) const COMMON: usize = 1 << 14;

const EMPTY: u32 = u32::MAX;

pub struct Vocabulary {
    /// Where each token's bytes begin in the table, by rank; one more for the end of the last.
    starts: Vec<u32>,
    /// Ranks, by the hash of their bytes; the next free slot where that is taken. A power of two, and at most half
    /// of them are.
    slots: Vec<u32>,
}

static WHOLE: OnceLock<Vocabulary> = OnceLock::new();

impl Vocabulary {
    /// All tokens.
    pub fn get() -> &'static Self {
        WHOLE.get_or_init(|| Self::read(TOKENS))
    }

    /// All of them if they were read before, otherwise those that come first.
    pub fn at_hand() -> &'static Self {
        static FIRST: OnceLock<Vocabulary> = OnceLock::new();
        WHOLE.get().unwrap_or_else(|| FIRST.get_or_init(|| Self::read(COMMON)))
    }

    /// The first so many.
    pub(crate) fn read(tokens: usize) -> Self {
        let mut starts = Vec::with_capacity(tokens + 1);
        let mut at = TOKENS as u32;
        for length in &TABLE[..tokens] {
            starts.push(at);
            at += u32::from(*length);
        }
        starts.push(at);
        let mut vocabulary = Self { starts, slots: vec![EMPTY; (tokens * 2).next_power_of_two()] };
        for rank in 0..tokens as u32 {
            vocabulary.insert(rank);
        }
        vocabulary
    }

    /// The rank of the token that is exactly these bytes. Lower ranks are merged first.
    pub fn rank(&self, bytes: &[u8]) -> Option<u32> {
        let mut slot = self.first_slot(bytes);
        loop {
            match self.slots[slot] {
                EMPTY => return None,
                rank if self.bytes(rank) == bytes => return Some(rank),
                _ => slot = self.next_slot(slot),
            }
        }
    }

    /// One that isn't there yet, which needs no comparing.
    fn insert(&mut self, rank: u32) {
        let mut slot = self.first_slot(self.bytes(rank));
        while self.slots[slot] != EMPTY {
            slot = self.next_slot(slot);
        }
        self.slots[slot] = rank;
    }

    fn first_slot(&self, bytes: &[u8]) -> usize {
        (hash(bytes) >> (u64::BITS - self.slots.len().trailing_zeros())) as usize
    }

    fn next_slot(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    fn bytes(&self, rank: u32) -> &'static [u8] {
        let rank = rank as usize;
        &TABLE[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }
}

/// Multiplies eight bytes at a time; the table is fixed, so nobody can choose what is in it.
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut mixed = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mixed = (mixed.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_by_its_bytes() {
        let vocabulary = Vocabulary::get();
        assert_eq!(vocabulary.starts[TOKENS] as usize, TABLE.len());
        for rank in 0..TOKENS as u32 {
            assert_eq!(vocabulary.rank(vocabulary.bytes(rank)), Some(rank));
        }
        assert_eq!(vocabulary.rank(b"no such token at all"), None);
        assert_eq!(vocabulary.rank(b""), None);
        let first = Vocabulary::read(COMMON);
        for rank in 0..TOKENS as u32 {
            let expected = (rank < COMMON as u32).then_some(rank);
            assert_eq!(first.rank(vocabulary.bytes(rank)), expected);
        }
    }
}
