//! A tree of files in memory: it begins as a small project and is gone with the server.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::inside_path::InsidePath;
use super::tree::{Entry, Kind, Tree, WriteMode};
use crate::calendar;

const ENTRIES_MAX: usize = 5_000;
const TOTAL_BYTES_MAX: usize = 32 << 20;

#[derive(Clone)]
struct Node {
    /// `None` is a folder.
    bytes: Option<Vec<u8>>,
    modified: i64,
}

struct State {
    nodes: BTreeMap<String, Node>,
    /// Moves one second with each change, so that times are the same on each run.
    clock: i64,
}

pub struct MemoryTree {
    state: Mutex<State>,
}

impl MemoryTree {
    /// A tree with these files and the folders that they need.
    pub fn with_files(files: Vec<(&'static str, String)>) -> Self {
        let clock = calendar::this_morning();
        let mut nodes = BTreeMap::new();
        for (path, text) in files {
            for (end, _) in path.match_indices('/') {
                nodes.insert(path[..end].to_owned(), Node { bytes: None, modified: clock });
            }
            nodes.insert(path.to_owned(), Node { bytes: Some(text.into_bytes()), modified: clock });
        }
        Self { state: Mutex::new(State { nodes, clock }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn node(&self, path: &InsidePath) -> Result<&Node, String> {
        self.nodes.get(&path.to_string()).ok_or_else(|| format!("there is no {path}"))
    }

    fn check_folder(&self, path: &InsidePath) -> Result<(), String> {
        if path.is_root() {
            return Ok(());
        }
        match self.nodes.get(&path.to_string()) {
            Some(Node { bytes: None, .. }) => Ok(()),
            Some(_) => Err(format!("{path} is a file, not a folder")),
            None => Err(format!("there is no folder {path}")),
        }
    }

    fn check_room(&self, bytes: usize) -> Result<(), String> {
        let used: usize = self.nodes.values().filter_map(|node| node.bytes.as_ref()).map(Vec::len).sum();
        if used.saturating_add(bytes) > TOTAL_BYTES_MAX {
            return Err(format!("the tree is full: it holds at most {TOTAL_BYTES_MAX} bytes"));
        }
        if self.nodes.len() >= ENTRIES_MAX {
            return Err(format!("the tree is full: it holds at most {ENTRIES_MAX} files and folders"));
        }
        Ok(())
    }

    fn put(&mut self, path: String, bytes: Option<Vec<u8>>) {
        self.clock += 1;
        self.nodes.insert(path, Node { bytes, modified: self.clock });
    }
}

impl Tree for MemoryTree {
    fn entries(&self, folder: &InsidePath) -> Result<Vec<Entry>, String> {
        let state = self.state();
        state.check_folder(folder)?;
        let prefix = folder.join("");
        let below = state.nodes.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
        Ok(below
            .filter_map(|(path, node)| {
                let name = &path[prefix.len()..];
                (!name.is_empty() && !name.contains('/')).then(|| entry(name, node))
            })
            .collect())
    }

    fn entry(&self, path: &InsidePath) -> Result<Entry, String> {
        if path.is_root() {
            return Ok(entry("", &Node { bytes: None, modified: calendar::this_morning() }));
        }
        self.state().node(path).map(|node| entry(path.last(), node))
    }

    fn read(&self, path: &InsidePath, bytes_max: usize) -> Result<Vec<u8>, String> {
        match &self.state().node(path)?.bytes {
            Some(bytes) if bytes.len() <= bytes_max => Ok(bytes.clone()),
            Some(bytes) => Err(format!("{path} has {} bytes; at most {bytes_max} are read", bytes.len())),
            None => Err(format!("{path} is a folder; use list_directory")),
        }
    }

    fn write(&self, path: &InsidePath, text: &str, mode: WriteMode, bytes_max: usize) -> Result<u64, String> {
        let mut state = self.state();
        state.check_folder(&path.parent())?;
        state.check_room(text.len())?;
        let mut bytes = match state.nodes.get(&path.to_string()) {
            Some(Node { bytes: None, .. }) => return Err(format!("{path} is a folder")),
            Some(Node { bytes: Some(_), .. }) if mode == WriteMode::New => {
                return Err(format!("{path} exists already; use mode replace or append"));
            }
            Some(Node { bytes: Some(before), .. }) if mode == WriteMode::Append => before.clone(),
            Some(_) | None => Vec::new(),
        };
        if bytes.len() + text.len() > bytes_max {
            return Err(format!("{path} would be larger than {bytes_max} bytes"));
        }
        bytes.extend_from_slice(text.as_bytes());
        let size = bytes.len() as u64;
        state.put(path.to_string(), Some(bytes));
        Ok(size)
    }

    fn make_folder(&self, path: &InsidePath) -> Result<bool, String> {
        let mut state = self.state();
        let mut created = false;
        for folder in path.ancestry() {
            match state.nodes.get(&folder.to_string()) {
                Some(Node { bytes: None, .. }) => {}
                Some(_) => return Err(format!("{folder} is a file, not a folder")),
                None => {
                    state.check_room(0)?;
                    state.put(folder.to_string(), None);
                    created = true;
                }
            }
        }
        Ok(created)
    }

    fn rename(&self, from: &InsidePath, to: &InsidePath, overwrite: bool) -> Result<(), String> {
        let mut state = self.state();
        let moved_is_file = state.node(from)?.bytes.is_some();
        state.check_folder(&to.parent())?;
        match state.nodes.get(&to.to_string()) {
            Some(Node { bytes: Some(_), .. }) if overwrite && moved_is_file => {}
            Some(Node { bytes: Some(_), .. }) => {
                return Err(format!("{to} exists already; set overwrite to replace a file"));
            }
            Some(_) => return Err(format!("{to} is a folder; give the new name as well")),
            None => {}
        }
        let (old, new) = (from.to_string(), to.to_string());
        let inside = format!("{old}/");
        let moved: Vec<String> =
            state.nodes.keys().filter(|path| **path == old || path.starts_with(&inside)).cloned().collect();
        for path in moved {
            if let Some(node) = state.nodes.remove(&path) {
                state.nodes.insert(format!("{new}{}", &path[old.len()..]), node);
            }
        }
        Ok(())
    }
}

fn entry(name: &str, node: &Node) -> Entry {
    Entry {
        name: name.to_owned(),
        kind: if node.bytes.is_some() { Kind::File } else { Kind::Folder },
        size_bytes: node.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
        modified: node.modified,
    }
}
