//! Text in base64 or percent-encoding, looked into once; and at signs that are written otherwise.

use std::ops::Range;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::bytes::{before, boundary_after, boundary_before, run_end, run_start};

/// Shorter ones hold nothing that would be found.
const BASE64_BYTES_MIN: usize = 20;

/// Only the start of a longer one is looked into.
const BASE64_BYTES_MAX: usize = 64 * 1024;

/// How far around a percent sign its text reaches.
const PERCENT_BYTES_MAX: usize = 512;

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, CONFIG);
const FOR_URLS: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, CONFIG);

/// Text that was encoded, and where it stood.
#[derive(Debug)]
pub struct Decoded {
    pub text: String,
    pub span: Range<usize>,
}

/// The text that starts at `start` in base64, if that is text at all.
pub fn base64_at(text: &str, start: usize) -> Option<Decoded> {
    let bytes = text.as_bytes();
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    if before(bytes, start).is_some_and(|byte| belongs(byte) || byte == b'=') {
        return None;
    }
    // Twelve bytes tell: of random ones, as of names and paths, hardly any twelve are all printable.
    let head = decoded(bytes.get(start..start + 16)?)?;
    if !head.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')) {
        return None;
    }
    let end = run_end(bytes, start, BASE64_BYTES_MAX, belongs);
    if end - start < BASE64_BYTES_MIN {
        return None;
    }
    let whole = &bytes[start..end];
    let body = &whole[..if end - start == BASE64_BYTES_MAX { BASE64_BYTES_MAX } else { whole.len() }];
    let text = String::from_utf8(decoded(body)?).ok()?;
    let end = run_end(bytes, end, 2, |byte| byte == b'=');
    Some(Decoded { text, span: start..end })
}

fn decoded(body: &[u8]) -> Option<Vec<u8>> {
    let is_for_urls = body.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let engine = if is_for_urls { &FOR_URLS } else { &PLAIN };
    engine.decode(body).ok()
}

/// Percent-encoded text, with the place that each of its bytes came from.
#[derive(Debug)]
pub struct Unescaped {
    pub text: String,
    pub span: Range<usize>,
    places: Vec<usize>,
}

impl Unescaped {
    /// A span of the decoded text in the text that it came from.
    pub fn outer(&self, span: &Range<usize>) -> Range<usize> {
        let place = |at: usize| self.places.get(at).copied().unwrap_or(self.span.end);
        place(span.start)..place(span.end)
    }
}

/// The text around the percent sign at `at`.
pub fn percent_around(text: &str, at: usize) -> Option<Unescaped> {
    let bytes = text.as_bytes();
    escaped(bytes, at)?;
    let belongs =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'.' | b'_' | b'~' | b'+' | b'-');
    let start = boundary_after(text, run_start(bytes, at, PERCENT_BYTES_MAX / 2, belongs));
    let end = boundary_before(text, run_end(bytes, at, PERCENT_BYTES_MAX, belongs));
    let mut decoded = Vec::with_capacity(end - start);
    let mut places = Vec::with_capacity(end - start);
    let mut from = start;
    while from < end {
        places.push(from);
        match escaped(bytes, from) {
            Some(byte) if from + 3 <= end => {
                decoded.push(byte);
                from += 3;
            }
            _ => {
                decoded.push(bytes[from]);
                from += 1;
            }
        }
    }
    Some(Unescaped { text: String::from_utf8(decoded).ok()?, span: start..end, places })
}

/// The text around an at sign at `at` that is an entity of HTML or a wide character, with `@` in its place.
pub fn other_at_sign_around(text: &str, at: usize) -> Option<Unescaped> {
    let bytes = text.as_bytes();
    let length = other_at_sign(&bytes[at..])?;
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'-');
    let start = run_start(bytes, at, PERCENT_BYTES_MAX / 2, belongs);
    let end = run_end(bytes, at + length, PERCENT_BYTES_MAX, belongs);
    let (before, after) = (text.get(start..at)?, text.get(at + length..end)?);
    let places = (start..=at).chain(at + length..end).collect();
    Some(Unescaped { text: format!("{before}@{after}"), span: start..end, places })
}

/// The length of such an at sign.
pub fn other_at_sign(bytes: &[u8]) -> Option<usize> {
    const WRITTEN: [&[u8]; 6] =
        [b"&#64;", b"&#064;", b"&#x40;", b"&commat;", "＠".as_bytes(), "﹫".as_bytes()];
    let found = WRITTEN
        .iter()
        .find(|written| bytes.get(..written.len()).is_some_and(|start| start.eq_ignore_ascii_case(written)));
    found.map(|written| written.len())
}

/// The byte that `%40` stands for.
fn escaped(bytes: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = bytes.get(at..at + 3)? else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}
