//! Passwords and keys without a form of their own: only where a name says that one follows.

use std::ops::Range;

use crate::bytes::{boundary_before, run_end};
use crate::finding::Finding;
use crate::kind::Kind;
use crate::token::find_tokens;

const VALUE_BYTES_MAX: usize = 256;

/// The password that a word ending at `end` announces.
pub fn password(text: &str, end: usize) -> Option<Finding> {
    let (span, is_quoted) = value(text, end)?;
    password_within(&text[span.clone()], is_quoted)
        .map(|confidence| Finding::new(Kind::Secret, span, confidence, "secret-password"))
}

/// How sure a value is a password, given that its name says so.
pub fn password_within(value: &str, is_quoted: bool) -> Option<u8> {
    let classes = classes(value);
    if value.len() < 6 || is_reference(value) {
        return None;
    }
    match classes {
        3.. => Some(85),
        2 => Some(75),
        // One word in quotes may be anything: a label, a type, a translation.
        _ if is_quoted && value.len() > 7 && value.bytes().all(|byte| byte.is_ascii_digit()) => Some(65),
        _ => None,
    }
}

/// The key or token that a word ending at `end` announces.
pub fn key(text: &str, end: usize) -> Option<Finding> {
    let (mut span, _) = value(text, end)?;
    for scheme in ["Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token "] {
        if text[span.start..].starts_with(scheme) || text[..span.end].ends_with(scheme.trim_end()) {
            let start = run_end(text.as_bytes(), span.start + scheme.len(), 4, |byte| byte == b' ');
            let end = value_end(text, start.min(text.len()), None);
            span = start.min(end)..end;
            break;
        }
    }
    let value = text.get(span.clone())?;
    key_within(value).map(|confidence| Finding::new(Kind::Secret, span, confidence, "secret-assigned"))
}

/// How sure a value is a key, given that its name says so: long, mixed, and without a pattern.
pub fn key_within(value: &str) -> Option<u8> {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_long = value.len() >= 16 && !value.contains(' ');
    if !is_long || !has_digit || !has_letter || is_reference(value) {
        return None;
    }
    // In hundredths of a bit for each byte. Words in a row have less than random characters.
    match entropy(value.as_bytes()) {
        375.. => Some(85),
        300.. => Some(70),
        _ => None,
    }
}

/// What follows a name: `: "…"`, `= …`, ` is …`.
fn value(text: &str, end: usize) -> Option<(Range<usize>, bool)> {
    let bytes = text.as_bytes();
    let mut at = end;
    // The quote that closes the name, and brackets of an index.
    at = run_end(bytes, at, 3, |byte| matches!(byte, b'"' | b'\'' | b']' | b'`'));
    at = run_end(bytes, at, 8, |byte| matches!(byte, b' ' | b'\t'));
    let sign = run_end(bytes, at, 3, |byte| matches!(byte, b':' | b'=' | b'>'));
    let is_said = text.get(at..).is_some_and(|rest| rest.starts_with("is "));
    let is_scheme =
        end >= 6 && text.get(end - 6..end).is_some_and(|word| word.eq_ignore_ascii_case("bearer"));
    at = match (sign > at, is_said) {
        (true, _) => sign,
        (false, true) => at + 3,
        (false, false) if is_scheme && at > end => at,
        (false, false) => return None,
    };
    at = run_end(bytes, at, 8, |byte| matches!(byte, b' ' | b'\t' | b'\\'));
    let quote = bytes.get(at).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let start = if quote.is_some() { at + 1 } else { at };
    let end = value_end(text, start, quote);
    // A quote that nothing closes closes something itself: `prompt='Password: ', stream=None`.
    let is_closed = quote.is_none() || bytes.get(end).copied() == quote;
    (end > start && is_closed && text.is_char_boundary(start)).then_some((start..end, quote.is_some()))
}

fn value_end(text: &str, start: usize, quote: Option<u8>) -> usize {
    let bytes = text.as_bytes();
    let end = match quote {
        Some(quote) => run_end(bytes, start, VALUE_BYTES_MAX, |byte| byte != quote && byte >= b' '),
        None => {
            let end = run_end(bytes, start, VALUE_BYTES_MAX, |byte| {
                byte > b' '
                    && !matches!(
                        byte,
                        b',' | b';' | b'"' | b'\'' | b'`' | b')' | b'}' | b']' | b'<' | b'>' | b'&'
                    )
            });
            // The bracket that closes a token has ended it; what stands before the token is the value.
            let window =
                text.get(start..boundary_before(text, (end + 1).min(text.len()))).unwrap_or_default();
            let token = find_tokens(window).first().map(|(span, _)| start + span.start);
            let end = token.filter(|at| *at > start).unwrap_or(end);
            start
                + text
                    .get(start..boundary_before(text, end))
                    .map_or(0, |v| v.trim_end_matches(['.', '!', '?']).len())
        }
    };
    boundary_before(text, end).max(start)
}

/// How many of small letters, capitals, digits and others there are.
fn classes(value: &str) -> usize {
    let has = |belongs: fn(&u8) -> bool| usize::from(value.as_bytes().iter().any(belongs));
    has(u8::is_ascii_lowercase)
        + has(u8::is_ascii_uppercase)
        + has(u8::is_ascii_digit)
        + has(|byte| byte.is_ascii_punctuation() && !matches!(byte, b'.' | b'_' | b'-') || *byte >= 0x80)
}

/// Something that stands for a value: a variable, a call, a type, stars, a token of ours.
fn is_reference(value: &str) -> bool {
    const WORDS: [&str; 10] = [
        "null",
        "none",
        "undefined",
        "required",
        "optional",
        "password",
        "changeme",
        "redacted",
        "example",
        "process.env",
    ];
    let starts =
        ["$", "<", "{", "%", "***", "...", "os.", "env", "[", "http://", "https://", "/", "./", "process."];
    // Unquoted, `auth[2]` is cut before its bracket.
    let is_index = value.contains('[') && !value.contains(']');
    let is_call = is_index || value.contains('(') || value.contains("::") || value.contains("->");
    let is_flat = value.bytes().all(|byte| byte == value.as_bytes()[0]);
    // `String`, `config.password`, `get_token`: names in a program.
    let is_word = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.');
    let is_name = value.bytes().all(is_word);
    let is_placeholder =
        ["your", "xxxx", "placeholder"].iter().any(|word| contains_ignoring_case(value, word));
    let is_known = is_placeholder || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word));
    is_call || is_flat || is_name || is_known || starts.iter().any(|start| value.starts_with(start))
}

fn contains_ignoring_case(value: &str, word: &str) -> bool {
    value.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

/// Shannon's, in hundredths of a bit for each byte.
fn entropy(value: &[u8]) -> u32 {
    let mut counts = [0_u32; 256];
    value.iter().for_each(|byte| counts[*byte as usize] += 1);
    let total = value.len() as f32;
    let bits: f32 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| *count as f32 / total)
        .map(|share| -share * share.log2())
        .sum();
    (bits * 100.0) as u32
}
