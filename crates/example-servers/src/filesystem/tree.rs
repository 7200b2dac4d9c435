//! What a tree of files can do, on disk or in memory.

use super::inside_path::InsidePath;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    /// A link, a socket or a device: listed and nothing else.
    Other,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Other => "other",
        }
    }
}

/// One file or folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The last part of its path; empty for the root.
    pub name: String,
    pub kind: Kind,
    /// 0 for anything but a file.
    pub size_bytes: u64,
    /// Seconds since 1970.
    pub modified: i64,
}

/// What becomes of what a file held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    Replace,
    /// It stays in front.
    Append,
    /// There must be no file.
    New,
}

/// A tree of files. Errors are meant to be read by the one who called.
pub trait Tree: Send + Sync {
    /// What is in a folder, in order of names.
    fn entries(&self, folder: &InsidePath) -> Result<Vec<Entry>, String>;
    /// One file or folder.
    fn entry(&self, path: &InsidePath) -> Result<Entry, String>;
    /// A whole file, if it is not larger.
    fn read(&self, path: &InsidePath, bytes_max: usize) -> Result<Vec<u8>, String>;
    /// Writes a file, and gives its size.
    fn write(&self, path: &InsidePath, text: &str, mode: WriteMode, bytes_max: usize) -> Result<u64, String>;
    /// Makes a folder and those above it; false if it was there.
    fn make_folder(&self, path: &InsidePath) -> Result<bool, String>;
    /// Moves a file or folder. Only a file can be overwritten.
    fn rename(&self, from: &InsidePath, to: &InsidePath, overwrite: bool) -> Result<(), String>;
}
