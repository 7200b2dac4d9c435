//! One automaton for every word and prefix that leads to something.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, FindIter, MatchKind};

use crate::bytes::is_word;
use crate::secrets::PREFIXES;
use crate::words::WORDS;

/// What a word says about the text beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Topic {
    Phone,
    Ssn,
    Itin,
    NationalId,
    UkNhs,
    UkNino,
    German,
    French,
    Spanish,
    Italian,
    Dutch,
    Belgian,
    Polish,
    Swedish,
    Norwegian,
    Danish,
    Finnish,
    Austrian,
    Swiss,
    Portuguese,
    Irish,
    Czech,
    Romanian,
    Croatian,
    Bulgarian,
    Baltic,
    Turkish,
    Israeli,
    SouthAfrican,
    Brazilian,
    Mexican,
    Canadian,
    Indian,
    Australian,
    Singaporean,
    HongKong,
    Korean,
    Chinese,
    Japanese,
    Thai,
    Card,
    Routing,
    SortCode,
    Account,
    Ip,
    Mac,
    Birth,
    Address,
    Passport,
    License,
    Crypto,
    Password,
    Key,
    /// `Mr.`
    Title,
    Greeting,
    /// `my name is`: a name follows for certain.
    Named,
    /// `Customer:`: a name may follow.
    Labeled,
    Closing,
    Street,
    /// `://`
    Url,
    /// Says that a number is something else.
    Other,
}

pub const TOPICS: usize = Topic::Other as usize + 1;

/// What the automaton found: a word, or the prefix of a secret by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    Word(Topic),
    Prefix(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Keyword {
    pub lead: Lead,
    pub start: usize,
    pub end: usize,
}

struct Automaton {
    words: AhoCorasick,
    leads: Vec<Lead>,
}

static AUTOMATON: LazyLock<Option<Automaton>> = LazyLock::new(Automaton::build);

impl Automaton {
    fn build() -> Option<Self> {
        let mut patterns: Vec<String> = Vec::new();
        let mut leads = Vec::new();
        let mut add = |pattern: String, lead: Lead| {
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
                leads.push(lead);
            }
        };
        // Prefixes first: where both are the same text, the prefix is meant.
        for (at, prefix) in PREFIXES.iter().enumerate() {
            add(prefix.text.to_ascii_lowercase(), Lead::Prefix(at));
        }
        add("://".to_owned(), Lead::Word(Topic::Url));
        for (topic, words) in WORDS {
            for word in *words {
                for joint in [" ", "_", "-", ""] {
                    add(word.replace(' ', joint), Lead::Word(*topic));
                }
            }
        }
        let words = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&patterns)
            .ok()?;
        Some(Self { words, leads })
    }
}

/// Every keyword of a text, in its order.
#[derive(Debug)]
pub struct Keywords<'t> {
    bytes: &'t [u8],
    found: Option<FindIter<'static, 't>>,
}

impl<'t> Keywords<'t> {
    pub fn of(text: &'t str) -> Self {
        let found = AUTOMATON.as_ref().map(|automaton| automaton.words.find_iter(text));
        Self { bytes: text.as_bytes(), found }
    }
}

impl Iterator for Keywords<'_> {
    type Item = Keyword;

    fn next(&mut self) -> Option<Keyword> {
        let leads = &AUTOMATON.as_ref()?.leads;
        loop {
            let found = self.found.as_mut()?.next()?;
            let lead = leads[found.pattern().as_usize()];
            let is_whole = match lead {
                Lead::Word(Topic::Url) | Lead::Prefix(_) => true,
                Lead::Word(_) => is_whole_word(self.bytes, found.start(), found.end()),
            };
            if is_whole {
                return Some(Keyword { lead, start: found.start(), end: found.end() });
            }
        }
    }
}

/// Whether a word stands alone, also as a part of `camelCase` or `snake_case`.
fn is_whole_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let first = bytes[start];
    let last = bytes[end - 1];
    // Scripts that write no spaces.
    if first >= 0xE0 {
        return true;
    }
    let opens = match start.checked_sub(1).map(|at| bytes[at]) {
        None => true,
        Some(before) if before.is_ascii_lowercase() => first.is_ascii_uppercase(),
        Some(before) => !is_word(before) || !is_word(first),
    };
    let closes = match bytes.get(end) {
        None => true,
        Some(after) if after.is_ascii_uppercase() => last.is_ascii_lowercase(),
        Some(after) => !is_word(*after) || after.is_ascii_digit() || !is_word(last),
    };
    opens && closes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[Topic]) {
        let topics: Vec<Topic> = Keywords::of(text)
            .filter_map(|keyword| match keyword.lead {
                Lead::Word(topic) => Some(topic),
                Lead::Prefix(_) => None,
            })
            .collect();
        assert_eq!(topics, expected, "{text}");
    }

    #[test]
    fn a_word_is_found_alone_and_as_a_part_of_a_name_in_a_program() {
        check("SSN: ", &[Topic::Ssn]);
        check("customerSsn", &[Topic::Labeled, Topic::Ssn]);
        check("date_of_birth dateOfBirth date-of-birth Date Of Birth", &[Topic::Birth; 4]);
        check("user.ssn_1", &[Topic::Ssn]);
        check("lessness classname telltale", &[]);
    }
}
