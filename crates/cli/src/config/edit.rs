//! Adds, replaces and removes one server in a file, and leaves everything else as it was.
//!
//! However the text was changed, the result is read again before it replaces the file: the one
//! server must be what was meant, and the rest what it was.

use std::path::{Path, PathBuf};

use gristmill_gateway::domain::ServerSettings;
use serde_json::Value as Json;

use super::atomic_file::{self, WriteError};
use super::document::BLOCKS;
use super::format::Format;
use super::layout::Layout;
use super::problem::{Problem, Problems, What, closest};
use super::read_file::{FileText, ReadError};
use super::references::Folders;
use super::server_entry::{self, Strictness};
use super::tree::{Node, Value};
use super::written::{self, Purpose};
use super::{edit_json, edit_toml, edit_yaml};

/// What to do to a file.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// Put a server there.
    Put {
        /// The server.
        server: &'a ServerSettings,
        /// Whether one with the same name may go.
        replace: bool,
    },
    /// Take a server away.
    Remove {
        /// Its name.
        name: &'a str,
    },
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The file was made for it.
    Created,
    /// It was added.
    Added,
    /// It took the place of another.
    Replaced,
    /// It is gone.
    Removed,
}

/// A file that was changed.
#[derive(Debug)]
pub struct Edited {
    /// What was done.
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
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
    /// It has mistakes that keep us from changing it.
    #[error("the file has mistakes that must be mended first:\n{}", listed(.0))]
    Mistakes(Vec<Problem>),
    /// The server is wrong.
    #[error("the server cannot be written:\n{}", listed(.0))]
    BadServer(Vec<Problem>),
    /// There is one with this name.
    #[error("{path} already has a server `{name}`; use --replace to put this one in its place", path = .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
        /// The server.
        name: String,
    },
    /// There is none.
    #[error("{path} has no server `{name}`{}", near(.nearest), path = .path.display())]
    NotThere {
        /// The file.
        path: PathBuf,
        /// The server.
        name: String,
        /// One that is there.
        nearest: Option<String>,
    },
    /// The text is laid out in a way that we will not touch.
    #[error("{path} is laid out in a way that cannot be changed safely: {why}; change it in an editor", path = .path.display())]
    NotSafe {
        /// The file.
        path: PathBuf,
        /// What is in the way.
        why: &'static str,
    },
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

/// One change to the text of a file, for the format's own editor.
pub struct Place<'a> {
    /// The table of servers.
    pub block: &'a str,
    /// The server.
    pub name: &'a str,
}

/// Why a format's editor gives up.
pub type Unsafe = &'static str;

/// Whether a file can be changed, as far as that can be known beforehand; one that is not there can.
pub fn check(path: &Path) -> Result<(), EditError> {
    let unreadable = |source| EditError::Read { path: path.to_owned(), source };
    let Some(file) = FileText::read_if_there(path).map_err(unreadable)? else { return Ok(()) };
    let format = Format::of(path).ok_or(unreadable(ReadError::UnknownFormat))?;
    parse(format, file.text().map_err(unreadable)?, path).map(drop)
}

/// Changes a file, or leaves it alone.
pub fn edit(path: &Path, change: Change<'_>, home: Option<&Path>) -> Result<Edited, EditError> {
    let old =
        FileText::read_if_there(path).map_err(|source| EditError::Read { path: path.to_owned(), source })?;
    let unreadable = |source| EditError::Read { path: path.to_owned(), source };
    let format = Format::of(path).ok_or(unreadable(ReadError::UnknownFormat))?;
    let text = match &old {
        Some(file) => Layout::of(file.text().map_err(unreadable)?, file.bytes.starts_with(b"\xef\xbb\xbf")),
        None => Layout::of("", false),
    };
    let tree = parse(format, &text.lines, path)?;
    let name = match change {
        Change::Put { server, .. } => server.name.as_str(),
        Change::Remove { name } => name,
    };
    let there =
        BLOCKS.into_iter().find(|block| tree.entry(block).is_some_and(|e| e.node.entry(name).is_some()));
    let block = there.unwrap_or_else(|| block_for_new(&tree, path));
    let node = match change {
        Change::Put { server, replace } => {
            if there.is_some() && !replace {
                return Err(EditError::Exists { path: path.to_owned(), name: name.to_owned() });
            }
            Some(node_for(server, block, path, home)?)
        }
        Change::Remove { .. } if there.is_none() => return Err(not_there(&tree, path, name)),
        Change::Remove { .. } => None,
    };
    let place = Place { block, name };
    let not_safe = |why| EditError::NotSafe { path: path.to_owned(), why };
    let changed = match format {
        Format::Toml => edit_toml::edit(&text.lines, &place, node.as_ref()),
        Format::Yaml => edit_yaml::edit(&text.lines, &tree, &place, node.as_ref()),
        Format::Json => edit_json::edit(&text.lines, &place, node.as_ref()),
    };
    let changed = changed.map_err(not_safe)?;
    let result = format.parse(&changed).map_err(|_| not_safe("the result could not be read again"))?;
    if without_empty_blocks(expected(&tree, &place, node.as_ref())) != without_empty_blocks(result.to_json())
    {
        return Err(not_safe("more than the one server would have changed"));
    }
    let after = text.restore(&changed);
    atomic_file::write(path, &after)?;
    let done = match (node, &old, there) {
        (None, _, _) => Done::Removed,
        (Some(_), None, _) => Done::Created,
        (Some(_), Some(_), None) => Done::Added,
        (Some(_), Some(_), Some(_)) => Done::Replaced,
    };
    Ok(Edited { done, before: old.map(|file| file.bytes), after })
}

fn parse(format: Format, text: &str, path: &Path) -> Result<Node, EditError> {
    let mut problems = Problems::of(path);
    match format.parse(text) {
        Ok(tree) => {
            for (key, line) in tree.repeated_keys() {
                problems.error(&key, line, What::Repeated);
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
fn expected(tree: &Node, place: &Place<'_>, node: Option<&Node>) -> Json {
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
