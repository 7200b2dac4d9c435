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
use std::time::{Duration, Instant};

use gristmill_files::FileLock;
use parking_lot::Mutex;
use rusqlite::Connection;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::audit_chain::{append, in_transaction};
use super::audit_rows::{AuditHead, AuditRow};
use super::execution_rows::{BegunRow, EndedRow};
use super::execution_writes::{write_begun, write_ended};
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

/// No file of ours is longer: what could not be written once, and what came since.
const FILE_BYTES_MAX: usize = 2 * BYTES_MAX;

/// Held by whoever writes what others left.
const LOCK_NAME: &str = "lock";

/// What most entries come to.
const FRAME_BYTES: usize = 4 << 10;

const HASH_BYTES: usize = 16;
const LENGTH_BYTES: usize = 4;

/// What a log's filter calls this.
const LOG_AREA: &str = "gristmill::store";

/// Names that were taken away under us. One is rare, two are an accident.
const ATTEMPTS_MAX: usize = 16;

/// What is said of an execution.
#[derive(Serialize, Deserialize)]
pub(super) enum Fact {
    Begun(Arc<BegunRow>),
    Ended(Arc<EndedRow>),
}

impl Fact {
    fn execution(&self) -> &str {
        match self {
            Fact::Begun(row) => &row.id,
            Fact::Ended(row) => &row.begun.id,
        }
    }
}

/// The same with what an auditor hears of it.
#[derive(Serialize, Deserialize)]
pub(super) struct Entry {
    pub fact: Fact,
    pub audit: Vec<AuditRow>,
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
    /// Since when the oldest of them waits, as far as this process knows.
    since: Option<Instant>,
    /// Of these, and of what is on its way into the database.
    bytes: usize,
    /// Of the latter.
    taken_bytes: usize,
    has_ended: bool,
}

struct Pages {
    path: PathBuf,
    file: File,
    bytes: usize,
    /// Something that is no entry stands at its end, and hides what would come after it.
    is_torn: bool,
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
                Ok::<_, io::Error>(Pages { path, file, bytes: 0, is_torn: false })
            };
            let first = pages(ENDS[0])?;
            // Somebody who looks for what others left may have been quicker: then this name is not ours.
            let is_held = flock(&first.file, FlockOperation::NonBlockingLockExclusive).is_ok();
            if is_held && first.file.metadata()?.nlink() > 0 {
                let files = [first, pages(ENDS[1])?];
                let state = State {
                    files,
                    current: 0,
                    entries: Vec::new(),
                    since: None,
                    bytes: 0,
                    taken_bytes: 0,
                    has_ended: false,
                };
                return Ok(Self { state: Mutex::new(state) });
            }
        }
        Err(io::Error::other("no lock can be held in the data folder"))
    }

    /// Writes an entry down. It comes back if that cannot be, if too much waits already, or if nothing more is
    /// written. `true` if it makes what waits much.
    pub fn add(&self, entry: Entry) -> Result<bool, Entry> {
        let Ok(bytes) = frame(&entry) else { return Err(entry) };
        let mut state = self.state.lock();
        let State { files, current, entries, since, bytes: waiting, has_ended, .. } = &mut *state;
        if *has_ended || *waiting + bytes.len() > BYTES_MAX || files[*current].append(&bytes).is_err() {
            return Err(entry);
        }
        entries.push(entry);
        since.get_or_insert_with(Instant::now);
        let was_much = *waiting >= MUCH_BYTES;
        *waiting += bytes.len();
        Ok(*waiting >= MUCH_BYTES && !was_much)
    }

    /// What the database does not have. New entries go elsewhere from here on, if there is an empty file.
    fn take(&self) -> Vec<Entry> {
        let mut state = self.state.lock();
        let other = 1 - state.current;
        state.taken_bytes = state.bytes;
        if state.files[other].bytes == 0 && !state.entries.is_empty() {
            state.current = other;
        }
        std::mem::take(&mut state.entries)
    }

    /// The database has all that was taken.
    fn is_written(&self) {
        let mut state = self.state.lock();
        state.bytes -= std::mem::take(&mut state.taken_bytes);
        let (current, is_empty) = (state.current, state.entries.is_empty());
        state.since = (!is_empty).then(Instant::now);
        state.files[1 - current].empty();
        if is_empty {
            state.files[current].empty();
        }
    }

    /// It could not be written.
    fn put_back(&self, mut entries: Vec<Entry>) {
        let mut state = self.state.lock();
        entries.append(&mut state.entries);
        state.entries = entries;
        state.taken_bytes = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.state.lock().entries.is_empty()
    }

    /// Events of the audit that wait here, and how long the oldest entry has.
    pub fn waiting(&self) -> (usize, Duration) {
        let state = self.state.lock();
        let events = state.entries.iter().map(|entry| entry.audit.len()).sum();
        (events, state.since.map(|since| since.elapsed()).unwrap_or_default())
    }

    /// Brings the database up to date, and tells how far its audit goes now, if that is known.
    pub fn write_down(&self, connection: &mut Connection) -> Result<Option<AuditHead>, StoreError> {
        let entries = self.take();
        if entries.is_empty() {
            return Ok(None);
        }
        match write(connection, &entries) {
            Ok(head) => {
                self.is_written();
                Ok(head)
            }
            Err(StoreError::Refused(_)) => self.write_one_by_one(connection, entries),
            Err(error) => {
                self.put_back(entries);
                Err(error)
            }
        }
    }

    /// Something is wrong with one of them, which must not hold up the others.
    fn write_one_by_one(
        &self,
        connection: &mut Connection,
        entries: Vec<Entry>,
    ) -> Result<Option<AuditHead>, StoreError> {
        let mut head = None;
        let mut entries = entries.into_iter();
        while let Some(entry) = entries.next() {
            match write(connection, std::slice::from_ref(&entry)) {
                Ok(written) => head = written.or(head),
                Err(StoreError::Refused(why)) => {
                    let execution = entry.fact.execution();
                    tracing::warn!(target: LOG_AREA, execution, why, "an execution can't be recorded");
                }
                Err(error) => {
                    self.put_back(std::iter::once(entry).chain(entries).collect());
                    return Err(error);
                }
            }
        }
        self.is_written();
        Ok(head)
    }

    /// Nothing more comes. What could not be written stays for whoever is next.
    pub fn end(&self) {
        let mut state = self.state.lock();
        state.has_ended = true;
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
        if self.is_torn {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if let Err(error) = self.file.write_all(bytes) {
            self.is_torn = self.file.set_len(self.bytes as u64).is_err();
            return Err(error);
        }
        self.bytes += bytes.len();
        Ok(())
    }

    fn empty(&mut self) {
        if (self.bytes > 0 || self.is_torn) && self.file.set_len(0).is_ok() {
            (self.bytes, self.is_torn) = (0, false);
        }
    }
}

/// One transaction for all of them.
fn write(connection: &mut Connection, entries: &[Entry]) -> Result<Option<AuditHead>, StoreError> {
    let mut head = None;
    in_transaction(connection, |transaction| {
        let mut rows = Vec::new();
        for Entry { fact, audit } in entries {
            let is_new = match fact {
                Fact::Begun(row) => write_begun(transaction, row)?,
                Fact::Ended(row) => write_ended(transaction, row)?,
            };
            if is_new {
                rows.extend(audit);
            }
        }
        if !rows.is_empty() {
            head = Some(append(transaction, rows)?);
        }
        Ok(())
    })?;
    Ok(head)
}

/// Writes what processes left that are gone. What cannot be written now stays where it is, and is told.
pub(super) fn write_left(connection: &mut Connection, data_folder: &Path) -> Result<(), StoreError> {
    let folder = data_folder.join(FOLDER);
    if left_in(&folder).is_empty() {
        return Ok(());
    }
    // One at a time: whoever is about to call something lost must not pass by what another is writing.
    let failed = |why: String| StoreError::Folder { folder: folder.clone(), why };
    let _alone = FileLock::take(&folder.join(LOCK_NAME)).map_err(|error| failed(error.to_string()))?;
    let mut outcome = Ok(());
    for path in left_in(&folder) {
        if let Some(_lock) = lock_of(&path) {
            outcome = outcome.and(write_one_left(connection, &path));
        }
    }
    outcome
}

/// The first files of all journals.
fn left_in(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_journal = |path: &PathBuf| {
        let name = path.file_stem().and_then(|name| name.to_str()).and_then(ExecutionId::read);
        name.is_some() && path.extension().is_some_and(|end| end == ENDS[0])
    };
    paths.filter(is_journal).collect()
}

fn write_one_left(connection: &mut Connection, first: &Path) -> Result<(), StoreError> {
    let second = first.with_extension(ENDS[1]);
    let [(mut entries, first_is_read), (others, second_is_read)] = [first, &second].map(read);
    entries.extend(others);
    // Which of the files is the older one isn't known: what begins comes before what ends.
    entries.sort_by_key(|entry| matches!(entry.fact, Fact::Ended(_)));
    write(connection, &entries)?;
    for (path, is_read) in [(second.as_path(), second_is_read), (first, first_is_read)] {
        // What this version can't read is kept, for one that can.
        let _ = match is_read {
            true => fs::remove_file(path),
            false => fs::rename(path, unread_name(path)),
        };
    }
    Ok(())
}

fn unread_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".unread");
    name.into()
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

/// The entries of a file, as far as they are whole, and whether that is all that one could read.
fn read(path: &Path) -> (Vec<Entry>, bool) {
    let mut entries = Vec::new();
    let Some(bytes) = bytes_of(path) else { return (entries, true) };
    let (mut rest, mut is_read) = (bytes.as_slice(), bytes.len() <= FILE_BYTES_MAX);
    while let Some((entry, after)) = first_of(rest) {
        is_read &= entry.is_some();
        entries.extend(entry);
        rest = after;
    }
    (entries, is_read)
}

fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let mut bytes = Vec::new();
    if file.metadata().ok()?.is_file() {
        file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).ok()?;
    }
    Some(bytes)
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
