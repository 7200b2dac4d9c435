//! Measures JSON text before anyone parses it: bytes, depth and number of values, and whether it has
//! a key that would be parsed twice.
//!
//! The scan is one pass without recursion or allocation, so hostile nesting costs nothing. It
//! does not validate: a parser comes after it, and can then recurse safely.

use crate::reserved_keys::has_reserved_key;

/// What a JSON text may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonCaps {
    /// Length of the text.
    pub bytes_max: usize,
    /// Arrays and objects inside each other.
    pub depth_max: usize,
    /// Values in all, counted by their separators.
    pub values_max: usize,
}

/// Which cap a JSON text is over.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum JsonCapError {
    /// The text is too long.
    #[error("{bytes} bytes of JSON, at most {max} are taken")]
    Bytes {
        /// Its length.
        bytes: usize,
        /// The cap.
        max: usize,
    },
    /// Arrays and objects are nested too deep.
    #[error("JSON nested deeper than {max} levels")]
    Depth {
        /// The cap.
        max: usize,
    },
    /// A key that the parser keeps for itself.
    #[error("JSON with a key that begins with `$serde_json::private::`, which is not taken")]
    ReservedKey,
    /// There are too many values.
    #[error("JSON with more than {max} values")]
    Values {
        /// The cap.
        max: usize,
    },
}

impl JsonCaps {
    /// How many values `text` holds, if it stays within these caps. Says nothing about whether it is
    /// valid JSON.
    pub fn check(&self, text: &[u8]) -> Result<usize, JsonCapError> {
        if text.len() > self.bytes_max {
            return Err(JsonCapError::Bytes { bytes: text.len(), max: self.bytes_max });
        }
        let mut depth = 0usize;
        let mut values = 1usize;
        let mut in_string = false;
        let mut escaped = false;
        for &byte in text {
            if in_string {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => in_string = true,
                b'[' | b'{' => {
                    depth += 1;
                    values += 1;
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                b',' => values += 1,
                _ => {}
            }
            if depth > self.depth_max {
                return Err(JsonCapError::Depth { max: self.depth_max });
            }
            if values > self.values_max {
                return Err(JsonCapError::Values { max: self.values_max });
            }
        }
        match has_reserved_key(text) {
            true => Err(JsonCapError::ReservedKey),
            false => Ok(values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: JsonCaps = JsonCaps { bytes_max: 64, depth_max: 3, values_max: 6 };

    fn check(text: &str, expected: Result<(), JsonCapError>) {
        assert_eq!(CAPS.check(text.as_bytes()).map(|_| ()), expected, "{text}");
    }

    #[test]
    fn each_cap_is_exact() {
        check("[[[1]]]", Ok(()));
        check("[[[[1]]]]", Err(JsonCapError::Depth { max: 3 }));
        check("[1,2,3,4,5]", Ok(()));
        check("[1,2,3,4,5,6]", Err(JsonCapError::Values { max: 6 }));
        check(&"1".repeat(64), Ok(()));
        check(&"1".repeat(65), Err(JsonCapError::Bytes { bytes: 65, max: 64 }));
    }

    #[test]
    fn brackets_inside_strings_do_not_count() {
        check(r#"["[[[[[[", "\"[[[[", "a\\"]"#, Ok(()));
    }

    #[test]
    fn what_would_be_parsed_twice_is_refused() {
        let caps = JsonCaps { bytes_max: 100, ..CAPS };
        let text = r#"{"$serde_json::private::RawValue":"[]"}"#;
        assert_eq!(caps.check(text.as_bytes()), Err(JsonCapError::ReservedKey));
    }

    #[test]
    fn unbalanced_text_is_left_to_the_parser() {
        check("]]]]", Ok(()));
        check("\"never closed [[[[", Ok(()));
    }
}
