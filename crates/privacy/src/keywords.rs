//! The words that lead to something, found by their first two letters and their length.
//!
//! A word of a text costs one look into a table. Only if a keyword starts like it, they are compared.

use std::sync::LazyLock;

use crate::bytes::is_word;
use crate::topic::Topic;
use crate::words::WORDS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyword {
    pub topic: Topic,
    pub start: usize,
    pub end: usize,
}

struct Dictionary {
    /// For each head the number of its bucket; 0 is empty.
    heads: Vec<u16>,
    buckets: Vec<Bucket>,
    /// Words of scripts without spaces.
    wide: Vec<(String, Topic)>,
}

/// What starts with the same two letters and is as long.
#[derive(Default)]
struct Bucket {
    /// A bit for each third letter.
    thirds: u32,
    /// A bit for each last letter.
    lasts: u32,
    /// Small words with their topics, the longest first.
    words: Vec<(String, Topic)>,
}

static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(Dictionary::build);

impl Dictionary {
    fn build() -> Self {
        let mut all = Self { heads: vec![0; 1 << 15], buckets: vec![Bucket::default()], wide: Vec::new() };
        for (topic, words) in WORDS {
            for word in words.split(", ") {
                for joint in [" ", "_", "-", ""] {
                    all.add(word, &word.replace(' ', joint), *topic);
                }
            }
        }
        for bucket in &mut all.buckets {
            bucket.words.sort_by_key(|(word, _)| usize::MAX - word.len());
        }
        all
    }

    fn add(&mut self, word: &str, written: &str, topic: Topic) {
        if !written.as_bytes()[0].is_ascii() {
            self.wide.push((written.to_owned(), topic));
            return;
        }
        // `dateofbirth` starts with one long word, `dateOfBirth` with a short one.
        let lengths = [letters(word.as_bytes()), letters(written.as_bytes())];
        for length in &lengths[..if lengths[0] == lengths[1] { 1 } else { 2 }] {
            let first = &written.as_bytes()[..*length];
            let head = head(first);
            if self.heads[head] == 0 {
                self.heads[head] = self.buckets.len() as u16;
                self.buckets.push(Bucket::default());
            }
            let bucket = &mut self.buckets[self.heads[head] as usize];
            bucket.thirds |= 1 << letter(first, 2);
            bucket.lasts |= 1 << letter(first, length - 1);
            if bucket.words.iter().all(|(other, _)| other != written) {
                bucket.words.push((written.to_owned(), topic));
            }
        }
    }
}

/// Two letters, whatever their case, and the length.
fn head(word: &[u8]) -> usize {
    letter(word, 0) | letter(word, 1) << 5 | word.len().min(31) << 10
}

/// Which letter stands at a place, whatever its case.
#[inline]
fn letter(word: &[u8], at: usize) -> usize {
    word.get(at).map_or(0, |byte| usize::from(byte & 31))
}

/// How many letters a text starts with.
fn letters(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()
}

/// The longest keyword that starts with the letters from `start` to `end`.
#[inline]
pub fn at(bytes: &[u8], start: usize, end: usize) -> Option<Keyword> {
    let dictionary = &*DICTIONARY;
    let word = &bytes[start..end];
    let number = dictionary.heads[head(word)];
    if number == 0 {
        return None;
    }
    let bucket = &dictionary.buckets[number as usize];
    let last = letter(word, word.len().wrapping_sub(1));
    let is_like_one = bucket.thirds >> letter(word, 2) & bucket.lasts >> last & 1 == 1;
    if is_like_one { among(&bucket.words, bytes, start, end) } else { None }
}

#[inline(never)]
fn among(bucket: &[(String, Topic)], bytes: &[u8], start: usize, end: usize) -> Option<Keyword> {
    let next = bytes.get(end).map(u8::to_ascii_lowercase);
    let fits = |word: &str| {
        // Of several words, most differ in what follows the first one.
        let goes_on = word.as_bytes().get(end - start);
        if goes_on.is_some() && goes_on.copied() != next {
            return false;
        }
        let written = bytes.get(start..start + word.len());
        written.is_some_and(|written| written.eq_ignore_ascii_case(word.as_bytes()))
            && is_whole_word(bytes, start, start + word.len())
    };
    let (word, topic) = bucket.iter().find(|(word, _)| fits(word))?;
    Some(Keyword { topic: *topic, start, end: start + word.len() })
}

/// A keyword of a script without spaces that starts at `start`.
pub fn wide_at(bytes: &[u8], start: usize) -> Option<Keyword> {
    let rest = &bytes[start..];
    let (word, topic) = DICTIONARY.wide.iter().find(|(word, _)| rest.starts_with(word.as_bytes()))?;
    Some(Keyword { topic: *topic, start, end: start + word.len() })
}

/// Every keyword of a short text, such as the name of a field.
pub fn each(text: &str, mut found: impl FnMut(Keyword)) {
    let bytes = text.as_bytes();
    let mut at_byte = 0;
    while at_byte < bytes.len() {
        let length = part(&bytes[at_byte..]);
        let keyword = match length {
            0 if bytes[at_byte] >= 0x80 => wide_at(bytes, at_byte),
            0 => None,
            _ => at(bytes, at_byte, at_byte + length)
                .or_else(|| at(bytes, at_byte, at_byte + letters(&bytes[at_byte..]))),
        };
        match keyword {
            Some(keyword) => {
                at_byte = keyword.end;
                found(keyword);
            }
            None => at_byte += length.max(1),
        }
    }
}

/// How long the first part of `camelCase` is.
pub fn part(text: &[u8]) -> usize {
    let all = letters(text);
    let turn =
        text[..all].windows(2).position(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    turn.map_or(all, |turn| turn + 1)
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
        let mut topics = Vec::new();
        each(text, |keyword| topics.push(keyword.topic));
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
