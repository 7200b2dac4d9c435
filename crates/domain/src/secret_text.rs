//! Text from a configuration that may refer to secrets: `Bearer ${env:TOKEN}`.
//!
//! A configuration holds references, never the values. They are resolved where a server is
//! started or called, and nowhere else.

use std::fmt;

/// A text with references in it. What it shows of itself is safe to print.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText {
    parts: Vec<Part>,
}

/// A piece of such a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Plain(String),
    /// To be looked up.
    Reference(Reference),
}

/// What stands between `${` and `}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// `${NAME}`, `${env:NAME}`, `${NAME:-default}`: a variable of our own environment.
    Environment {
        name: String,
        /// What is taken if it is not set or empty.
        default: Option<String>,
    },
    /// `${file:path}`: a file's text, without the line end.
    File(String),
    /// `${keyring:name}`: an entry of the system's keyring.
    Keyring(String),
    /// `${cmd:program argument}`: what a command prints, without the line end.
    Command(String),
}

/// A reference that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretTextError {
    #[error("`${{` has no closing `}}`; to write it literally, use `$${{`")]
    Unclosed,
    /// Nothing to look up.
    #[error("`${{{0}}}` is empty")]
    Empty(String),
    /// A kind that there is not.
    #[error("`${{{0}:…}}` isn't a reference; use env, file, keyring or cmd")]
    UnknownKind(String),
    /// Not the name of a variable.
    #[error("`{0}` isn't a valid environment variable name")]
    BadName(String),
}

impl SecretText {
    /// A text without references.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Plain(text.into())] }
    }

    /// Reads the references in it. `$${` stands for `${` itself.
    pub fn parse(text: &str) -> Result<Self, SecretTextError> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                plain.push_str(&rest[..at]);
                plain.push('{');
                rest = &rest[at + 2..];
                continue;
            }
            plain.push_str(&rest[..at]);
            let end = closing(&rest[at + 2..]).ok_or(SecretTextError::Unclosed)?;
            let inside = &rest[at + 2..at + 2 + end];
            if !plain.is_empty() {
                parts.push(Part::Plain(std::mem::take(&mut plain)));
            }
            parts.push(Part::Reference(Reference::parse(inside)?));
            rest = &rest[at + 3 + end..];
        }
        plain.push_str(rest);
        if !plain.is_empty() || parts.is_empty() {
            parts.push(Part::Plain(plain));
        }
        Ok(Self { parts })
    }

    /// Its pieces in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The text, if there is no reference in it.
    pub fn as_plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Plain(text)] => Some(text),
            _ => None,
        }
    }

    /// As it is written in a configuration.
    pub fn written(&self) -> String {
        let part = |part: &Part| match part {
            Part::Plain(text) => text.replace("${", "$${"),
            Part::Reference(reference) => reference.written(),
        };
        self.parts.iter().map(part).collect()
    }
}

/// Where the reference ends; braces inside it are counted, for commands.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

impl Reference {
    fn parse(inside: &str) -> Result<Self, SecretTextError> {
        let (kind, value) = match inside.split_once(':') {
            // `${NAME:-default}`
            Some((_, value)) if value.starts_with('-') => ("env", inside),
            Some((kind, value)) => (kind, value),
            None => ("env", inside),
        };
        if value.trim().is_empty() {
            return Err(SecretTextError::Empty(inside.to_owned()));
        }
        match kind {
            "env" => {
                let (name, default) = match value.split_once(":-") {
                    Some((name, default)) => (name, Some(default.to_owned())),
                    None => (value, None),
                };
                let known = |c: char| c.is_ascii_alphanumeric() || c == '_';
                if !name.chars().all(known)
                    || name.is_empty()
                    || name.starts_with(|c: char| c.is_ascii_digit())
                {
                    return Err(SecretTextError::BadName(name.to_owned()));
                }
                Ok(Self::Environment { name: name.to_owned(), default })
            }
            "file" => Ok(Self::File(value.to_owned())),
            "keyring" => Ok(Self::Keyring(value.to_owned())),
            "cmd" => Ok(Self::Command(value.to_owned())),
            other => Err(SecretTextError::UnknownKind(other.to_owned())),
        }
    }

    /// As it is written in a configuration.
    pub fn written(&self) -> String {
        match self {
            Self::Environment { name, default: None } => format!("${{{name}}}"),
            Self::Environment { name, default: Some(default) } => format!("${{{name}:-{default}}}"),
            Self::File(path) => format!("${{file:{path}}}"),
            Self::Keyring(name) => format!("${{keyring:{name}}}"),
            Self::Command(command) => format!("${{cmd:{command}}}"),
        }
    }
}

/// Plain text in a header or an environment may be a secret that someone wrote down there.
impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: &Part| match part {
            Part::Plain(_) => "…".to_owned(),
            Part::Reference(reference) => reference.written(),
        };
        write!(f, "SecretText({})", self.parts.iter().map(part).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, default: Option<&str>) -> Part {
        Part::Reference(Reference::Environment { name: name.to_owned(), default: default.map(str::to_owned) })
    }

    #[test]
    fn references_are_read_and_written_back() {
        let check = |text: &str, expected: &[Part]| {
            let parsed = SecretText::parse(text).expect(text);
            assert_eq!(parsed.parts(), expected, "{text}");
            assert_eq!(SecretText::parse(&parsed.written()), Ok(parsed), "{text}");
        };
        let plain = |text: &str| Part::Plain(text.to_owned());
        check("", &[plain("")]);
        check("no $ reference }", &[plain("no $ reference }")]);
        check("${TOKEN}", &[variable("TOKEN", None)]);
        check("Bearer ${env:TOKEN}!", &[plain("Bearer "), variable("TOKEN", None), plain("!")]);
        check("${A:-b:c}${D:-}", &[variable("A", Some("b:c")), variable("D", Some(""))]);
        check("${file:~/x}", &[Part::Reference(Reference::File("~/x".to_owned()))]);
        check("${keyring:a b}", &[Part::Reference(Reference::Keyring("a b".to_owned()))]);
        check("${cmd:jq '{a:1}' f}", &[Part::Reference(Reference::Command("jq '{a:1}' f".to_owned()))]);
        check("$${TOKEN}", &[plain("${TOKEN}")]);
    }

    #[test]
    fn what_is_no_reference_is_said_to_be_none() {
        let refused = |text: &str| SecretText::parse(text).expect_err(text).to_string();
        assert!(refused("${TOKEN").contains("no closing"));
        assert!(refused("${}").contains("is empty"));
        assert!(refused("${vault:x}").contains("env, file, keyring or cmd"));
        assert!(refused("${env:A B}").contains("`A B` isn't a valid environment"));
    }

    #[test]
    fn a_secret_written_down_is_not_printed() {
        let text = SecretText::parse("hunter2 ${env:B}").expect("a text");
        assert_eq!(format!("{text:?}"), "SecretText(…${B})");
    }
}
