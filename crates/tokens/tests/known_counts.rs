//! Counts that the models' own tokenizer gives.

use gristmill_tokens::{count, fits};

const KNOWN: &[(&str, usize)] = &[
    ("", 0),
    ("a", 1),
    ("Hello, world!", 4),
    ("The quick brown fox jumps over the lazy dog.", 10),
    ("    indented\n\n\n  twice\t\n", 7),
    ("don't can't I'LL we've", 5),
    ("1234567890 12,345.67", 10),
    ("{\"id\":1,\"name\":\"row 1\",\"tags\":[\"a\",\"b\"]}", 18),
    ("naïve café über straße", 7),
    ("東京は日本の首都です。", 8),
    ("Привет, как дела?", 6),
    ("مرحبا بالعالم", 4),
    ("🙂👩\u{200d}👩\u{200d}👧 ok", 10),
    ("def f(x):\n    return x ** 2  # square\n", 14),
    ("https://example.com/a/b?c=d&e=%20f", 13),
    (
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        19,
    ),
    ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 43),
    ("camelCaseAndHTTPServer", 5),
    ("\r\n\r\n", 1),
    ("a\u{a0}b\u{2003}c", 5),
];

#[test]
fn texts_count_as_the_models_count_them() {
    for (text, tokens) in KNOWN {
        assert_eq!(count(text), *tokens, "{text:?}");
    }
}

#[test]
fn a_text_fits_into_as_many_tokens_as_it_comes_to_and_no_fewer() {
    let long = "Sends a message to a channel, and returns its id — or an error.\n".repeat(40);
    for text in KNOWN.iter().map(|(text, _)| *text).chain([long.as_str()]) {
        let tokens = count(text);
        for limit in 0..tokens + 3 {
            assert_eq!(fits(text, limit), tokens <= limit, "{limit} for {text:?}");
        }
        assert!(fits(text, usize::MAX));
    }
}
