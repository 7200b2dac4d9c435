//! The scanner against serde_json: the same texts are JSON, and they mean the same.

use std::convert::Infallible;

use gristmill_json_text::{
    Bounded, Discard, JsonCaps, ScanError, Scanner, SliceSource, Source, members, string_at, strings,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

/// A text that comes a few bytes at a time.
struct Pieces<'a> {
    text: &'a [u8],
    piece_bytes: usize,
    at: usize,
}

impl Source for Pieces<'_> {
    type Error = Infallible;

    fn chunk(&mut self) -> Result<&[u8], Infallible> {
        let end = self.text.len().min(self.at + self.piece_bytes - self.at % self.piece_bytes);
        Ok(&self.text[self.at..end])
    }

    fn advance(&mut self, count: usize) {
        self.at += count;
    }

    fn position(&self) -> u64 {
        self.at as u64
    }
}

type Outcome<T> = Result<T, ScanError<Infallible>>;

/// A parser made of the scanner's parts, and of serde_json for numbers and words.
fn parse(source: impl Source<Error = Infallible>) -> Outcome<Value> {
    let mut scanner = Scanner::new(source);
    let value = parse_value(&mut scanner)?;
    if scanner.is_at_end()? { Ok(value) } else { Err(scanner.not_json()) }
}

fn parse_value<S: Source<Error = Infallible>>(scanner: &mut Scanner<S>) -> Outcome<Value> {
    match scanner.peek_past_space()? {
        b'[' => {
            scanner.expect(b'[')?;
            let mut items = Vec::new();
            while scanner.has_next(b']', items.is_empty())? {
                items.push(parse_value(scanner)?);
            }
            Ok(items.into())
        }
        b'{' => {
            scanner.expect(b'{')?;
            let (mut made, mut is_first) = (Map::new(), true);
            while scanner.has_next(b'}', is_first)? {
                is_first = false;
                let key = parse_string(scanner)?;
                scanner.expect(b':')?;
                made.insert(key, parse_value(scanner)?);
            }
            Ok(made.into())
        }
        b'"' => parse_string(scanner).map(Value::from),
        _ => {
            let mut written = Bounded::new(1_000);
            scanner.value(&mut written)?;
            serde_json::from_slice(&written.bytes).map_err(|_| scanner.not_json())
        }
    }
}

fn parse_string<S: Source<Error = Infallible>>(scanner: &mut Scanner<S>) -> Outcome<String> {
    let mut made = String::new();
    scanner.characters(|c| made.push(c))?;
    Ok(made)
}

/// Whether serde_json refuses what the scanner takes as it is: control characters and half pairs.
fn is_lenient(text: &[u8]) -> bool {
    let has_control = text.iter().any(|byte| *byte < 0x20 && !b"\t\n\r".contains(byte));
    let mut spans = strings(text).map(|span| &text[span]);
    has_control || spans.any(|string| string.iter().any(|b| *b < 0x20) || is_half_pair(string))
}

fn is_half_pair(string: &[u8]) -> bool {
    let error = serde_json::from_slice::<String>(string).err().map(|error| error.to_string());
    error.is_some_and(|error| error.contains("surrogate") || error.contains("hex escape"))
}

fn check_agreement(text: &[u8]) -> Result<(), TestCaseError> {
    let ours = parse(SliceSource::new(text));
    match serde_json::from_slice::<Value>(text) {
        Ok(theirs) => prop_assert_eq!(ours, Ok(theirs)),
        Err(error) if ours.is_ok() => {
            prop_assert!(is_lenient(text), "{} is no JSON: {}", text.escape_ascii(), error)
        }
        Err(_) => {}
    }
    Ok(())
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e300..1e300).prop_map(Value::from),
        "\\PC{0,80}".prop_map(Value::from),
        "[\"\\\\/\n\t\u{0}a\u{e9}\u{1f33e}]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::from),
            vec(("[a-c\"\\\\\u{e9}]{0,3}", inner), 0..8)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn written() -> impl Strategy<Value = (Value, String)> {
    (json(), any::<bool>()).prop_map(|(value, is_pretty)| {
        let text =
            if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        (value, text.expect("a value is written"))
    })
}

/// Bytes of which JSON is made, in any order.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        select(b"[]{},:\"\\ \n0-.eE1\x01\xc3\xa9\xff".to_vec()).prop_map(|byte| vec![byte]),
        select(vec!["true", "null", "\"a\"", "\"\\u00e9\"", "\\ud83c", "\\udf3e", "[1]", "{\"a\":", "1.5e3"])
            .prop_map(|text| text.as_bytes().to_vec()),
        any::<u8>().prop_map(|byte| vec![byte]),
    ];
    vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_json_text_means_what_serde_json_reads((value, text) in written()) {
        prop_assert_eq!(parse(SliceSource::new(text.as_bytes())), Ok(value));
    }

    #[test]
    fn any_bytes_are_json_for_both_or_for_neither(text in soup()) {
        check_agreement(&text)?;
    }

    #[test]
    fn a_text_with_one_byte_changed_is_json_for_both_or_for_neither(
        (_, text) in written(),
        at in any::<prop::sample::Index>(),
        byte in select(b"[]{},:\"\\ 0-.eEu\x01\xff".to_vec()),
    ) {
        let mut text = text.into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        check_agreement(&text)?;
    }

    #[test]
    fn pieces_make_no_difference(text in soup(), piece_bytes in 1..9usize) {
        let whole = parse(SliceSource::new(&text));
        prop_assert_eq!(parse(Pieces { text: &text, piece_bytes, at: 0 }), whole);
        let (mut from_whole, mut from_pieces) = (Bounded::new(20), Bounded::new(20));
        let mut scanner = Scanner::new(SliceSource::new(&text));
        let passed = (scanner.value(&mut from_whole), scanner.position());
        let mut scanner = Scanner::new(Pieces { text: &text, piece_bytes, at: 0 });
        prop_assert_eq!((scanner.value(&mut from_pieces), scanner.position()), passed);
        prop_assert_eq!((from_pieces.bytes, from_pieces.seen), (from_whole.bytes, from_whole.seen));
    }

    #[test]
    fn a_value_is_passed_to_its_end_and_no_further((_, text) in written(), rest in "[ ,\\]}].{0,20}") {
        let whole = format!("{text}{rest}");
        let mut scanner = Scanner::new(SliceSource::new(whole.as_bytes()));
        prop_assert_eq!(scanner.value(&mut Discard), Ok(()));
        prop_assert_eq!(scanner.position(), text.len() as u64);
    }

    #[test]
    fn strings_are_found_and_unescaped_as_serde_json_reads_them((value, text) in written()) {
        let found: Vec<String> = strings(text.as_bytes())
            .map(|span| string_at(&text, span.start).expect("JSON").0.into_owned())
            .collect();
        let mut expected = Vec::new();
        collect_strings(&value, &mut expected);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn members_are_those_that_serde_json_finds((value, text) in written()) {
        let found: Vec<(String, Value)> = members(text.as_bytes())
            .map(|member| {
                let key = serde_json::from_slice(member.key).expect("a string");
                (key, serde_json::from_slice(member.value).expect("a value"))
            })
            .collect();
        let expected: Vec<(String, Value)> = match value {
            Value::Object(members) => members.into_iter().collect(),
            _ => Vec::new(),
        };
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn nothing_panics_on_any_bytes(text in vec(any::<u8>(), 0..200)) {
        check_agreement(&text)?;
        let caps = JsonCaps { bytes_max: 100, depth_max: 2, values_max: 5 };
        let _ = (caps.check(&text), strings(&text).count(), members(&text).count());
        for at in 0..text.len() {
            let _ = gristmill_json_text::end_of_member(&text, at);
            let _ = gristmill_json_text::end_of_string(&text, at);
        }
    }
}

fn collect_strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, found)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            found.push(name.clone());
            collect_strings(member, found);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn a_million_brackets_are_passed_without_a_stack() {
    let text = format!("{}{} 1", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let mut scanner = Scanner::new(SliceSource::new(text.as_bytes()));
    assert_eq!(scanner.value(&mut Discard), Ok(()));
    assert_eq!(scanner.position(), 2_000_000);
}
