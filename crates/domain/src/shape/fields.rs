//! Which fields the items of an array have, in one line.

use super::document::Document;
use super::found::{Found, Room};
use super::parse::parse;
use super::parts::{NotJson, Parts};
use crate::quantity::grouped;

/// Items that are looked at, spread over all of them.
const LOOKED_AT_MAX: usize = 64;

/// Longer items are not looked at.
const ITEM_BYTES_MAX: usize = 16 << 10;

/// What was found in the items that were looked at.
pub(super) struct Records {
    items: usize,
    found: Found,
}

impl Records {
    /// Looks at some items of an array; none if most of them are no objects.
    pub fn of(document: &Document, parts: &Parts) -> Result<Option<Self>, NotJson> {
        let mut records = Self { items: 0, found: Found::default() };
        let mut places = Room::default();
        for member in document.spread(parts, LOOKED_AT_MAX, ITEM_BYTES_MAX)? {
            let item = parse(member.value.of(document.text)?)?.value;
            records.items += 1;
            records.found.take(&item, &mut places);
        }
        Ok((records.found.objects * 2 > records.items).then_some(records))
    }

    /// `fields in 64 of them: id integer, email? text or null`. Says of how many it speaks when that is
    /// not all `count` of them.
    pub fn line(&self, count: usize, room: usize) -> Option<String> {
        let found = &self.found;
        let mut made = match self.items == count {
            true => "fields: ".to_owned(),
            false => format!("fields in {} of them: ", grouped(self.items as u64)),
        };
        for (at, field) in found.fields.iter().enumerate() {
            let optional = if field.count < found.objects { "?" } else { "" };
            let name = crate::one_line(&field.name, 60);
            let words = format!("{name}{optional} {}", field.found.kinds_text());
            let separator = if at == 0 { "" } else { ", " };
            if made.len() + separator.len() + words.len() > room {
                let left = found.fields.len() - at;
                // Half a list of fields is still of use, a line without any is not.
                return (at > 0).then(|| format!("{made} and {} more", grouped(left as u64)));
            }
            made.push_str(separator);
            made.push_str(&words);
        }
        Some(made)
    }
}
