//! Adds to the privacy table of a file, and leaves everything else as it was: values that are let through,
//! and rules about where tokens become values again.
//!
//! However the text was changed, the result is read again before it replaces the file.

use std::path::Path;

use gristmill_files::replace_keeping_mode;
use gristmill_gateway::privacy::RestoreRule;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::{Value as Json, json};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value as TomlValue};

use super::by_hand::ByHand;
use super::edit::{EditError, File};
use super::edit_policy::Writing;
use super::edit_toml::{insert_first, put_before, table_of_word};
use super::format::Format;
use super::privacy_table::{self, TABLE};
use super::problem::Problems;
use super::read_json;
use super::server_place::UnsafeReason;

const MODE: &str = "mode";
const ALLOW: &str = "allow";
const VALUES: &str = "values";
const RESTORE: &str = "restore";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivacyDone {
    Added,
    /// The file says so already.
    AsItWas,
}

/// What is added.
#[derive(Clone, Copy)]
enum Addition<'a> {
    /// Values that it doesn't have yet.
    Values(&'a [&'a str]),
    Rule(&'a RestoreRule),
}

/// Lets values through, in a file which is made if it isn't there. Case doesn't matter.
pub fn allow_values(path: &Path, values: &[&str], writing: Writing) -> Result<PrivacyDone, EditError> {
    let file = File::read(path)?;
    let json = file.tree.to_json();
    let there = json.pointer("/privacy/allow/values").and_then(Json::as_array);
    let mut seen: Vec<String> =
        there.into_iter().flatten().filter_map(Json::as_str).map(str::to_lowercase).collect();
    let is_new = |value: &&str| {
        let value = value.to_lowercase();
        let is_new = !seen.contains(&value);
        seen.push(value);
        is_new
    };
    let new: Vec<&str> = values.iter().copied().filter(is_new).collect();
    if new.is_empty() {
        return Ok(PrivacyDone::AsItWas);
    }
    add(path, &file, Addition::Values(&new), writing)
}

/// Puts a rule before the others of a file, which is made if it isn't there: the first that fits counts.
pub fn put_restore_rule(path: &Path, rule: &RestoreRule, writing: Writing) -> Result<PrivacyDone, EditError> {
    let file = File::read(path)?;
    if file.tree.to_json().pointer("/privacy/restore/0") == Some(&rule_json(rule)) {
        return Ok(PrivacyDone::AsItWas);
    }
    add(path, &file, Addition::Rule(rule), writing)
}

fn add(path: &Path, file: &File, addition: Addition<'_>, writing: Writing) -> Result<PrivacyDone, EditError> {
    let not_safe = |why| EditError::NotSafe { path: path.to_owned(), why };
    let expected = expected(file.tree.to_json(), addition).ok_or(not_safe("its privacy is not a table"))?;
    let changed = match file.format {
        Format::Toml => in_toml(&file.text.lines, addition),
        Format::Json => in_json(&file.text.lines, addition),
        Format::Yaml => {
            let keys: &[&str] = match addition {
                Addition::Values(_) => &[TABLE, ALLOW, VALUES],
                Addition::Rule(_) => &[TABLE, RESTORE],
            };
            return Err(EditError::ByHand(ByHand::set(path, &file.tree, keys, &expected)));
        }
    };
    let changed = changed.map_err(not_safe)?;
    let result = file.format.parse(&changed).map_err(|_| not_safe("the result could not be read again"))?;
    if result.to_json() != expected {
        return Err(not_safe("more than its privacy would have changed"));
    }
    let mut problems = Problems::of(path);
    if let Some(privacy) = result.entry(TABLE) {
        privacy_table::read(&privacy.node, &mut problems);
    }
    if problems.errors() > 0 {
        return Err(EditError::Mistakes(problems.into_vec()));
    }
    if writing == Writing::Now {
        replace_keeping_mode(path, &file.text.restore(&changed))?;
    }
    Ok(PrivacyDone::Added)
}

/// What the file should say afterwards.
fn expected(mut json: Json, addition: Addition<'_>) -> Option<Json> {
    let privacy = json.as_object_mut()?.entry(TABLE).or_insert_with(|| json!({}));
    if privacy.is_string() {
        *privacy = json!({ MODE: privacy.take() });
    }
    let privacy = privacy.as_object_mut()?;
    match addition {
        Addition::Values(new) => {
            let allow = privacy.entry(ALLOW).or_insert_with(|| json!({})).as_object_mut()?;
            let values = allow.entry(VALUES).or_insert_with(|| json!([])).as_array_mut()?;
            values.extend(new.iter().map(|value| json!(value)));
        }
        Addition::Rule(rule) => {
            let rules = privacy.entry(RESTORE).or_insert_with(|| json!([])).as_array_mut()?;
            rules.insert(0, rule_json(rule));
        }
    }
    Some(json)
}

/// As it is written: what holds for all is left out.
fn rule_json(rule: &RestoreRule) -> Json {
    let mut json = json!({});
    if !rule.kinds.is_empty() {
        json["kinds"] = json!(rule.kinds);
    }
    json["to"] = json!(rule.to);
    if !rule.fields.is_empty() {
        json["fields"] = json!(rule.fields);
    }
    json["allow"] = json!(rule.allow);
    json
}

fn rule_entries(rule: &RestoreRule) -> Vec<(&'static str, TomlValue)> {
    let list = |texts: Vec<&str>| TomlValue::Array(texts.into_iter().collect::<Array>());
    let kinds = (!rule.kinds.is_empty()).then(|| list(rule.kinds.iter().map(|kind| kind.name()).collect()));
    let fields = (!rule.fields.is_empty()).then(|| list(rule.fields.iter().map(String::as_str).collect()));
    let mut entries = Vec::new();
    entries.extend(kinds.map(|kinds| ("kinds", kinds)));
    entries.push(("to", rule.to.as_str().into()));
    entries.extend(fields.map(|fields| ("fields", fields)));
    entries.push(("allow", rule.allow.into()));
    entries
}

fn in_toml(text: &str, addition: Addition<'_>) -> Result<String, UnsafeReason> {
    let mut document: DocumentMut = text.parse().map_err(|_| "it can't be parsed")?;
    let is_empty = document.as_table().is_empty();
    let privacy = table_of_word(&mut document, TABLE, MODE);
    match addition {
        Addition::Values(new) => values_in_toml(privacy, new, is_empty)?,
        Addition::Rule(rule) => rule_in_toml(privacy, rule, is_empty)?,
    }
    Ok(document.to_string())
}

fn values_in_toml(privacy: &mut Item, new: &[&str], is_empty: bool) -> Result<(), UnsafeReason> {
    let allow = match privacy {
        Item::Table(privacy) => privacy.entry(ALLOW).or_insert_with(|| {
            let mut allow = Table::new();
            allow.decor_mut().set_prefix(if is_empty { "" } else { "\n" });
            Item::Table(allow)
        }),
        Item::Value(TomlValue::InlineTable(privacy)) => {
            close_up(privacy, ALLOW);
            let allow = privacy.entry(ALLOW).or_insert(TomlValue::InlineTable(InlineTable::new()));
            let allow = allow.as_inline_table_mut().ok_or("its privacy.allow is not a table")?;
            close_up(allow, VALUES);
            return push_all(allow, new);
        }
        Item::None | Item::Value(_) | Item::ArrayOfTables(_) => return Err("its privacy is not a table"),
    };
    if let Some(inline) = allow.as_inline_table_mut() {
        close_up(inline, VALUES);
    }
    push_all(allow.as_table_like_mut().ok_or("its privacy.allow is not a table")?, new)
}

/// Without the space before the closing brace, which would stand before the comma of a new key.
fn close_up(table: &mut InlineTable, new_key: &str) {
    if table.contains_key(new_key) {
        return;
    }
    table.iter_mut().for_each(|(_, value)| value.decor_mut().set_suffix(""));
}

fn push_all(allow: &mut dyn TableLike, new: &[&str]) -> Result<(), UnsafeReason> {
    let values = allow.entry(VALUES).or_insert(Item::Value(TomlValue::Array(Array::new())));
    let values = values.as_array_mut().ok_or("its privacy.allow.values is not a list")?;
    new.iter().for_each(|value| push(values, value));
    Ok(())
}

/// At the end, on a line of its own if the others are.
fn push(values: &mut Array, value: &str) {
    let text = |raw: Option<&toml_edit::RawString>| raw.and_then(|raw| raw.as_str()).unwrap_or("").to_owned();
    let mut new = TomlValue::from(value);
    let last = values.len().checked_sub(1).and_then(|last| values.get_mut(last));
    let Some(last) = last else { return values.push_formatted(new) };
    let before = text(last.decor().prefix());
    let Some(line) = before.rfind('\n') else {
        new.decor_mut().set_prefix(" ");
        return values.push_formatted(new);
    };
    let indent = before[line..].to_owned();
    // A comment behind the last value stays there.
    let behind = text(last.decor().suffix());
    last.decor_mut().set_suffix("");
    let trailing = text(Some(values.trailing()));
    let between = format!("{behind}{trailing}");
    new.decor_mut().set_prefix(format!("{}{indent}", between.trim_end()));
    values.push_formatted(new);
    values.set_trailing("\n");
    values.set_trailing_comma(true);
}

fn rule_in_toml(privacy: &mut Item, rule: &RestoreRule, is_empty: bool) -> Result<(), UnsafeReason> {
    let inline = || rule_entries(rule).into_iter().collect::<InlineTable>();
    match privacy {
        Item::Table(privacy) => {
            match privacy.entry(RESTORE).or_insert(Item::ArrayOfTables(ArrayOfTables::new())) {
                Item::ArrayOfTables(rules) => {
                    let mut table = Table::new();
                    for (key, value) in rule_entries(rule) {
                        table.insert(key, Item::Value(value));
                    }
                    put_before(rules, table, is_empty);
                }
                Item::Value(TomlValue::Array(rules)) => insert_first(rules, inline()),
                Item::None | Item::Value(_) | Item::Table(_) => return Err("its rules are not a list"),
            }
        }
        Item::Value(TomlValue::InlineTable(privacy)) => {
            close_up(privacy, RESTORE);
            let rules = privacy.entry(RESTORE).or_insert(TomlValue::Array(Array::new()));
            insert_first(rules.as_array_mut().ok_or("its rules are not a list")?, inline());
        }
        Item::None | Item::Value(_) | Item::ArrayOfTables(_) => return Err("its privacy is not a table"),
    }
    Ok(())
}

fn in_json(text: &str, addition: Addition<'_>) -> Result<String, UnsafeReason> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = CstRootNode::parse(text, &read_json::options()).map_err(|_| "it can't be parsed")?;
    let object = root.object_value_or_create().ok_or("it isn't an object")?;
    let privacy = privacy_in_json(&object)?;
    match addition {
        Addition::Values(new) => {
            let allow = privacy.object_value_or_create(ALLOW).ok_or("its privacy.allow is not an object")?;
            let values: CstArray =
                allow.array_value_or_create(VALUES).ok_or("its privacy.allow.values is not a list")?;
            for value in new {
                values.append(CstInputValue::String((*value).to_owned()));
            }
        }
        Addition::Rule(rule) => {
            let rules = privacy.array_value_or_create(RESTORE).ok_or("its rules are not a list")?;
            rules.insert(0, input(&rule_json(rule)));
        }
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// The mode's name alone becomes an object.
fn privacy_in_json(object: &CstObject) -> Result<CstObject, UnsafeReason> {
    let word = object.get(TABLE).and_then(|entry| {
        let mode = entry.value()?.as_string_lit()?.decoded_value().ok()?;
        Some((entry, mode))
    });
    if let Some((entry, mode)) = word {
        entry.set_value(CstInputValue::Object(vec![(MODE.to_owned(), CstInputValue::String(mode))]));
    }
    object.object_value_or_create(TABLE).ok_or("its privacy is not an object")
}

fn input(json: &Json) -> CstInputValue {
    match json {
        Json::Null => CstInputValue::Null,
        Json::Bool(flag) => CstInputValue::Bool(*flag),
        Json::Number(number) => CstInputValue::Number(number.to_string()),
        Json::String(text) => CstInputValue::String(text.clone()),
        Json::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Json::Object(entries) => {
            CstInputValue::Object(entries.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
