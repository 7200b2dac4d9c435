//! Classes of bytes, and small questions about places in a text.

/// A digit.
pub const DIGIT: u8 = 1;
/// An ASCII letter.
pub const LETTER: u8 = 2;
/// A part of a character beyond ASCII; counts as a letter where words end.
pub const WIDE: u8 = 4;
/// A letter beyond f: what has one is no hexadecimal number.
pub const BEYOND_HEX: u8 = 8;
/// Something starts here that isn't a word: `@`, `%`, `&` (of an entity), or `:` (of an IPv6 address that starts with
/// it).
pub const TRIGGER: u8 = 16;

/// A capital.
pub const UPPER: u8 = 32;

pub const CLASS: [u8; 256] = {
    let mut table = [0_u8; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        table[at] = match byte {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => LETTER,
            b'A'..=b'F' => LETTER | UPPER,
            b'g'..=b'z' => LETTER | BEYOND_HEX,
            b'G'..=b'Z' => LETTER | BEYOND_HEX | UPPER,
            b'@' | b'%' | b'&' | b':' => TRIGGER,
            0x80.. => WIDE | BEYOND_HEX,
            _ => 0,
        };
        at += 1;
    }
    table
};

/// Whether a byte belongs to a word: letters, digits, anything beyond ASCII.
pub fn is_word(byte: u8) -> bool {
    CLASS[byte as usize] & (DIGIT | LETTER | WIDE) != 0
}

/// Whether a byte continues a name in a program. Beyond ASCII nothing does: between Chinese characters a number
/// stands without spaces.
pub fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub fn before(bytes: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| bytes.get(at)).copied()
}

pub fn starts_word(bytes: &[u8], at: usize) -> bool {
    before(bytes, at).is_none_or(|byte| !is_name(byte))
}

pub fn ends_word(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| !is_name(*byte))
}

/// The end of a run of bytes from `at`, at most `max` of them.
pub fn run_end(bytes: &[u8], at: usize, max: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let from = at.min(bytes.len());
    let end = bytes.len().min(from.saturating_add(max));
    bytes[from..end].iter().position(|byte| !belongs(*byte)).map_or(end, |length| from + length)
}

/// The start of a run of bytes that ends before `at`, at most `max` of them.
pub fn run_start(bytes: &[u8], at: usize, max: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let at = at.min(bytes.len());
    let start = at.saturating_sub(max);
    bytes[start..at].iter().rposition(|byte| !belongs(*byte)).map_or(start, |last| start + last + 1)
}

/// The next place from `at` on that a text may be cut.
pub fn boundary_after(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// The last place up to `at` that a text may be cut.
pub fn boundary_before(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
