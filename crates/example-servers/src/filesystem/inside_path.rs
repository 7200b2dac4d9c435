//! Paths that cannot lead out: relative, without `..`, bounded.

use std::fmt;

use crate::arguments::shown;

const PATH_BYTES_MAX: usize = 1_024;
const PARTS_MAX: usize = 40;
const PART_BYTES_MAX: usize = 255;

/// The parts of a path beneath the root. None is empty, `.`, `..` or holds a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsidePath {
    parts: Vec<String>,
}

impl InsidePath {
    /// Reads what a caller wrote.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > PATH_BYTES_MAX {
            return Err(format!("the path has {} bytes; at most {PATH_BYTES_MAX} are allowed", text.len()));
        }
        if text.contains(['\0', '\\']) {
            return Err(format!("the path `{}` has a character that isn't allowed in paths", shown(text)));
        }
        if text.starts_with('/') {
            return Err(format!(
                "`{}` is absolute; paths are relative to the root, such as notes/plan.md",
                shown(text)
            ));
        }
        let parts: Vec<String> =
            text.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect();
        if parts.iter().any(|part| part == "..") {
            return Err(format!("`{}` goes up with `..`; paths stay beneath the root", shown(text)));
        }
        if parts.len() > PARTS_MAX || parts.iter().any(|part| part.len() > PART_BYTES_MAX) {
            return Err(format!("`{}` is too deep or has a name over {PART_BYTES_MAX} bytes", shown(text)));
        }
        Ok(Self { parts })
    }

    /// Refuses the root, where a file or a new folder is meant.
    pub fn below_root(self) -> Result<Self, String> {
        if self.is_root() {
            Err("the path is the root itself; name something in it".to_owned())
        } else {
            Ok(self)
        }
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.parts.is_empty()
    }

    /// The last part; empty for the root.
    pub fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// The folder that holds it.
    pub fn parent(&self) -> Self {
        Self { parts: self.parts[..self.parts.len().saturating_sub(1)].to_vec() }
    }

    /// Every folder from below the root down to this.
    pub fn ancestry(&self) -> impl Iterator<Item = Self> + '_ {
        (1..=self.parts.len()).map(|length| Self { parts: self.parts[..length].to_vec() })
    }

    /// Whether this is the other path or beneath it.
    pub fn is_within(&self, other: &Self) -> bool {
        self.parts.starts_with(&other.parts)
    }

    /// As text, with something behind it.
    pub fn join(&self, rest: &str) -> String {
        if self.is_root() { rest.to_owned() } else { format!("{self}/{rest}") }
    }
}

impl fmt::Display for InsidePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.parts.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_are_refused() {
        let check = |text: &str, expected: &str| {
            let error = InsidePath::parse(text).expect_err(text);
            assert!(error.contains(expected), "{error}");
        };
        check("../secret", "goes up");
        check("a/../../secret", "goes up");
        check("a/..", "goes up");
        check("/etc/passwd", "is absolute");
        check("a\0b", "isn't allowed in paths");
        check("..\\secret", "isn't allowed in paths");
        check(&"a/".repeat(41), "too deep");
        check(&"a".repeat(256), "over 255 bytes");
        check(&"a".repeat(1_025), "1025 bytes");
    }

    #[test]
    fn paths_are_tidied() {
        let check = |text: &str, expected: &str| {
            assert_eq!(InsidePath::parse(text).map(|path| path.to_string()), Ok(expected.to_owned()));
        };
        check("", "");
        check(".", "");
        check("./a//b/", "a/b");
        check("..a/b..", "..a/b..");
    }
}
