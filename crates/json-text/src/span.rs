//! Where parts of a text in memory begin and end.

use crate::blocks::Blocks;
use crate::scanner::{ScanError, Scanner, is_space};
use crate::sink::Discard;
use crate::source::SliceSource;

/// Where the string ends whose opening quote is at `open`: behind its closing quote. `None` if there is
/// no quote, or the string is not closed.
pub fn end_of_string(text: &[u8], open: usize) -> Option<usize> {
    if text.get(open) != Some(&b'"') {
        return None;
    }
    let mut at = open + 1;
    loop {
        let rest = text.get(at..)?;
        let stop = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if rest.get(stop) == Some(&b'"') {
            return Some(at + stop + 1);
        }
        at += stop + 2;
    }
}

/// Where the value ends that begins at or after `from`, inside of an array or object: at the next comma
/// or closing bracket that is not its own. `None` if there is none.
pub fn end_of_member(text: &[u8], from: usize) -> Option<usize> {
    let mut blocks = Blocks::new(text, from);
    let mut depth = 0usize;
    loop {
        let block = blocks.next_block()?;
        let (opened, closed) = (block.open.count_ones() as usize, block.close.count_ones() as usize);
        // Nothing in this block can come up to the member.
        if depth > closed {
            depth = depth + opened - closed;
            continue;
        }
        let mut rest = block.open | block.close | block.comma;
        while rest != 0 {
            let at = rest.trailing_zeros();
            let bit = 1u64 << at;
            rest &= !bit;
            if block.open & bit != 0 {
                depth += 1;
            } else if depth == 0 {
                return Some(block.base + at as usize);
            } else if block.close & bit != 0 {
                depth -= 1;
            }
        }
    }
}

/// The next place at or after `at` that is no white space.
pub fn after_space(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| is_space(**byte)).count()
}

/// A member of an object, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    pub key: &'a [u8],
    pub value: &'a [u8],
}

/// The members of an object. See [`members`].
pub struct Members<'a> {
    text: &'a [u8],
    scanner: Scanner<SliceSource<'a>>,
    is_first: bool,
    is_over: bool,
}

/// The members of the object that a text begins with. They end where the object does, or where the text
/// is no longer JSON: what was found before that stands.
pub fn members(text: &[u8]) -> Members<'_> {
    Members { text, scanner: Scanner::new(SliceSource::new(text)), is_first: true, is_over: false }
}

impl<'a> Members<'a> {
    fn find(&mut self) -> Result<Option<Member<'a>>, ScanError<std::convert::Infallible>> {
        if self.is_first {
            self.scanner.expect(b'{')?;
        }
        if !self.scanner.has_next(b'}', self.is_first)? {
            return Ok(None);
        }
        self.is_first = false;
        if self.scanner.peek_past_space()? != b'"' {
            return Err(self.scanner.not_json());
        }
        let key = self.passed(|scanner| scanner.string(&mut Discard))?;
        self.scanner.expect(b':')?;
        self.scanner.peek_past_space()?;
        let value = self.passed(|scanner| scanner.value(&mut Discard))?;
        Ok(Some(Member { key, value }))
    }

    fn passed<E>(
        &mut self,
        pass: impl FnOnce(&mut Scanner<SliceSource<'a>>) -> Result<(), E>,
    ) -> Result<&'a [u8], E> {
        let start = self.scanner.position() as usize;
        pass(&mut self.scanner)?;
        Ok(self.text.get(start..self.scanner.position() as usize).unwrap_or_default())
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        if self.is_over {
            return None;
        }
        let found = self.find().ok().flatten();
        self.is_over = found.is_none();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_ends_behind_its_closing_quote() {
        let check = |text: &str, open, expected| assert_eq!(end_of_string(text.as_bytes(), open), expected);
        check(r#""a\"b\\" "#, 0, Some(8));
        check("[\"\"]", 1, Some(3));
        check("x\"\"", 0, None);
        check("\"a\\", 0, None);
        check("\"a\\\"", 0, None);
        check("", 0, None);
    }

    #[test]
    fn a_member_ends_at_a_comma_or_bracket_that_is_not_its_own() {
        let check = |text: &str, from, expected| assert_eq!(end_of_member(text.as_bytes(), from), expected);
        check(r#"[{"a": [1, 2]}, 3]"#, 1, Some(14));
        check(r#"[{"a": [1, 2]}, 3]"#, 15, Some(17));
        check(r#"["],", 1]"#, 1, Some(5));
        check("[1", 1, None);
        check("[[[", 0, None);
        let deep = format!("[{}{}, 1]", "[".repeat(500), "]".repeat(500));
        check(&deep, 1, Some(1001));
    }

    #[test]
    fn members_are_listed_until_the_text_is_no_longer_json() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let found: Vec<_> =
                members(text.as_bytes()).map(|member| (shown(member.key), shown(member.value))).collect();
            let expected: Vec<_> =
                expected.iter().map(|(key, value)| (format!("\"{key}\""), (*value).to_owned())).collect();
            assert_eq!(found, expected, "{text}");
        };
        check(
            r#" {"a" : [1, {"b": "}"}] ,"c":-1.5e3}, {"d": 1}"#,
            &[("a", r#"[1, {"b": "}"}]"#), ("c", "-1.5e3")],
        );
        check("{}", &[]);
        check("[1]", &[]);
        check("", &[]);
        check(r#"{"a": 1, "b": [["#, &[("a", "1")]);
        check(r#"{"a": 1 "b": 2}"#, &[("a", "1")]);
        check(r#"{"a": 1, b: 2}"#, &[("a", "1")]);
    }
}
