//! Text taken apart into words: identifiers split, endings removed.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

/// A query is a phrase, not a text.
pub(super) const QUERY_WORDS_MAX: usize = 32;

/// Longer runs are data, not words.
const WORD_BYTES_MAX: usize = 40;

/// Words that say nothing about what a tool does. Sorted.
const STOP_WORDS: [&str; 94] = [
    "a",
    "about",
    "according",
    "after",
    "again",
    "already",
    "am",
    "an",
    "and",
    "another",
    "any",
    "anybody",
    "anyone",
    "anything",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "being",
    "but",
    "by",
    "can",
    "certain",
    "could",
    "did",
    "do",
    "does",
    "each",
    "else",
    "everybody",
    "few",
    "for",
    "from",
    "had",
    "has",
    "have",
    "he",
    "her",
    "his",
    "how",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "may",
    "me",
    "might",
    "my",
    "need",
    "needs",
    "nobody",
    "not",
    "of",
    "on",
    "one",
    "or",
    "our",
    "ours",
    "please",
    "she",
    "should",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "still",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "us",
    "want",
    "was",
    "we",
    "were",
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// More of them, which may begin a question. Sorted.
const QUESTION_WORDS: [&str; 8] = ["i", "what", "when", "where", "which", "who", "whose", "why"];

/// Forms that no rule about endings brings together. Sorted by the first.
const IRREGULAR: [(&str, &str); 34] = [
    ("began", "begin"),
    ("broke", "break"),
    ("broken", "break"),
    ("built", "build"),
    ("children", "child"),
    ("chosen", "choose"),
    ("drawn", "draw"),
    ("found", "find"),
    ("gave", "give"),
    ("given", "give"),
    ("gone", "go"),
    ("got", "get"),
    ("held", "hold"),
    ("hidden", "hide"),
    ("indices", "index"),
    ("kept", "keep"),
    ("knew", "know"),
    ("known", "know"),
    ("lost", "lose"),
    ("made", "make"),
    ("men", "man"),
    // What one host calls a merge request is a pull request at others.
    ("mr", "pr"),
    ("mrs", "pr"),
    ("paid", "pay"),
    ("people", "person"),
    ("ran", "run"),
    ("sent", "send"),
    ("shown", "show"),
    ("spent", "spend"),
    ("took", "take"),
    ("vertices", "vertex"),
    ("went", "go"),
    ("written", "write"),
    ("wrote", "write"),
];

/// Names with a capital inside that are one word. Sorted.
const ONE_WORD: [&str; 24] = [
    "bibtex",
    "bigquery",
    "cloudwatch",
    "duckduckgo",
    "dynamodb",
    "elevenlabs",
    "github",
    "gitlab",
    "graphql",
    "hubspot",
    "javascript",
    "latex",
    "linkedin",
    "macos",
    "mongodb",
    "mysql",
    "nosql",
    "openai",
    "postgresql",
    "powerpoint",
    "sharepoint",
    "typescript",
    "wordpress",
    "youtube",
];

/// Whether a word says nothing about what a tool does.
pub(super) fn is_stop_word(word: &str) -> bool {
    let letter = word.len() == 1 && word.as_bytes()[0].is_ascii_alphabetic();
    letter || STOP_WORDS.binary_search(&word).is_ok() || QUESTION_WORDS.binary_search(&word).is_ok()
}

/// Whether leaving the word out changes nothing about what is wanted; a question word may.
pub(super) fn is_filler(word: &str) -> bool {
    word == "i" || STOP_WORDS.binary_search(&word).is_ok()
}

/// The runs of letters and digits in a text, as they stand there.
pub(super) fn runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let all = std::iter::from_fn(move || {
        let start = run_begins(rest)?;
        let run = &rest[start..start + run_length(&rest[start..])];
        rest = &rest[start + run.len()..];
        Some(run)
    });
    all.filter(|run| run.len() <= WORD_BYTES_MAX)
}

/// Where the next letter or digit is.
fn run_begins(text: &str) -> Option<usize> {
    // Nearly all text is ASCII, where a byte tells.
    let at = text.bytes().position(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())?;
    if text.as_bytes()[at].is_ascii() {
        return Some(at);
    }
    text[at..].find(char::is_alphanumeric).map(|further| at + further)
}

/// How many bytes from the beginning are letters and digits.
fn run_length(text: &str) -> usize {
    let at = text.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len());
    match text.as_bytes().get(at) {
        Some(byte) if !byte.is_ascii() => {
            text[at..].find(|c: char| !c.is_alphanumeric()).map_or(text.len(), |further| at + further)
        }
        Some(_) | None => at,
    }
}

/// The words within one run, in lower case: `createIssue2` has create, issue and issue2.
pub(super) fn words_of_run(run: &str, mut visit: impl FnMut(&str)) {
    if !run.is_ascii() {
        return other_script(run, visit);
    }
    let lower = run.to_ascii_lowercase();
    if ONE_WORD.binary_search(&lower.as_str()).is_ok() {
        return visit(&lower);
    }
    let bytes = run.as_bytes();
    let mut start = 0;
    for at in 1..=bytes.len() {
        if at == bytes.len() || is_border(bytes, at) {
            letters_and_digits(&lower[start..at], &mut visit);
            start = at;
        }
    }
}

/// Whether a new word begins at `at`: `createIssue`, `HTTPServer`; but `URLs` is one word.
fn is_border(bytes: &[u8], at: usize) -> bool {
    let (before, here, next) = (bytes[at - 1], bytes[at], bytes.get(at + 1));
    if !here.is_ascii_uppercase() {
        return false;
    }
    let plural = at + 2 == bytes.len() && next == Some(&b's');
    before.is_ascii_lowercase()
        || before.is_ascii_digit()
        || (before.is_ascii_uppercase() && next.is_some_and(u8::is_ascii_lowercase) && !plural)
}

/// `oauth2` is a word of its own, and so is `oauth`.
fn letters_and_digits(word: &str, visit: &mut impl FnMut(&str)) {
    visit(word);
    let bytes = word.as_bytes();
    if bytes.iter().all(u8::is_ascii_alphabetic) || bytes.iter().all(u8::is_ascii_digit) {
        return;
    }
    let mut start = 0;
    for at in 1..=bytes.len() {
        if at == bytes.len() || bytes[at].is_ascii_digit() != bytes[at - 1].is_ascii_digit() {
            let part = &word[start..at];
            let long_enough = if bytes[start].is_ascii_digit() { 2 } else { 3 };
            if part.len() >= long_enough {
                visit(part);
            }
            start = at;
        }
    }
}

/// Scripts without capitals or spaces: pairs of characters stand for words where there are no spaces.
fn other_script(run: &str, mut visit: impl FnMut(&str)) {
    let lower = run.to_lowercase();
    if !lower.chars().any(is_unspaced) {
        return visit(&lower);
    }
    let starts: Vec<usize> = lower.char_indices().map(|(at, _)| at).chain([lower.len()]).collect();
    if starts.len() <= 3 {
        return visit(&lower);
    }
    for three in starts.windows(3) {
        visit(&lower[three[0]..three[2]]);
    }
}

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0EFF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0x20000..=0x3FFFF)
}

/// The stem of a word in lower case; words of other scripts are their own.
pub(super) struct Stems(Stemmer);

impl Stems {
    pub fn new() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }

    pub fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Cow::Borrowed(word);
        }
        if let Ok(at) = IRREGULAR.binary_search_by_key(&word, |(form, _)| form) {
            return Cow::Owned(self.0.stem(IRREGULAR[at].1).into_owned());
        }
        // The rules for English leave words without a vowel alone: `prs`, `dsns`, `vms`.
        match word.strip_suffix('s') {
            Some(rest) if is_abbreviation(rest) => Cow::Borrowed(rest),
            Some(_) | None => self.0.stem(word),
        }
    }
}

fn is_abbreviation(word: &str) -> bool {
    word.len() >= 2 && !word.ends_with('s') && !word.bytes().any(|byte| b"aeiouy".contains(&byte))
}

/// An identifier as words.
pub(super) fn spaced(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for run in runs(text) {
        words_of_run(run, |word| words.push(word.to_owned()));
    }
    words.join(" ")
}

/// The stems of all words in a text that say something, in order.
pub(super) fn content_stems(text: &str) -> Vec<String> {
    let stems = Stems::new();
    let mut found = Vec::new();
    for run in runs(text) {
        words_of_run(run, |word| {
            if !is_stop_word(word) {
                found.push(stems.stem(word).into_owned());
            }
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(content_stems(text), expected, "{text}");
    }

    #[test]
    fn the_lists_are_sorted_for_looking_up() {
        assert!(STOP_WORDS.is_sorted());
        assert!(QUESTION_WORDS.is_sorted());
        assert!(IRREGULAR.is_sorted());
        assert!(ONE_WORD.is_sorted());
    }

    #[test]
    fn identifiers_are_split_where_a_person_would_split_them() {
        check("createIssue", &["creat", "issu"]);
        check("create_issue", &["creat", "issu"]);
        check("API-post-search", &["api", "post", "search"]);
        check("HTTPServer", &["http", "server"]);
        check("parseJSONText", &["pars", "json", "text"]);
        check("oauth2Token", &["oauth2", "oauth", "token"]);
        check("get_ga4_data", &["get", "ga4", "data"]);
        check("URLs and PRs", &["url", "pr"]);
        check("GitHub", &["github"]);
    }

    #[test]
    fn words_that_say_nothing_are_left_out() {
        check("What is the customer's name?", &["custom", "name"]);
        check("", &[]);
        check("of the", &[]);
    }

    #[test]
    fn forms_of_one_word_have_one_stem() {
        check("indices indexes index", &["index", "index", "index"]);
        check("written writing write", &["write", "write", "write"]);
        check("dsns DSN", &["dsn", "dsn"]);
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        check("検索する", &["検索", "索す", "する"]);
        check("読む", &["読む"]);
        check("Straße", &["straße"]);
    }

    #[test]
    fn endless_runs_are_left_out() {
        check(&"x".repeat(10_000), &[]);
    }
}
