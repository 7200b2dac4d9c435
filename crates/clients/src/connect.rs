//! Puts our entry into a client's file: planned first, shown, then written.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gristmill_config::edit::{Done, Edited};
use gristmill_config::read_file::{FileText, ReadError};
use gristmill_config::tree::Node;
use gristmill_files::{WriteError, replace_keeping_mode};

use super::backup;
use super::change::{self, Change, ChangeError};
use super::client_file::{ClientFile, FileError};
use super::diff;
use super::entry_token;
use super::masked_text;
use super::our_entry::{self, OldArguments};
use super::places::Place;
use super::records::{Connection, Moved, Records, RecordsError, SavedEntry, hash_of};
use super::undo::Undo;

/// What the file is to say.
#[derive(Clone, Debug)]
pub struct EntryRequest {
    /// What we are called.
    pub name: String,
    pub entry: Node,
    /// What becomes of its arguments, if it is there already.
    pub arguments: OldArguments,
    /// Servers that move behind us.
    pub move_away: Vec<String>,
}

/// Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file cannot be changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// Someone else has our name.
    #[error("{path} already has a server `{name}` that isn't Gristmill; choose another name with --name", path = .path.display())]
    NameTaken { path: PathBuf, name: String },
    /// We are there under another name.
    #[error("{path} already has Gristmill as `{name}`; use --name {name} to change that entry, or disconnect first", path = .path.display())]
    OtherName { path: PathBuf, name: String },
    /// The owner protects it.
    #[error("{path} is read-only; make it writable, or add the entry by hand", path = .0.display())]
    ReadOnly(PathBuf),
    /// The client wrote it meanwhile.
    #[error("{path} changed in the meantime, so nothing was written; run the command again", path = .0.display())]
    ChangedMeanwhile(PathBuf),
    /// It cannot be read again.
    #[error("{path} {source}", path = .path.display())]
    Read { path: PathBuf, source: ReadError },
    /// The backup or the file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Records(#[from] RecordsError),
}

#[derive(Debug)]
pub struct Plan {
    place: Place,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
    record: Connection,
    /// How it is now.
    pub state: State,
}

#[derive(Debug)]
pub struct ChangedFile {
    /// The file as it was; none if there was none.
    pub backup: Option<PathBuf>,
    /// What was done to it.
    pub edited: Edited,
}

/// How a file is before it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is not there.
    NoFile,
    /// It does not have us.
    NotConnected,
    /// It has us, otherwise than we would write it now.
    Outdated,
    /// It has us as we would write it now.
    Connected,
}

pub fn plan(
    place: &Place,
    file: Option<&ClientFile>,
    wanted: &EntryRequest,
    records: &Records,
    now: SystemTime,
) -> Result<Plan, ConnectError> {
    let known = records.of(&place.path);
    let there = file.map_or(&[][..], ClientFile::own_block);
    let is_ours = |name: &str, node: &Node| {
        our_entry::is_ours(node)
            || known.is_some_and(|known| known.name == name && our_entry::is_as_written(node, &known.entry))
    };
    let other = there.iter().find(|entry| entry.key != wanted.name && is_ours(&entry.key, &entry.node));
    if let Some(other) = other {
        return Err(ConnectError::OtherName { path: place.path.clone(), name: other.key.clone() });
    }
    let current = there.iter().find(|entry| entry.key == wanted.name);
    if current.is_some_and(|current| !is_ours(&current.key, &current.node)) {
        return Err(ConnectError::NameTaken { path: place.path.clone(), name: wanted.name.clone() });
    }
    let written = known.filter(|known| !known.has_own_token).map(|known| &known.entry);
    let has_own_token = current.is_some_and(|current| entry_token::is_someones_own(&current.node, written));
    let entry = current.map_or_else(
        || wanted.entry.clone(),
        |current| our_entry::updated(&current.node, &wanted.entry, wanted.arguments, written),
    );
    let is_current = current.is_some_and(|current| current.node.to_json() == entry.to_json());
    let moved: Vec<Moved> = there
        .iter()
        .filter(|entry| wanted.move_away.contains(&entry.key) && entry.key != wanted.name)
        .map(|entry| Moved { name: entry.key.clone(), entry: SavedEntry(entry.node.to_json()) })
        .collect();
    let state = match (file, current) {
        (None, _) => State::NoFile,
        (Some(_), None) => State::NotConnected,
        (Some(_), Some(_)) if is_current && moved.is_empty() => State::Connected,
        (Some(_), Some(_)) => State::Outdated,
    };
    let put = if is_current { Vec::new() } else { vec![(wanted.name.clone(), entry.clone())] };
    let change = Change { remove: moved.iter().map(|moved| moved.name.clone()).collect(), put };
    let before = file.map(|file| file.file.bytes.clone());
    let after = change::changed(place, before.as_deref(), &change)?;
    let undo = undo(before.as_deref().unwrap_or_default(), &after, known, current.is_some());
    let mut all_moved =
        known.filter(|_| current.is_some()).map_or_else(Vec::new, |known| known.moved.clone());
    all_moved.retain(|earlier| moved.iter().all(|moved| moved.name != earlier.name));
    all_moved.extend(moved);
    let record = Connection {
        client: place.client.name().to_owned(),
        file: place.path.clone(),
        name: wanted.name.clone(),
        at: backup::stamp(now),
        entry: entry.to_json(),
        has_own_token,
        previous: current.map(|current| SavedEntry(current.node.to_json())),
        hash: hash_of(&after),
        backup: None,
        moved: all_moved,
        undo,
    };
    Ok(Plan { place: place.clone(), before, after, record, state })
}

/// From the file as it would be without us to the file with us.
fn undo(before: &[u8], after: &[u8], known: Option<&Connection>, was_there: bool) -> Option<Undo> {
    let (before, after) = (std::str::from_utf8(before).ok()?, std::str::from_utf8(after).ok()?);
    if !was_there {
        return Undo::between(before, after);
    }
    let without_us = known?.undo.as_ref()?.apply(before)?;
    Undo::between(&without_us, after)
}

impl Plan {
    /// What would change, for people: no secrets in it.
    pub fn diff(&self, name: &str) -> String {
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
            masked_text::mask(text.trim_start_matches('\u{feff}'), self.place.format)
        };
        let before = self.before.as_deref().map(text).unwrap_or_default();
        diff::unified(&before, &text(&self.after), name)
    }

    /// The servers that move, by their names in the client.
    pub fn moved(&self) -> Vec<&str> {
        self.record.moved.iter().map(|moved| moved.name.as_str()).collect()
    }

    /// Whether the file may be changed at all.
    pub fn check(&self) -> Result<(), ConnectError> {
        if self.before.is_some() && is_read_only(&self.place.path) {
            return Err(ConnectError::ReadOnly(self.place.path.clone()));
        }
        Ok(())
    }

    /// Does it: a backup, a record, then the file. Whatever happens in between, the file is whole.
    pub fn carry_out(mut self, records: &mut Records, now: SystemTime) -> Result<ChangedFile, ConnectError> {
        self.check()?;
        unchanged(&self.place.path, self.before.as_deref())?;
        let path = &self.place.path;
        let keep = |bytes: &[u8]| backup::save(&self.place, records.folder(), bytes, now);
        let backup = self.before.as_deref().map(keep).transpose()?;
        self.record.backup.clone_from(&backup);
        records.put(self.record)?;
        replace_keeping_mode(path, &self.after)?;
        let done = if self.before.is_some() { Done::Added } else { Done::Created };
        Ok(ChangedFile { backup, edited: Edited { done, before: self.before, after: self.after } })
    }
}

/// Clients write their files while they run; what they wrote since we looked must not be lost.
pub fn unchanged(path: &Path, before: Option<&[u8]>) -> Result<(), ConnectError> {
    let now = FileText::read_if_there_within(path, super::client_file::BYTES_MAX)
        .map_err(|source| ConnectError::Read { path: path.to_owned(), source })?;
    if now.as_ref().map(|file| file.bytes.as_slice()) != before {
        return Err(ConnectError::ChangedMeanwhile(path.to_owned()));
    }
    Ok(())
}

/// Whether its owner took the right to write away. The folder would still let us replace it.
pub fn is_read_only(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly())
}
