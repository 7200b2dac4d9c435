//! The shape of a tool's answer as one number: names and types of its fields, without values and lengths. Two
//! answers of one shape have one number, in every version; it says nothing about what was in them.
//!
//! Walls: one pass over a bounded text, no allocation.

use gristmill_json_text::{Discard, ScanError, Scanner, Sink, SliceSource};

/// Longer answers have no shape: a call should not wait for it.
const BYTES_MAX: usize = 16 << 10;

/// What is deeper counts as a list or an object, whatever is in it.
const DEPTH_MAX: usize = 5;

type Text<'a> = Scanner<SliceSource<'a>>;
type Error = ScanError<std::convert::Infallible>;

/// The number of an answer's shape; 0 if it is too long, or no JSON. A list has the shape of its first element.
pub fn answer_shape(json: &str) -> u64 {
    if json.len() > BYTES_MAX {
        return 0;
    }
    let mut text = Scanner::new(SliceSource::new(json.as_bytes()));
    value(&mut text, 0).map_or(0, |shape| shape.max(1))
}

fn value(text: &mut Text<'_>, depth: usize) -> Result<u64, Error> {
    match text.peek_past_space()? {
        b'{' if depth < DEPTH_MAX => object(text, depth),
        b'[' if depth < DEPTH_MAX => list(text, depth),
        first => {
            text.value(&mut Discard)?;
            Ok(mixed(kind(first)))
        }
    }
}

/// The order of fields is no part of it.
fn object(text: &mut Text<'_>, depth: usize) -> Result<u64, Error> {
    text.expect(b'{')?;
    let (mut sum, mut is_first) = (u64::from(b'{'), true);
    while text.has_next(b'}', is_first)? {
        is_first = false;
        let mut key = Fnv(0xcbf2_9ce4_8422_2325);
        // It must be a string: `expect` of the colon fails behind anything else.
        text.peek_past_space()?;
        text.string(&mut key)?;
        text.expect(b':')?;
        sum = sum.wrapping_add(mixed(key.0 ^ value(text, depth + 1)?.rotate_left(17)));
    }
    Ok(mixed(sum))
}

fn list(text: &mut Text<'_>, depth: usize) -> Result<u64, Error> {
    text.expect(b'[')?;
    let mut shape = u64::from(b'[');
    let mut is_first = true;
    while text.has_next(b']', is_first)? {
        match is_first {
            true => shape ^= value(text, depth + 1)?.rotate_left(31),
            false => text.value(&mut Discard)?,
        }
        is_first = false;
    }
    Ok(mixed(shape))
}

fn kind(first: u8) -> u64 {
    u64::from(match first {
        b't' | b'f' => b'b',
        b'n' | b'"' | b'{' | b'[' => first,
        _ => b'0',
    })
}

struct Fnv(u64);

impl Sink for Fnv {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lengths_and_order_are_no_part_of_a_shape_and_names_and_types_are() {
        let same =
            |one: &str, other: &str| assert_eq!(answer_shape(one), answer_shape(other), "{one} {other}");
        let differ =
            |one: &str, other: &str| assert_ne!(answer_shape(one), answer_shape(other), "{one} {other}");
        same(r#"{"id": 1, "name": "a"}"#, r#"{ "name":"longer \" text", "id":-2.5e3}"#);
        same(r#"[{"id": 1}]"#, r#"[{"id": 7}, {"id": 8}, {"other": true}]"#);
        same("true", "false");
        differ(r#"{"id": 1}"#, r#"{"id": "1"}"#);
        differ(r#"{"id": 1}"#, r#"{"key": 1}"#);
        differ(r#"{"id": 1}"#, r#"{"id": 1, "new": null}"#);
        differ(r#"{"id": 1}"#, r#"[{"id": 1}]"#);
        differ(r#"{"a": {"b": 1}}"#, r#"{"b": {"a": 1}}"#);
        differ(r#"{"a": 1, "b": "x"}"#, r#"{"a": "x", "b": 1}"#);
        differ("[]", "{}");
    }

    #[test]
    fn the_number_stays_the_same_from_version_to_version() {
        assert_eq!(answer_shape(r#"{"items": [{"id": 1, "tags": ["x"]}], "total": 2}"#), SHAPE);
    }

    const SHAPE: u64 = 9_055_650_916_667_839_983;

    #[test]
    fn what_is_no_json_or_too_long_has_no_shape() {
        for text in ["", "{", "[1", r#"{"a" 1}"#, r#"{"a":"#, r#"{1:2}"#] {
            assert_eq!(answer_shape(text), 0, "{text}");
        }
        assert_eq!(answer_shape(&format!("\"{}\"", "x".repeat(BYTES_MAX))), 0);
        let deep = "[".repeat(2_000) + &"]".repeat(2_000);
        assert_ne!(answer_shape(&deep), 0);
    }
}
