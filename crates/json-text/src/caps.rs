//! Measures JSON text before anyone parses it: bytes, depth and number of values, and whether it has
//! a key that would be parsed twice.
//!
//! The scan is one pass without recursion or allocation, so hostile nesting costs nothing. It
//! does not validate: a parser comes after it, and can then recurse safely.

use crate::blocks::{Block, Blocks};
use crate::reserved_keys::has_reserved_key;

/// What a JSON text may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonCaps {
    pub bytes_max: usize,
    /// Arrays and objects inside each other.
    pub depth_max: usize,
    /// Values in all, counted by their separators.
    pub values_max: usize,
}

/// Which cap a JSON text is over.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum JsonCapError {
    #[error("{bytes} bytes of JSON; at most {max} are allowed")]
    Bytes { bytes: usize, max: usize },
    /// Arrays and objects are nested too deep.
    #[error("JSON nested deeper than {max} levels")]
    Depth { max: usize },
    /// A key that the parser keeps for itself.
    #[error("JSON with a key that starts with `$serde_json::private::`, which isn't allowed")]
    ReservedKey,
    #[error("JSON with more than {max} values")]
    Values { max: usize },
}

impl JsonCaps {
    /// How many values `text` holds, if it stays within these caps. Says nothing about whether it is
    /// valid JSON.
    pub fn check(&self, text: &[u8]) -> Result<usize, JsonCapError> {
        if text.len() > self.bytes_max {
            return Err(JsonCapError::Bytes { bytes: text.len(), max: self.bytes_max });
        }
        let mut measured = Measured { depth: 0, values: 1 };
        if measured.values > self.values_max && !text.is_empty() {
            return Err(JsonCapError::Values { max: self.values_max });
        }
        let mut blocks = Blocks::new(text, 0);
        while let Some(block) = blocks.next_block() {
            self.take(&mut measured, &block)?;
        }
        match has_reserved_key(text) {
            true => Err(JsonCapError::ReservedKey),
            false => Ok(measured.values),
        }
    }

    fn take(&self, measured: &mut Measured, block: &Block) -> Result<(), JsonCapError> {
        let count = |mask: u64| mask.count_ones() as usize;
        let (opened, closed) = (count(block.open), count(block.close));
        let values = measured.values + opened + count(block.comma);
        // Nothing in this block can reach a cap, or close what was never opened.
        if measured.depth + opened <= self.depth_max && values <= self.values_max && closed <= measured.depth
        {
            *measured = Measured { depth: measured.depth + opened - closed, values };
            return Ok(());
        }
        let mut rest = block.open | block.close | block.comma;
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            rest &= !bit;
            if block.close & bit != 0 {
                measured.depth = measured.depth.saturating_sub(1);
                continue;
            }
            measured.values += 1;
            measured.depth += usize::from(block.open & bit != 0);
            if measured.depth > self.depth_max {
                return Err(JsonCapError::Depth { max: self.depth_max });
            }
            if measured.values > self.values_max {
                return Err(JsonCapError::Values { max: self.values_max });
            }
        }
        Ok(())
    }
}

/// What came so far.
struct Measured {
    depth: usize,
    values: usize,
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
