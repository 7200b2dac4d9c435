//! The tokens and their ranks, found by their bytes.

use std::sync::LazyLock;

/// How many tokens there are; then the length of each as one byte; then their bytes, without gaps.
static TABLE: &[u8] = include_bytes!("o200k_base.tokens");
const TOKENS: usize = 199_998;

/// A power of two, so that at most two fifths are taken.
const SLOTS: usize = 1 << 19;
const EMPTY: u32 = u32::MAX;

pub struct Vocabulary {
    /// Where each token's bytes begin in the table, by rank; one more for the end of the last.
    starts: Vec<u32>,
    /// Ranks, by the hash of their bytes; the next free slot where that is taken.
    slots: Vec<u32>,
}

impl Vocabulary {
    pub fn get() -> &'static Self {
        static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::read);
        &VOCABULARY
    }

    fn read() -> Self {
        let mut starts = Vec::with_capacity(TOKENS + 1);
        let mut at = TOKENS as u32;
        for length in &TABLE[..TOKENS] {
            starts.push(at);
            at += u32::from(*length);
        }
        starts.push(at);
        let mut vocabulary = Self { starts, slots: vec![EMPTY; SLOTS] };
        for rank in 0..TOKENS as u32 {
            let (slot, _) = vocabulary.find(vocabulary.bytes(rank));
            vocabulary.slots[slot] = rank;
        }
        vocabulary
    }

    /// The rank of the token that is exactly these bytes. Lower ranks are merged first.
    pub fn rank(&self, bytes: &[u8]) -> Option<u32> {
        self.find(bytes).1
    }

    /// The slot of these bytes, or the free one where they would be put.
    fn find(&self, bytes: &[u8]) -> (usize, Option<u32>) {
        let mut slot = hash(bytes);
        loop {
            match self.slots[slot] {
                EMPTY => return (slot, None),
                rank if self.bytes(rank) == bytes => return (slot, Some(rank)),
                _ => slot = (slot + 1) % SLOTS,
            }
        }
    }

    fn bytes(&self, rank: u32) -> &'static [u8] {
        let rank = rank as usize;
        &TABLE[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }
}

/// Multiplies eight bytes at a time; the table is fixed, so nobody can choose what is in it.
fn hash(bytes: &[u8]) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut mixed = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mixed = (mixed.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
    }
    (mixed >> (64 - SLOTS.trailing_zeros())) as usize
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
    }
}
