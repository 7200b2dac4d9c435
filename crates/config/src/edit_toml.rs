//! Edits TOML; comments and order stay.

use toml_edit::visit_mut::{VisitMut, visit_table_mut};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value as TomlValue};

use super::server_place::{ServerPlace, UnsafeReason};
use super::tree::{Node, Value};

/// Puts a server there, or takes it away.
pub fn edit(text: &str, place: &ServerPlace<'_>, node: Option<&Node>) -> Result<String, UnsafeReason> {
    let mut document: DocumentMut = text.parse().map_err(|_| "it can't be parsed")?;
    match node {
        Some(node) => put(&mut document, place, node)?,
        None => remove(&mut document, place)?,
    }
    Ok(document.to_string())
}

fn put(document: &mut DocumentMut, place: &ServerPlace<'_>, node: &Node) -> Result<(), UnsafeReason> {
    let is_empty =
        document.as_table().is_empty() && document.trailing().as_str().unwrap_or("").trim().is_empty();
    let block = document.as_table_mut().entry(place.block).or_insert_with(|| {
        let mut block = Table::new();
        block.set_implicit(true);
        Item::Table(block)
    });
    match block {
        Item::Table(block) => {
            let mut server = table(node);
            match block.get(place.name) {
                Some(Item::Table(old)) => {
                    *server.decor_mut() = old.decor().clone();
                    server.set_position(old.position());
                }
                Some(_) | None => {
                    server.decor_mut().set_prefix(if is_empty { "" } else { "\n" });
                }
            }
            // The old key may be a dotted one, whose table cannot hold the new one.
            block.remove(place.name);
            block.insert(place.name, Item::Table(server));
        }
        Item::Value(TomlValue::InlineTable(block)) => {
            block.insert(place.name, TomlValue::InlineTable(inline(node)));
        }
        Item::None | Item::Value(_) | Item::ArrayOfTables(_) => return Err("its servers are not a table"),
    }
    Ok(())
}

fn remove(document: &mut DocumentMut, place: &ServerPlace<'_>) -> Result<(), UnsafeReason> {
    let block = document.as_table_mut().get_mut(place.block).ok_or("its servers are not a table")?;
    let block: &mut dyn TableLike = block.as_table_like_mut().ok_or("its servers are not a table")?;
    let removed = block.remove(place.name).ok_or("the server isn't in it")?;
    if let Item::Table(server) = &removed {
        let before = server.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or("");
        // A comment right above the server goes with it; one further up is about something else.
        let kept = before.rfind("\n\n").map_or("", |end| &before[..end + 1]).to_owned();
        if !kept.trim().is_empty() {
            keep_comment(document, &kept, server.position());
        }
    }
    Ok(())
}

/// Puts a comment before the table that follows, or at the end.
fn keep_comment(document: &mut DocumentMut, comment: &str, position: Option<isize>) {
    let mut next = Next { after: position.unwrap_or(isize::MAX), found: None };
    next.visit_document_mut(document);
    match next.found {
        Some(position) => Prepend { position, comment }.visit_document_mut(document),
        None => {
            let trailing = document.trailing().as_str().unwrap_or("").to_owned();
            document.set_trailing(format!("{comment}{trailing}"));
        }
    }
}

struct Next {
    after: isize,
    found: Option<isize>,
}

impl VisitMut for Next {
    fn visit_table_mut(&mut self, table: &mut Table) {
        if let Some(position) = table.position()
            && position > self.after
            && !table.is_implicit()
            && !table.is_dotted()
        {
            self.found = Some(self.found.map_or(position, |found| found.min(position)));
        }
        visit_table_mut(self, table);
    }
}

struct Prepend<'a> {
    position: isize,
    comment: &'a str,
}

impl VisitMut for Prepend<'_> {
    fn visit_table_mut(&mut self, table: &mut Table) {
        if table.position() == Some(self.position) && !table.is_implicit() && !table.is_dotted() {
            let before = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or("").to_owned();
            table.decor_mut().set_prefix(format!("{}{before}", self.comment));
        }
        visit_table_mut(self, table);
    }
}

/// A table that may be written as one word: the word becomes its key.
pub(super) fn table_of_word<'a>(document: &'a mut DocumentMut, name: &str, word_key: &str) -> &'a mut Item {
    let root = document.as_table_mut();
    let word = root.get(name).and_then(Item::as_str).map(str::to_owned);
    if let Some(word) = word {
        let comment = root.key(name).and_then(|key| key.leaf_decor().prefix()?.as_str().map(str::to_owned));
        root.remove(name);
        let mut table = Table::new();
        table.insert(word_key, Item::Value(word.into()));
        table.decor_mut().set_prefix(format!("\n{}", comment.unwrap_or_default().trim_start_matches('\n')));
        root.insert(name, Item::Table(table));
    }
    root.entry(name).or_insert_with(|| Item::Table(implicit()))
}

/// A table that has no line of its own.
pub(super) fn implicit() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

/// Before all others, with their comments kept.
pub(super) fn put_before(rules: &mut ArrayOfTables, mut new: Table, is_empty: bool) {
    let mut others: Vec<Table> = rules.iter().cloned().collect();
    match others.first_mut() {
        Some(first) => {
            // Tables stand where their positions say; of two with the same, the first comes first.
            new.set_position(first.position());
            let before = first.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or("").to_owned();
            let comment = before.trim_start_matches('\n');
            new.decor_mut().set_prefix(&before[..before.len() - comment.len()]);
            first.decor_mut().set_prefix(format!("\n{comment}"));
        }
        None => new.decor_mut().set_prefix(if is_empty { "" } else { "\n" }),
    }
    rules.clear();
    rules.push(new);
    others.into_iter().for_each(|other| rules.push(other));
}

/// The same for a list on one line.
pub(super) fn insert_first(rules: &mut Array, rule: InlineTable) {
    rules.insert(0, TomlValue::InlineTable(rule));
    if let Some(second) = rules.get_mut(1) {
        let decor = second.decor_mut();
        let is_close = decor.prefix().is_none_or(|prefix| prefix.as_str().is_some_and(str::is_empty));
        if is_close {
            decor.set_prefix(" ");
        }
    }
}

/// A table of its own, with the tables inside it on one line each.
pub fn table(node: &Node) -> Table {
    let mut table = Table::new();
    for entry in node.entries() {
        table.insert(&entry.key, Item::Value(value(&entry.node)));
    }
    table
}

/// A text over many lines could push what stands before it off the screen, and look like what it is
/// not. JSON's escapes are TOML's, too.
fn on_one_line(text: &str) -> TomlValue {
    if !text.contains(['\n', '\r']) {
        return TomlValue::from(text);
    }
    let quoted = serde_json::Value::from(text).to_string();
    quoted.parse().unwrap_or_else(|_| TomlValue::from(text))
}

fn inline(node: &Node) -> InlineTable {
    let mut table = InlineTable::new();
    for entry in node.entries() {
        table.insert(&entry.key, value(&entry.node));
    }
    table
}

/// A value on one line.
pub(super) fn value_of(node: &Node) -> TomlValue {
    value(node)
}

/// TOML has no null; what is nothing is never written.
fn value(node: &Node) -> TomlValue {
    match &node.value {
        Value::Null => TomlValue::from(""),
        Value::Bool(flag) => TomlValue::from(*flag),
        Value::Number(text) => match text.parse::<i64>() {
            Ok(number) => TomlValue::from(number),
            Err(_) => text.parse::<f64>().map_or_else(|_| TomlValue::from(text.as_str()), TomlValue::from),
        },
        Value::Text(text) => on_one_line(text),
        Value::List(nodes) => TomlValue::Array(nodes.iter().map(value).collect::<Array>()),
        Value::Map(_) => TomlValue::InlineTable(inline(node)),
    }
}
