//! The JSON scanner, against the parser that comes after it.

use gristmill_json_text::{Discard, JsonCaps, Scanner, SliceSource, members, string_at, strings};
use serde_json::Value;

use crate::target::{Reached, Target, about};

/// Deep and large enough to be met.
const CAPS: JsonCaps = JsonCaps { bytes_max: 64 * 1024, depth_max: 64, values_max: 1024 };

pub const TARGET: Target = Target {
    name: "json",
    promise: "what passes the caps is no deeper and no larger than they say, and the scanner finds in it what the parser does",
    run,
    dictionary: &[
        b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        b"{\"a\":",
        b"\\u0024serde_json::private::Number",
        b"$serde_json::private::RawValue",
        b"\\ud83c\\udf3e",
        b"\\ud800",
        b"\\\\\\\"",
        b"\"\\u00",
        b"null",
        b"-0.0e-0",
        b"true,",
        b"]}",
        b"\xef\xbb\xbf",
    ],
    bytes_max: 4096,
};

fn run(text: &[u8]) -> Reached {
    // Whatever the text is, these end.
    let strings = strings(text).count();
    let members = members(text).count();
    let counted = CAPS.check(text);
    let Ok(counted) = counted else {
        return Reached::of((0, about(strings), counted.err().map(|e| kind(&e))));
    };
    let parsed: Result<Value, _> = serde_json::from_slice(text);
    let Ok(value) = parsed else { return Reached::of((1, about(strings), about(members))) };
    assert!(depth(&value) <= CAPS.depth_max, "deeper than the cap");
    // Of keys that are there twice one is left.
    assert!(values(&value) <= counted, "more values than were counted");
    let mut scanner = Scanner::new(SliceSource::new(text));
    scanner.value(&mut Discard).expect("the scanner passes what the parser reads");
    assert_eq!(scanner.is_at_end(), Ok(true), "the scanner stops where the parser does");
    if let Value::Object(object) = &value {
        check_members(text, object);
    }
    if let (Value::String(expected), Ok(text)) = (&value, std::str::from_utf8(text)) {
        let open = text.find('"').expect("a string begins with a quote");
        assert_eq!(string_at(text, open).map(|(string, _)| string.into_owned()).as_ref(), Ok(expected));
    }
    Reached::of((2, about(strings), about(members), depth(&value), about(counted)))
}

/// The last member of each name is what the parser has.
fn check_members(text: &[u8], object: &serde_json::Map<String, Value>) {
    let mut found = serde_json::Map::new();
    for member in members(text) {
        let key: String = serde_json::from_slice(member.key).expect("a key is a string");
        found.insert(key, serde_json::from_slice(member.value).expect("a member is a value"));
    }
    assert_eq!(&found, object, "the members are those of the parser");
}

fn kind(
    error: &gristmill_json_text::JsonCapError,
) -> std::mem::Discriminant<gristmill_json_text::JsonCapError> {
    std::mem::discriminant(error)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(values).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(values).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}
