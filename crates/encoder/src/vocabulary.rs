//! The words and parts of words that the model knows. A token is a word's place in the list.

use crate::format::WORDS;

/// What a piece inside a word begins with in the list.
const INSIDE: &[u8] = b"##";

/// At least twice the words, so that the way to a free slot is short.
const SLOTS: usize = 1 << 16;

const FREE: u16 = u16::MAX;

pub struct Vocabulary {
    words: &'static [u8],
    /// Where each line begins, and where the last one ends.
    starts: Vec<u32>,
    /// Tokens by the hash of their words: the first free slot from there on.
    slots: Vec<u16>,
    /// Of the longest word, without what marks a piece as one inside.
    bytes_max: usize,
}

impl Vocabulary {
    /// From one word for each line. `None` if it isn't the whole list.
    pub fn new(words: &'static [u8]) -> Option<Self> {
        let mut vocabulary =
            Self { words, starts: Vec::with_capacity(WORDS + 1), slots: vec![FREE; SLOTS], bytes_max: 0 };
        let mut start = 0;
        for line in words.split_inclusive(|byte| *byte == b'\n') {
            let word = &line[..line.len() - 1];
            let token = u16::try_from(vocabulary.starts.len()).ok()?;
            vocabulary.starts.push(u32::try_from(start).ok()?);
            start += line.len();
            vocabulary.insert(word, token);
        }
        vocabulary.starts.push(u32::try_from(start).ok()?);
        (vocabulary.starts.len() == WORDS + 1 && words.ends_with(b"\n")).then_some(vocabulary)
    }

    /// The token of a piece: the beginning of a word, or what follows inside.
    pub fn token(&self, piece: &str, is_inside: bool) -> Option<u16> {
        let (before, piece) = (if is_inside { INSIDE } else { b"" }, piece.as_bytes());
        let mut slot = hash(before, piece);
        loop {
            let token = self.slots[slot];
            if token == FREE {
                return None;
            }
            if self.word(token).strip_prefix(before) == Some(piece) {
                return Some(token);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// No piece is longer.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    fn insert(&mut self, word: &[u8], token: u16) {
        self.bytes_max = self.bytes_max.max(word.strip_prefix(INSIDE).unwrap_or(word).len());
        let mut slot = hash(b"", word);
        while self.slots[slot] != FREE {
            slot = (slot + 1) % SLOTS;
        }
        self.slots[slot] = token;
    }

    fn word(&self, token: u16) -> &'static [u8] {
        let start = self.starts[usize::from(token)] as usize;
        let end = self.starts[usize::from(token) + 1] as usize - 1;
        &self.words[start..end]
    }
}

/// FNV-1a of both, one after the other.
fn hash(before: &[u8], word: &[u8]) -> usize {
    let hash = before
        .iter()
        .chain(word)
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 16)) as usize % SLOTS
}
