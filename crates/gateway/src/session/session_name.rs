//! Names that people and models give to sessions.

use super::error::SessionError;
use crate::ids::SessionId;

/// Long enough for any name that a person or a model gives.
pub(super) const NAME_BYTES_MAX: usize = 64;

/// Whether a session can have this name. What looks like a handle cannot be one: who mistypes a
/// handle must hear so, not get a new session.
pub(super) fn check(name: &str) -> Result<(), SessionError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if !(1..=NAME_BYTES_MAX).contains(&name.len()) || !name.bytes().all(fits) {
        return Err(SessionError::BadName { name: gristmill_domain::one_line(name, NAME_BYTES_MAX) });
    }
    match SessionId::read(name) {
        None => Ok(()),
        Some(_) => Err(SessionError::Missing { session: name.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_1_to_64_plain_characters() {
        for name in ["a", ".", "..", "A-b_c.9", &"n".repeat(64)] {
            assert!(check(name).is_ok(), "{name}");
        }
        for name in ["", "a b", "a/b", "\u{e4}", "\0", &"n".repeat(65)] {
            let bad = gristmill_domain::one_line(name, NAME_BYTES_MAX);
            assert!(matches!(check(name), Err(SessionError::BadName { name }) if name == bad), "{name:?}");
        }
    }

    #[test]
    fn a_bad_name_is_told_in_one_short_line() {
        let error = check(&format!("line\nline\u{1b}[31m{}", "x".repeat(10_000))).unwrap_err().to_string();
        assert!(error.len() < 250 && !error.contains(['\n', '\u{1b}']), "{error}");
    }

    #[test]
    fn what_looks_like_a_handle_is_no_name() {
        assert!(matches!(check("abcdefghijkmnpqrstuv"), Err(SessionError::Missing { .. })));
    }
}
