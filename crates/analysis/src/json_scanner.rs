//! Walks over one JSON text without building it. Written by hand because numbers must arrive as they were
//! written (integers of any size, NaN as Python writes it) and lists must be kept as their own text.

use std::borrow::Cow;

use crate::bounds::DEPTH_MAX;
use crate::outcome::Problem;

/// A place in a JSON text.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    position: usize,
    /// How many numbers came so far that JSON itself does not know: NaN and infinities.
    non_finite: usize,
    /// How many escapes came so far that are half of a surrogate pair, which is no letter.
    half_pairs: usize,
}

/// A number as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number<'a> {
    Integer(i64),
    /// An integer that 64 bits cannot hold.
    Big(&'a str),
    Float(f64),
}

/// A value that has no parts, or the text of one that has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar<'a> {
    Null,
    Boolean(bool),
    Number(Number<'a>),
    Text(Cow<'a, str>),
    /// A list, as JSON text.
    List(Cow<'a, str>),
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), position: 0, non_finite: 0, half_pairs: 0 }
    }

    /// The next byte that is no space; `None` at the end.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.position) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(*byte);
            }
            self.position += 1;
        }
        None
    }

    /// Steps over `byte` if it is next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.position += usize::from(is_next);
        is_next
    }

    pub(crate) fn expect(&mut self, byte: u8, what: &str) -> Result<(), Problem> {
        if self.take(byte) { Ok(()) } else { Err(self.problem(what)) }
    }

    /// A key with its colon.
    pub(crate) fn key(&mut self) -> Result<Cow<'a, str>, Problem> {
        if self.peek() != Some(b'"') {
            return Err(self.problem("a key in double quotes"));
        }
        let key = self.string()?;
        self.expect(b':', "a colon after a key")?;
        Ok(key)
    }

    /// After a member or an item: whether another follows.
    pub(crate) fn has_next(&mut self, end: u8) -> Result<bool, Problem> {
        if self.take(b',') {
            return Ok(true);
        }
        let what = if end == b']' { "a comma or ]" } else { "a comma or }" };
        self.expect(end, what)?;
        Ok(false)
    }

    /// Whatever stands here, but no object.
    pub(crate) fn scalar(&mut self) -> Result<Scalar<'a>, Problem> {
        match self.peek() {
            Some(b'"') => Ok(Scalar::Text(self.string()?)),
            Some(b'[') => self.list(),
            Some(b't') => self.word("true").map(|()| Scalar::Boolean(true)),
            Some(b'f') => self.word("false").map(|()| Scalar::Boolean(false)),
            Some(b'n') => self.word("null").map(|()| Scalar::Null),
            Some(b'N') => self.non_finite("NaN", f64::NAN),
            Some(b'I') => self.non_finite("Infinity", f64::INFINITY),
            Some(b'-' | b'0'..=b'9') => Ok(Scalar::Number(self.number()?)),
            Some(_) | None => Err(self.problem("a value")),
        }
    }

    /// A list, as text that is JSON even where the data was not quite.
    fn list(&mut self) -> Result<Scalar<'a>, Problem> {
        let (non_finite, half_pairs) = (self.non_finite, self.half_pairs);
        let mut text = Cow::Borrowed(self.raw()?);
        if self.non_finite != non_finite {
            text = without_non_finite(&text).into();
        }
        if self.half_pairs != half_pairs {
            text = without_half_pairs(&text).into();
        }
        Ok(Scalar::List(text))
    }

    fn non_finite(&mut self, word: &str, value: f64) -> Result<Scalar<'a>, Problem> {
        self.word(word)?;
        self.non_finite += 1;
        Ok(Scalar::Number(Number::Float(value)))
    }

    /// The text of the next value, whatever it is.
    pub(crate) fn raw(&mut self) -> Result<&'a str, Problem> {
        self.peek();
        let start = self.position;
        self.skip(0)?;
        Ok(self.text.get(start..self.position).unwrap_or_default())
    }

    /// Steps over the next value.
    pub(crate) fn skip(&mut self, depth: usize) -> Result<(), Problem> {
        if depth > DEPTH_MAX {
            return Err(self.too_deep());
        }
        let is_object = match self.peek() {
            Some(b'{') => true,
            Some(b'[') => false,
            Some(b'"') => return self.string().map(|_| ()),
            Some(_) | None => return self.scalar().map(|_| ()),
        };
        let end = if is_object { b'}' } else { b']' };
        self.position += 1;
        if self.take(end) {
            return Ok(());
        }
        loop {
            if is_object {
                self.key()?;
            }
            self.skip(depth + 1)?;
            if !self.has_next(end)? {
                return Ok(());
            }
        }
    }

    pub(crate) fn too_deep(&self) -> Problem {
        Problem::new(format!("the JSON data is nested more than {DEPTH_MAX} levels deep"))
            .hint("flatten it first, or pick a part of it with data_field")
    }

    /// What was expected here, and where here is.
    pub(crate) fn problem(&self, what: &str) -> Problem {
        let before = self.bytes.get(..self.position).unwrap_or(self.bytes);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        let found = self.text.get(self.position..).and_then(|rest| rest.chars().next());
        let found = found.map_or("the end".to_owned(), |found| format!("{found:?}"));
        Problem::new(format!(
            "the data isn't valid JSON: line {line}, column {column}: expected {what}, found {found}"
        ))
        .hint("pass valid JSON, or set the format: json, jsonl, csv or parquet")
    }

    fn word(&mut self, word: &str) -> Result<(), Problem> {
        if !self.bytes.get(self.position..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            return Err(self.problem("a value"));
        }
        self.position += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<Number<'a>, Problem> {
        let start = self.position;
        if self.bytes.get(start..).is_some_and(|rest| rest.starts_with(b"-Infinity")) {
            self.position += "-Infinity".len();
            self.non_finite += 1;
            return Ok(Number::Float(f64::NEG_INFINITY));
        }
        let mut is_integer = true;
        while let Some(byte) = self.bytes.get(self.position) {
            match byte {
                b'0'..=b'9' | b'-' => {}
                b'.' | b'e' | b'E' | b'+' => is_integer = false,
                _ => break,
            }
            self.position += 1;
        }
        let text = self.text.get(start..self.position).unwrap_or_default();
        if !is_json_number(text) {
            self.position = start;
            return Err(self.problem("a number"));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        if is_integer && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(text.parse().map_or(Number::Big(text), Number::Integer));
        }
        match text.parse::<f64>() {
            Ok(value) if !is_integer && value.is_finite() => Ok(Number::Float(value)),
            Ok(_) | Err(_) => {
                self.position = start;
                Err(self.problem("a number"))
            }
        }
    }

    /// A string, whose opening quote is next.
    fn string(&mut self) -> Result<Cow<'a, str>, Problem> {
        self.position += 1;
        let start = self.position;
        loop {
            match self.bytes.get(self.position) {
                Some(b'"') => {
                    let text = self.text.get(start..self.position).unwrap_or_default();
                    self.position += 1;
                    return Ok(Cow::Borrowed(text));
                }
                Some(b'\\') => return self.escaped(start).map(Cow::Owned),
                Some(0..0x20) => return Err(self.problem("a string without line breaks in it")),
                Some(_) => self.position += 1,
                None => return Err(self.problem("the end of a string")),
            }
        }
    }

    /// A string with at least one escape in it.
    fn escaped(&mut self, start: usize) -> Result<String, Problem> {
        let mut text = self.text.get(start..self.position).unwrap_or_default().to_owned();
        loop {
            let run = self.position;
            while self.bytes.get(self.position).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)) {
                self.position += 1;
            }
            text.push_str(self.text.get(run..self.position).unwrap_or_default());
            match self.bytes.get(self.position) {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.problem("a string without line breaks in it")),
                None => return Err(self.problem("the end of a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Problem> {
        let letter = self.bytes.get(self.position + 1).copied();
        self.position += 2;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            Some(_) | None => return Err(self.problem("a valid JSON escape")),
        })
    }

    fn unicode(&mut self) -> Result<char, Problem> {
        let first = self.four_digits()?;
        if !(0xD800..0xDC00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or_else(|| self.half_pair()));
        }
        if !self.bytes.get(self.position..).is_some_and(|rest| rest.starts_with(b"\\u")) {
            return Ok(self.half_pair());
        }
        let before = self.position;
        self.position += 2;
        let second = self.four_digits()?;
        if !(0xDC00..0xE000).contains(&second) {
            self.position = before;
            return Ok(self.half_pair());
        }
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// What stands for half of a surrogate pair.
    fn half_pair(&mut self) -> char {
        self.half_pairs += 1;
        char::REPLACEMENT_CHARACTER
    }

    fn four_digits(&mut self) -> Result<u32, Problem> {
        let digits = self.bytes.get(self.position..self.position + 4).unwrap_or_default();
        let is_hex = digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit);
        let code = std::str::from_utf8(digits).ok().and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code {
            Some(code) if is_hex => {
                self.position += 4;
                Ok(code)
            }
            Some(_) | None => Err(self.problem("four hexadecimal digits")),
        }
    }
}

/// Whether a number begins and ends as JSON has it: a digit first, no zero before others, no bare point. The
/// rest is for whoever parses it.
fn is_json_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_digit = |place: usize| digits.as_bytes().get(place).is_some_and(u8::is_ascii_digit);
    let has_leading_zero = digits.starts_with('0') && is_digit(1);
    let has_bare_point = digits.ends_with('.') || digits.contains(".e") || digits.contains(".E");
    is_digit(0) && !has_leading_zero && !has_bare_point
}

/// The same JSON text with null for NaN and infinities.
fn without_non_finite(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut is_quoted = false;
    while let Some(letter) = rest.chars().next() {
        let word =
            ["-Infinity", "Infinity", "NaN"].into_iter().find(|word| !is_quoted && rest.starts_with(*word));
        let length = match word {
            Some(word) => word.len(),
            // An escape goes with the letter behind it.
            None if letter == '\\' => rest.chars().take(2).map(char::len_utf8).sum(),
            None => letter.len_utf8(),
        };
        text.push_str(if word.is_some() { "null" } else { rest.get(..length).unwrap_or_default() });
        is_quoted ^= letter == '"';
        rest = rest.get(length..).unwrap_or_default();
    }
    text
}

/// The same JSON text with U+FFFD for halves of surrogate pairs, which most parsers don't take.
fn without_half_pairs(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        let (length, is_half) = match (code_unit(escape), escape.get(6..).and_then(code_unit)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => (12, false),
            (Some(unit), _) => (6, (0xD800..0xE000).contains(&unit)),
            (None, _) => (2, false),
        };
        text.push_str(if is_half { "\\ufffd" } else { escape.get(..length).unwrap_or(escape) });
        rest = escape.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// The number in an escape such as `\u00e9` that a text begins with.
fn code_unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_arrive_as_they_were_written() {
        let check = |text: &str, expected: Scalar<'_>| {
            assert_eq!(Scanner::new(text).scalar().unwrap(), expected, "{text}")
        };
        check("12", Scalar::Number(Number::Integer(12)));
        check("-0.5e1", Scalar::Number(Number::Float(-5.0)));
        check("12345678901234567890", Scalar::Number(Number::Big("12345678901234567890")));
        check("-Infinity", Scalar::Number(Number::Float(f64::NEG_INFINITY)));
        check(r#""a\u00e9\ud83d\ude00\n\"""#, Scalar::Text("aé😀\n\"".into()));
        check(r#""\ud800x""#, Scalar::Text("\u{fffd}x".into()));
        check(r#"[NaN, "NaN\"", -Infinity]"#, Scalar::List(r#"[null, "NaN\"", null]"#.into()));
        check(r#" [1, {"a": "]"}] "#, Scalar::List(r#"[1, {"a": "]"}]"#.into()));
    }

    #[test]
    fn a_list_with_half_a_surrogate_pair_in_it_is_kept_as_json() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Scanner::new(text).scalar().unwrap(), Scalar::List(expected.into()), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(expected).is_ok(), "{expected}");
        };
        check(r#"["\ud800x", {"\udc00": 1}]"#, r#"["\ufffdx", {"\ufffd": 1}]"#);
        check(
            r#"["\ud800\ud83d\ude00", "\ud800\n\"", NaN]"#,
            r#"["\ufffd\ud83d\ude00", "\ufffd\n\"", null]"#,
        );
        check(r#"["\\ud800", "\u00e9", "\ud800"]"#, r#"["\\ud800", "\u00e9", "\ufffd"]"#);
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        for text in [
            "",
            "-",
            "1.2.3",
            "1-2",
            "01",
            "-.5",
            "1.",
            "1.e5",
            "tru",
            "\"a",
            "\"\\x\"",
            "[1 2]",
            "{\"a\" 1}",
            "\"\n\"",
            "'a'",
            "1e999",
        ] {
            assert!(Scanner::new(text).skip(0).is_err(), "{text}");
        }
        let error = Scanner::new("{\n  \"a\": ?}").skip(0).unwrap_err();
        assert_eq!(error.message, "the data isn't valid JSON: line 2, column 8: expected a value, found '?'");
        let deep = "[".repeat(5_000);
        assert!(Scanner::new(&deep).skip(0).unwrap_err().message.contains("nested more than"));
    }
}
