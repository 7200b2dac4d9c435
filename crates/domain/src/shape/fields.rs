//! Which fields the items of an array have, in one line.

use serde_json::Value;

use super::document::Document;
use super::found::{Found, Room};
use super::parse::parse;
use super::parts::{NotJson, Parts};
use super::words::thousands;

/// Items that are looked at, spread over all of them.
const LOOKED_AT_MAX: usize = 64;

/// Longer items are not looked at.
const ITEM_BYTES_MAX: usize = 16 << 10;

/// `every one has id integer, name text; some have email text or null`, if most items are objects.
/// Says of how many it speaks when that is not all.
pub(super) fn line(document: &Document, parts: &Parts, room: usize) -> Result<Option<String>, NotJson> {
    let items = records(document, parts)?;
    if items.is_empty() {
        return Ok(None);
    }
    let mut found = Found::default();
    let mut places = Room::default();
    items.iter().for_each(|item| found.take(item, &mut places));
    let beginning = match items.len() == parts.count {
        true => "fields: ".to_owned(),
        false => format!("fields in {} of them: ", thousands(items.len() as u64)),
    };
    let mut made = beginning;
    for (at, field) in found.fields.iter().enumerate() {
        let optional = if field.count < found.objects { "?" } else { "" };
        let name = crate::one_line(&field.name, 60);
        let words = format!("{name}{optional} {}", field.found.kinds_text());
        let separator = if at == 0 { "" } else { ", " };
        if made.len() + separator.len() + words.len() > room {
            let left = found.fields.len() - at;
            // Half a list of fields is still of use, a line without any is not.
            return Ok((at > 0).then(|| format!("{made} and {} more", thousands(left as u64))));
        }
        made.push_str(separator);
        made.push_str(&words);
    }
    Ok(Some(made))
}

/// Some items of an array if most of them are objects; otherwise none.
pub(super) fn records(document: &Document, parts: &Parts) -> Result<Vec<Value>, NotJson> {
    let members = document.spread(parts, LOOKED_AT_MAX, ITEM_BYTES_MAX)?;
    let mut items = Vec::new();
    for member in &members {
        items.push(parse(member.value.of(document.text)?)?.value);
    }
    let objects = items.iter().filter(|item| item.is_object()).count();
    match objects * 2 > items.len() {
        true => Ok(items),
        false => Ok(Vec::new()),
    }
}
