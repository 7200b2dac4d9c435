//! Parts of values, held against the same values parsed whole.

use std::io::{self, Read};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const ROOM: usize = 1 << 20;

/// Gives a few bytes at a time, so that everything comes in pieces.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        let (now, later) = self.0.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.0 = later;
        Ok(count)
    }
}

fn part(text: &str, path: &str, slice: Slice) -> Result<TakenPart, PathError> {
    take_part(Drops(text.as_bytes(), 3), &ResultPath::read(path)?, slice, ROOM)
}

fn value(text: &str, path: &str) -> Value {
    let part = part(text, path, Slice::default()).unwrap_or_else(|error| panic!("{path}: {error}"));
    match part.kind {
        PartKind::Text => Value::from(part.content),
        PartKind::Array | PartKind::Object | PartKind::Scalar => serde_json::from_str(&part.content).unwrap(),
    }
}

fn refused(text: &str, path: &str) -> String {
    part(text, path, Slice::default()).expect_err(path).to_string()
}

#[test]
fn a_path_leads_to_its_value_in_every_way_it_is_written() {
    let whole = json!({
        "rows": [{"name": "a"}, {"name": "b \u{1f33e} \"quoted\" \\"}, [], {}],
        "3": "by key", "a.b": {"": null}, "n": -1.5e3, "yes": true,
    });
    for text in [whole.to_string(), format!(" {whole:#}\n")] {
        for (path, expected) in [
            ("", &whole),
            ("$", &whole),
            ("rows", &whole["rows"]),
            ("rows[1].name", &whole["rows"][1]["name"]),
            ("rows.1.name", &whole["rows"][1]["name"]),
            ("$.rows[1]['name']", &whole["rows"][1]["name"]),
            ("rows[2]", &json!([])),
            ("rows[3]", &json!({})),
            ("3", &json!("by key")),
            ("[\"a.b\"]", &whole["a.b"]),
            ("[\"a.b\"][\"\"]", &Value::Null),
            ("n", &whole["n"]),
            ("yes", &json!(true)),
        ] {
            assert_eq!(&value(&text, path), expected, "{path}");
        }
    }
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let text = r#"{"rows": [{"name": "a", "city": "b"}], "none": [], "n": 1, "empty": {}}"#;
    for (path, expected) in [
        ("row", "the result has no `row`; did you mean `rows`?"),
        ("rows[0].nmae", "rows[0] has no `nmae`; did you mean `name`?"),
        ("rows[0].zzzzzzzz", "rows[0] has no `zzzzzzzz`; it has `name`, `city`"),
        ("empty.x", "empty has no `x`; it is empty"),
        ("rows[7]", "rows has 1 item (0), so there is no index 7"),
        ("none[0]", "none has no items, so there is no index 0"),
        (
            "rows.name",
            "rows is an array with 1 item (0), which has no `name`; say which item: `rows[0].name`",
        ),
        ("n.x", "n is a number, so it has no `x`; end the path before it"),
        ("rows[0].name[0]", "rows[0].name is a text, so it has no `0`; end the path before it"),
    ] {
        assert_eq!(refused(text, path), expected, "{path}");
    }
    let listed = r#"[{"rows": [1, 2]}, 2]"#;
    let expected =
        "the result is an array with 2 items (0 to 1), which has no `rows`; say which item: `[0].rows[1]`";
    assert_eq!(refused(listed, "rows[1]"), expected);
    assert_eq!(value(listed, "[0].rows[1]"), json!(2));
    for path in ["a..b", "a[", "a[x]", "a[-1]", "a[0]b", "['a", "a.", &"a.".repeat(3_000)] {
        assert!(matches!(part(text, path, Slice::default()), Err(PathError::NotAPath { .. })), "{path}");
    }
}

#[test]
fn arrays_objects_and_texts_are_sliced_and_counted() {
    let text = json!({"rows": (0..100).collect::<Vec<_>>(), "text": "żółw \u{1f422}!", "o": {"a": 1, "b": 2, "c": 3}}).to_string();
    let slice = |offset, limit| Slice { offset, limit };
    let taken = part(&text, "rows", slice(98, Some(5))).unwrap();
    assert_eq!((taken.content.as_str(), taken.total, taken.offset, taken.taken), ("[98,99]", 100, 98, 2));
    assert_eq!(part(&text, "o", slice(1, Some(1))).unwrap().content, r#"{"b":2}"#);
    let taken = part(&text, "text", slice(1, Some(5))).unwrap();
    assert_eq!((taken.content.as_str(), taken.total), ("ółw \u{1f422}", 7));
    let beyond = part(&text, "rows", slice(100, None)).unwrap_err().to_string();
    assert_eq!(beyond, "rows has 100 items (0 to 99), so there is no offset 100");
    let plain = take_text(Drops("żółw\n2".as_bytes(), 1), slice(2, Some(3)), ROOM).unwrap();
    assert_eq!((plain.content.as_str(), plain.total, plain.taken), ("łw\n", 6, 3));
    assert_eq!(part("[]", "", Slice::default()).unwrap().total, 0);
}

#[test]
fn what_is_too_large_is_left_out_and_the_rest_stays_whole() {
    let whole = json!({"rows": vec!["x".repeat(100); 1_000], "count": 1_000, "last": [1]});
    let path = ResultPath::default();
    let part = take_part(whole.to_string().as_bytes(), &path, Slice::default(), 8_192).unwrap();
    let shown: Value = serde_json::from_str(&part.content).unwrap();
    assert_eq!((&shown["count"], &shown["last"], part.taken), (&json!(1_000), &json!([1]), 3));
    assert_eq!(shown["rows"], json!("… 103001 bytes not shown; path: rows …"));
    let path = ResultPath::read("rows").unwrap();
    let part = take_part(whole.to_string().as_bytes(), &path, Slice::default(), 8_192).unwrap();
    assert!((60..90).contains(&part.taken) && part.total == 1_000, "{} of {}", part.taken, part.total);
    assert!(part.content.len() < 8_300);
}

#[test]
fn damaged_texts_are_told_and_nothing_hangs() {
    for text in
        ["", " ", "{", "[1", "[1,]", "{\"a\"}", "{\"a\":}", "[1 2]", "\"open", "{1:2}", "[\"\\u12", "?"]
    {
        let path = ResultPath::default();
        let outcome = take_part(text.as_bytes(), &path, Slice::default(), ROOM);
        assert!(matches!(outcome, Err(PathError::Damaged { .. })), "{text}: {outcome:?}");
    }
    let deep = "[".repeat(500_000) + &"]".repeat(500_000);
    let outcome = take_part(deep.as_bytes(), &ResultPath::default(), Slice::default(), ROOM).unwrap();
    assert_eq!((outcome.total, outcome.content.len()), (1, deep.len()));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Every path in a value, with what it leads to.
fn paths(value: &Value, at: String, found: &mut Vec<(String, Value)>) {
    found.push((at.clone(), value.clone()));
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                paths(item, format!("{at}[{index}]"), found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let quoted = key.replace('\\', "\\\\").replace('"', "\\\"");
                paths(member, format!("{at}[\"{quoted}\"]"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

proptest! {
    #[test]
    fn every_path_of_any_value_leads_to_what_a_parser_finds(whole in any_value()) {
        let mut found = Vec::new();
        paths(&whole, String::new(), &mut found);
        for (path, expected) in found {
            prop_assert_eq!(&value(&whole.to_string(), &path), &expected, "{}", path);
        }
    }
}
