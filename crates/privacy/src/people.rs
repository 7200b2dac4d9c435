//! Names of people in text: after a title, in a greeting, after a label, below a closing.

use std::ops::Range;

use crate::bytes::{before, is_name, run_end};
use crate::finding::Finding;
use crate::kind::Kind;
use crate::topic::Topic;

const WORDS_MAX: usize = 4;
const WORD_CHARS_MAX: usize = 20;

/// Small words within names.
const PARTICLES: &[&str] =
    &["van", "von", "de", "der", "den", "del", "di", "da", "la", "le", "bin", "ibn", "al", "el", "dos", "du"];

/// Words with a capital that aren't names, where a name may stand.
const NO_NAMES: &[&str] = &[
    "all",
    "team",
    "everyone",
    "everybody",
    "there",
    "sir",
    "madam",
    "mr",
    "mrs",
    "ms",
    "miss",
    "mx",
    "dr",
    "prof",
    "herr",
    "frau",
    "customer",
    "customers",
    "user",
    "users",
    "world",
    "folks",
    "friends",
    "colleagues",
    "hiring",
    "manager",
    "support",
    "admin",
    "the",
    "this",
    "that",
    "a",
    "an",
    "is",
    "are",
    "and",
    "or",
    "not",
    "none",
    "null",
    "true",
    "false",
    "unknown",
    "string",
    "number",
    "object",
    "array",
    "boolean",
    "name",
    "required",
    "optional",
    "yes",
    "no",
    "n",
    "to",
    "for",
    "of",
    "in",
    "on",
    "we",
    "i",
    "you",
    "your",
    "our",
    "my",
    "please",
    "thank",
    "thanks",
    "best",
    "kind",
    "regards",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "inc",
    "ltd",
    "llc",
    "gmbh",
    "corp",
    "company",
    "service",
    "services",
    "server",
    "api",
    "error",
    "id",
    "new",
    "open",
    "closed",
    "default",
    "test",
    "id:",
    "type",
    "value",
    "key",
    "file",
    "github",
    "google",
];

/// The name that a word from `start` to `end` leads to.
pub fn after(text: &str, topic: Topic, start: usize, end: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    match topic {
        Topic::Title => {
            let is_capital = bytes[start].is_ascii_uppercase() || bytes[start] >= 0x80;
            let at = run_end(bytes, end, 1, |byte| byte == b'.');
            let at = run_end(bytes, at, 2, |byte| byte == b' ');
            let (span, _) =
                name(text, at).filter(|_| is_capital && at > end && bytes.get(start + 1) != Some(&b'S'))?;
            found(span, 78, "name-title")
        }
        Topic::Greeting => {
            let is_opening = before(bytes, start).is_none_or(|byte| matches!(byte, b'\n' | b'"' | b'>'))
                || start >= 2 && matches!(bytes[start - 2], b'.' | b'!' | b'\n' | b',' | b':');
            let at = run_end(bytes, end, 1, |byte| byte == b' ');
            let (span, _) = name(text, at).filter(|_| is_opening && at > end)?;
            let is_closed =
                matches!(bytes.get(span.end), None | Some(b',' | b'!' | b'\n' | b'\r' | b':' | b'.'));
            if is_closed { found(span, 66, "name-greeting") } else { None }
        }
        Topic::Named => {
            let (span, _) = name(text, value_start(bytes, end)?)?;
            found(span, 80, "name-label")
        }
        Topic::Labeled => {
            if bytes.get(end) != Some(&b':')
                || before(bytes, start).is_some_and(|byte| is_name(byte) || byte == b'.')
            {
                return None;
            }
            let at = run_end(bytes, end + 1, 2, |byte| byte == b' ');
            let (span, words) = name(text, at)?;
            let is_closed =
                matches!(bytes.get(span.end), None | Some(b',' | b'\n' | b'\r' | b';' | b'<' | b'(' | b'|'))
                    || text[span.end..].starts_with(" <")
                    || text[span.end..].starts_with(" (")
                    || text[span.end..].starts_with(". ");
            if words > 1 && is_closed && !is_list_item(bytes, start) {
                found(span, 66, "name-label")
            } else {
                None
            }
        }
        Topic::Closing => {
            let at = run_end(bytes, end, 2, |byte| matches!(byte, b',' | b'.' | b'!'));
            let line = run_end(bytes, at, 6, |byte| matches!(byte, b'\n' | b'\r' | b' '));
            let (span, _) = name(text, line).filter(|_| bytes[at..line].contains(&b'\n'))?;
            let is_closed = matches!(bytes.get(span.end), None | Some(b'\n' | b'\r' | b','));
            if is_closed { found(span, 72, "name-signature") } else { None }
        }
        _ => None,
    }
}

/// `- name: Install Rust`: steps, jobs and parts have names, too.
fn is_list_item(bytes: &[u8], start: usize) -> bool {
    start >= 2
        && bytes[start - 2..start] == *b"- "
        && before(bytes, start - 2).is_none_or(|byte| byte <= b' ')
}

#[expect(clippy::unnecessary_wraps, reason = "every branch above ends with it")]
fn found(span: Range<usize>, confidence: u8, rule: &'static str) -> Option<Finding> {
    Some(Finding::new(Kind::PersonName, span, confidence, rule))
}

/// Behind `: `, `= "` or a space.
fn value_start(bytes: &[u8], end: usize) -> Option<usize> {
    let at = run_end(bytes, end, 6, |byte| matches!(byte, b':' | b'=' | b'"' | b'\'' | b' '));
    (at > end).then_some(at)
}

/// One to four words with capitals from `start`, and how many. Small particles may stand between them.
pub fn name(text: &str, start: usize) -> Option<(Range<usize>, usize)> {
    let mut at = start;
    let mut end = start;
    let mut words = 0;
    let mut is_first = true;
    for _ in 0..WORDS_MAX + 2 {
        let rest = text.get(at..)?;
        let word = word(rest);
        let is_particle = !is_first && PARTICLES.contains(&word);
        if word.is_empty() || words == WORDS_MAX || !is_particle && !is_capitalized(word) {
            break;
        }
        if !is_particle {
            if NO_NAMES.iter().any(|other| word.eq_ignore_ascii_case(other)) {
                break;
            }
            words += 1;
            end = at + word.len();
        }
        is_first = false;
        let after = at + word.len();
        // An initial has its dot; a full stop ends a sentence.
        let dot = usize::from(word.chars().count() == 1 && text[after..].starts_with('.'));
        if dot == 1 {
            end = after + dot;
        }
        if !text[after + dot..].starts_with(' ') {
            break;
        }
        at = after + dot + 1;
    }
    (words > 0 && end > start).then_some((start..end, words))
}

/// Letters, with apostrophes and hyphens between them.
fn word(rest: &str) -> &str {
    let mut end = 0;
    for (at, letter) in rest.char_indices().take(WORD_CHARS_MAX + 1) {
        let belongs = letter.is_alphabetic() || at > 0 && matches!(letter, '\'' | '’' | '-');
        if !belongs {
            return rest[..at].trim_end_matches(['\'', '’', '-']);
        }
        end = at + letter.len_utf8();
    }
    // Longer ones are no names.
    if rest.chars().nth(WORD_CHARS_MAX).is_some() {
        ""
    } else {
        rest[..end].trim_end_matches(['\'', '’', '-'])
    }
}

/// `Anna`, `O'Brien`, `J`; not `USA` and not `anna`.
fn is_capitalized(word: &str) -> bool {
    let mut letters = word.chars();
    let opens = letters.next().is_some_and(char::is_uppercase);
    let small = letters.clone().filter(|letter| letter.is_lowercase()).count();
    opens && (small > 0 || word.chars().count() == 1)
}
