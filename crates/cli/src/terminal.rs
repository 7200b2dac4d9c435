//! Bytes of a program, made harmless for a terminal.

/// Shows as text: control characters other than line feed and tab become visible symbols, and
/// what is not UTF-8 becomes U+FFFD.
pub struct Printable<'a>(pub &'a [u8]);

impl Printable<'_> {
    pub fn to_vec(&self) -> Vec<u8> {
        let text = String::from_utf8_lossy(self.0);
        text.chars().map(visible).collect::<String>().into_bytes()
    }
}

fn visible(character: char) -> char {
    match character {
        '\n' | '\t' => character,
        // The block of control pictures mirrors the first 32 characters.
        '\0'..='\x1f' => char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' => '\u{fffd}',
        // Overrides of the writing direction make text read as something it is not.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        character => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_shown_instead_of_obeyed() {
        let shown = Printable(b"\x1b]0;title\x07 a\tb\n\xff\xc2\x9b \xe2\x80\xaeevil").to_vec();
        assert_eq!(String::from_utf8(shown).unwrap(), "␛]0;title␇ a\tb\n\u{fffd}\u{fffd} \u{fffd}evil");
    }
}
