//! The few words that a field such as `status` has in many answers. A word's text is kept only once the set of
//! words is settled; before that there is its hash.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::shape::Together;

/// More different words are no fixed set.
const WORDS_MAX: usize = 8;

/// A set is settled once so many answers had the field …
const ANSWERS_MIN: u32 = 30;

/// … and each word stood in so many of them.
const ANSWERS_WITH_WORD_MIN: u32 = 3;

const WORD_BYTES_MAX: usize = 24;

/// Fields that name one of a few cases, by the last word of their names. Others, such as `assignee` or `city`,
/// may hold as few different words, and those are somebody's data.
const CASES: [&str; 35] = [
    "access",
    "action",
    "category",
    "class",
    "conclusion",
    "condition",
    "currency",
    "direction",
    "effect",
    "encoding",
    "environment",
    "event",
    "format",
    "kind",
    "language",
    "level",
    "method",
    "mode",
    "outcome",
    "permission",
    "phase",
    "priority",
    "protocol",
    "role",
    "scope",
    "severity",
    "size",
    "source",
    "stage",
    "state",
    "status",
    "trend",
    "type",
    "unit",
    "visibility",
];

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Choices {
    /// Answers that had it.
    #[serde(rename = "n")]
    answers: u32,
    /// By hash.
    #[serde(rename = "w", default, skip_serializing_if = "BTreeMap::is_empty")]
    words: BTreeMap<String, Word>,
    /// Whether there were too many different words, or one that can't be shown: it stays so.
    #[serde(rename = "x", default, skip_serializing_if = "std::ops::Not::not")]
    is_open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Word {
    /// Answers that had it.
    #[serde(rename = "n")]
    answers: u32,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Whether a field of this name holds one of a few words.
pub(super) fn names_a_case(field: &str) -> bool {
    let start = field
        .char_indices()
        .rev()
        .find(|(_, c)| c.is_uppercase() || !c.is_alphanumeric())
        .map_or(0, |(at, c)| if c.is_uppercase() { at } else { at + c.len_utf8() });
    let last = if field.chars().all(|c| !c.is_lowercase()) { field } else { &field[start..] };
    CASES.binary_search(&last.to_lowercase().as_str()).is_ok()
}

impl Choices {
    /// Of one text in one answer. `is_fit` is whether it may be shown at all.
    pub(super) fn of(text: &str, is_fit: bool) -> Self {
        if !is_fit {
            return Self { answers: 1, words: BTreeMap::new(), is_open: true };
        }
        let word = Word { answers: 1, text: Some(text.to_owned()) };
        Self { answers: 1, words: BTreeMap::from([(hash(text), word)]), is_open: false }
    }

    pub(super) fn merge(mut self, other: Self, together: Together) -> Self {
        let sum = |one: u32, other: u32| match together {
            Together::InOneAnswer => one.max(other),
            Together::OverAnswers => one.saturating_add(other),
        };
        self.answers = sum(self.answers, other.answers);
        self.is_open |= other.is_open;
        for (hash, word) in other.words {
            match self.words.entry(hash) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(word);
                }
                std::collections::btree_map::Entry::Occupied(mut place) => {
                    let own = place.get_mut();
                    own.answers = sum(own.answers, word.answers);
                    own.text = own.text.take().or(word.text);
                }
            }
        }
        if self.is_open || self.words.len() > WORDS_MAX {
            self.is_open = true;
            self.words.clear();
        }
        self
    }

    /// Forgets texts of a set that isn't settled.
    pub(super) fn settle(&mut self) {
        if !self.is_settled() {
            self.words.values_mut().for_each(|word| word.text = None);
        }
    }

    /// The words, in order, once they are settled and all of them are known.
    pub(super) fn words(&self) -> Option<Vec<&str>> {
        let mut words: Vec<&str> =
            self.words.values().map(|word| word.text.as_deref()).collect::<Option<_>>()?;
        words.sort_unstable();
        self.is_settled().then_some(words)
    }

    fn is_settled(&self) -> bool {
        !self.is_open
            && self.answers >= ANSWERS_MIN
            && self.words.len() >= 2
            && self.words.values().all(|word| word.answers >= ANSWERS_WITH_WORD_MIN)
    }
}

/// Whether a text reads as a word of a program: `in_progress`, `GBP`, `read-only`.
pub(super) fn is_word(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    !text.is_empty()
        && text.len() <= WORD_BYTES_MAX
        && digits <= 2
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_name_says_whether_it_names_a_case() {
        assert!(CASES.is_sorted());
        for name in ["status", "orderStatus", "order_status", "STATUS", "Type", "issue-type"] {
            assert!(names_a_case(name), "{name}");
        }
        for name in ["assignee", "city", "statusText", "name", "", "typed", "é"] {
            assert!(!names_a_case(name), "{name}");
        }
    }

    #[test]
    fn words_are_those_of_programs() {
        for text in ["open", "in_progress", "read-only", "GBP", "v2"] {
            assert!(is_word(text), "{text}");
        }
        for text in ["", "two words", "4711", "a@b.c", "x".repeat(25).as_str(), "é", "a123"] {
            assert!(!is_word(text), "{text}");
        }
    }
}
