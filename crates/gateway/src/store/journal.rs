//! What executions say of themselves, before the database has it: an entry is appended to a file, which takes
//! microseconds, and a moment later the database gets what has come together, in one transaction. Nobody waits for
//! that.
//!
//! An entry is safe once it is in the file: a process that is killed leaves its files, and whoever opens the database
//! next writes what is missing there. Two files take turns: while the entries of one go into the database, new ones go
//! into the other, which is empty.
//!
//! Walls: an entry is whole, as its hash says, or it is not there. To write one twice changes nothing. What waits is
//! bounded; beyond that whoever has something to say waits for the database.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::audit;
use super::audit_rows::{AuditHead, AuditRow};
use super::execution_rows::{BegunRow, EndedRow};
use super::{StoreError, executions};
use crate::alive::lock_of;
use crate::ids::ExecutionId;

/// Below the data folder.
const FOLDER: &str = "journal";

/// The files of one process. The first is held: whose lock can be had, that process is gone.
const ENDS: [&str; 2] = ["a", "b"];

/// What may wait for the database, in bytes of the file.
const BYTES_MAX: usize = 16 << 20;

/// From here on the database gets it at once.
const MUCH_BYTES: usize = 1 << 20;

/// What most entries come to.
const FRAME_BYTES: usize = 4 << 10;

const HASH_BYTES: usize = 16;
const LENGTH_BYTES: usize = 4;

/// Names that were taken away under us. One is rare, two are an accident.
const ATTEMPTS_MAX: usize = 16;

/// What is said of an execution.
#[derive(Serialize, Deserialize)]
pub(super) enum Fact {
    Begun(Arc<BegunRow>),
    Ended(Arc<EndedRow>),
}

/// The same with what an auditor hears of it.
#[derive(Serialize, Deserialize)]
pub(super) struct Entry {
    pub fact: Fact,
    pub audit: Vec<AuditRow>,
}

/// What is to be done after an entry was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Somebody sees to it.
    Known,
    /// The database should have it soon.
    Soon,
    /// At once: much has come together.
    Now,
}

/// The journal of this process.
pub(super) struct Journal {
    state: Mutex<State>,
}

struct State {
    files: [Pages; 2],
    /// Which of them takes entries.
    current: usize,
    /// What the database does not have yet: in the current file, or in both after the database refused some.
    entries: Vec<Entry>,
    /// Of these.
    bytes: usize,
    due: Due,
}

struct Pages {
    path: PathBuf,
    file: File,
    bytes: usize,
}

impl Journal {
    /// In a data folder.
    pub fn begin(data_folder: &Path) -> io::Result<Self> {
        let folder = data_folder.join(FOLDER);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        for _ in 0..ATTEMPTS_MAX {
            let name = ExecutionId::new().map_err(|error| io::Error::other(error.to_string()))?;
            let pages = |end: &str| {
                let path = folder.join(format!("{}.{end}", name.as_str()));
                let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
                Ok::<_, io::Error>(Pages { path, file, bytes: 0 })
            };
            let first = pages(ENDS[0])?;
            // Somebody who looks for what others left may have been quicker: then this name is not ours.
            let is_held = flock(&first.file, FlockOperation::NonBlockingLockExclusive).is_ok();
            if is_held && first.file.metadata()?.nlink() > 0 {
                let files = [first, pages(ENDS[1])?];
                let state = State { files, current: 0, entries: Vec::new(), bytes: 0, due: Due::Known };
                return Ok(Self { state: Mutex::new(state) });
            }
        }
        Err(io::Error::other("no lock can be held in the data folder"))
    }

    /// Writes an entry down. It comes back if that cannot be, or if too much waits already.
    pub fn add(&self, entry: Entry) -> Result<Due, Entry> {
        let Ok(bytes) = frame(&entry) else { return Err(entry) };
        let mut state = self.state.lock();
        let State { files, current, entries, bytes: waiting, due } = &mut *state;
        if *waiting + bytes.len() > BYTES_MAX || files[*current].append(&bytes).is_err() {
            return Err(entry);
        }
        entries.push(entry);
        *waiting += bytes.len();
        let wanted = if *waiting >= MUCH_BYTES { Due::Now } else { Due::Soon };
        Ok(match *due == wanted || *due == Due::Now {
            true => Due::Known,
            false => {
                *due = wanted;
                wanted
            }
        })
    }

    /// Nobody sees to it after all.
    pub fn is_forgotten(&self) {
        self.state.lock().due = Due::Known;
    }

    /// What the database does not have. New entries go elsewhere from here on, if there is an empty file.
    fn take(&self) -> Vec<Entry> {
        let mut state = self.state.lock();
        let other = 1 - state.current;
        state.due = Due::Known;
        state.bytes = 0;
        if state.files[other].bytes == 0 && !state.entries.is_empty() {
            state.current = other;
        }
        std::mem::take(&mut state.entries)
    }

    /// The database has all that was taken.
    fn is_written(&self) {
        let mut state = self.state.lock();
        let other = 1 - state.current;
        state.files[other].empty();
    }

    /// It could not be written.
    fn put_back(&self, mut entries: Vec<Entry>) {
        let bytes: usize =
            entries.iter().filter_map(|entry| frame(entry).ok()).map(|frame| frame.len()).sum();
        let mut state = self.state.lock();
        entries.append(&mut state.entries);
        state.entries = entries;
        state.bytes += bytes;
    }

    /// Brings the database up to date, and tells how far its audit goes now, if that is known.
    pub fn write_down(&self, connection: &mut Connection) -> Result<Option<AuditHead>, StoreError> {
        let entries = self.take();
        if entries.is_empty() {
            return Ok(None);
        }
        let written = write(connection, &entries);
        match &written {
            Ok(_) => self.is_written(),
            Err(_) => self.put_back(entries),
        }
        written
    }

    /// Nothing more comes. What could not be written stays for whoever is next.
    pub fn end(&self) {
        let state = self.state.lock();
        if state.entries.is_empty() {
            // The one that is held goes last.
            for pages in state.files.iter().rev() {
                let _ = fs::remove_file(&pages.path);
            }
        }
    }
}

impl Pages {
    /// All of it or nothing.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all(bytes) {
            // What there is of it has no good hash, but would hide what comes after it.
            let _ = self.file.set_len(self.bytes as u64);
            return Err(error);
        }
        self.bytes += bytes.len();
        Ok(())
    }

    fn empty(&mut self) {
        if self.bytes > 0 && self.file.set_len(0).is_ok() {
            self.bytes = 0;
        }
    }
}

/// One transaction for all of them.
fn write(connection: &mut Connection, entries: &[Entry]) -> Result<Option<AuditHead>, StoreError> {
    let mut head = None;
    audit::in_transaction(connection, |transaction| {
        let mut rows = Vec::new();
        for Entry { fact, audit } in entries {
            let is_new = match fact {
                Fact::Begun(row) => executions::write_begun(transaction, row)?,
                Fact::Ended(row) => executions::write_ended(transaction, row)?,
            };
            if is_new {
                rows.extend(audit);
            }
        }
        if !rows.is_empty() {
            head = Some(audit::append(transaction, rows)?);
        }
        Ok(())
    })?;
    Ok(head)
}

/// Writes what processes left that are gone. What cannot be written now stays where it is.
pub(super) fn write_left(connection: &mut Connection, data_folder: &Path) -> Result<(), StoreError> {
    let left = fs::read_dir(data_folder.join(FOLDER)).into_iter().flatten().flatten();
    for entry in left {
        let first = entry.path();
        if first.extension().is_none_or(|end| end != ENDS[0]) {
            continue;
        }
        let Some(_lock) = lock_of(&first) else { continue };
        let second = first.with_extension(ENDS[1]);
        let mut entries = [&first, &second].map(|path| read(path)).into_iter().flatten().collect::<Vec<_>>();
        // Which of the files is the older one isn't known: what begins comes before what ends.
        entries.sort_by_key(|entry| matches!(entry.fact, Fact::Ended(_)));
        write(connection, &entries)?;
        let _ = fs::remove_file(&second);
        let _ = fs::remove_file(&first);
    }
    Ok(())
}

fn frame(entry: &Entry) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(FRAME_BYTES);
    bytes.resize(HASH_BYTES + LENGTH_BYTES, 0);
    serde_json::to_writer(&mut bytes, entry)?;
    let length = u32::try_from(bytes.len() - HASH_BYTES - LENGTH_BYTES).unwrap_or(u32::MAX);
    bytes[HASH_BYTES..HASH_BYTES + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    let hash = blake3::hash(&bytes[HASH_BYTES..]);
    bytes[..HASH_BYTES].copy_from_slice(&hash.as_bytes()[..HASH_BYTES]);
    Ok(bytes)
}

/// The entries of a file, as far as they are whole.
fn read(path: &Path) -> Vec<Entry> {
    let mut bytes = Vec::new();
    // Nobody of ours writes more than that.
    let bound = (2 * BYTES_MAX) as u64;
    if File::open(path).and_then(|file| file.take(bound).read_to_end(&mut bytes)).is_err() {
        return Vec::new();
    }
    let mut rest = bytes.as_slice();
    let mut entries = Vec::new();
    while let Some((entry, after)) = first_of(rest) {
        entries.extend(entry);
        rest = after;
    }
    entries
}

/// The first entry and what comes after it. One that is whole and says nothing to this version is passed over.
fn first_of(bytes: &[u8]) -> Option<(Option<Entry>, &[u8])> {
    let (hash, hashed) = bytes.split_at_checked(HASH_BYTES)?;
    let (length, _) = hashed.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (entry, after) = hashed.split_at_checked(LENGTH_BYTES.checked_add(length)?)?;
    if blake3::hash(entry).as_bytes()[..HASH_BYTES] != *hash {
        return None;
    }
    Some((serde_json::from_slice(&entry[LENGTH_BYTES..]).ok(), after))
}

#[cfg(test)]
mod tests;
