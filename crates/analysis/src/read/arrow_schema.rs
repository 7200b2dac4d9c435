//! The schema that Arrow's writers leave beside Parquet's own. One thing is only there: which integers are
//! durations. It is a FlatBuffers message in base64, read here as far as that goes; what does not hold
//! together is taken for a file without it.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::parquet_leaf::TimeUnit;
use crate::bounds::{COLUMNS_MAX, DEPTH_MAX};

/// The mark before the length of a message.
const CONTINUES: u32 = 0xffff_ffff;
/// Arrow's number of the schema among messages, and of the duration among types.
const SCHEMA: u8 = 1;
const DURATION: u8 = 18;

/// The paths of all durations, each with its unit.
pub(super) fn durations(schema: &str) -> HashMap<Vec<String>, TimeUnit> {
    let mut found = HashMap::new();
    if let Ok(bytes) = STANDARD.decode(schema) {
        collect(&bytes, &mut found);
    }
    found
}

fn collect(bytes: &[u8], found: &mut HashMap<Vec<String>, TimeUnit>) -> Option<()> {
    let whole = Buffer(bytes);
    let start = if whole.u32(0)? == CONTINUES { 8 } else { 4 };
    let buffer = Buffer(bytes.get(start..)?);
    let message = buffer.table_at(0)?;
    if message.byte(1)? != SCHEMA {
        return None;
    }
    let mut left = COLUMNS_MAX;
    message.table(2)?.tables(1)?.into_iter().try_for_each(|field| visit(field, &[], &mut left, found))
}

fn visit(
    field: Table<'_>,
    parents: &[String],
    left: &mut usize,
    found: &mut HashMap<Vec<String>, TimeUnit>,
) -> Option<()> {
    *left = left.checked_sub(1)?;
    if parents.len() > DEPTH_MAX {
        return None;
    }
    let mut path = parents.to_vec();
    path.push(field.text(0)?);
    if field.byte(2) == Some(DURATION) {
        let unit = match field.table(3)?.short(0) {
            Some(0) => Some(TimeUnit::Second),
            None | Some(1) => Some(TimeUnit::Millisecond),
            Some(2) => Some(TimeUnit::Microsecond),
            Some(3) => Some(TimeUnit::Nanosecond),
            Some(_) => None,
        };
        found.extend(unit.map(|unit| (path, unit)));
        return Some(());
    }
    for child in field.tables(5).unwrap_or_default() {
        visit(child, &path, left, found)?;
    }
    Some(())
}

#[derive(Clone, Copy)]
struct Buffer<'a>(&'a [u8]);

impl<'a> Buffer<'a> {
    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    fn u32(self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    /// Where the reference at this place leads.
    fn followed(self, at: usize) -> Option<usize> {
        at.checked_add(self.u32(at)? as usize)
    }

    fn table_at(self, reference: usize) -> Option<Table<'a>> {
        let start = self.followed(reference)?;
        let back = i32::from_le_bytes(self.array(start)?);
        let slots = i64::try_from(start).ok()?.checked_sub(i64::from(back))?;
        Some(Table { buffer: self, start, slots: usize::try_from(slots).ok()? })
    }
}

/// A record whose fields are found by their number.
#[derive(Clone, Copy)]
struct Table<'a> {
    buffer: Buffer<'a>,
    start: usize,
    /// Where the places of its fields are listed.
    slots: usize,
}

impl<'a> Table<'a> {
    /// Where a field is; `None` where it has its default.
    fn field(self, number: usize) -> Option<usize> {
        let place = 4 + 2 * number;
        if place + 2 > usize::from(self.buffer.u16(self.slots)?) {
            return None;
        }
        let offset = self.buffer.u16(self.slots.checked_add(place)?)?;
        if offset == 0 { None } else { self.start.checked_add(usize::from(offset)) }
    }

    fn byte(self, number: usize) -> Option<u8> {
        self.buffer.array(self.field(number)?).map(|[byte]| byte)
    }

    fn short(self, number: usize) -> Option<u16> {
        self.buffer.u16(self.field(number)?)
    }

    fn table(self, number: usize) -> Option<Table<'a>> {
        self.buffer.table_at(self.field(number)?)
    }

    fn text(self, number: usize) -> Option<String> {
        let start = self.buffer.followed(self.field(number)?)?;
        let length = self.buffer.u32(start)? as usize;
        let begin = start.checked_add(4)?;
        let bytes = self.buffer.0.get(begin..begin.checked_add(length)?)?;
        String::from_utf8(bytes.to_vec()).ok()
    }

    fn tables(self, number: usize) -> Option<Vec<Table<'a>>> {
        let start = self.buffer.followed(self.field(number)?)?;
        let count = self.buffer.u32(start)? as usize;
        if count > COLUMNS_MAX {
            return None;
        }
        (0..count).map(|item| self.buffer.table_at(start + 4 + 4 * item)).collect()
    }
}
