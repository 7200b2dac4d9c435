//! Sets keys of tables in a file, and leaves everything else as it was.
//!
//! However the text was changed, the result is read again before it replaces the file.

use std::path::Path;

use gristmill_files::replace_keeping_mode;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Value as Json, json};
use toml_edit::{DocumentMut, Item, TableLike};

use super::by_hand::ByHand;
use super::edit::{Done, EditError, Edited, File};
use super::edit_policy::Writing;
use super::edit_toml::{table_of_word, value_of};
use super::format::Format;
use super::read_json;
use super::server_place::UnsafeReason;
use super::tree::{Node, join};

/// One key and what it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The table; none for a key at the top.
    pub table: Option<&'static str>,
    pub key: &'static str,
    pub value: Node,
}

impl Setting {
    /// `limits.wall_time`.
    pub fn path(&self) -> String {
        join(self.table.unwrap_or_default(), self.key)
    }

    /// As a file of ours has it, on one line.
    pub fn text(&self) -> String {
        format!("{} = {}", self.path(), value_of(&self.value).to_string().trim())
    }

    fn pointer(&self) -> Vec<&'static str> {
        self.table.into_iter().chain([self.key]).collect()
    }
}

/// What a table written as one word means by it.
fn word_key(table: &str) -> &'static str {
    if table == super::policy_table::TABLE { "preset" } else { "mode" }
}

/// What a file says under these settings now; null where it says nothing.
pub fn current(path: &Path, settings: &[Setting]) -> Result<Vec<Json>, EditError> {
    let tree = File::read(path)?.tree.to_json();
    Ok(settings.iter().map(|setting| value_in(&tree, setting)).collect())
}

fn value_in(tree: &Json, setting: &Setting) -> Json {
    let table = match setting.table {
        None => return tree.get(setting.key).cloned().unwrap_or_default(),
        Some(table) => tree.get(table),
    };
    match table {
        Some(Json::String(word)) if setting.table.is_some_and(|table| word_key(table) == setting.key) => {
            json!(word)
        }
        Some(table) => table.get(setting.key).cloned().unwrap_or_default(),
        None => Json::Null,
    }
}

/// Sets them in a file, which is made if it isn't there. `None` if the file says all of it already.
pub fn put_settings(
    path: &Path,
    settings: &[Setting],
    writing: Writing,
) -> Result<Option<Edited>, EditError> {
    let not_safe = |why| EditError::NotSafe { path: path.to_owned(), why };
    let file = File::read(path)?;
    let json = file.tree.to_json();
    let new: Vec<&Setting> =
        settings.iter().filter(|setting| value_in(&json, setting) != setting.value.to_json()).collect();
    if new.is_empty() {
        return Ok(None);
    }
    let expected = expected(json, &new).ok_or(not_safe("a table of this name is something else"))?;
    let changed = match file.format {
        Format::Toml => in_toml(&file.text.lines, &new),
        Format::Json => in_json(&file.text.lines, &new),
        Format::Yaml => return Err(EditError::ByHand(by_hand(path, &file.tree, &new, &expected))),
    };
    let changed = changed.map_err(not_safe)?;
    let result = file.format.parse(&changed).map_err(|_| not_safe("the result could not be read again"))?;
    if result.to_json() != expected {
        return Err(not_safe("more than these settings would have changed"));
    }
    let after = file.text.restore(&changed);
    let before = file.bytes();
    if writing == Writing::Now {
        replace_keeping_mode(path, &after)?;
    }
    let done = if before.is_some() { Done::Added } else { Done::Created };
    Ok(Some(Edited { done, before, after }))
}

fn by_hand(path: &Path, tree: &Node, new: &[&Setting], expected: &Json) -> ByHand {
    let steps = new.iter().flat_map(|setting| ByHand::set(path, tree, &setting.pointer(), expected).steps);
    ByHand { path: path.to_owned(), steps: steps.collect() }
}

/// What the file should say afterwards.
fn expected(mut json: Json, new: &[&Setting]) -> Option<Json> {
    for setting in new {
        let root = json.as_object_mut()?;
        let Some(table) = setting.table else {
            root.insert(setting.key.to_owned(), setting.value.to_json());
            continue;
        };
        let table_value = root.entry(table).or_insert_with(|| json!({}));
        if table_value.is_string() {
            *table_value = json!({ word_key(table): table_value.take() });
        }
        table_value.as_object_mut()?.insert(setting.key.to_owned(), setting.value.to_json());
    }
    Some(json)
}

fn in_toml(text: &str, new: &[&Setting]) -> Result<String, UnsafeReason> {
    let mut document: DocumentMut = text.parse().map_err(|_| "it can't be parsed")?;
    for setting in new {
        let Some(table) = setting.table else {
            put_in_toml(document.as_table_mut(), setting);
            continue;
        };
        let is_new = !document.as_table().contains_key(table);
        let is_empty = document.as_table().is_empty();
        let item = table_of_word(&mut document, table, word_key(table));
        if let (Item::Table(table), true) = (&mut *item, is_new) {
            table.set_implicit(false);
            table.decor_mut().set_prefix(if is_empty { "" } else { "\n" });
        }
        let table = item.as_table_like_mut().ok_or("a table of this name is something else")?;
        put_in_toml(table, setting);
    }
    Ok(document.to_string())
}

fn put_in_toml(table: &mut dyn TableLike, setting: &Setting) {
    let value = value_of(&setting.value);
    match table.get_mut(setting.key) {
        // Comments before the key and behind the value stay.
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        Some(_) | None => drop(table.insert(setting.key, Item::Value(value))),
    }
}

fn in_json(text: &str, new: &[&Setting]) -> Result<String, UnsafeReason> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = CstRootNode::parse(text, &read_json::options()).map_err(|_| "it can't be parsed")?;
    let object = root.object_value_or_create().ok_or("it isn't an object")?;
    for setting in new {
        let place = match setting.table {
            None => object.clone(),
            Some(table) => table_in_json(&object, table)?,
        };
        let value = super::edit_json::value(&setting.value);
        match place.get(setting.key) {
            Some(entry) => entry.set_value(value),
            None => drop(place.append(setting.key, value)),
        }
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// A word in place of a table becomes one.
fn table_in_json(object: &CstObject, table: &str) -> Result<CstObject, UnsafeReason> {
    let word = object.get(table).and_then(|entry| {
        let word = entry.value()?.as_string_lit()?.decoded_value().ok()?;
        Some((entry, word))
    });
    if let Some((entry, word)) = word {
        let key = word_key(table).to_owned();
        entry.set_value(CstInputValue::Object(vec![(key, CstInputValue::String(word))]));
    }
    object.object_value_or_create(table).ok_or("a table of this name is something else")
}
