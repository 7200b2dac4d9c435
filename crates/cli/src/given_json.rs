//! JSON that a person passes on, which may come from anywhere.

use anyhow::Context;
use gristmill_gateway::JsonCaps;
use serde_json::Value;

/// What the parser can follow without running out of stack.
const DEPTH_MAX: usize = 127;

/// Reads one value. Refused is also what a parser would stumble over: nesting without end, and keys that it
/// keeps for itself.
pub fn given_json(text: &str) -> anyhow::Result<Value> {
    let caps = JsonCaps { bytes_max: usize::MAX, depth_max: DEPTH_MAX, values_max: usize::MAX };
    caps.check(text.as_bytes())?;
    serde_json::from_str(text).context("invalid JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_overflow_the_parser_is_refused() {
        assert_eq!(given_json("[1]").ok(), Some(serde_json::json!([1])));
        for wrong in ["[", "{\"$serde_json::private::RawValue\": \"[]\"}", &"[".repeat(200)] {
            assert!(given_json(wrong).is_err(), "{wrong}");
        }
    }
}
