//! Takes our entry out of a client's file again, and puts back what moved behind us. What others
//! changed in the file meanwhile stays.

use std::time::SystemTime;

use gristmill_config::edit::{Done, Edited};
use gristmill_config::tree::Node;
use gristmill_files::{WriteError, replace_keeping_mode};
use serde_json::Value as Json;

use super::backup;
use super::change::{self, Change};
use super::client_file::ClientFile;
use super::connect::{ChangedFile, ConnectError, is_read_only, unchanged};
use super::diff;
use super::masked_text;
use super::our_entry;
use super::places::Place;
use super::records::{Connection, Records};

#[derive(Debug)]
pub struct Plan {
    place: Place,
    before: Vec<u8>,
    /// None if the file goes: we made it, and nothing else is in it.
    after: Option<Vec<u8>>,
    /// The names that we had there.
    pub names: Vec<String>,
    /// Servers that are put back.
    pub restored: Vec<String>,
    /// Servers that moved behind us and stay there, each with the reason.
    pub kept: Vec<(String, &'static str)>,
}

/// What to do with servers that moved behind us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedServers {
    /// They go back, where their names are free.
    Restore,
    /// They stay behind us.
    Keep,
}

/// Plans it; none if we are not in the file.
pub fn plan(
    place: &Place,
    file: &ClientFile,
    records: &Records,
    moved: MovedServers,
) -> Result<Option<Plan>, ConnectError> {
    let known = records.of(&place.path);
    let there = file.own_block();
    let is_ours = |name: &str, node: &Node| {
        our_entry::is_ours(node)
            || known.is_some_and(|known| known.name == name && our_entry::is_as_written(node, &known.entry))
    };
    let ours = there.iter().filter(|entry| is_ours(&entry.key, &entry.node));
    let names: Vec<String> = ours.map(|entry| entry.key.clone()).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let mut put = Vec::new();
    let mut kept = Vec::new();
    for server in known.map_or(&[][..], |known| &known.moved) {
        let is_taken = there.iter().any(|entry| entry.key == server.name) && !names.contains(&server.name);
        match moved {
            MovedServers::Keep => kept.push((server.name.clone(), "as you asked")),
            MovedServers::Restore if is_taken => {
                kept.push((server.name.clone(), "the client now has another server with that name"));
            }
            MovedServers::Restore => put.push((server.name.clone(), change::node_of(&server.entry.0))),
        }
    }
    let restored = put.iter().map(|(name, _)| name.clone()).collect();
    let change = Change { remove: names.clone(), put };
    let before = file.file.bytes.clone();
    let after = match taken_back(place, &before, known, &change) {
        Some(after) => after,
        None => change::changed(place, Some(&before), &change)?,
    };
    let is_made_by_us = known.is_some_and(|known| known.backup.is_none());
    let after = (!(is_made_by_us && says_nothing(place, &after))).then_some(after);
    Ok(Some(Plan { place: place.clone(), before, after, names, restored, kept }))
}

/// To the byte, if what we wrote stands there as we wrote it, and this says what is meant.
fn taken_back(place: &Place, before: &[u8], known: Option<&Connection>, change: &Change) -> Option<Vec<u8>> {
    let undo = known?.undo.as_ref()?;
    let text = std::str::from_utf8(before).ok()?;
    let after = undo.apply(text)?;
    let plain = |text: &str| text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    change::is_change_of(place, &plain(text), change, &plain(&after)).then(|| after.into_bytes())
}

fn says_nothing(place: &Place, after: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(after) else { return false };
    let Ok(tree) = super::client_file::parse(place, text) else { return false };
    let is_empty = |json: &Json| json.as_object().is_some_and(|map| map.is_empty());
    let is_bare = |c: char| c.is_whitespace() || matches!(c, '{' | '}' | '"' | ':' | '[' | ']');
    let words: String = text.chars().filter(|c| !is_bare(*c)).collect();
    // A comment says something, too.
    tree.entries().iter().all(|entry| entry.key == place.client.block() && is_empty(&entry.node.to_json()))
        && (words.is_empty() || words == place.client.block())
}

impl Plan {
    /// What would change, for people: no secrets in it.
    pub fn diff(&self, name: &str) -> String {
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
            masked_text::mask(text.trim_start_matches('\u{feff}'), self.place.format)
        };
        diff::unified(&text(&self.before), &self.after.as_deref().map(text).unwrap_or_default(), name)
    }

    /// Whether the file itself goes.
    pub fn removes_file(&self) -> bool {
        self.after.is_none()
    }

    pub fn carry_out(self, records: &mut Records, now: SystemTime) -> Result<ChangedFile, ConnectError> {
        let path = &self.place.path;
        if is_read_only(path) {
            return Err(ConnectError::ReadOnly(path.clone()));
        }
        unchanged(path, Some(&self.before))?;
        let backup = backup::save(&self.place, records.folder(), &self.before, now)?;
        match &self.after {
            Some(after) => replace_keeping_mode(path, after)?,
            None => std::fs::remove_file(path).map_err(|source| WriteError::system(path, source))?,
        }
        // Last: until the file is changed, the record is what tells how.
        records.forget(path)?;
        let after = self.after.unwrap_or_default();
        let edited = Edited { done: Done::Removed, before: Some(self.before), after };
        Ok(ChangedFile { backup: Some(backup), edited })
    }
}
