//! Looks at JSON text before anyone parses it: how deep it goes, and whether it uses a key that the
//! parser keeps for itself. It does not validate; a parser comes after it and can then recurse safely.
//! Of what is not parsed at all it finds the id that an answer goes to.

use gristmill_json_text::{JsonCapError, JsonCaps, members};
use rmcp::model::RequestId;
use serde::de::IgnoredAny;
use serde_json::Value;

/// Arrays and objects inside each other. The parser itself stops at the next one.
pub(super) const DEPTH_MAX: usize = 127;

/// Values in one message. A row with one field counts as two and takes some 600 bytes when it is parsed,
/// and is parsed twice: beyond this one connection could fill the memory. A text is one value, however long.
pub(super) const VALUES_MAX: usize = 200_000;

/// The id of a message that is not parsed. Clients count, or take a UUID.
const ID_BYTES_MAX: usize = 1_024;

/// The same for an id that is a number: 64 bits have 19 digits and a sign.
const INTEGER_BYTES_MAX: usize = 20;

/// What a parser must not be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ShapeError {
    #[error("arrays and objects are nested deeper than {DEPTH_MAX} levels")]
    Depth,
    #[error(
        "a message can have {VALUES_MAX} values; pass large data as one text of CSV or JSON, as a workspace file, or by handle"
    )]
    Values,
    /// A key of the parser's own.
    #[error("keys starting with `$serde_json::private::` aren't allowed")]
    ReservedKey,
}

/// Passes whatever is safe to parse, valid or not.
pub(crate) fn check(text: &[u8]) -> Result<(), ShapeError> {
    let caps = JsonCaps { bytes_max: usize::MAX, depth_max: DEPTH_MAX, values_max: VALUES_MAX };
    match caps.check(text) {
        Err(JsonCapError::Depth { .. }) => Err(ShapeError::Depth),
        Err(JsonCapError::ReservedKey) => Err(ShapeError::ReservedKey),
        Err(JsonCapError::Values { .. }) => Err(ShapeError::Values),
        Ok(_) | Err(JsonCapError::Bytes { .. }) => Ok(()),
    }
}

/// The `id` of a request that is not going to be parsed, as far as it can be read: `None` where there is
/// none, or no `method` beside it, since the id of an answer is not the client's. One pass, whatever it is.
pub(super) fn id_of_request(text: &[u8]) -> Option<Value> {
    let Head { id, has_method } = Head::of(text);
    id.filter(|_| has_method)
}

/// The same as `rmcp` has ids.
pub(crate) fn request_id(text: &[u8]) -> Option<RequestId> {
    id_of_request(text).and_then(|id| serde_json::from_value(id).ok())
}

/// The id of a request of which only the beginning and the end were kept, if it is in one of them.
pub(crate) fn request_id_of_fragments(beginning: &[u8], end: &[u8]) -> Option<RequestId> {
    // What follows the last comma may be cut.
    let whole = beginning.iter().rposition(|byte| *byte == b',').map_or(0, |at| at + 1);
    let (first, last) = (Head::of(&beginning[..whole]), Head::of(&last_members(end)));
    let id = first.id.or(last.id).filter(|_| first.has_method || last.has_method)?;
    serde_json::from_value(id).ok()
}

/// The last members of an object of which only the end was kept, as an object of their own. The first comma
/// after which the rest is one is the object's: what is inside of it closes more than it opens, and what
/// begins inside of a string has its quotes the wrong way round.
fn last_members(end: &[u8]) -> Vec<u8> {
    let commas = end.iter().enumerate().filter(|(_, byte)| **byte == b',');
    let mut objects = commas.map(|(at, _)| [&b"{"[..], &end[at + 1..]].concat());
    objects.find(|object| serde_json::from_slice::<IgnoredAny>(object).is_ok()).unwrap_or_default()
}

/// What is looked at of a message.
struct Head {
    id: Option<Value>,
    has_method: bool,
}

impl Head {
    fn of(text: &[u8]) -> Self {
        let mut head = Self { id: None, has_method: false };
        for member in members(text) {
            match member.key {
                b"\"id\"" => head.id = id_of(member.value),
                b"\"method\"" => head.has_method = member.value.starts_with(b"\""),
                _ => {}
            }
        }
        head
    }
}

/// A short string or number.
fn id_of(value: &[u8]) -> Option<Value> {
    let bytes_max = match value.first()? {
        b'"' => ID_BYTES_MAX,
        b'{' | b'[' => return None,
        _ => INTEGER_BYTES_MAX,
    };
    if value.len() > bytes_max {
        return None;
    }
    serde_json::from_slice(value).ok()
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
    fn many_small_values_are_refused_before_they_become_large() {
        let many = |count: usize| format!("[{}0]", "{},".repeat(count));
        assert_eq!(check(many(VALUES_MAX / 2 - 2).as_bytes()), Ok(()));
        assert_eq!(check(many(VALUES_MAX / 2 + 2).as_bytes()), Err(ShapeError::Values));
    }

    #[test]
    fn the_id_of_a_request_is_found_on_its_first_level_only() {
        let check = |text: &str, expected: Option<Value>| {
            assert_eq!(id_of_request(text.as_bytes()), expected, "{text}");
        };
        check(r#"{"id":7,"method":"a"}"#, Some(7.into()));
        check(
            r#" {"params":{"id":1,"a":"\\\"id\":2"}, "method" : "a" , "id" : "x\"y" }"#,
            Some("x\"y".into()),
        );
        check(r#"{"method":"id","id":-3,"params":[[[["#, Some((-3).into()));
        check(r#"{"id":7,"result":{"method":"a"}}"#, None);
        check(r#"{"method":"a","params":{"id":1}}"#, None);
        check(r#"[{"id":1,"method":"a"}]"#, None);
        check(r#"{"method":"a","id":{}}"#, None);
        check(&format!(r#"{{"method":"a","id":{}}}"#, i64::MIN), Some(i64::MIN.into()));
        for id in [format!("\"{}\"", "x".repeat(ID_BYTES_MAX)), "1".repeat(INTEGER_BYTES_MAX + 1)] {
            check(&format!(r#"{{"method":"a","id":{id}}}"#), None);
        }
    }

    #[test]
    fn the_id_of_a_request_is_found_at_either_end_of_it() {
        let check = |beginning: &str, end: &str, expected: Option<RequestId>| {
            let found = request_id_of_fragments(beginning.as_bytes(), end.as_bytes());
            assert_eq!(found, expected, "{beginning} … {end}");
        };
        let (seven, text) = (Some(RequestId::Number(7)), Some(RequestId::String("a\"b".into())));
        check(r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"id":1,"x":"yy"#, "yy\"}}", seven.clone());
        check(
            r#"{"jsonrpc":"2.0","method":"a","params":{"id":1,"x":"#,
            r#"y,"id":2}, "id" : 7 }"#,
            seven.clone(),
        );
        check(
            r#"{"method":"a","params":{"x":""#,
            r#"","y":[1,2]},"id":"a\"b","jsonrpc":"2.0"}"#,
            text.clone(),
        );
        check(r#"{"params":{"x":"#, "1,\"id\":3},\"method\":\"a\",\"id\":\"a\\\"b\"}\r", text);
        check(r#"{"id":7,"params":{"x":"#, r#"1},"method":"a"}"#, seven);
        // Of an answer, of a notification, of neither.
        check(r#"{"jsonrpc":"2.0","id":7,"result":{"x":"#, r#"1,"method":"a"}}"#, None);
        check(r#"{"jsonrpc":"2.0","method":"a","params":{"x":"#, r#"1,"id":7}}"#, None);
        check(r#"{"jsonrpc":"2.0","method":"a","params":{"x":""#, r#",\"id\":7}"}}"#, None);
        check("xxxx", "xxxx", None);
        check("", "", None);
        // Cut in the middle of it.
        check(r#"{"jsonrpc":"2.0","method":"a","id":7"#, r#"1}"#, None);
    }

    #[test]
    fn text_that_ends_anywhere_is_no_trouble() {
        let whole = r#"{"a\"\\": ["b", {"\u0024serde_json::private::Number": 1}]}"#;
        for end in 0..whole.len() {
            let _ = check(&whole.as_bytes()[..end]);
            assert_eq!(id_of_request(&whole.as_bytes()[..end]), None);
        }
        assert_eq!(check(b"\"\\"), Ok(()));
    }
}
