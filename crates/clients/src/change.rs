//! The text of a client's file with entries put in and taken out, and everything else as it was.
//!
//! However the text was changed, it is read again: it must say exactly what was meant.

use std::path::PathBuf;

use gristmill_config::format::Format;
use gristmill_config::layout::Layout;
use gristmill_config::server_place::ServerPlace;
use gristmill_config::tree::{Node, Value};
use gristmill_config::{edit_json, edit_toml};
use serde_json::{Map, Value as Json};

use super::client_file::{self, FileError};
use super::places::Place;

/// What is to be done to a table of servers.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Entries to take out.
    pub remove: Vec<String>,
    /// Entries to put in, in place of others of their names.
    pub put: Vec<(String, Node)>,
}

/// The text was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is laid out in a way that we will not touch.
    #[error("{path} can't be edited safely: {why}; change it in an editor", path = .path.display())]
    NotSafe {
        path: PathBuf,
        /// What is in the way.
        why: &'static str,
    },
}

/// The text as it would be. `bytes` is the file as it is; none if it is not there.
pub fn changed(place: &Place, bytes: Option<&[u8]>, change: &Change) -> Result<Vec<u8>, ChangeError> {
    let not_safe = |why| ChangeError::NotSafe { path: place.path.clone(), why };
    let bytes = bytes.unwrap_or_default();
    let text = std::str::from_utf8(bytes).map_err(|_| not_safe("it isn't UTF-8 text"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let layout = Layout::of(text, bytes.starts_with(b"\xef\xbb\xbf"));
    let tree = client_file::parse(place, &layout.lines)?;
    let block = place.client.block();
    if is_repeated(&tree, block) {
        return Err(not_safe("a name appears twice"));
    }
    let mut lines = layout.lines.clone();
    // Entries go in before others go out: the ones that are there show how the file is laid out.
    let is_put = |name: &&String| change.put.iter().any(|(put, _)| put == *name);
    let removed = change.remove.iter().filter(|name| !is_put(name)).map(|name| (name, None));
    let steps = change.put.iter().map(|(name, node)| (name, Some(node))).chain(removed);
    for (name, node) in steps {
        let at = ServerPlace { block, name };
        lines = match place.format {
            Format::Json => edit_json::edit(&lines, &at, node),
            Format::Toml => edit_toml::edit(&lines, &at, node),
            Format::Yaml => Err("it's YAML"),
        }
        .map_err(not_safe)?;
    }
    // Whoever left the last line end out wants it so.
    if !layout.lines.is_empty() && !layout.lines.ends_with('\n') && lines.ends_with('\n') {
        lines.pop();
    }
    let result =
        client_file::parse(place, &lines).map_err(|_| not_safe("the result couldn't be read back"))?;
    if without_empty(expected(&tree, block, change), block) != without_empty(result.to_json(), block) {
        return Err(not_safe("other parts would change, too"));
    }
    Ok(layout.restore(&lines))
}

/// Whether a text says what another says after a change.
pub fn is_change_of(place: &Place, before: &str, change: &Change, after: &str) -> bool {
    let block = place.client.block();
    let (Ok(before), Ok(after)) = (client_file::parse(place, before), client_file::parse(place, after))
    else {
        return false;
    };
    without_empty(expected(&before, block, change), block) == without_empty(after.to_json(), block)
}

/// Of two entries with one name clients read the last, and editors the first.
fn is_repeated(tree: &Node, block: &str) -> bool {
    let twice = |node: &Node, key: &str| node.entries().iter().filter(|entry| entry.key == key).count() > 1;
    let servers = tree.entry(block).map(|entry| &entry.node);
    twice(tree, block)
        || servers.is_some_and(|servers| servers.entries().iter().any(|entry| twice(servers, &entry.key)))
}

fn expected(tree: &Node, block: &str, change: &Change) -> Json {
    let mut json = tree.to_json();
    let Some(root) = json.as_object_mut() else { return json };
    let servers = root.entry(block).or_insert(Json::Null);
    if servers.is_null() {
        *servers = Json::Object(Map::new());
    }
    if let Some(servers) = servers.as_object_mut() {
        for name in &change.remove {
            servers.remove(name);
        }
        for (name, node) in &change.put {
            servers.insert(name.clone(), node.to_json());
        }
    }
    json
}

/// A table without servers says as much as none.
fn without_empty(mut json: Json, block: &str) -> Json {
    if let Some(root) = json.as_object_mut() {
        let is_empty = |value: &Json| value.is_null() || value.as_object().is_some_and(Map::is_empty);
        root.retain(|key, value| !(key == block && is_empty(value)));
    }
    json
}

/// A kept entry as a tree again.
pub fn node_of(json: &Json) -> Node {
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Value::Number(number.to_string()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(node_of).collect()),
        Json::Object(map) => {
            return Node::map(map.iter().map(|(key, json)| (key.clone(), node_of(json))).collect());
        }
    };
    Node { line: 0, value }
}
