//! The name of one file or folder.

use std::ffi::{CStr, CString};

/// What the kernel takes; its length fits one byte.
const NAME_BYTES_MAX: usize = u8::MAX as usize;

/// A name that leads from a folder to an entry of that folder and nowhere else. In the order of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(CString);

impl Name {
    /// `None` if it is empty, too long, a way up, or more than one name.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let is_name = !matches!(bytes, b"" | b"." | b"..") && bytes.len() <= NAME_BYTES_MAX;
        if !is_name || bytes.contains(&b'/') {
            return None;
        }
        CString::new(bytes).ok().map(Self)
    }

    pub fn as_c_str(&self) -> &CStr {
        &self.0
    }

    pub fn bytes(&self) -> &[u8] {
        self.0.to_bytes()
    }

    /// See [`NAME_BYTES_MAX`].
    pub fn length(&self) -> u8 {
        u8::try_from(self.bytes().len()).unwrap_or(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_step_down_and_nothing_else() {
        let longest = [b'n'; 255];
        for name in [&b"a"[..], b"...", b".a", b"-rf", b"a\nb", b"\xff\xfe", &longest] {
            assert_eq!(Name::read(name).expect("a name").bytes(), name);
        }
        for other in [&b""[..], b".", b"..", b"/", b"a/b", b"../a", b"a\0", &[b'n'; 256]] {
            assert_eq!(Name::read(other), None, "{other:?}");
        }
    }

    #[test]
    fn names_are_ordered_by_their_bytes() {
        let name = |text: &str| Name::read(text.as_bytes()).expect("a name");
        assert!(name("a") < name("a\u{1}") && name("a") < name("a-") && name("Z") < name("a"));
        assert!(name("z") < name("\u{e9}"));
    }
}
