//! The files of a session as the gateway touches them: by descriptor, beneath the workspace, never
//! through a link.
//!
//! A program may run in the workspace meanwhile, and is hostile: it may swap names under our hands,
//! and whoever shares the machine may have put links or pipes there. So every path is read into
//! plain names first, resolved beneath the workspace's descriptor, and what was opened is looked at
//! before a byte of it is used. What is written appears whole or not at all.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use gristmill_domain::{LimitName, Limits, one_line};
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::beneath;
use super::file_error::{CHARS_SHOWN, FileError};
use super::inside_path::InsidePath;
use super::listing::{self, Listing};
use crate::folder_size::{FolderSize, measure};
use crate::ids::unguessable;

/// The most that one read gives: all of it is held in memory.
pub const READ_BYTES_MAX: u64 = 16 << 20;

/// How often a file is put into a folder that is removed again and again.
const PLACE_ATTEMPTS: usize = 64;

/// How a content is written where only text can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// As it is, in UTF-8.
    #[default]
    Text,
    /// Any bytes.
    Base64,
}

impl Encoding {
    /// As it is written in arguments and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Encoding::Text => "text",
            Encoding::Base64 => "base64",
        }
    }

    /// The bytes that a text stands for.
    pub fn decode(self, content: String) -> Result<Vec<u8>, FileError> {
        match self {
            Encoding::Text => Ok(content.into_bytes()),
            Encoding::Base64 => STANDARD
                .decode(content.trim())
                .map_err(|error| FileError::NotBase64 { why: error.to_string() }),
        }
    }
}

impl Content {
    /// As text: bytes become base64.
    pub fn into_text(self) -> String {
        match self {
            Content::Text(text) => text,
            Content::Bytes(bytes) => STANDARD.encode(bytes),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text, cut between two characters.
    Text(String),
    Bytes(Vec<u8>),
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPart {
    pub content: Content,
    /// Where the next part begins; `None` at the end.
    pub next_offset: Option<u64>,
    /// The whole file, in bytes.
    pub size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileWritten {
    /// In bytes.
    pub size: u64,
    /// Whether a file was there before.
    pub replaced: bool,
}

/// See the module. Everything here blocks on the disk.
#[derive(Debug)]
pub struct WorkspaceFiles {
    root: OwnedFd,
    incoming: OwnedFd,
    limits: Limits,
    told: Told,
}

/// Who hears that something was written.
#[derive(Default)]
struct Told(Option<Box<dyn Fn() + Send + Sync>>);

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Told" } else { "Nobody" })
    }
}

/// Opens a plain file beneath a workspace for reading, through no link.
pub(crate) fn open_plain_file(root: BorrowedFd<'_>, path: &str) -> Result<File, FileError> {
    let inside = InsidePath::read(path)?;
    let opened = beneath::open(root, &inside, OFlags::RDONLY);
    let file = opened.map_err(|error| FileError::system(path, error))?;
    let stat = rustix::fs::fstat(&file).map_err(|error| FileError::system(path, error))?;
    check_plain(path, &stat)?;
    Ok(File::from(file))
}

impl WorkspaceFiles {
    pub(super) fn new(root: OwnedFd, incoming: OwnedFd, limits: Limits) -> Self {
        Self { root, incoming, limits, told: Told::default() }
    }

    /// The same, and somebody hears of each file that is written.
    pub(super) fn telling(self, told: impl Fn() + Send + Sync + 'static) -> Self {
        Self { told: Told(Some(Box::new(told))), ..self }
    }

    /// Reads a part of a file: from a byte on, so many bytes at most.
    pub fn read(
        &self,
        path: &str,
        offset: u64,
        limit: u64,
        encoding: Encoding,
    ) -> Result<ReadPart, FileError> {
        let mut file = self.open(path)?;
        let failed = |error: std::io::Error| FileError::io(path, &error);
        let size = file.metadata().map_err(failed)?.len();
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        file.take(limit.min(READ_BYTES_MAX)).read_to_end(&mut bytes).map_err(failed)?;
        let content = match encoding {
            Encoding::Base64 => Content::Bytes(bytes),
            Encoding::Text => Content::Text(text_of(path, bytes, offset, size)?),
        };
        let count = match &content {
            Content::Text(text) => text.len(),
            Content::Bytes(bytes) => bytes.len(),
        };
        let end = offset.saturating_add(count as u64);
        // A part that holds not even one character would be asked for again and again.
        let next_offset = (end < size && count > 0).then_some(end);
        Ok(ReadPart { content, next_offset, size })
    }

    /// Opens a plain file for reading.
    pub fn open(&self, path: &str) -> Result<File, FileError> {
        open_plain_file(self.root.as_fd(), path)
    }

    /// Writes a whole file: whoever looks sees the old content or the new one. Folders above it are
    /// made.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<FileWritten, FileError> {
        self.write_from(path, &mut &*content, content.len() as u64)
    }

    /// The same from a stream of known length.
    pub fn write_from(
        &self,
        path: &str,
        content: &mut dyn Read,
        size: u64,
    ) -> Result<FileWritten, FileError> {
        let inside = InsidePath::read(path)?;
        let failed = |error: Errno| FileError::system(path, error);
        self.check_file_size(size)?;
        // One writer at a time, in all processes: what was measured holds until it is done.
        rustix::fs::flock(&self.incoming, FlockOperation::LockExclusive).map_err(failed)?;
        let written = self.write_alone(path, &inside, content, size);
        let _ = rustix::fs::flock(&self.incoming, FlockOperation::Unlock);
        if let Told(Some(told)) = &self.told {
            told();
        }
        written
    }

    /// Writes a file into a workspace that nobody else sees yet. Who calls counts what it holds.
    pub(super) fn write_new(&self, path: &str, content: &mut dyn Read, size: u64) -> Result<(), FileError> {
        let inside = InsidePath::read(path)?;
        let failed = |error: Errno| FileError::system(path, error);
        self.check_file_size(size)?;
        self.fill(path, "new", content, size)?;
        let parent = beneath::parent(self.root.as_fd(), &inside, true).map_err(failed)?;
        rustix::fs::renameat(&self.incoming, "new", &parent, inside.split().1).map_err(failed)
    }

    /// How many entries a file, or a folder, of this path adds to a workspace that nobody else sees
    /// yet: the folders above it count, too.
    pub(super) fn new_entries(&self, path: &str, is_folder: bool) -> Result<u64, FileError> {
        let inside = InsidePath::read(path)?;
        let (above, name) = inside.split();
        let mut folders = above.to_vec();
        if is_folder {
            folders.push(name);
        }
        let missing = beneath::missing(self.root.as_fd(), &folders);
        let missing = missing.map_err(|error| FileError::system(path, error))?;
        Ok(if is_folder { missing } else { missing + 1 })
    }

    /// Makes a folder, with all above it.
    pub(super) fn make_folder(&self, path: &str) -> Result<(), FileError> {
        let inside = InsidePath::read(path)?;
        let failed = |error: Errno| FileError::system(path, error);
        let parent = beneath::parent(self.root.as_fd(), &inside, true).map_err(failed)?;
        match rustix::fs::mkdirat(&parent, inside.split().1, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    fn write_alone(
        &self,
        path: &str,
        inside: &InsidePath<'_>,
        content: &mut dyn Read,
        size: u64,
    ) -> Result<FileWritten, FileError> {
        let failed = |error: Errno| FileError::system(path, error);
        let (folders, name) = inside.split();
        let there = match beneath::parent(self.root.as_fd(), inside, false) {
            Ok(parent) => stat_of(&parent, name).map_err(failed)?,
            Err(Errno::NOENT) => None,
            Err(error) => return Err(failed(error)),
        };
        if let Some(stat) = &there {
            check_plain(path, stat)?;
        }
        let old_size = there.as_ref().map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0));
        let new_entries = if there.is_some() { 0 } else { folders.len() as u64 + 1 };
        self.check_room(path, size, old_size, new_entries)?;

        let name_new = unguessable::new().map_err(|error| FileError::System {
            path: one_line(path, CHARS_SHOWN),
            why: error.to_string(),
        })?;
        let made = self
            .fill(path, &name_new, content, size)
            .and_then(|()| self.place(&name_new, inside).map_err(failed));
        if made.is_err() {
            let _ = rustix::fs::unlinkat(&self.incoming, name_new.as_str(), AtFlags::empty());
        }
        made.map(|()| FileWritten { size, replaced: there.is_some() })
    }

    /// Gives a written file its name. What stands in the name's place by now is replaced, never followed.
    fn place(&self, name_new: &str, inside: &InsidePath<'_>) -> Result<(), Errno> {
        let mut outcome = Err(Errno::NOENT);
        // Again if a program removes the folder in between.
        for _ in 0..PLACE_ATTEMPTS {
            let parent = match beneath::parent(self.root.as_fd(), inside, true) {
                Err(Errno::NOENT) => continue,
                parent => parent?,
            };
            outcome = rustix::fs::renameat(&self.incoming, name_new, &parent, inside.split().1);
            if outcome != Err(Errno::NOENT) {
                break;
            }
        }
        outcome
    }

    /// Writes the content where no program sees it.
    fn fill(&self, path: &str, name: &str, content: &mut dyn Read, size: u64) -> Result<(), FileError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.incoming, name, flags, Mode::from_raw_mode(0o600))
            .map_err(|error| FileError::system(path, error))?;
        let mut file = File::from(file);
        let copied = std::io::copy(&mut content.take(size), &mut file).and_then(|copied| {
            file.flush()?;
            Ok(copied)
        });
        match copied {
            Ok(copied) if copied == size => Ok(()),
            Ok(copied) => Err(FileError::System {
                path: one_line(path, CHARS_SHOWN),
                why: format!("its content ends after {copied} of {size} bytes"),
            }),
            Err(error) => Err(FileError::io(path, &error)),
        }
    }

    /// Removes a file, or a folder with nothing in it.
    pub fn remove(&self, path: &str) -> Result<(), FileError> {
        let inside = InsidePath::read(path)?;
        let failed = |error: Errno| FileError::system(path, error);
        let parent = beneath::parent(self.root.as_fd(), &inside, false).map_err(failed)?;
        let (_, name) = inside.split();
        // The name itself goes: what a link points to is not touched.
        match rustix::fs::unlinkat(&parent, name, AtFlags::empty()) {
            Err(Errno::ISDIR | Errno::PERM) => {
                rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR).map_err(failed)
            }
            outcome => outcome.map_err(failed),
        }
    }

    /// What fits a pattern, all without one; so many at most.
    pub fn list(&self, pattern: Option<&str>, count_max: usize) -> Result<Listing, FileError> {
        listing::list(&self.root, pattern, count_max)
    }

    fn check_file_size(&self, size: u64) -> Result<(), FileError> {
        match size > self.limits.get(LimitName::FileBytes) {
            true => Err(FileError::Limit(self.limits.hit_message(LimitName::FileBytes))),
            false => Ok(()),
        }
    }

    fn check_room(&self, path: &str, size: u64, old_size: u64, new_entries: u64) -> Result<(), FileError> {
        let mut found = FolderSize::default();
        measure(&self.root, &mut found).map_err(|error| FileError::io(path, &error))?;
        let FolderSize { bytes, entries: files } = found;
        let bytes = bytes.saturating_sub(old_size).saturating_add(size);
        if bytes > self.limits.get(LimitName::WorkspaceBytes) {
            return Err(FileError::Limit(self.limits.hit_message(LimitName::WorkspaceBytes)));
        }
        if files.saturating_add(new_entries) > self.limits.get(LimitName::WorkspaceFiles) {
            return Err(FileError::Limit(self.limits.hit_message(LimitName::WorkspaceFiles)));
        }
        Ok(())
    }
}

fn stat_of(parent: &OwnedFd, name: &str) -> Result<Option<rustix::fs::Stat>, Errno> {
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Only a plain file with one name is read or replaced: a second name may be outside.
fn check_plain(path: &str, stat: &rustix::fs::Stat) -> Result<(), FileError> {
    let path = one_line(path, CHARS_SHOWN);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_nlink > 1 => Err(FileError::Link { path }),
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(FileError::IsFolder { path }),
        FileType::Symlink => Err(FileError::Link { path }),
        _ => Err(FileError::Special { path }),
    }
}

/// The text of a part: it may begin or end in the middle of a character, and only there.
fn text_of(path: &str, mut bytes: Vec<u8>, offset: u64, size: u64) -> Result<String, FileError> {
    let not_text =
        |at: usize| FileError::NotText { path: one_line(path, CHARS_SHOWN), at: offset + at as u64 };
    let is_at_end = offset.saturating_add(bytes.len() as u64) >= size;
    match std::str::from_utf8(&bytes) {
        Ok(_) => {}
        // Cut within its last character: that one belongs to the next part.
        Err(error) if error.error_len().is_none() && !is_at_end && error.valid_up_to() > 0 => {
            bytes.truncate(error.valid_up_to());
        }
        Err(error) => return Err(not_text(error.valid_up_to())),
    }
    String::from_utf8(bytes).map_err(|error| not_text(error.utf8_error().valid_up_to()))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
