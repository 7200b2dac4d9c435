//! Takes secrets out of what a server says. A server knows the secrets that it was given, and some
//! show them to whoever asks: what we put in must not come back to a program, a model or a log.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

/// Shorter values would be found by chance.
const SECRET_CHARS_MIN: usize = 6;

/// Tokens are renewed; so many old ones are still looked for.
const SECRETS_MAX: usize = 64;

/// The secrets that one server was given. Clones know the same secrets.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    needles: Arc<RwLock<Vec<Needle>>>,
}

#[derive(Clone, PartialEq, Eq)]
struct Needle {
    /// What to look for.
    secret: String,
    /// What to put in its place.
    shown: String,
}

impl Redactor {
    /// One more secret. `name` is what is shown instead.
    pub(crate) fn add(&self, name: &str, value: &str) {
        let value = value.trim();
        if value.chars().count() < SECRET_CHARS_MIN {
            return;
        }
        let shown: String = name
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
            .collect();
        let shown = format!("[secret {shown}]");
        // As it stands in JSON, which differs if it has quotes or backslashes in it.
        let quoted = serde_json::Value::from(value).to_string();
        let escaped = quoted[1..quoted.len() - 1].to_owned();
        let mut needles = self.needles.write().unwrap_or_else(PoisonError::into_inner);
        for secret in [escaped, value.to_owned()] {
            if !needles.iter().any(|known| known.secret == secret) && needles.len() < SECRETS_MAX {
                needles.push(Needle { secret, shown: shown.clone() });
            }
        }
        // The longest first: one secret may be part of another.
        needles.sort_by_key(|needle| std::cmp::Reverse(needle.secret.len()));
    }

    /// The text without the secrets.
    pub(crate) fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut cleaned = Cow::Borrowed(text);
        for needle in self.needles.read().unwrap_or_else(PoisonError::into_inner).iter() {
            if cleaned.contains(&needle.secret) {
                cleaned = Cow::Owned(cleaned.replace(&needle.secret, &needle.shown));
            }
        }
        cleaned
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_by_their_names() {
        let redactor = Redactor::default();
        redactor.add("env:TOKEN", "hunter2hunter2");
        redactor.add("file:~/key", "pa\"ss\\word\n");
        redactor.add("env:SHORT", "abc");
        assert_eq!(redactor.clean(r#"{"TOKEN":"hunter2hunter2"}"#), r#"{"TOKEN":"[secret env:TOKEN]"}"#);
        assert_eq!(redactor.clean(r#"x pa\"ss\\word y"#), "x [secret file:key] y");
        assert_eq!(redactor.clean("abc nothing here"), "abc nothing here");
        assert!(!format!("{redactor:?}").contains("hunter2"));
    }
}
