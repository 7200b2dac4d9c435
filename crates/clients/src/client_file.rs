//! One file of a client, read: its tree, its servers, or what is wrong with it.

use std::path::{Path, PathBuf};

use gristmill_config::problem::shown;
use gristmill_config::read_file::{FileText, ReadError};
use gristmill_config::tree::{Bounds, Entry, Node, Value};

use super::places::{Block, Place};

/// The largest file that is read. Claude Code keeps its history in the same file as its servers.
pub const BYTES_MAX: u64 = 32 << 20;
const DEPTH_MAX: usize = 128;
const NODES_MAX: usize = 2_000_000;
/// More servers than anyone has, over all projects of one file.
const SERVERS_MAX: usize = 2_000;

/// A file that cannot be used. It is left as it is.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system, the size or the encoding is in the way.
    #[error("{} {source}", shown(&.path.display().to_string()))]
    Read { path: PathBuf, source: ReadError },
    /// It is not in its format.
    #[error("{}{}: can't be parsed: {message}", shown(&.path.display().to_string()), at(.line, .column))]
    Syntax {
        path: PathBuf,
        /// From 1.
        line: Option<usize>,
        /// From 1.
        column: Option<usize>,
        /// What the parser says.
        message: String,
    },
    /// Something else stands where servers should.
    #[error("{}{}: `{key}` must be a table of servers, not {found}", shown(&.path.display().to_string()), at(&Some(*.line), &None))]
    NotATable {
        path: PathBuf,
        /// From 1.
        line: usize,
        key: String,
        found: &'static str,
    },
}

fn at(line: &Option<usize>, column: &Option<usize>) -> String {
    [line, column].into_iter().flatten().map(|number| format!(":{number}")).collect()
}

/// A file that could be read.
#[derive(Debug)]
pub struct ClientFile {
    pub place: Place,
    pub file: FileText,
    pub tree: Node,
}

/// A server as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub struct ListedServer<'a> {
    /// Its name and its settings.
    pub entry: &'a Entry,
    /// The project that it is for, if it is for one of several in this file.
    pub project: Option<&'a str>,
}

impl ClientFile {
    /// Reads it; none if it is not there.
    pub fn read(place: &Place) -> Result<Option<Self>, FileError> {
        let unreadable = |source| FileError::Read { path: place.path.clone(), source };
        let Some(file) = FileText::read_if_there_within(&place.path, BYTES_MAX).map_err(unreadable)? else {
            return Ok(None);
        };
        let tree = parse(place, file.text().map_err(unreadable)?)?;
        let read = Self { place: place.clone(), file, tree };
        read.check_tables()?;
        Ok(Some(read))
    }

    /// Its servers, bounded in number.
    pub fn servers(&self) -> Vec<ListedServer<'_>> {
        let mut listed = Vec::new();
        for (block, project) in self.blocks() {
            listed.extend(block.entries().iter().map(|entry| ListedServer { entry, project }));
        }
        listed.truncate(SERVERS_MAX);
        listed
    }

    /// The servers in the table that we write to.
    pub fn own_block(&self) -> &[Entry] {
        self.tree.entry(self.place.client.block()).map_or(&[], |entry| entry.node.entries())
    }

    fn blocks(&self) -> Vec<(&Node, Option<&str>)> {
        let top = |key: &str| self.tree.entry(key).map(|entry| (&entry.node, None));
        match self.place.block {
            Block::Top(key) => top(key).into_iter().collect(),
            Block::Inside(outer, key) => {
                // Settings can be written either way: {"mcp": {"servers": …}} and {"mcp.servers": …}.
                let inside = self.tree.entry(outer).and_then(|outer| outer.node.entry(key));
                let dotted = self.tree.entry(&format!("{outer}.{key}"));
                inside.into_iter().chain(dotted).map(|entry| (&entry.node, None)).collect()
            }
            Block::TopAndProjects(key) => {
                let projects = self.tree.entry("projects").map_or(&[][..], |entry| entry.node.entries());
                let below = projects
                    .iter()
                    .filter_map(|project| Some((&project.node.entry(key)?.node, Some(project.key.as_str()))));
                top(key).into_iter().chain(below).collect()
            }
        }
    }

    fn check_tables(&self) -> Result<(), FileError> {
        let not_a_table = |key: &str, node: &Node| FileError::NotATable {
            path: self.place.path.clone(),
            line: node.line,
            key: key.to_owned(),
            found: node.value.kind(),
        };
        if !matches!(self.tree.value, Value::Map(_)) {
            return Err(not_a_table("", &self.tree));
        }
        for (node, _) in self.blocks() {
            if !matches!(node.value, Value::Map(_) | Value::Null) {
                return Err(not_a_table(self.place.client.block(), node));
            }
        }
        Ok(())
    }
}

/// The text of a client's file as a tree.
pub fn parse(place: &Place, text: &str) -> Result<Node, FileError> {
    place.format.parse_within(text, Bounds::new(DEPTH_MAX, NODES_MAX)).map_err(|error| FileError::Syntax {
        path: place.path.clone(),
        line: error.line(),
        column: error.column(),
        message: error.to_string(),
    })
}

/// A path as people write it, with `~` for their home.
pub fn short(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => shown(&format!("~/{}", below.display())),
        None => shown(&path.display().to_string()),
    }
}
