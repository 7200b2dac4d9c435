//! Telling one state of a file from the next without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Two equal stamps of one path mean that its file was neither replaced nor changed in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    file: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    /// Of content or mode. Unlike the time of modification, no program can set it back.
    changed: (i64, i64),
}

impl FileStamp {
    /// Of the file behind any links; `None` if there is none.
    pub fn of(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|metadata| Self::from(&metadata))
    }
}

impl From<&Metadata> for FileStamp {
    fn from(metadata: &Metadata) -> Self {
        Self {
            file: (metadata.dev(), metadata.ino()),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_has_another_stamp() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        assert_eq!(FileStamp::of(&path), None);
        crate::replace_private(&path, b"one").expect("written");
        let first = FileStamp::of(&path);
        assert!(first.is_some() && FileStamp::of(&path) == first);
        crate::replace_private(&path, b"two").expect("written");
        assert_ne!(FileStamp::of(&path), first);
    }
}
