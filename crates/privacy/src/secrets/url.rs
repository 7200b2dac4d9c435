//! User name and password within a URL.

use crate::bytes::run_end;
use crate::finding::Finding;
use crate::kind::Kind;

/// Longer ones aren't used.
const USER_BYTES_MAX: usize = 256;

/// What stands between `://`, which ends at `end`, and the `@`.
pub fn credentials(text: &str, end: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let belongs = |byte: u8| !byte.is_ascii_whitespace() && !b"@/?#\"'<>`\\{}".contains(&byte);
    let at = run_end(bytes, end, USER_BYTES_MAX, belongs);
    let user = text.get(end..at)?;
    let (_, password) = user.split_once(':')?;
    let is_reference = password.starts_with('$') || password.starts_with('*') || password.is_empty();
    let has_host = bytes.get(at + 1).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'[');
    (bytes.get(at) == Some(&b'@') && has_host && !is_reference)
        .then(|| Finding::new(Kind::UrlCredentials, end..at, 97, "url-credentials"))
}
