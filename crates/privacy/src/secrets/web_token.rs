//! JSON Web Tokens.

use crate::bytes::{before, run_end};
use crate::finding::Finding;
use crate::kind::Kind;

/// A part of a token; larger ones aren't sent in headers.
const PART_BYTES_MAX: usize = 8 * 1024;

/// Three parts with dots between them, the first two of JSON in base64.
pub fn from(text: &str, start: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if before(bytes, start).is_some_and(belongs) {
        return None;
    }
    let header = run_end(bytes, start, PART_BYTES_MAX, belongs);
    let is_token = header - start > 10 && bytes.get(header..header + 4) == Some(b".eyJ".as_slice());
    if !is_token {
        return None;
    }
    let claims = run_end(bytes, header + 1, PART_BYTES_MAX, belongs);
    if bytes.get(claims) != Some(&b'.') {
        return None;
    }
    let end = run_end(bytes, claims + 1, PART_BYTES_MAX, belongs);
    Some(Finding::new(Kind::Secret, start..end, 97, "secret-jwt"))
}
