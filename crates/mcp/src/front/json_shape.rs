//! Looks at JSON text before anyone parses it: how deep it goes, and whether it uses a key that the
//! parser keeps for itself. It does not validate; a parser comes after it and can then recurse safely.

use gristmill_gateway::{JsonCapError, JsonCaps};

/// Arrays and objects inside each other. The parser itself stops at the next one.
pub(super) const DEPTH_MAX: usize = 127;

/// What a parser must not be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ShapeError {
    /// Too deep.
    #[error("arrays and objects are nested deeper than {DEPTH_MAX} levels")]
    Depth,
    /// A key of the parser's own.
    #[error("keys that begin with `$serde_json::private::` are not taken")]
    ReservedKey,
}

/// Passes whatever is safe to parse, valid or not.
pub(super) fn check(text: &[u8]) -> Result<(), ShapeError> {
    let caps = JsonCaps { bytes_max: usize::MAX, depth_max: DEPTH_MAX, values_max: usize::MAX };
    match caps.check(text) {
        Err(JsonCapError::Depth { .. }) => Err(ShapeError::Depth),
        Err(JsonCapError::ReservedKey) => Err(ShapeError::ReservedKey),
        Ok(_) | Err(JsonCapError::Bytes { .. } | JsonCapError::Values { .. }) => Ok(()),
    }
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
