//! Postal addresses: behind a word for them, or a house number before the name of a street.

use crate::bytes::{before, boundary_before, is_word, run_end, run_start};
use crate::finding::Finding;
use crate::kind::Kind;

const LINE_BYTES_MAX: usize = 120;

/// What follows `address:`, up to the end of the line.
pub fn after(text: &str, end: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let signs = run_end(bytes, end, 6, |byte| matches!(byte, b':' | b'=' | b'"' | b'\'' | b' '));
    let is_label = bytes[end..signs].iter().any(|byte| matches!(byte, b':' | b'='));
    let is_said = text.get(..end).is_some_and(|head| head.ends_with("at") || head.ends_with("in"));
    let start = match text.get(signs..) {
        Some(rest) if rest.starts_with("is ") => signs + 3,
        Some(_) if (is_label || is_said) && signs > end => signs,
        _ => return None,
    };
    let stop = run_end(bytes, start, LINE_BYTES_MAX, |byte| {
        !matches!(byte, b'\n' | b'\r' | b'"' | b';' | b'|' | b'<' | b'\t')
    });
    let line = text.get(start..boundary_before(text, stop))?;
    let line = line
        .find(". ")
        .map_or(line, |stop| if is_abbreviation(&line[..stop]) { line } else { &line[..stop] });
    let line = line.trim_end_matches([' ', '.', ',', '\'']);
    within(line).then(|| Finding::new(Kind::PostalAddress, start..start + line.len(), 76, "address-label"))
}

/// Whether a text that is said to be an address reads like one: a number, and words with capitals.
pub fn within(line: &str) -> bool {
    let words = line.split([' ', ',']).filter(|word| {
        word.chars().next().is_some_and(char::is_uppercase) && word.chars().any(char::is_lowercase)
    });
    // `IPv6` is no house number.
    let is_number =
        |word: &&str| word.trim_start_matches('#').starts_with(|first: char| first.is_ascii_digit());
    let numbers = line.split([' ', ',', '-', '/']).filter(is_number);
    let is_other = ["@", "://", "0x", "{", "::", "=", "("].iter().any(|sign| line.contains(sign));
    words.take(2).count() >= 1
        && numbers.take(1).count() == 1
        && !is_other
        && (8..=LINE_BYTES_MAX).contains(&line.len())
}

/// A street's last word from `start` to `end`: `221B Baker Street`, with city and code behind it.
pub fn street(text: &str, start: usize, end: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    if !bytes[start].is_ascii_uppercase() {
        return None;
    }
    let mut at = start;
    let mut words = 0;
    // Words with capitals back to a number.
    while words < 5 {
        if before(bytes, at) != Some(b' ') {
            return None;
        }
        let word_start =
            run_start(bytes, at - 1, 20, |byte| is_word(byte) || matches!(byte, b'.' | b'\'' | b'-'));
        let word = text.get(word_start..at - 1)?;
        let first = word.chars().next()?;
        at = word_start;
        if first.is_ascii_digit() {
            break;
        }
        if !first.is_uppercase() {
            return None;
        }
        words += 1;
    }
    let house = run_end(bytes, at, 6, |byte| byte.is_ascii_digit());
    let tail = text.get(house..run_end(bytes, house, 4, is_word))?;
    let is_number =
        house > at && house - at < 6 && (tail.len() < 2 || matches!(tail, "st" | "nd" | "rd" | "th"));
    if !is_number
        || words == 0
        || words > 4
        || before(bytes, at).is_some_and(|byte| !byte.is_ascii_whitespace() && !b"\"'(:,>".contains(&byte))
    {
        return None;
    }
    let end = run_end(bytes, end, 1, |byte| byte == b'.' && !is_sentence_end(text, end));
    Some(Finding::new(Kind::PostalAddress, at..locality_end(text, end), 70, "address-street"))
}

/// With `, Springfield, IL 62704` or `, London NW1 6XE`, as far as it goes.
fn locality_end(text: &str, end: usize) -> usize {
    let bytes = text.as_bytes();
    let mut kept = end;
    let mut at = end;
    for _ in 0..4 {
        if bytes.get(at) != Some(&b',') || bytes.get(at + 1) != Some(&b' ') {
            break;
        }
        let part_end =
            run_end(bytes, at + 2, 40, |byte| is_word(byte) || matches!(byte, b' ' | b'-' | b'.' | b'#'));
        let part = text
            .get(at + 2..boundary_before(text, part_end))
            .unwrap_or_default()
            .trim_end_matches([' ', '.']);
        let is_capital =
            part.split(' ').all(|word| word.chars().next().is_some_and(|first| !first.is_lowercase()));
        if part.is_empty() || !is_capital || part.split(' ').count() > 5 {
            break;
        }
        kept = at + 2 + part.len();
        at = kept;
    }
    kept
}

fn is_sentence_end(text: &str, dot: usize) -> bool {
    text.get(dot + 1..).is_none_or(|rest| !rest.starts_with(','))
}

/// `12 Main St. Springfield`: the dot belongs to the word.
fn is_abbreviation(line: &str) -> bool {
    line.rsplit(' ').next().is_some_and(|word| word.chars().count() < 5)
}
