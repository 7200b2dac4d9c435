//! Secrets of applications in Azure, which are known by what stands in their middle.

use crate::bytes::{ends_word, run_end, run_start};
use crate::finding::Finding;
use crate::kind::Kind;

/// Three characters, a digit, `Q~`, and 31 to 34 characters; `tilde` is the place of the `~`.
pub fn azure_client_secret(text: &str, tilde: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'~' | b'.' | b'-');
    let start = tilde.checked_sub(5)?;
    let [.., digit, b'Q'] = bytes.get(start..tilde)? else { return None };
    let end = run_end(bytes, tilde + 1, 40, belongs);
    // A dot behind it ends a sentence.
    let end = end - usize::from(bytes.get(end - 1) == Some(&b'.') && end - tilde > 32);
    let is_whole = run_start(bytes, tilde, 6, belongs) == start && ends_word(bytes, end);
    (digit.is_ascii_digit() && is_whole && (31..=34).contains(&(end - tilde - 1)))
        .then(|| Finding::new(Kind::Secret, start..end, 92, "secret-azure"))
}
