//! E-mail addresses, from their `@`.

use crate::bytes::{before, boundary_after, is_word, run_end, run_start};
use crate::finding::Finding;
use crate::kind::Kind;

/// RFC 5321 allows no longer ones.
const LOCAL_BYTES_MAX: usize = 64;
const DOMAIN_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// The address around the `@` at `at`.
pub fn around(text: &str, at: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let start = local_start(text, at)?;
    let end = domain_end(bytes, at + 1)?;
    let local = text.get(start..at)?;
    let domain = text.get(at + 1..end)?;
    if before(bytes, start) == Some(b'$') {
        return None;
    }
    // `git@host:path` names no one.
    let is_remote = local == "git" && bytes.get(end) == Some(&b':');
    if is_remote || is_picture(domain) {
        return None;
    }
    Some(Finding::new(Kind::Email, start..end, 96, "email"))
}

fn local_start(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let belongs = |byte: u8| {
        is_word(byte)
            || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'~' | b'\'' | b'!' | b'#' | b'*' | b'^')
    };
    if matches!(at.checked_sub(1).map(|last| bytes[last]), None | Some(b'.')) {
        return None;
    }
    let mut start = boundary_after(text, run_start(bytes, at, LOCAL_BYTES_MAX, belongs));
    if let Some(dots) = bytes[start..at].windows(2).rposition(|pair| pair == b"..") {
        start += dots + 2;
    }
    // Quotes, bullets and the like before it.
    let is_first = |byte: u8| is_word(byte) || byte == b'_';
    start = run_end(bytes, start, at - start, |byte| !is_first(byte));
    (start < at).then_some(start)
}

/// Labels with dots between them, the last one of letters.
fn domain_end(bytes: &[u8], start: usize) -> Option<usize> {
    let limit = start + DOMAIN_BYTES_MAX;
    let mut at = start;
    let mut end = None;
    let mut labels = 0;
    while at < limit {
        let label_end = run_end(bytes, at, LABEL_BYTES_MAX + 1, |byte| is_word(byte) || byte == b'-');
        let label = &bytes[at..label_end];
        if label.is_empty() || label.len() > LABEL_BYTES_MAX || label[0] == b'-' {
            break;
        }
        labels += 1;
        let trimmed = label.len() - label.iter().rev().take_while(|byte| **byte == b'-').count();
        if labels > 1 && is_top(&label[..trimmed]) {
            end = Some(at + trimmed);
        }
        if trimmed < label.len() || bytes.get(label_end) != Some(&b'.') {
            break;
        }
        at = label_end + 1;
    }
    end
}

fn is_top(label: &[u8]) -> bool {
    let is_encoded = label.len() > 4 && label[..4].eq_ignore_ascii_case(b"xn--");
    is_encoded
        || (2..=24).contains(&label.len())
            && label.iter().all(|byte| is_word(*byte) && !byte.is_ascii_digit())
}

/// `icon@2x.png`
fn is_picture(domain: &str) -> bool {
    let Some((scale, _)) = domain.split_once('.') else { return false };
    scale.len() < 4
        && scale.strip_suffix('x').is_some_and(|times| times.bytes().all(|byte| byte.is_ascii_digit()))
}
