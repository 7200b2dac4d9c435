//! JSON text seen 64 bytes at a time: where brackets and commas are, outside of strings.
//!
//! Each block becomes a few bit masks, by arithmetic on eight bytes at once: no branch depends on
//! what the text says, so text of any kind goes by at the same speed.
//!
//! A backslash outside of a string escapes what follows as well. No JSON has one there, so what is
//! found behind it means nothing.

/// Bytes looked at in one step, one for each bit of a mask.
const BLOCK_BYTES: usize = 64;

/// A bit for each of 64 bytes.
#[derive(Clone, Copy, Default)]
pub struct Block {
    /// Where the block begins in the text.
    pub base: usize,
    /// `[` and `{`.
    pub open: u64,
    /// `]` and `}`.
    pub close: u64,
    /// `,`.
    pub comma: u64,
    /// Quotes at which strings begin and end.
    pub quote: u64,
}

/// The blocks of a text from a place on that is not inside a string.
pub struct Blocks<'a> {
    text: &'a [u8],
    at: usize,
    /// All ones while a string goes on.
    in_string: u64,
    /// One if the next byte is escaped.
    escaped: u64,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
/// Brings the lowest bits of eight bytes together in the highest byte.
const GATHER: u64 = 0x0102_0408_1020_4080;
/// The bit in which `[` and `{`, `]` and `}` differ.
const CURLY: u64 = 0x20 * ONES;

impl<'a> Blocks<'a> {
    #[inline]
    pub fn new(text: &'a [u8], at: usize) -> Self {
        Self { text, at, in_string: 0, escaped: 0 }
    }

    /// Whether the text ended inside a string.
    #[cfg(test)]
    pub fn is_in_string(&self) -> bool {
        self.in_string != 0
    }

    /// The next block; none at the end of the text.
    #[inline]
    pub fn next_block(&mut self) -> Option<Block> {
        let rest = self.text.get(self.at..)?;
        let block = match rest.first_chunk::<BLOCK_BYTES>() {
            Some(bytes) => self.masks(bytes),
            None if rest.is_empty() => return None,
            None => {
                let mut padded = [b' '; BLOCK_BYTES];
                padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                self.masks(&padded)
            }
        };
        self.at += BLOCK_BYTES;
        Some(block)
    }

    #[inline]
    fn masks(&mut self, bytes: &[u8; BLOCK_BYTES]) -> Block {
        let (mut quote, mut backslash) = (0, 0);
        let mut block = Block { base: self.at, ..Block::default() };
        let (words, _) = bytes.as_chunks::<8>();
        for (index, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let curly = word | CURLY;
            let shift = 8 * index as u32;
            quote |= gathered(equal(word, b'"')) << shift;
            backslash |= gathered(equal(word, b'\\')) << shift;
            block.open |= gathered(equal(curly, b'{')) << shift;
            block.close |= gathered(equal(curly, b'}')) << shift;
            block.comma |= gathered(equal(word, b',')) << shift;
        }
        let (quote, strings) = self.strings(quote, backslash);
        block.quote = quote;
        block.open &= !strings;
        block.close &= !strings;
        block.comma &= !strings;
        block
    }

    /// The quotes that are not escaped, and which bytes are in strings, their opening quotes included.
    #[inline]
    fn strings(&mut self, quote: u64, backslash: u64) -> (u64, u64) {
        let mut escaped = std::mem::take(&mut self.escaped);
        let mut escaping = backslash & !escaped;
        while escaping != 0 {
            let at = escaping.trailing_zeros();
            if at == 63 {
                self.escaped = 1;
                break;
            }
            escaped |= 2 << at;
            escaping &= !(3 << at);
        }
        let quote = quote & !escaped;
        let mut strings = quote;
        for shift in [1, 2, 4, 8, 16, 32] {
            strings ^= strings << shift;
        }
        strings ^= self.in_string;
        self.in_string = if strings >> 63 == 1 { u64::MAX } else { 0 };
        (quote, strings)
    }
}

/// The highest bit of each byte that is `byte`.
fn equal(word: u64, byte: u8) -> u64 {
    let differs = word ^ (u64::from(byte) * ONES);
    !(((differs & LOW_BITS) + LOW_BITS) | differs | LOW_BITS)
}

/// From the highest bit of each of eight bytes to eight bits.
fn gathered(highest: u64) -> u64 {
    (highest >> 7).wrapping_mul(GATHER) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> (Vec<usize>, bool) {
        let mut blocks = Blocks::new(text.as_bytes(), 0);
        let mut found = Vec::new();
        while let Some(block) = blocks.next_block() {
            let all = block.open | block.close | block.comma;
            found.extend((0..BLOCK_BYTES).filter(|bit| all >> bit & 1 == 1).map(|bit| block.base + bit));
        }
        (found, blocks.is_in_string())
    }

    /// The same, one byte after the other.
    fn places_slowly(text: &str) -> (Vec<usize>, bool) {
        let (mut found, mut in_string, mut escaped) = (Vec::new(), false, false);
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'"' if !escaped => in_string = !in_string,
                b'[' | b']' | b'{' | b'}' | b',' if !in_string => found.push(at),
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
        }
        (found, in_string)
    }

    proptest::proptest! {
        #[test]
        fn blocks_see_what_a_walk_over_the_bytes_sees(text in r#"([\[\]{},:"\\ a]|é|🌾){0,300}"#) {
            proptest::prop_assert_eq!(places(&text), places_slowly(&text));
        }
    }
}
