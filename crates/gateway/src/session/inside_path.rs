//! Paths into a workspace, as callers write them: read once, and refused if they are anything but a
//! plain way down.

use gristmill_domain::one_line;

use super::file_error::FileError;

/// What the kernel takes.
const PATH_BYTES_MAX: usize = 4_095;
const NAME_BYTES_MAX: usize = 255;

/// A file in as many folders as a program can make inside each other.
pub(super) const DEPTH_MAX: usize = 65;

/// What of a path is shown in a message.
const CHARS_SHOWN: usize = 120;

/// A path below a workspace: names only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InsidePath<'a> {
    parts: Vec<&'a str>,
}

impl<'a> InsidePath<'a> {
    /// Reads a path. `/workspace/` in front is where programs see their files, and means nothing more.
    pub fn read(path: &'a str) -> Result<Self, FileError> {
        let refused = |why: &'static str| Err(FileError::BadPath { path: one_line(path, CHARS_SHOWN), why });
        if path.contains('\0') {
            return refused("it holds a NUL character");
        }
        if path.len() > PATH_BYTES_MAX {
            return refused("it is longer than 4,095 bytes");
        }
        let inside = path.strip_prefix("/workspace/").unwrap_or(path);
        if inside.starts_with('/') {
            return refused("it is absolute; use a path relative to the workspace, such as `data/a.csv`");
        }
        let mut parts = Vec::new();
        for part in inside.split('/') {
            match part {
                "." => {}
                "" => return refused("it is empty, or has an empty part"),
                ".." => return refused("it contains `..`; use a path relative to the workspace"),
                name if name.len() > NAME_BYTES_MAX => {
                    return refused("a name in it is longer than 255 bytes");
                }
                name => parts.push(name),
            }
        }
        match parts.len() {
            0 => refused("it names no file"),
            1..=DEPTH_MAX => Ok(Self { parts }),
            _ => refused("it goes down more than 64 folders"),
        }
    }

    /// The folders to go down, then the name.
    pub fn split(&self) -> (&[&'a str], &'a str) {
        match self.parts.split_last() {
            Some((name, folders)) => (folders, name),
            None => (&[], "."),
        }
    }

    pub fn text(&self) -> String {
        self.parts.join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_down_is_taken_as_it_is() {
        for (path, parts) in [
            ("a.txt", vec!["a.txt"]),
            ("./a/b.txt", vec!["a", "b.txt"]),
            ("/workspace/a/b", vec!["a", "b"]),
            ("workspace/a", vec!["workspace", "a"]),
            (".hidden", vec![".hidden"]),
            ("...", vec!["..."]),
            ("a b\u{e4}\n", vec!["a b\u{e4}\n"]),
            ("C:\\x", vec!["C:\\x"]),
        ] {
            assert_eq!(InsidePath::read(path).unwrap().parts, parts, "{path:?}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_the_reason() {
        let deep = "d/".repeat(65) + "f";
        let long = "n".repeat(5_000);
        let name = "n".repeat(256);
        for (path, why) in [
            ("", "empty"),
            (".", "no file"),
            ("..", "`..`"),
            ("../x", "`..`"),
            ("a/../../x", "`..`"),
            ("a/..", "`..`"),
            ("/etc/passwd", "absolute"),
            ("/workspace", "absolute"),
            ("/workspace//etc", "absolute"),
            ("a//b", "empty"),
            ("a/", "empty"),
            ("a\0b", "NUL"),
            (deep.as_str(), "64 folders"),
            (long.as_str(), "4,095"),
            (name.as_str(), "255"),
        ] {
            let error = InsidePath::read(path).unwrap_err().to_string();
            assert!(error.contains(why) && error.len() < 500, "{path:?}: {error}");
        }
    }
}
