//! Splits a text as these models do: words with the space before them, numbers by three digits,
//! punctuation, white space.

use std::sync::LazyLock;

use regex::Regex;

use crate::plain;

/// Apart from its last line, which is `\s+(?!\S)|\s+` in full: see [`Pieces::next`].
static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    const UPPER: &str = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]";
    const LOWER: &str = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]";
    const ENDING: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
    let pattern = [
        format!(r"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{ENDING}"),
        format!(r"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{ENDING}"),
        r"\p{N}{1,3}".to_owned(),
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*".to_owned(),
        r"\s*[\r\n]+".to_owned(),
        r"\s+".to_owned(),
    ];
    Regex::new(&pattern.join("|")).expect("the pattern is fixed")
});

/// The pieces of a text, which together are all of it.
pub fn of(text: &str) -> impl Iterator<Item = &str> {
    Pieces { text, at: 0 }
}

/// The same without the pattern.
pub fn plain(text: &str) -> impl Iterator<Item = PlainPiece<'_>> {
    let mut pieces = Pieces { text, at: 0 };
    std::iter::from_fn(move || pieces.next_plain())
}

/// A piece of plain ASCII, or several of anything.
pub enum PlainPiece<'a> {
    One(&'a str),
    Some(&'a str),
}

struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let end = match plain::end(self.text.as_bytes(), self.at) {
            Some(end) => end,
            None => PATTERN.find_at(self.text, self.at)?.end(),
        };
        self.up_to(end)
    }
}

impl<'a> Pieces<'a> {
    fn next_plain(&mut self) -> Option<PlainPiece<'a>> {
        if let Some(end) = plain::end(self.text.as_bytes(), self.at) {
            return self.up_to(end).map(PlainPiece::One);
        }
        let rest = &self.text[self.at..];
        let some = &rest[..next_start(rest)];
        self.at += some.len();
        (!some.is_empty()).then_some(PlainPiece::Some(some))
    }

    /// The piece that ends there as far as the pattern knows.
    fn up_to(&mut self, end: usize) -> Option<&'a str> {
        let piece = &self.text[self.at..end];
        let last = piece.chars().next_back()?;
        // Only the last line of the pattern ends in white space that is no line break. The last of
        // several spaces belongs to the word behind them.
        let kept = match last.is_whitespace() && !matches!(last, '\r' | '\n') && end < self.text.len() {
            true => piece.len() - last.len_utf8(),
            false => piece.len(),
        };
        let piece = if kept == 0 { piece } else { &piece[..kept] };
        self.at += piece.len();
        Some(piece)
    }
}

/// Where a piece begins in any case, behind the first: a space is the first of its piece unless more white space
/// stands before it.
fn next_start(text: &str) -> usize {
    let mut spaces = text.match_indices(' ').map(|(at, _)| at);
    spaces.find(|at| text[..*at].ends_with(|c: char| !c.is_whitespace())).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(of(text).collect::<Vec<_>>(), expected, "{text:?}");
    }

    #[test]
    fn words_numbers_and_spaces_are_pieces() {
        check("Hello, world's 12345", &["Hello", ",", " world's", " ", "123", "45"]);
        check("a   b", &["a", "  ", " b"]);
        check("a \n\n  b  ", &["a", " \n\n", " ", " b", "  "]);
        check("camelCaseURL", &["camel", "Case", "URL"]);
        check("path/to//\nx", &["path", "/to", "//\n", "x"]);
        check("naïve 東京 🙂", &["naïve", " 東京", " 🙂"]);
        check("", &[]);
    }

    /// What is told without the pattern begins and ends where pieces do.
    fn check_plain(text: &str) {
        let mut all = of(text);
        for piece in plain(text) {
            match piece {
                PlainPiece::One(piece) => assert_eq!(all.next(), Some(piece), "{text:?}"),
                PlainPiece::Some(some) => {
                    let mut left = some.len();
                    while left > 0 {
                        let piece = all.next().map_or(usize::MAX, str::len);
                        left = left.checked_sub(piece).unwrap_or_else(|| panic!("{text:?}: {some:?}"));
                    }
                }
            }
        }
        assert_eq!(all.next(), None, "{text:?}");
    }

    #[test]
    fn plain_pieces_end_where_the_pattern_says() {
        const CHARACTERS: [char; 40] = [
            'a', 'b', 's', 'S', 't', 'r', 'e', 'v', 'l', 'L', 'm', 'D', 'Z', '0', '7', '\'', '\'', '.', '/',
            '/', '"', ' ', ' ', ' ', '\n', '\r', '\t', '\u{b}', '\u{1c}', '\0', '{', '_', 'ï', 'ſ',
            '\u{301}', '東', '²', '\u{a0}', '\u{85}', '🙂',
        ];
        let mut state = 1u64;
        let mut below = |bound: usize| {
            // A generator by Knuth; the high bits are the better ones.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let mut told = 0;
        for round in 0..60_000 {
            // Every other text is plain.
            let known = if round % 2 == 0 { 32 } else { CHARACTERS.len() };
            let text: String = (0..below(12)).map(|_| CHARACTERS[below(known)]).collect();
            let starts = text.char_indices().map(|(at, _)| at);
            for at in starts {
                let Some(end) = plain::end(text.as_bytes(), at) else { continue };
                let found = PATTERN.find_at(&text, at).unwrap();
                assert_eq!((at, end), (found.start(), found.end()), "{text:?}");
                told += 1;
            }
            let is_plain = |at: usize| plain::end(text.as_bytes(), at).is_some();
            assert!(!text.is_ascii() || (0..text.len()).all(is_plain), "{text:?}");
            check_plain(&text);
        }
        assert!(told > 200_000, "{told}");
    }
}
