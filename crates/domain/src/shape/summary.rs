//! What a value is, how many, first and last.

use serde_json::{Map, Value, json};

use super::document::{Document, Kind};
use super::fit::compact_bytes;
use super::parts::{NotJson, Parts, Span};
use super::shaper::{MARK_BYTES, Place, Shaper};
use super::words::{Notes, Path, not_shown};
use crate::short_text::cut_bytes;

/// Small values say most about themselves.
const WHOLE_BYTES_MAX: usize = 48;

/// A summary in about `room` bytes.
pub(super) fn value(shaper: &Shaper, span: Span, room: usize, notes: &mut Notes) -> Result<Value, NotJson> {
    let root = Place { path: &Path::Root, depth: 0 };
    match shaper.document.kind(span)? {
        Kind::Text | Kind::Number | Kind::Word => shaper.value(span, room, root, notes),
        Kind::Array => {
            let parts = shaper.document.parts(span)?;
            array(shaper, span, &parts, room, notes)
        }
        Kind::Object => {
            let parts = shaper.document.parts(span)?;
            object(shaper.document, span, &parts, room, notes)
        }
    }
}

fn array(
    shaper: &Shaper,
    span: Span,
    parts: &Parts,
    room: usize,
    notes: &mut Notes,
) -> Result<Value, NotJson> {
    let mut made = json!({ "what": shaper.document.what(span)?, "bytes": span.bytes() });
    let Some(members) = made.as_object_mut() else { return Err(NotJson) };
    if let Some(fields) = shaper.fields_line(parts, room / 3)? {
        members.insert("records".to_owned(), Value::String(fields));
    }
    let ends: Vec<usize> =
        if parts.count > 1 { vec![0, parts.count - 1] } else { (0..parts.count).collect() };
    let left = room.saturating_sub(compact_bytes(&Value::Object(members.clone())) + 20);
    let mut shown = 0;
    for (name, number) in ["first", "last"].into_iter().zip(&ends) {
        let Some(member) = shaper.document.members(parts, *number, 1)?.pop() else { continue };
        let path = Path::Item(&Path::Root, *number);
        let place = Place { path: &path, depth: 2 };
        let share = left / ends.len().max(1);
        if let Some(value) = shaper.something(member.value, share, place, notes)? {
            members.insert(name.to_owned(), value);
            shown += 1;
        }
    }
    match parts.count - shown {
        0 => notes.add(&Path::Root, "only a summary is shown"),
        missing => notes.add(&Path::Root, &not_shown(missing, parts.count, "item")),
    }
    Ok(made)
}

/// Each member in a few words.
fn object(
    document: &Document,
    span: Span,
    parts: &Parts,
    room: usize,
    notes: &mut Notes,
) -> Result<Value, NotJson> {
    let mut members = Map::new();
    let mut left = room.saturating_sub(MARK_BYTES * 2);
    let candidates = (room / 8 + 1).min(parts.count);
    for member in document.members(parts, 0, candidates)? {
        let name = cut_bytes(&document.name(&member)?, 100);
        let words = match member.value.bytes() <= WHOLE_BYTES_MAX {
            true => document.parse(member.value, 2, &Path::Member(&Path::Root, &name), notes)?,
            false => Value::String(document.what(member.value)?),
        };
        let bytes = name.len() + compact_bytes(&words) + 4;
        if bytes > left {
            break;
        }
        left -= bytes;
        members.insert(name, words);
    }
    let missing = parts.count - members.len().min(parts.count);
    if missing > 0 {
        let words = not_shown(missing, parts.count, "member");
        notes.add(&Path::Root, &words);
        members.insert("…".to_owned(), Value::String(words));
    }
    notes.add(&Path::Root, "only a summary is shown");
    Ok(json!({ "what": document.what(span)?, "bytes": span.bytes(), "members": members }))
}
