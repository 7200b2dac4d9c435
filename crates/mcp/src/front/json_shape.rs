//! Looks at JSON text before anyone parses it, in one pass without recursion: how deep it goes, and
//! whether it uses a key that the parser keeps for itself. It does not validate; a parser comes
//! after it and can then recurse safely.

/// Arrays and objects inside each other. The parser itself stops at the next one.
pub(super) const DEPTH_MAX: usize = 127;

/// Keys by which `serde_json` hands numbers and raw text through itself. From outside they would be
/// parsed a second time, out of a string, with a depth of its own.
const RESERVED: &str = "$serde_json::private::";

/// What a parser must not be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ShapeError {
    /// Too deep.
    #[error("arrays and objects are nested deeper than {DEPTH_MAX} levels")]
    Depth,
    /// A key of the parser's own.
    #[error("keys that begin with `{RESERVED}` are not taken")]
    ReservedKey,
}

/// Passes whatever is safe to parse, valid or not.
pub(super) fn check(text: &[u8]) -> Result<(), ShapeError> {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(text, at + 1);
                if is_key(text, end) && is_reserved(text.get(at..=end).unwrap_or_default()) {
                    return Err(ShapeError::ReservedKey);
                }
                at = end;
            }
            b'[' | b'{' => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Err(ShapeError::Depth);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// Where the closing quote is, or the end of the text.
fn end_of_string(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

fn is_key(text: &[u8], end: usize) -> bool {
    let rest = text.get(end + 1..).unwrap_or_default();
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

/// `quoted` is a string with its quotes.
fn is_reserved(quoted: &[u8]) -> bool {
    if !quoted.contains(&b'\\') {
        return quoted.get(1..).is_some_and(|rest| rest.starts_with(RESERVED.as_bytes()));
    }
    serde_json::from_slice::<String>(quoted).is_ok_and(|key| key.starts_with(RESERVED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_outside_of_strings_only() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(check(nested(DEPTH_MAX).as_bytes()), Ok(()));
        assert!(serde_json::from_str::<serde_json::Value>(&nested(DEPTH_MAX)).is_ok());
        assert_eq!(check(nested(DEPTH_MAX + 1).as_bytes()), Err(ShapeError::Depth));
        assert_eq!(check("[".repeat(1_000_000).as_bytes()), Err(ShapeError::Depth));
        let text = serde_json::to_string(&"[{\"\\".repeat(1000)).expect("text");
        assert_eq!(check(text.as_bytes()), Ok(()));
        assert_eq!(check(&b"[]".repeat(1000)), Ok(()));
    }

    #[test]
    fn keys_of_the_parsers_own_are_found_however_they_are_written() {
        let check = |text: &str, expected: Result<(), ShapeError>| {
            assert_eq!(super::check(text.as_bytes()), expected, "{text}");
        };
        check(r#"{"$serde_json::private::RawValue": "[]"}"#, Err(ShapeError::ReservedKey));
        check(r#"{"a": {"\u0024serde_json::private::Number" : "1"}}"#, Err(ShapeError::ReservedKey));
        check(r#"{"a": "$serde_json::private::Number"}"#, Ok(()));
        check(r#"{"serde_json": 1}"#, Ok(()));
    }

    #[test]
    fn text_that_ends_anywhere_is_no_trouble() {
        let whole = r#"{"a\"\\": ["b", {"\u0024serde_json::private::Number": 1}]}"#;
        for end in 0..whole.len() {
            let _ = check(&whole.as_bytes()[..end]);
        }
        assert_eq!(check(b"\"\\"), Ok(()));
    }
}
