//! The strings of a JSON text, one after the other.

use std::ops::Range;

use crate::blocks::Blocks;

/// Every string of a text: keys and values, wherever they are. See [`strings`].
pub struct Strings<'a> {
    blocks: Blocks<'a>,
    /// Where the block begins that `quotes` belongs to.
    base: usize,
    quotes: u64,
}

/// Finds every string that is closed, from its opening quote to behind its closing one.
pub fn strings(text: &[u8]) -> Strings<'_> {
    Strings { blocks: Blocks::new(text, 0), base: 0, quotes: 0 }
}

impl Strings<'_> {
    fn next_quote(&mut self) -> Option<usize> {
        while self.quotes == 0 {
            let block = self.blocks.next_block()?;
            (self.base, self.quotes) = (block.base, block.quote);
        }
        let at = self.base + self.quotes.trailing_zeros() as usize;
        self.quotes &= self.quotes - 1;
        Some(at)
    }
}

impl Iterator for Strings<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.next_quote()?;
        let end = self.next_quote()?;
        Some(start..end + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_closed_string_is_found_with_its_quotes() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<&str> = strings(text.as_bytes()).map(|span| &text[span]).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("", &[]);
        check(r#"{"a": ["b\"c", 1, "\\"], "": "é"}"#, &["\"a\"", r#""b\"c""#, r#""\\""#, "\"\"", "\"é\""]);
        check(r#"["closed", "not"#, &["\"closed\""]);
        let long = format!("\"{}\"", "x".repeat(200));
        check(&format!("[{long},{long}]"), &[&long, &long]);
    }
}
