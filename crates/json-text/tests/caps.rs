//! The one-pass scan of `JsonCaps` against a tree whose depth and values are simply counted.

use gristmill_json_text::{JsonCapError, JsonCaps};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

#[derive(Debug, Clone)]
enum Json {
    /// A number, a boolean, null or a string, as it is written.
    Scalar(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn depth(&self) -> usize {
        match self {
            Self::Scalar(_) => 0,
            Self::Array(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Object(members) => 1 + members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
        }
    }

    /// Each scalar and each container once. The scan takes an opening bracket as the promise of a
    /// first item, so an empty container counts that as well.
    fn values(&self) -> usize {
        match self {
            Self::Scalar(_) => 1,
            Self::Array(items) => 1 + items.iter().map(Self::values).sum::<usize>().max(1),
            Self::Object(members) => {
                1 + members.iter().map(|(_, value)| value.values()).sum::<usize>().max(1)
            }
        }
    }

    fn write(&self, gap: &str, text: &mut String) {
        match self {
            Self::Scalar(scalar) => text.push_str(scalar),
            Self::Array(items) => {
                write_between('[', items, ']', gap, text, |item, text| item.write(gap, text));
            }
            Self::Object(members) => {
                write_between('{', members, '}', gap, text, |(key, value), text| {
                    text.push_str(key);
                    text.push(':');
                    value.write(gap, text);
                });
            }
        }
    }
}

fn write_between<T>(
    open: char,
    items: &[T],
    close: char,
    gap: &str,
    text: &mut String,
    write: impl Fn(&T, &mut String),
) {
    text.push(open);
    text.push_str(gap);
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            text.push(',');
            text.push_str(gap);
        }
        write(item, text);
    }
    text.push(close);
}

/// Strings made of whatever a careless scan would count or stumble over.
fn string() -> impl Strategy<Value = String> {
    let pieces =
        vec!["[", "]", "{", "}", ",", ":", r#"\""#, r"\\", r"\n", r"\u005b", "a", "\u{fc}", "\u{1f33e}"];
    vec(select(pieces), 0..8).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn scalar() -> impl Strategy<Value = Json> {
    let plain = select(vec!["null", "true", "false", "0", "-1.5e9"]).prop_map(str::to_owned);
    prop_oneof![plain, string()].prop_map(Json::Scalar)
}

fn json() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(6, 48, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Json::Array),
            vec((string(), inner), 0..5).prop_map(Json::Object),
        ]
    })
}

fn settings() -> ProptestConfig {
    ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn each_cap_is_exactly_what_a_recursive_count_gives(json in json(), gap in select(vec!["", " ", "\r\n\t"])) {
        let mut text = String::new();
        json.write(gap, &mut text);
        let text = text.as_bytes();
        let exact = JsonCaps { bytes_max: text.len(), depth_max: json.depth(), values_max: json.values() };
        prop_assert_eq!(exact.check(text), Ok(exact.values_max));

        let bytes_max = text.len() - 1;
        let too_long = Err(JsonCapError::Bytes { bytes: text.len(), max: bytes_max });
        prop_assert_eq!(JsonCaps { bytes_max, ..exact }.check(text), too_long);

        let values_max = json.values() - 1;
        let too_many = Err(JsonCapError::Values { max: values_max });
        prop_assert_eq!(JsonCaps { values_max, ..exact }.check(text), too_many);

        if let Some(depth_max) = json.depth().checked_sub(1) {
            let too_deep = Err(JsonCapError::Depth { max: depth_max });
            prop_assert_eq!(JsonCaps { depth_max, ..exact }.check(text), too_deep);
        }
    }

    #[test]
    fn any_bytes_are_measured(
        text in vec(prop_oneof![any::<u8>(), select(b"[]{},:\"\\".to_vec())], 0..300),
        bytes_max in 0..400usize,
        depth_max in 0..20usize,
        values_max in 0..60usize,
    ) {
        let caps = JsonCaps { bytes_max, depth_max, values_max };
        match caps.check(&text) {
            Ok(_) => prop_assert!(text.len() <= bytes_max),
            Err(JsonCapError::Bytes { bytes, max }) => {
                prop_assert_eq!((bytes, max), (text.len(), bytes_max));
                prop_assert!(bytes > max);
            }
            Err(JsonCapError::Depth { max }) => prop_assert_eq!(max, depth_max),
            Err(JsonCapError::Values { max }) => prop_assert_eq!(max, values_max),
            // So many bytes do not come about by chance.
            Err(JsonCapError::ReservedKey) => prop_assert!(text.len() > 22),
        }
    }
}

#[test]
fn a_million_brackets_cost_no_stack() {
    let text = vec![b'['; 1_000_000];
    let caps = JsonCaps { bytes_max: text.len(), depth_max: text.len(), values_max: text.len() + 1 };
    assert!(caps.check(&text).is_ok());
    let caps = JsonCaps { depth_max: 100, ..caps };
    assert_eq!(caps.check(&text), Err(JsonCapError::Depth { max: 100 }));
}
