//! What a JSON string stands for.

use std::borrow::Cow;

/// The string is not closed, or has a backslash that no JSON text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid JSON string")]
pub struct BadString;

/// What the string stands for whose opening quote is at `open`, and where it ends: behind its closing quote.
///
/// Half of a surrogate pair becomes U+FFFD: many programs write them, and the rest of the text is as good as
/// any. Control characters are taken as they are.
pub fn string_at(text: &str, open: usize) -> Result<(Cow<'_, str>, usize), BadString> {
    if text.as_bytes().get(open) != Some(&b'"') {
        return Err(BadString);
    }
    let (plain, stop) = plain_run(text, open + 1)?;
    if text.as_bytes().get(stop) == Some(&b'"') {
        return Ok((Cow::Borrowed(plain), stop + 1));
    }
    let (made, end) = with_escapes(text, plain, stop)?;
    Ok((Cow::Owned(made), end))
}

/// The rest of a string of which `beginning` was read, up to a backslash at `stop`.
fn with_escapes(text: &str, beginning: &str, stop: usize) -> Result<(String, usize), BadString> {
    let bytes = text.as_bytes();
    let mut made = beginning.to_owned();
    let mut at = stop + 1;
    loop {
        let letter = *bytes.get(at).ok_or(BadString)?;
        at += 1;
        if letter == b'u' {
            let c;
            (c, at) = code_point(bytes, at).ok_or(BadString)?;
            made.push(c);
        } else {
            made.push(simple_escape(letter).ok_or(BadString)?);
        }
        let (plain, stop) = plain_run(text, at)?;
        made.push_str(plain);
        at = stop + 1;
        if bytes.get(stop) == Some(&b'"') {
            return Ok((made, at));
        }
    }
}

/// What is written as it is from a place on, and where the quote or backslash is that ends it.
#[inline]
fn plain_run(text: &str, from: usize) -> Result<(&str, usize), BadString> {
    let rest = text.get(from..).ok_or(BadString)?;
    let run = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\')).ok_or(BadString)?;
    Ok((&rest[..run], from + run))
}

/// The character whose digits begin at `at`, behind `\u`, and where they end.
fn code_point(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let behind = at + 4;
    let high = match Unit::of(code_unit(bytes.get(at..)?)?) {
        Unit::Char(c) => return Some((c, behind)),
        Unit::Low => return Some((char::REPLACEMENT_CHARACTER, behind)),
        Unit::High(high) => high,
    };
    let Some(second) = bytes.get(behind..).and_then(|rest| rest.strip_prefix(b"\\u")) else {
        return Some((char::REPLACEMENT_CHARACTER, behind));
    };
    Some(match joined(high, code_unit(second)?) {
        Some(c) => (c, behind + 6),
        None => (char::REPLACEMENT_CHARACTER, behind),
    })
}

/// What one letter behind a backslash stands for.
#[inline]
pub(crate) fn simple_escape(letter: u8) -> Option<char> {
    Some(match letter {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

/// One UTF-16 code unit from its four digits.
pub(crate) fn code_unit(digits: &[u8]) -> Option<u32> {
    let digits: [u8; 4] = digits.get(..4)?.try_into().ok()?;
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}

/// A code unit as a character, or as half of one.
pub(crate) enum Unit {
    Char(char),
    High(u32),
    Low,
}

impl Unit {
    pub fn of(unit: u32) -> Self {
        match char::from_u32(unit) {
            Some(c) => Self::Char(c),
            None if unit < 0xdc00 => Self::High(unit),
            None => Self::Low,
        }
    }
}

/// One character that is written as two escapes, if the second is the other half of the first.
pub(crate) fn joined(high: u32, low: u32) -> Option<char> {
    let is_pair = (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low);
    char::from_u32(0x1_0000 + ((high & 0x3ff) << 10) + (low & 0x3ff)).filter(|_| is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_half_pairs_replaced() {
        let check = |inside: &str, expected: &str| {
            let text = format!("[\"{inside}\", 1]");
            assert_eq!(string_at(&text, 1), Ok((Cow::Borrowed(expected), inside.len() + 3)), "{text}");
        };
        check("", "");
        check("plain 読む", "plain 読む");
        check(r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t");
        check(r"a\u00e9b\uD83C\uDF3Ec", "aéb🌾c");
        check(r"\ud800 \udc00\ud800\u0041", "\u{fffd} \u{fffd}\u{fffd}A");
        check(r"\ud800\ud83c\udf3e", "\u{fffd}🌾");
        check(r"\ud800", "\u{fffd}");
        check(r"\ud800\n", "\u{fffd}\n");
    }

    #[test]
    fn a_string_without_escapes_is_not_copied() {
        assert!(matches!(string_at("\"plain\"", 0), Ok((Cow::Borrowed("plain"), 7))));
    }

    #[test]
    fn what_json_does_not_know_is_refused() {
        for inside in ["\\", "\\x", "\\u", "\\u12", "\\u12g4", "\\u+123", "\\é", "\\ud800\\u12", "\\u00é"] {
            assert_eq!(string_at(&format!("\"{inside}\""), 0), Err(BadString), "{inside}");
        }
        assert_eq!(string_at("\"not closed", 0), Err(BadString));
        assert_eq!(string_at("x\"\"", 0), Err(BadString));
        assert_eq!(string_at("", 7), Err(BadString));
    }
}
