//! Keys that the JSON parser keeps for itself.
//!
//! `serde_json` hands numbers and raw text through itself as objects with a key of its own. From
//! outside such a key would have a string parsed a second time, with a depth of its own: nested
//! often enough, that overflows the stack. No honest text has them, so text that does is refused.

use crate::span::after_space;
use crate::string_text::code_unit;
use crate::strings::strings;

const RESERVED: &str = "$serde_json::private::";

/// Whether any object in the text has such a key, however it is written. Says nothing about
/// whether the text is valid JSON.
pub fn has_reserved_key(text: &[u8]) -> bool {
    if !may_have(text) {
        return false;
    }
    strings(text).any(|span| {
        let end = span.end;
        let inside = text.get(span.start + 1..end - 1).unwrap_or_default();
        is_key(text, end) && begins_reserved(inside)
    })
}

/// Most text has neither the word nor an escape that could spell it.
fn may_have(text: &[u8]) -> bool {
    let mut rest = text;
    // Both begin with a byte that is rare in JSON.
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'$' | b'\\')) {
        let found = &rest[at..];
        if found.starts_with(b"\\u") || found.starts_with(RESERVED.as_bytes()) {
            return true;
        }
        // An escaped backslash is no beginning of an escape.
        let skip = if found.starts_with(b"\\") { 2 } else { 1 };
        rest = found.get(skip..).unwrap_or_default();
    }
    false
}

/// Whether a colon follows the string that ends at `end`.
fn is_key(text: &[u8], end: usize) -> bool {
    text.get(after_space(text, end)) == Some(&b':')
}

/// Reads escapes only as far as the prefix goes, which is plain ASCII.
fn begins_reserved(mut inside: &[u8]) -> bool {
    for expected in RESERVED.bytes() {
        let (byte, length) = match inside {
            [b'\\', b'u', a, b, c, d, ..] => match code_unit(&[*a, *b, *c, *d]) {
                Some(unit) => (unit, 6),
                None => return false,
            },
            [byte, ..] => (u32::from(*byte), 1),
            [] => return false,
        };
        if byte != u32::from(expected) {
            return false;
        }
        inside = &inside[length..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_keys_are_found_however_they_are_written() {
        let check = |text: &str, expected| assert_eq!(has_reserved_key(text.as_bytes()), expected, "{text}");
        check(r#"{"$serde_json::private::RawValue": "[]"}"#, true);
        check(r#"{"a": [{"b": 1, "\u0024serde_json::private::Number" : "1"}]}"#, true);
        check(r#"{"$serde\u005fjson::\u0070rivate::x":1}"#, true);
        check(r#"{"\\u0024serde_json::private::RawValue": 1}"#, false);
        check(r#"{"a": "$serde_json::private::RawValue"}"#, false);
        check(r#"["$serde_json::private::RawValue", "\u0024"]"#, false);
        check(r#"{"a\"$serde_json::private::": 1}"#, false);
        check(r#"{"serde_json": "$5", "\n": "\u00e9"}"#, false);
    }

    #[test]
    fn text_that_ends_anywhere_is_no_trouble() {
        let whole = r#"{"a\"\\": ["b", {"\u0024serde_json::private::Number": 1}]}"#;
        for end in 0..whole.len() {
            has_reserved_key(&whole.as_bytes()[..end]);
        }
        assert!(!has_reserved_key(b"\"\\"));
        assert!(has_reserved_key(whole.as_bytes()));
    }
}
