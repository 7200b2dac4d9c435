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
        }
        assert!(told > 200_000, "{told}");
    }
}
