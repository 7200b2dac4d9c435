//! What a value is, how many, first and last; of an object the same of each large member.

use serde_json::{Map, Value, json};

use super::document::{Document, Kind, Member};
use super::fit::compact_bytes;
use super::parts::{NotJson, Parts, Span};
use super::shaper::{MARK_BYTES, Place, Shaper};
use super::words::{Notes, Path, not_shown};
use crate::short_text::cut_bytes;

/// Small values say most about themselves.
const WHOLE_BYTES_MAX: usize = 48;

/// Items that are shown of each end of an array.
const ENDS: [usize; 3] = [3, 2, 1];

/// Names of an object's members that are listed.
const NAMES_MAX: usize = 20;

/// Longer names are cut.
const NAME_BYTES_MAX: usize = 100;

/// What the names of `first` and `last` take, with their brackets.
const ENDS_BYTES: usize = 24;

/// A summary in about `room` bytes.
pub(super) fn value(shaper: &Shaper, span: Span, room: usize, notes: &mut Notes) -> Result<Value, NotJson> {
    let root = Place { path: &Path::Root, depth: 0 };
    match shaper.document.kind(span)? {
        Kind::Text | Kind::Number | Kind::Word => shaper.value(span, room, root, notes),
        Kind::Array => {
            let mut made = json!({ "what": shaper.document.what(span)?, "bytes": span.bytes() });
            let Some(members) = made.as_object_mut() else { return Err(NotJson) };
            array(shaper, span, members, room, root, notes)?;
            Ok(made)
        }
        Kind::Object => {
            let parts = shaper.document.parts(span)?;
            object(shaper, span, &parts, room, notes)
        }
    }
}

/// Adds the fields of an array's items, and the items of both ends.
fn array(
    shaper: &Shaper,
    span: Span,
    made: &mut Map<String, Value>,
    room: usize,
    place: Place,
    notes: &mut Notes,
) -> Result<(), NotJson> {
    let parts = shaper.document.parts(span)?;
    if let Some(fields) = shaper.fields_line(&parts, room / 3)? {
        made.insert("records".to_owned(), Value::String(fields));
    }
    let left = room.saturating_sub(compact_bytes(&Value::Object(made.clone())) + ENDS_BYTES);
    let Ends { first, last } = ends(shaper, &parts, left, place, notes)?;
    match parts.count.saturating_sub(first.len() + last.len()) {
        0 => notes.add(place.path, "only a summary is shown"),
        missing => notes.add(place.path, &not_shown(missing, parts.count, "item")),
    }
    for (name, items) in [("first", first), ("last", last)] {
        if !items.is_empty() {
            made.insert(name.to_owned(), Value::Array(items));
        }
    }
    Ok(())
}

/// Items of both ends of an array.
#[derive(Default)]
struct Ends {
    first: Vec<Value>,
    last: Vec<Value>,
}

/// Three whole items of each end, or fewer; one of each in part if no whole one fits.
fn ends(
    shaper: &Shaper,
    parts: &Parts,
    room: usize,
    place: Place,
    notes: &mut Notes,
) -> Result<Ends, NotJson> {
    for count in ENDS {
        let is_last_resort = count == 1;
        let mut of_items = Notes::default();
        let mut left = room;
        let mut made = Ends::default();
        let mut is_complete = true;
        let (first, last) = ends_of(shaper.document, parts, count)?;
        let mut waiting = first.len() + last.len();
        for (members, items) in [(&first, &mut made.first), (&last, &mut made.last)] {
            for member in members {
                let path = Path::Item(place.path, member.number);
                let below = Place { path: &path, depth: place.depth + 2 };
                let item = match is_last_resort {
                    true => shaper.something(member.value, left / waiting, below, &mut of_items)?,
                    false => shaper.whole(member.value, left, below, &mut of_items)?,
                };
                waiting -= 1;
                match item {
                    Some(item) => {
                        left = left.saturating_sub(compact_bytes(&item) + 1);
                        items.push(item);
                    }
                    None => is_complete = false,
                }
            }
        }
        if is_complete || is_last_resort {
            notes.append(of_items);
            return Ok(made);
        }
    }
    Ok(Ends::default())
}

/// So many members of each end, none of them twice.
fn ends_of(document: &Document, parts: &Parts, count: usize) -> Result<(Vec<Member>, Vec<Member>), NotJson> {
    let first = document.members(parts, 0, count)?;
    let from = parts.count.saturating_sub(count).max(first.len());
    let last = if from < parts.count { document.members(parts, from, count)? } else { Vec::new() };
    Ok((first, last))
}

/// Each member in a few words, and of large ones what is in them.
fn object(
    shaper: &Shaper,
    span: Span,
    parts: &Parts,
    room: usize,
    notes: &mut Notes,
) -> Result<Value, NotJson> {
    let document = shaper.document;
    let mut members = Map::new();
    let mut large: Vec<(String, Span)> = Vec::new();
    let mut left = room.saturating_sub(MARK_BYTES * 2);
    let candidates = (room / 8 + 1).min(parts.count);
    for member in document.members(parts, 0, candidates)? {
        let name = cut_bytes(&document.name(&member)?, NAME_BYTES_MAX);
        let is_small = member.value.bytes() <= WHOLE_BYTES_MAX;
        let words = match is_small {
            true => document.parse(member.value, 2, &Path::Member(&Path::Root, &name), notes)?,
            false => Value::String(document.what(member.value)?),
        };
        let bytes = name.len() + compact_bytes(&words) + 4;
        if bytes > left {
            break;
        }
        left -= bytes;
        if !is_small {
            large.push((name.clone(), member.value));
        }
        members.insert(name, words);
    }
    let missing = parts.count - members.len().min(parts.count);
    if missing > 0 {
        let words = not_shown(missing, parts.count, "member");
        notes.add(&Path::Root, &words);
        members.insert("…".to_owned(), Value::String(words));
    }
    notes.add(&Path::Root, "only a summary is shown");
    let mut waiting = large.len();
    for (name, value) in large {
        let share = left / waiting.max(1);
        waiting -= 1;
        if let Some((words, bytes)) = described(shaper, &name, value, share, notes)? {
            left = left.saturating_sub(bytes);
            members.insert(name, words);
        }
    }
    Ok(json!({ "what": document.what(span)?, "bytes": span.bytes(), "members": members }))
}

/// What is in a large member, in `room` bytes besides the words that say what it is, and how many of them it
/// takes: the ends of an array, the names in an object. None if there is no room.
fn described(
    shaper: &Shaper,
    name: &str,
    span: Span,
    room: usize,
    notes: &mut Notes,
) -> Result<Option<(Value, usize)>, NotJson> {
    let what = shaper.document.what(span)?;
    let before = what.len();
    let value = match shaper.document.kind(span)? {
        Kind::Array => {
            let mut made = Map::from_iter([("what".to_owned(), Value::String(what))]);
            let path = Path::Member(&Path::Root, name);
            let place = Place { path: &path, depth: 1 };
            let mut of_member = Notes::default();
            array(shaper, span, &mut made, room.saturating_sub(ENDS_BYTES), place, &mut of_member)?;
            if !made.contains_key("first") {
                return Ok(None);
            }
            notes.append(of_member);
            Value::Object(made)
        }
        Kind::Object => {
            let parts = shaper.document.parts(span)?;
            let mut names = Vec::new();
            for member in shaper.document.members(&parts, 0, NAMES_MAX)? {
                names.push(cut_bytes(&shaper.document.name(&member)?, NAME_BYTES_MAX));
            }
            let more = if parts.count > names.len() { ", …" } else { "" };
            Value::String(format!("{what}: {}{more}", names.join(", ")))
        }
        Kind::Text | Kind::Number | Kind::Word => return Ok(None),
    };
    let bytes = compact_bytes(&value).saturating_sub(before);
    Ok((bytes <= room).then_some((value, bytes)))
}
