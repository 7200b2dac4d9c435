//! Tokens within longer text. Every look ahead has a bound, so time grows with the length of the text.

use std::ops::Range;

use super::Form;
use super::code::{Code, DIGITS_COUNT, LETTERS_COUNT};
use super::label::LABEL_BYTES_MAX;
use crate::bytes::{before, is_name, run_end, run_start};
use crate::kind::Kind;

pub(super) const EMAIL_START: &str = "email-";
pub(super) const EMAIL_END: &str = "@token.invalid";
pub(super) const PHONE_START: &str = "+999";

/// Label, underscore and code.
const INSIDE_BYTES_MAX: usize = LABEL_BYTES_MAX + 1 + LETTERS_COUNT;
const EMAIL_BYTES: usize = EMAIL_START.len() + LETTERS_COUNT + EMAIL_END.len();

/// A token as it was read. Whether it stands for anything is another question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FoundToken {
    pub form: Form,
    /// What it says about its kind; only plain ones do.
    pub label: Option<String>,
    pub code: Code,
}

impl FoundToken {
    /// A text that is one token and nothing else.
    pub fn read(text: &str) -> Option<Self> {
        let (end, token) = at(text.as_bytes(), 0)?;
        (end == text.len()).then_some(token)
    }

    /// Whether it may stand for a value of this kind.
    pub fn fits(&self, kind: &Kind) -> bool {
        self.label.as_deref().is_none_or(|label| label == kind.label())
    }
}

/// Every token in a text, in its order, with its bytes.
pub fn find_tokens(text: &str) -> Vec<(Range<usize>, FoundToken)> {
    each_token(text).collect()
}

/// The same, one by one.
pub fn each_token(text: &str) -> impl Iterator<Item = (Range<usize>, FoundToken)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        while from < bytes.len() {
            let start = from;
            match at(bytes, start) {
                Some((end, token)) => {
                    from = end;
                    return Some((start..end, token));
                }
                None => from += 1,
            }
        }
        None
    })
}

/// Whether the word at a place belongs to a token.
pub(crate) fn is_within(text: &str, place: usize) -> bool {
    let bytes = text.as_bytes();
    let covers = |start: usize| at(bytes, start).is_some_and(|(end, _)| end > place);
    match before(bytes, place) {
        Some(b'[' | b'_' | b'-' | b'@' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z') => {
            let inside = run_start(bytes, place, INSIDE_BYTES_MAX, is_name);
            before(bytes, inside) == Some(b'[') && covers(inside - 1)
                || (place.saturating_sub(EMAIL_BYTES)..=place).any(covers)
        }
        Some(_) | None => covers(place),
    }
}

/// The token that starts at a place, and where it ends.
#[inline]
pub(super) fn at(bytes: &[u8], start: usize) -> Option<(usize, FoundToken)> {
    match bytes.get(start)? {
        b'[' => plain(bytes, start),
        b'e' => email(bytes, start),
        b'+' => phone(bytes, start),
        _ => None,
    }
}

fn plain(bytes: &[u8], start: usize) -> Option<(usize, FoundToken)> {
    let (inside, end) = in_brackets(bytes, start)?;
    let (label, code) = inside.split_at_checked(inside.len().checked_sub(LETTERS_COUNT)?)?;
    let label = label.strip_suffix(b"_").filter(|label| is_label(label))?;
    let label = Some(String::from_utf8_lossy(label).into_owned());
    Some((end, FoundToken { form: Form::Plain, label, code: Code::of_letters(code)? }))
}

/// What stands between a bracket at a place and the next one, and where to go on behind that.
pub(super) fn in_brackets(bytes: &[u8], start: usize) -> Option<(&[u8], usize)> {
    let end = run_end(bytes, start + 1, INSIDE_BYTES_MAX, is_name);
    (bytes.get(end) == Some(&b']')).then(|| (&bytes[start + 1..end], end + 1))
}

fn is_label(label: &[u8]) -> bool {
    let is_in_label = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
    label.first().is_some_and(u8::is_ascii_uppercase) && label.iter().all(is_in_label)
}

fn email(bytes: &[u8], start: usize) -> Option<(usize, FoundToken)> {
    let rest = bytes[start..].strip_prefix(EMAIL_START.as_bytes())?;
    let (code, rest) = rest.split_at_checked(LETTERS_COUNT)?;
    let code = Code::of_letters(code).filter(|_| rest.starts_with(EMAIL_END.as_bytes()))?;
    Some((start + EMAIL_BYTES, FoundToken { form: Form::Email, label: None, code }))
}

fn phone(bytes: &[u8], start: usize) -> Option<(usize, FoundToken)> {
    let rest = bytes[start..].strip_prefix(PHONE_START.as_bytes())?;
    let (code, rest) = rest.split_at_checked(DIGITS_COUNT)?;
    // More digits are another number.
    let code = Code::of_digits(code).filter(|_| !rest.first().is_some_and(u8::is_ascii_digit))?;
    let end = start + PHONE_START.len() + DIGITS_COUNT;
    Some((end, FoundToken { form: Form::Phone, label: None, code }))
}
