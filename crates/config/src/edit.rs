//! Adds, replaces and removes one server in a file, and leaves everything else as it was.
//!
//! However the text was changed, the result is read again before it replaces the file: the one
//! server must be what was meant, and the rest what it was.

use std::path::{Path, PathBuf};

use gristmill_files::{WriteError, replace_keeping_mode};
use gristmill_gateway::domain::ServerSettings;
use serde_json::Value as Json;

use super::by_hand::ByHand;
use super::document::BLOCKS;
use super::format::Format;
use super::layout::Layout;
use super::problem::{Problem, ProblemKind, Problems, closest};
use super::read_file::{FileText, ReadError};
use super::references::Folders;
use super::server_entry;
use super::server_place::ServerPlace;
use super::strictness::Strictness;
use super::tree::{Entry, Node, Value};
use super::written::{self, Purpose};
use super::{edit_json, edit_toml};

/// What to do to a file.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// Put a server there.
    Put {
        server: &'a ServerSettings,
        /// Whether one with the same name may go.
        replace: bool,
    },
    /// Take a server away.
    Remove { name: &'a str },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The file was made for it.
    Created,
    Added,
    /// It took the place of another.
    Replaced,
    Removed,
}

/// A file that was changed.
#[derive(Debug)]
pub struct Edited {
    pub done: Done,
    /// The file as it was; none if it was made.
    pub before: Option<Vec<u8>>,
    /// The file as it is.
    pub after: Vec<u8>,
}

/// The file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It cannot be read.
    #[error("{path} {source}", path = .path.display())]
    Read { path: PathBuf, source: ReadError },
    /// It has mistakes that keep us from changing it.
    #[error("the file has mistakes that must be mended first:\n{}", listed(.0))]
    Mistakes(Vec<Problem>),
    /// The server is wrong.
    #[error("can't write the server:\n{}", listed(.0))]
    BadServer(Vec<Problem>),
    /// There is one with this name.
    #[error("{path} already has a server `{name}`; use --replace to put this one in its place", path = .path.display())]
    Exists { path: PathBuf, name: String },
    #[error("{path} has no server `{name}`{}", near(.nearest), path = .path.display())]
    NotThere {
        path: PathBuf,
        name: String,
        /// One that is there.
        nearest: Option<String>,
    },
    /// The text is laid out in a way that we will not touch.
    #[error("{path} can't be edited safely: {why}; change it in an editor", path = .path.display())]
    NotSafe {
        path: PathBuf,
        /// What is in the way.
        why: &'static str,
    },
    /// It is YAML, which only its owner edits.
    #[error("{0}")]
    ByHand(ByHand),
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("  {problem}")).collect::<Vec<_>>().join("\n")
}

fn near(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// Whether changes to this file are left to its owner: then nothing here writes it.
pub fn is_left_to_owner(path: &Path) -> bool {
    match Format::of(path) {
        Some(Format::Yaml) => true,
        Some(Format::Toml | Format::Json) | None => false,
    }
}

/// Whether a file can be read for changing it; one that is not there can.
pub fn check(path: &Path) -> Result<(), EditError> {
    let unreadable = |source| EditError::Read { path: path.to_owned(), source };
    let Some(file) = FileText::read_if_there(path).map_err(unreadable)? else { return Ok(()) };
    let format = Format::of(path).ok_or(unreadable(ReadError::UnknownFormat))?;
    parse(format, file.text().map_err(unreadable)?, path).map(drop)
}

/// What the owner of a file does to it to have these servers there.
pub fn by_hand(path: &Path, servers: &[&ServerSettings], home: Option<&Path>) -> Result<ByHand, EditError> {
    let file = File::read(path)?;
    let block = block_for_new(&file.tree, path);
    let node = |server: &&ServerSettings| node_for(server, block, path, home);
    let nodes = servers.iter().map(node).collect::<Result<Vec<_>, _>>()?;
    let servers: Vec<(&str, Node)> = servers.iter().map(|server| server.name.as_str()).zip(nodes).collect();
    Ok(ByHand::put(path, &file.tree, block, &servers))
}

/// Changes a file, or leaves it alone.
pub fn edit(path: &Path, change: Change<'_>, home: Option<&Path>) -> Result<Edited, EditError> {
    let file = File::read(path)?;
    let name = match change {
        Change::Put { server, .. } => server.name.as_str(),
        Change::Remove { name } => name,
    };
    let there = BLOCKS.into_iter().find(|block| file.server(block, name).is_some());
    let block = there.unwrap_or_else(|| block_for_new(&file.tree, path));
    let node = match change {
        Change::Put { replace: false, .. } if there.is_some() => {
            return Err(EditError::Exists { path: path.to_owned(), name: name.to_owned() });
        }
        Change::Put { server, .. } => Some(node_for(server, block, path, home)?),
        Change::Remove { .. } if there.is_none() => return Err(not_there(&file.tree, path, name)),
        Change::Remove { .. } => None,
    };
    let after = file.changed(path, &ServerPlace { block, name }, node.as_ref())?;
    replace_keeping_mode(path, &after)?;
    let done = match (node, &file.old, there) {
        (None, _, _) => Done::Removed,
        (Some(_), None, _) => Done::Created,
        (Some(_), Some(_), None) => Done::Added,
        (Some(_), Some(_), Some(_)) => Done::Replaced,
    };
    Ok(Edited { done, before: file.old.map(|file| file.bytes), after })
}

/// A file before it is changed.
pub(super) struct File {
    /// None if there is no file.
    old: Option<FileText>,
    pub(super) format: Format,
    pub(super) text: Layout,
    pub(super) tree: Node,
}

impl File {
    pub(super) fn read(path: &Path) -> Result<Self, EditError> {
        let unreadable = |source| EditError::Read { path: path.to_owned(), source };
        let old = FileText::read_if_there(path).map_err(unreadable)?;
        let format = Format::of(path).ok_or(unreadable(ReadError::UnknownFormat))?;
        let text = match &old {
            Some(file) => {
                Layout::of(file.text().map_err(unreadable)?, file.bytes.starts_with(b"\xef\xbb\xbf"))
            }
            None => Layout::of("", false),
        };
        let tree = parse(format, &text.lines, path)?;
        Ok(Self { old, format, text, tree })
    }

    /// As it was; none if there is no file.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        self.old.as_ref().map(|file| file.bytes.clone())
    }

    fn server(&self, block: &str, name: &str) -> Option<&Entry> {
        self.tree.entry(block)?.node.entry(name)
    }

    /// Its bytes with this server, or without it, and otherwise as they were.
    fn changed(
        &self,
        path: &Path,
        place: &ServerPlace<'_>,
        node: Option<&Node>,
    ) -> Result<Vec<u8>, EditError> {
        let not_safe = |why| EditError::NotSafe { path: path.to_owned(), why };
        let changed = match (self.format, node) {
            (Format::Toml, _) => edit_toml::edit(&self.text.lines, place, node),
            (Format::Json, _) => edit_json::edit(&self.text.lines, place, node),
            (Format::Yaml, Some(node)) => {
                let servers = [(place.name, node.clone())];
                return Err(EditError::ByHand(ByHand::put(path, &self.tree, place.block, &servers)));
            }
            (Format::Yaml, None) => {
                let server = self.server(place.block, place.name);
                return Err(match server {
                    Some(server) => EditError::ByHand(ByHand::remove(path, server)),
                    None => not_there(&self.tree, path, place.name),
                });
            }
        };
        let changed = changed.map_err(not_safe)?;
        let result =
            self.format.parse(&changed).map_err(|_| not_safe("the result could not be read again"))?;
        let expected = without_empty_blocks(expected(&self.tree, place, node));
        if expected != without_empty_blocks(result.to_json()) {
            return Err(not_safe("more than the one server would have changed"));
        }
        Ok(self.text.restore(&changed))
    }
}

fn parse(format: Format, text: &str, path: &Path) -> Result<Node, EditError> {
    let mut problems = Problems::of(path);
    match format.parse(text) {
        Ok(tree) => {
            for (key, line) in tree.repeated_keys() {
                problems.error(&key, line, ProblemKind::Repeated);
            }
            if !matches!(tree.value, Value::Map(_)) {
                problems.wrong_type("", &tree, "a table");
            }
            if problems.errors() == 0 {
                return Ok(tree);
            }
        }
        Err(error) => problems.error("", error.line().unwrap_or(0), error.into()),
    }
    Err(EditError::Mistakes(problems.into_vec()))
}

/// Where the file already keeps servers; otherwise our own block, or the shared one in a file
/// that other clients read.
fn block_for_new(tree: &Node, path: &Path) -> &'static str {
    let is_shared = path.file_name().is_some_and(|name| name == super::locations::SHARED_NAME);
    let there = BLOCKS.into_iter().find(|block| tree.entry(block).is_some());
    there.unwrap_or(if is_shared { "mcpServers" } else { "servers" })
}

/// The server as a tree, which must read back as the same server.
fn node_for(
    server: &ServerSettings,
    block: &str,
    path: &Path,
    home: Option<&Path>,
) -> Result<Node, EditError> {
    let purpose = if block == "mcpServers" { Purpose::SharedFile } else { Purpose::File };
    let node = written::server(server, purpose);
    let mut problems = Problems::default();
    let folders = Folders::of(path, home);
    let read =
        server_entry::read(&server.name, &node, &server.name, Strictness::Ours, &folders, &mut problems);
    match read {
        Some(read) if read == *server => Ok(node),
        Some(_) => Err(EditError::NotSafe { path: path.to_owned(), why: "the server would not read back" }),
        None => Err(EditError::BadServer(problems.into_vec())),
    }
}

fn not_there(tree: &Node, path: &Path, name: &str) -> EditError {
    let blocks = BLOCKS.into_iter().filter_map(|block| tree.entry(block));
    let names: Vec<&str> = blocks.flat_map(|e| e.node.entries()).map(|e| e.key.as_str()).collect();
    EditError::NotThere { path: path.to_owned(), name: name.to_owned(), nearest: closest(name, &names) }
}

/// What the file should say afterwards.
fn expected(tree: &Node, place: &ServerPlace<'_>, node: Option<&Node>) -> Json {
    let mut json = tree.to_json();
    let Some(root) = json.as_object_mut() else { return json };
    let block = root.entry(place.block).or_insert(Json::Null);
    if block.is_null() {
        *block = Json::Object(serde_json::Map::new());
    }
    if let Some(block) = block.as_object_mut() {
        match node {
            Some(node) => drop(block.insert(place.name.to_owned(), node.to_json())),
            None => drop(block.remove(place.name)),
        }
    }
    json
}

/// A block without servers says as much as none.
fn without_empty_blocks(mut json: Json) -> Json {
    if let Some(root) = json.as_object_mut() {
        let is_empty = |value: &Json| value.is_null() || value.as_object().is_some_and(|map| map.is_empty());
        root.retain(|key, value| !(BLOCKS.contains(&key.as_str()) && is_empty(value)));
    }
    json
}
