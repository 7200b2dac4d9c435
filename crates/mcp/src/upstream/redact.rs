//! Takes secrets out of what a server says. A server knows the secrets that it was given, and some
//! show them to whoever asks: what we put in must not come back to a program, a model or a log.

use std::borrow::Cow;

/// Shorter values would be found by chance.
const SECRET_CHARS_MIN: usize = 6;

/// The secrets that one server was given.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    /// What to look for, and what to put in its place.
    needles: Vec<(String, String)>,
}

impl Redactor {
    /// One more secret. `name` is what is shown instead.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
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
        let escaped = &quoted[1..quoted.len() - 1];
        if escaped != value {
            self.needles.push((escaped.to_owned(), shown.clone()));
        }
        self.needles.push((value.to_owned(), shown));
        // The longest first: one secret may be part of another.
        self.needles.sort_by_key(|(needle, _)| std::cmp::Reverse(needle.len()));
        self.needles.dedup();
    }

    /// The text without the secrets.
    pub(crate) fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut cleaned = Cow::Borrowed(text);
        for (needle, shown) in &self.needles {
            if cleaned.contains(needle.as_str()) {
                cleaned = Cow::Owned(cleaned.replace(needle.as_str(), shown));
            }
        }
        cleaned
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} secrets)", self.needles.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_by_their_names() {
        let mut redactor = Redactor::default();
        redactor.add("env:TOKEN", "hunter2hunter2");
        redactor.add("file:~/key", "pa\"ss\\word\n");
        redactor.add("env:SHORT", "abc");
        assert_eq!(redactor.clean(r#"{"TOKEN":"hunter2hunter2"}"#), r#"{"TOKEN":"[secret env:TOKEN]"}"#);
        assert_eq!(redactor.clean(r#"x pa\"ss\\word y"#), "x [secret file:key] y");
        assert_eq!(redactor.clean("abc nothing here"), "abc nothing here");
        assert!(!format!("{redactor:?}").contains("hunter2"));
    }
}
