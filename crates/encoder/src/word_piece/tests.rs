//! Against the tokens that another implementation gives for the same texts (`tests/reference.json`).

use serde_json::Value;

use super::{BEGIN, END, TEXT_BYTES_MAX, UNKNOWN, tokens};
use crate::format::TOKENS_MAX;
use crate::vocabulary::Vocabulary;

fn vocabulary() -> Option<Vocabulary> {
    let vocabulary = crate::PACKED.and_then(crate::weights::read).map(|(vocabulary, _)| vocabulary);
    if vocabulary.is_none() {
        eprintln!("NOT CHECKED: built without the encoder's weights");
    }
    Vocabulary::new(vocabulary?)
}

#[test]
fn texts_become_the_tokens_of_the_reference() {
    let Some(vocabulary) = vocabulary() else { return };
    let reference: Value =
        serde_json::from_str(include_str!("../../tests/reference.json")).expect("the reference is JSON");
    let reference = reference.as_array().expect("a list");
    assert!(reference.len() > 50);
    for case in reference {
        let text = case["text"].as_str().expect("a text");
        let expected: Vec<u64> =
            case["tokens"].as_array().expect("tokens").iter().filter_map(Value::as_u64).collect();
        let found: Vec<u64> = tokens(text, &vocabulary).into_iter().map(u64::from).collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn names_of_marks_are_text() {
    let Some(vocabulary) = vocabulary() else { return };
    let found = tokens("[SEP] [CLS]", &vocabulary);
    assert_eq!(found.iter().filter(|token| [BEGIN, END].contains(token)).count(), 2, "{found:?}");
}

#[test]
fn a_text_of_any_length_has_few_tokens() {
    let Some(vocabulary) = vocabulary() else { return };
    for text in
        ["a ".repeat(1_000_000), "\u{301}".repeat(1_000_000), "漢".repeat(1_000_000), "-".repeat(70_000)]
    {
        assert!(tokens(&text, &vocabulary).len() <= TOKENS_MAX);
    }
    // What stands behind the bound is not read, and no character is cut in two.
    assert_eq!(tokens(&(" ".repeat(TEXT_BYTES_MAX) + "word"), &vocabulary), [BEGIN, END]);
    assert_eq!(tokens(&(" ".repeat(TEXT_BYTES_MAX - 1) + "漢"), &vocabulary), [BEGIN, END]);
    assert_eq!(tokens(&"x".repeat(1_000_000), &vocabulary), [BEGIN, UNKNOWN, END]);
}
