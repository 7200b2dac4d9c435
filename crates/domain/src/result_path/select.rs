//! The value under a path, whole or a slice of it.

use std::io::Read;

use gristmill_json_text::{Bounded, Discard};

use super::PathError;
use super::path::{ResultPath, Step};
use super::read_source::ReadSource;
use crate::{nearest, one_line};

type Scanner<R> = gristmill_json_text::Scanner<ReadSource<R>>;

/// A key as it is written; a longer one cannot be asked for.
const KEY_BYTES_MAX: usize = 64 << 10;

/// Keys that are remembered to name the nearest.
const KEYS_KEPT_MAX: usize = 500;

/// Keys that a message names.
const KEYS_NAMED_MAX: usize = 12;

/// What a remark in the place of a value takes at most, beside its key.
const REMARK_BYTES: usize = 1_024;

/// Which part of an array, an object or a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The first item, member or character.
    pub offset: u64,
    /// How many; `None` for as many as there is room for.
    pub limit: Option<u64>,
}

impl Slice {
    fn has(&self, index: u64) -> bool {
        index >= self.offset && self.limit.is_none_or(|limit| index - self.offset < limit)
    }
}

/// What a path led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    Array,
    Object,
    Text,
    /// A number, `true`, `false` or `null`: always whole.
    Scalar,
}

impl PartKind {
    /// What is counted in it.
    pub fn unit(self) -> &'static str {
        match self {
            PartKind::Array => "item",
            PartKind::Object => "member",
            PartKind::Text => "character",
            PartKind::Scalar => "value",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenPart {
    /// What it was taken from.
    pub kind: PartKind,
    /// JSON; of a text its characters.
    pub content: String,
    /// How many items, members or characters there are.
    pub total: u64,
    /// The first that was taken.
    pub offset: u64,
    /// How many were taken.
    pub taken: u64,
}

/// Takes a slice of the value under `path` from a JSON text, in at most about `bytes_max` bytes: items
/// beyond that are left out, and a value that is larger by itself becomes a remark with its path.
pub fn take_part(
    reader: impl Read,
    path: &ResultPath,
    slice: Slice,
    bytes_max: usize,
) -> Result<TakenPart, PathError> {
    let mut scanner = Scanner::new(ReadSource::new(reader));
    for (depth, step) in path.steps().iter().enumerate() {
        step_into(&mut scanner, path, depth, step)?;
    }
    let part = match scanner.peek_past_space()? {
        b'[' => items(&mut scanner, path, slice, bytes_max)?,
        b'{' => members(&mut scanner, path, slice, bytes_max)?,
        b'"' => characters(&mut scanner, slice, bytes_max)?,
        _ => {
            let mut value = Bounded::new(bytes_max);
            scanner.value(&mut value)?;
            let content = text_of(value.bytes, &scanner)?;
            TakenPart { kind: PartKind::Scalar, content, total: 1, offset: 0, taken: 1 }
        }
    };
    in_range(part, slice, || path.shown(path.steps().len()))
}

/// Takes characters of a text that is no JSON. What is not UTF-8 is shown as �.
pub fn take_text(mut reader: impl Read, slice: Slice, bytes_max: usize) -> Result<TakenPart, PathError> {
    let (mut buffer, mut taken_bytes) = (vec![0; 64 << 10], Vec::new());
    let (mut total, mut taken) = (0_u64, 0_u64);
    let mut is_taking = false;
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        for &byte in buffer.iter().take(count) {
            // The first byte of a character, which the others follow.
            if byte & 0xc0 != 0x80 {
                is_taking = slice.has(total) && taken_bytes.len() < bytes_max;
                total += 1;
                taken += u64::from(is_taking);
            }
            if is_taking {
                taken_bytes.push(byte);
            }
        }
    }
    let content = String::from_utf8_lossy(&taken_bytes).into_owned();
    let part = TakenPart { kind: PartKind::Text, content, total, offset: slice.offset, taken };
    in_range(part, slice, || "the result".to_owned())
}

/// A slice that begins behind the end is a mistake, which is told with what there is.
fn in_range(part: TakenPart, slice: Slice, place: impl Fn() -> String) -> Result<TakenPart, PathError> {
    if slice.offset == 0 || slice.offset < part.total || part.kind == PartKind::Scalar {
        return Ok(part);
    }
    Err(PathError::OutOfRange {
        place: place(),
        what: "offset",
        asked: slice.offset,
        total: part.total,
        unit: part.kind.unit(),
    })
}

fn step_into<R: Read>(
    scanner: &mut Scanner<R>,
    path: &ResultPath,
    depth: usize,
    step: &Step,
) -> Result<(), PathError> {
    let kind = match scanner.peek_past_space()? {
        b'{' => return find_key(scanner, path, depth, step),
        b'[' => return find_item(scanner, path, depth, step),
        b'"' => "a text",
        b't' => "true",
        b'f' => "false",
        b'n' => "null",
        _ => "a number",
    };
    Err(PathError::HoldsNothing { place: path.shown(depth), kind, key: one_line(&step.text, 80) })
}

/// Goes on to the value of a key. Where a key is there twice, it is the first.
fn find_key<R: Read>(
    scanner: &mut Scanner<R>,
    path: &ResultPath,
    depth: usize,
    step: &Step,
) -> Result<(), PathError> {
    scanner.expect(b'{')?;
    let (mut keys, mut total) = (Vec::new(), 0_u64);
    while scanner.has_next(b'}', total == 0)? {
        let (_, key) = read_key(scanner)?;
        scanner.expect(b':')?;
        if key.as_deref() == Some(step.text.as_str()) {
            return Ok(());
        }
        scanner.value(&mut Discard)?;
        total += 1;
        if keys.len() < KEYS_KEPT_MAX {
            keys.extend(key);
        }
    }
    let near = nearest(&step.text, keys.iter().map(|key| (key.as_str(), key.as_str())), 1);
    let near = near.into_iter().map(|key| one_line(key, 80)).collect();
    let named = keys.iter().take(KEYS_NAMED_MAX).map(|key| one_line(key, 40)).collect();
    Err(PathError::NoKey {
        place: path.shown(depth),
        key: one_line(&step.text, 80),
        near,
        keys: named,
        keys_total: total,
    })
}

fn find_item<R: Read>(
    scanner: &mut Scanner<R>,
    path: &ResultPath,
    depth: usize,
    step: &Step,
) -> Result<(), PathError> {
    scanner.expect(b'[')?;
    let mut total = 0_u64;
    while scanner.has_next(b']', total == 0)? {
        if step.index == Some(total) {
            return Ok(());
        }
        scanner.value(&mut Discard)?;
        total += 1;
    }
    let place = path.shown(depth);
    Err(match step.index {
        Some(asked) => PathError::OutOfRange { place, what: "index", asked, total, unit: "item" },
        None => {
            let (key, example) = (one_line(&step.text, 80), path.with_item(depth));
            PathError::NeedsIndex { place, key, total, example }
        }
    })
}

/// A key as it is written, and what it means; neither of one that is too long.
fn read_key<R: Read>(scanner: &mut Scanner<R>) -> Result<(String, Option<String>), PathError> {
    if scanner.peek_past_space()? != b'"' {
        return Err(scanner.not_json().into());
    }
    let mut written = Bounded::new(KEY_BYTES_MAX);
    scanner.string(&mut written)?;
    let meant = serde_json::from_slice(&written.bytes).ok();
    Ok((text_of(written.bytes, scanner)?, meant))
}

fn text_of<R: Read>(bytes: Vec<u8>, scanner: &Scanner<R>) -> Result<String, PathError> {
    String::from_utf8(bytes).map_err(|_| scanner.not_json().into())
}

/// Elements on their way into a smaller JSON text.
struct Taking {
    slice: Slice,
    bytes_max: usize,
    json: String,
    taken: u64,
    is_full: bool,
}

impl Taking {
    fn new(slice: Slice, bytes_max: usize, open: char) -> Self {
        Self { slice, bytes_max, json: open.to_string(), taken: 0, is_full: false }
    }

    fn wants(&self, index: u64) -> bool {
        !self.is_full && self.slice.has(index)
    }

    fn room(&self) -> usize {
        self.bytes_max.saturating_sub(self.json.len())
    }

    fn push(&mut self, element: &str) {
        if self.taken > 0 {
            self.json.push(',');
        }
        self.json.push_str(element);
        self.taken += 1;
        self.is_full = self.room() < REMARK_BYTES;
    }

    fn end(mut self, close: char, kind: PartKind, total: u64) -> TakenPart {
        self.json.push(close);
        TakenPart { kind, content: self.json, total, offset: self.slice.offset, taken: self.taken }
    }
}

/// In the place of a value that is too large by itself.
fn remark(bytes: u64, path: &str) -> String {
    let path = one_line(path, 200);
    serde_json::Value::from(format!("… {bytes} bytes not shown; path: {path} …")).to_string()
}

fn items<R: Read>(
    scanner: &mut Scanner<R>,
    path: &ResultPath,
    slice: Slice,
    bytes_max: usize,
) -> Result<TakenPart, PathError> {
    scanner.expect(b'[')?;
    let (mut taking, mut total) = (Taking::new(slice, bytes_max, '['), 0_u64);
    while scanner.has_next(b']', total == 0)? {
        if taking.wants(total) {
            let mut item = Bounded::new(taking.room());
            scanner.value(&mut item)?;
            match (item.is_whole(), taking.taken) {
                (true, _) => taking.push(&text_of(item.bytes, scanner)?),
                (false, 0) => taking.push(&remark(item.seen, &path.child("", Some(total)))),
                // The caller goes on from here.
                (false, _) => taking.is_full = true,
            }
        } else {
            scanner.value(&mut Discard)?;
        }
        total += 1;
    }
    Ok(taking.end(']', PartKind::Array, total))
}

/// A huge member is left out by itself: the small ones beside it stay whole.
fn members<R: Read>(
    scanner: &mut Scanner<R>,
    path: &ResultPath,
    slice: Slice,
    bytes_max: usize,
) -> Result<TakenPart, PathError> {
    scanner.expect(b'{')?;
    let (mut taking, mut total) = (Taking::new(slice, bytes_max, '{'), 0_u64);
    while scanner.has_next(b'}', total == 0)? {
        let (written, key) = read_key(scanner)?;
        scanner.expect(b':')?;
        match key {
            Some(key) if taking.wants(total) => {
                let mut value = Bounded::new(taking.room().saturating_sub(written.len() + REMARK_BYTES));
                scanner.value(&mut value)?;
                let shown = match value.is_whole() {
                    true => text_of(value.bytes, scanner)?,
                    false => remark(value.seen, &path.child(&key, None)),
                };
                taking.push(&format!("{written}:{shown}"));
            }
            Some(_) | None => scanner.value(&mut Discard)?,
        }
        total += 1;
    }
    Ok(taking.end('}', PartKind::Object, total))
}

fn characters<R: Read>(
    scanner: &mut Scanner<R>,
    slice: Slice,
    bytes_max: usize,
) -> Result<TakenPart, PathError> {
    let (mut content, mut total, mut taken) = (String::new(), 0_u64, 0_u64);
    scanner.characters(|c| {
        if slice.has(total) && content.len() < bytes_max {
            content.push(c);
            taken += 1;
        }
        total += 1;
    })?;
    Ok(TakenPart { kind: PartKind::Text, content, total, offset: slice.offset, taken })
}
