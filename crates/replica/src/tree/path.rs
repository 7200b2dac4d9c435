//! A path beneath a data folder, as the bytes that the file system has: any name, and never a way up or out.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What the kernel takes.
const NAME_BYTES_MAX: usize = 255;

/// Folders inside each other in a workspace.
const DEPTH_MAX: usize = 256;

/// `sessions/ID/workspace`, the folders in it, and a file in the deepest.
const PARTS_MAX: usize = 3 + DEPTH_MAX + 1;

/// In all: what the kernel takes at once.
const PATH_BYTES_MAX: usize = 4_096;

/// Not a path beneath a folder. It is not used for anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    #[error("it isn't a path of plain names")]
    NotPlain,
    #[error("it has folders nested more than {DEPTH_MAX} levels deep")]
    TooDeep,
    #[error("it has more than {PATH_BYTES_MAX} bytes")]
    TooLong,
}

/// Names with `/` between them, in the order of their bytes: what is in a folder comes after it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Box<[u8]>);

impl TreePath {
    pub fn new(bytes: &[u8]) -> Result<Self, BadPath> {
        if bytes.len() > PATH_BYTES_MAX {
            return Err(BadPath::TooLong);
        }
        let mut parts = 0;
        for name in bytes.split(|byte| *byte == b'/') {
            parts += 1;
            if !is_plain(name) {
                return Err(BadPath::NotPlain);
            }
            if parts > PARTS_MAX {
                return Err(BadPath::TooDeep);
            }
        }
        Ok(Self(bytes.into()))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its names, at least one.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// The folder that it is in, unless that is the data folder itself, and its name there.
    pub(super) fn split(&self) -> (Option<Self>, &[u8]) {
        match self.0.iter().rposition(|byte| *byte == b'/') {
            None => (None, &self.0),
            Some(at) => {
                let (above, name) = self.0.split_at(at);
                (Some(Self(above.into())), name.strip_prefix(b"/").unwrap_or(name))
            }
        }
    }

    /// A name in this folder; in the data folder if there is none.
    pub(super) fn join(above: Option<&Self>, name: &[u8]) -> Result<Self, BadPath> {
        match above {
            None => Self::new(name),
            Some(above) => Self::new(&[above.as_bytes(), b"/", name].concat()),
        }
    }
}

fn is_plain(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && name.len() <= NAME_BYTES_MAX && !name.contains(&0)
}

impl Borrow<[u8]> for TreePath {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for TreePath {
    /// For a person, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.utf8_chunks().try_for_each(|chunk| {
            write!(f, "{}", chunk.valid().escape_debug())?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))
        })
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreePath({self})")
    }
}

impl Serialize for TreePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for TreePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = serde_bytes::ByteBuf::deserialize(deserializer)?;
        Self::new(&bytes).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_down_and_nowhere_else() {
        let longest = "n".repeat(NAME_BYTES_MAX);
        for path in ["a", "a/b", "...", ".a/-rf", "a\nb", &longest] {
            assert_eq!(TreePath::new(path.as_bytes()).expect("a path").as_bytes(), path.as_bytes());
        }
        for wrong in
            ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "../a", "a/.", "a\0", &format!("{longest}n")]
        {
            assert_eq!(TreePath::new(wrong.as_bytes()), Err(BadPath::NotPlain), "{wrong}");
        }
        let deep = |parts: usize| TreePath::new(vec!["d"; parts].join("/").as_bytes()).map(drop);
        assert_eq!((deep(PARTS_MAX), deep(PARTS_MAX + 1)), (Ok(()), Err(BadPath::TooDeep)));
        let long = |bytes: usize| {
            let names = vec!["n".repeat(99); bytes / 100].join("/");
            TreePath::new(format!("{names}/{}", "n".repeat(bytes - names.len() - 1)).as_bytes()).map(drop)
        };
        assert_eq!((long(PATH_BYTES_MAX), long(PATH_BYTES_MAX + 1)), (Ok(()), Err(BadPath::TooLong)));
    }

    #[test]
    fn a_path_is_put_together_and_taken_apart() {
        let path = |text: &[u8]| TreePath::new(text).expect("a path");
        assert_eq!(path(b"a/b/\xff").split(), (Some(path(b"a/b")), &b"\xff"[..]));
        assert_eq!(path(b"a").split(), (None, &b"a"[..]));
        assert_eq!(TreePath::join(Some(&path(b"a/b")), b"\xff"), Ok(path(b"a/b/\xff")));
        assert_eq!(TreePath::join(None, b"a"), Ok(path(b"a")));
        assert_eq!(TreePath::join(None, b".."), Err(BadPath::NotPlain));
        assert_eq!(path(b"a/\n\xff").to_string(), "a/\\n\\xff");
    }
}
