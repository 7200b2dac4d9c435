//! Dates of birth, passports, driving licenses and bank accounts: only behind a word for them.

use std::ops::Range;

use crate::bytes::{boundary_before, is_name, run_end};
use crate::digits::checks::is_day;
use crate::finding::Finding;
use crate::kind::Kind;
use crate::topic::Topic;

/// How far behind its word a value starts at most.
const REACH: usize = 32;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Words between the one that announces and the value.
const LINKS: &[&str] = &[
    "is", "was", "no", "number", "num", "nr", "of", "on", "in", "the", "id", "am", "ist", "le", "el", "est",
    "es", "and", "a", "my", "her", "his",
];

/// What a word that ends at `end` announces.
pub fn after(text: &str, topic: Topic, end: usize) -> Option<Finding> {
    let start = value_start(text, end)?;
    let (kind, rule, confidence, span) = match topic {
        Topic::Birth => (Kind::DateOfBirth, "date-of-birth", 88, date(text, start)?),
        Topic::Passport => (Kind::Passport, "passport", 84, code(text, start, 6..=10)?),
        Topic::License => (Kind::DrivingLicense, "driving-license", 80, code(text, start, 5..=20)?),
        Topic::Account => (Kind::BankAccount, "bank-account", 78, account(text, start)?),
        _ => return None,
    };
    Some(Finding::new(kind, span, confidence, rule))
}

/// Behind signs and small words.
fn value_start(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let limit = end + REACH;
    let mut at = end;
    while at < limit {
        at = run_end(bytes, at, 8, |byte| {
            matches!(
                byte,
                b' ' | b'\t'
                    | b':'
                    | b'='
                    | b'"'
                    | b'\''
                    | b'#'
                    | b'('
                    | b')'
                    | b'.'
                    | b'>'
                    | b'_'
                    | b'-'
                    | b'|'
                    | b'`'
            )
        });
        let word = run_end(bytes, at, 12, |byte| byte.is_ascii_alphabetic());
        let is_link =
            text.get(at..word).is_some_and(|word| LINKS.iter().any(|link| word.eq_ignore_ascii_case(link)));
        if !is_link || bytes.get(word).is_some_and(u8::is_ascii_digit) {
            return (at > end && at < bytes.len()).then_some(at);
        }
        at = word;
    }
    None
}

/// Capitals and digits, at least three of these.
fn code(text: &str, start: usize, length: std::ops::RangeInclusive<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let end = run_end(bytes, start, 24, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-'));
    // Groups with single spaces between them, the rest of which has digits.
    let mut end = start + bytes[start..end].len()
        - bytes[start..end].iter().rev().take_while(|byte| **byte == b'-').count();
    for _ in 0..4 {
        let next = run_end(bytes, end + 1, 12, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let group = bytes.get(end + 1..next).unwrap_or_default();
        let is_group = bytes.get(end) == Some(&b' ') && group.iter().any(u8::is_ascii_digit);
        if !is_group || bytes.get(next).is_some_and(|byte| is_name(*byte)) {
            break;
        }
        end = next;
    }
    let written = &bytes[start..end];
    let digits = written.iter().filter(|byte| byte.is_ascii_digit()).count();
    let count = written.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let is_plain =
        !written.iter().any(u8::is_ascii_lowercase) && bytes.get(end).is_none_or(|byte| !is_name(*byte));
    (length.contains(&count) && digits > 2 && is_plain && date(text, start).is_none()).then_some(start..end)
}

/// Six to seventeen digits.
fn account(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let end = run_end(bytes, start, 30, |byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'));
    let written = text.get(start..end)?.trim_end_matches([' ', '-']);
    let digits = written.bytes().filter(u8::is_ascii_digit).count();
    let is_whole = bytes.get(start + written.len()).is_none_or(|byte| !is_name(*byte));
    ((6..=17).contains(&digits) && is_whole).then_some(start..start + written.len())
}

/// A date in digits or with the name of a month.
pub fn date(text: &str, start: usize) -> Option<Range<usize>> {
    let near = text.get(start..boundary_before(text, start.saturating_add(40)))?;
    let mut parts: [(&str, usize); 3] = [("", 0); 3];
    let mut count = 0;
    let mut at = 0;
    while count < 3 {
        let length = near[at..].bytes().take_while(u8::is_ascii_alphanumeric).count();
        let part = &near[at..at + length];
        if !part.eq_ignore_ascii_case("of") && !part.eq_ignore_ascii_case("de") {
            parts[count] = (part, at + length);
            count += 1;
        }
        at += length;
        if count == 3 {
            break;
        }
        let gap = near[at..]
            .bytes()
            .take(3)
            .take_while(|byte| matches!(byte, b' ' | b'-' | b'/' | b'.' | b','))
            .count();
        if length == 0 || gap == 0 {
            return None;
        }
        at += gap;
    }
    let [(first, _), (second, _), (third, end)] = parts;
    let day =
        |part: &str| part.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).parse::<u64>().ok();
    let year = |part: &str| {
        part.parse::<u64>().ok().filter(|year| (1_900..=2_100).contains(year) || part.len() == 2)
    };
    let is_date = match (first.len(), month(first), month(second)) {
        (_, Some(month), _) => is_day(day(second)?, month) && year(third).is_some(),
        (_, None, Some(month)) => is_day(day(first)?, month) && year(third).is_some(),
        (4, None, None) => year(first).is_some() && third.len() < 3 && is_day(day(third)?, day(second)?),
        (1 | 2, None, None) => {
            let (a, b) = (day(first)?, day(second)?);
            year(third).is_some() && (is_day(a, b) || is_day(b, a))
        }
        _ => false,
    };
    is_date.then_some(start..start + end)
}

fn month(part: &str) -> Option<u64> {
    let start = part.get(..3)?;
    let is_word = part.bytes().all(|byte| byte.is_ascii_alphabetic()) && part.len() < 10;
    let at = MONTHS.iter().position(|month| start.eq_ignore_ascii_case(month)).filter(|_| is_word)?;
    Some(at as u64 + 1)
}
